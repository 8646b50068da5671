"""An address as a QR code. The library is in the extra `class`."""

from __future__ import annotations

from io import BytesIO, StringIO


def qr_svg(address: str) -> str | None:
    """Return the QR code of an address as an SVG picture; None if the library is not installed."""
    try:
        import segno  # noqa: PLC0415 - in an extra
    except ImportError:
        return None
    written = BytesIO()
    segno.make(address, micro=False).save(written, kind="svg", scale=8, border=2, xmldecl=False, light="#fff")
    return written.getvalue().decode()


def qr_text(address: str) -> str | None:
    """Return the QR code of an address in half blocks, for a terminal; None if the library is not installed."""
    try:
        import segno  # noqa: PLC0415 - as above
    except ImportError:
        return None
    written = StringIO()
    segno.make(address, micro=False).terminal(written, compact=True)
    return written.getvalue()
