"""Property bags: of an attached message, and for Hypothesis with every type, named and unnamed."""

from hypothesis import strategies as st

from transport.mapi.item import IID_IMESSAGE
from transport.mapi.properties import MV_FLAG, Bag, NamedTag, PropType
from transport.mapi.property_tags import ATTACH_EMBEDDED_MSG, PR_ATTACH_DATA_OBJ, PR_ATTACH_METHOD

text = st.text(st.characters(codec="utf-16-le", exclude_characters="\0"), max_size=40)
data = st.binary(max_size=40)
VALUES: dict[int, st.SearchStrategy[object]] = {
    PropType.SHORT: st.integers(-(1 << 15), (1 << 15) - 1),
    PropType.LONG: st.integers(-(1 << 31), (1 << 31) - 1),
    PropType.FLOAT: st.floats(width=32, allow_nan=False),
    PropType.DOUBLE: st.floats(allow_nan=False),
    PropType.CURRENCY: st.integers(-(1 << 63), (1 << 63) - 1),
    PropType.APPTIME: st.floats(allow_nan=False),
    PropType.INT64: st.integers(-(1 << 63), (1 << 63) - 1),
    PropType.SYSTIME: st.integers(0, (1 << 64) - 1),
    PropType.STRING8: data.filter(lambda b: not b.endswith(b"\0")),
    PropType.UNICODE: text,
    PropType.CLSID: st.binary(min_size=16, max_size=16),
    PropType.BINARY: data,
}
SINGLE_ONLY: dict[int, st.SearchStrategy[object]] = {
    PropType.NULL: st.none(),
    PropType.ERROR: st.integers(0, (1 << 32) - 1),
    PropType.BOOLEAN: st.booleans(),
    PropType.OBJECT: data,
}


def embedded_attachment(item: bytes) -> Bag:
    """Return the bag of an attached message, given its stream, for `Item.attachments`."""
    return {PR_ATTACH_METHOD: ATTACH_EMBEDDED_MSG, PR_ATTACH_DATA_OBJ: IID_IMESSAGE + item}


def properties() -> st.SearchStrategy[tuple[object, object]]:
    """Return one key and a value of its type: any type, named or unnamed, one value or many."""
    choices = []
    for kind, values in (VALUES | SINGLE_ONLY).items():
        choices.append(st.tuples(keys(int(kind)), values))
    for kind, values in VALUES.items():
        many = st.lists(values, min_size=1, max_size=5).map(tuple)
        choices.append(st.tuples(keys(int(kind) | MV_FLAG), many))
    return st.one_of(choices)


def keys(kind: int) -> st.SearchStrategy[object]:
    names = st.one_of(st.integers(0, (1 << 32) - 1), text)
    return st.one_of(
        st.integers(0, 0x7FFF).map(lambda number: number << 16 | kind),
        st.builds(NamedTag, st.just(kind), st.binary(min_size=16, max_size=16), names),
    )


bags = st.lists(properties(), max_size=12, unique_by=lambda pair: pair[0]).map(dict)
