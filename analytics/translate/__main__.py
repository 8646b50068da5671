"""Write the statements of the embedded engine: make sql, or python -m analytics.translate [FILE]."""

from __future__ import annotations

import sys
from pathlib import Path

from analytics.embedded.product import JUDGE
from analytics.ingest.session import QUICK, new_session
from analytics.translate.record import record
from analytics.verdicts.result import counted


def main() -> int:
    """Write the file."""
    spark = new_session("local[1]", QUICK)
    try:
        product = record(spark)
    finally:
        spark.stop()
    file = Path(sys.argv[1]) if sys.argv[1:] else JUDGE
    file.write_text(product.text(), encoding="utf-8")
    print(f"{file.name}: written, {counted(sum(map(len, product.statements)), 'statement')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
