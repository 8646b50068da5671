"""Write the statements of the embedded engine: make sql, or python -m analytics.translate."""

from analytics.embedded.product import JUDGE
from analytics.ingest.session import QUICK, new_session
from analytics.translate.record import record
from analytics.verdicts.result import counted

if __name__ == "__main__":
    with new_session("local[1]", QUICK) as spark:
        product = record(spark)
    JUDGE.write_text(product.text(), encoding="utf-8")
    print(f"{JUDGE.name}: written, {counted(sum(map(len, product.statements)), 'statement')}")
