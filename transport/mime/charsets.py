"""Character sets by the names that mail programs write, and text in them.

Python knows the names of IANA. Windows, Exchange, Outlook and old browsers write others: `ks_c_5601-1987`, `x-sjis`, `cp65001`,
`windows-874`. Case, punctuation and the prefixes `x-` and `cs` make no difference. Names come from mails, so they are looked up
in a table: Python's own lookup keeps each unknown name in memory, and has codecs that need quadratic time.

Programs call a set by the name of a smaller one: Outlook's `gb2312` is GBK, and `iso-8859-1` is often Windows-1252. So text
that does not fit the named set is read in the larger one.

(spec: ML-5)
"""

from __future__ import annotations

import re
from encodings.aliases import aliases
from typing import Final

_NO_TEXT: Final = frozenset(
    {"base64_codec", "bz2_codec", "hex_codec", "quopri_codec", "rot_13", "tactis", "uu_codec", "zlib_codec", "mbcs"}
)
"""Codecs of Python's table that are no character sets. Those that need quadratic time, such as punycode, are not in it."""

_MORE: Final = (
    "cp720 cp737 cp856 cp874 cp875 cp1006 koi8_r koi8_t koi8_u mac_arabic mac_croatian mac_farsi mac_romanian palmos"
)
"""Codecs without another name in Python's table."""

_CODECS: Final = frozenset({*aliases.values(), *_MORE.split()} - _NO_TEXT)

_OTHER_NAMES: Final = {
    "ascii": "ansi_x3.4-1968 ansi_x3.4-1986 iso646-us ia5 7bit ascii-us",
    "big5": "cn-big5 big5-eten chinese-eten mac-chinesetrad",
    "big5hkscs": "big5-hkscs big5-hkscs:1999 big5-hkscs:2001 big5-hkscs:2004",
    "cp1252": "ansi latin1-windows",
    "cp874": "tis620-2533 thai8",
    "cp932": "ms932 sjis-win cp943c windows-sjis windows-31j ms_kanji",
    "cp949": "ks_c_5601 ks_c_5601-1989 ksc_5601 windows-korean iso-ir-149",
    "euc_jp": "euc eucjp-ms eucjp-open eucjp-win extended_unix_code_packed_format_for_japanese",
    "euc_kr": "mac-korean ksc5601-1992",
    "gb18030": "gb18030-2000 gb18030-2005 gb18030-2022",
    "gb2312": "cn-gb gb_2312 gb_2312-80 iso-ir-58 mac-chinesesimp",
    "hz": "hz hz-gb hz-gb-2312",
    "iso2022_jp": "jis jis7 jis-ms iso-2022-jp-ms iso-2022-jp-nec",
    "iso8859_11": "iso-8859-11 thai",
    "iso8859_6": "iso-8859-6-i iso-8859-6-e asmo-708 arabic",
    "iso8859_8": "iso-8859-8-i iso-8859-8-e logical visual dos-862-i",
    "koi8_r": "koi koi8",
    "koi8_u": "koi8-ru",
    "mac_iceland": "mac-icelandic mac-iceland",
    "mac_latin2": "mac-ce mac-centraleurroman mac-centraleurope mac-latin2",
    "mac_cyrillic": "mac-ukrainian mac-cyrillic",
    "mac_roman": "mac macroman mac-roman",
    "shift_jis": "mac-japanese shift-jis",
    "utf_16": "unicode ucs-2 iso-10646-ucs-2 ucs2 unicode-1-1",
    "utf_16_be": "unicodefffe unicodebig",
    "utf_16_le": "unicodelittle unicodefeff",
    "utf_32": "ucs-4 iso-10646-ucs-4",
    "utf_7": "unicode-1-1-utf-7 unicode-2-0-utf-7",
    "utf_8": "unicode-1-1-utf-8 unicode-2-0-utf-8 utf-8n utf8mb4 utf-8-mac utf-8-bom utf-8-sig",
}

_PAGES: Final = {
    **{28590 + part: f"iso8859_{part}" if part > 1 else "latin_1" for part in range(1, 17)},
    **{
        708: "iso8859_6",
        936: "gbk",
        943: "cp932",
        951: "big5hkscs",
        970: "euc_kr",
        1200: "utf_16_le",
        1201: "utf_16_be",
    },
    **{
        1361: "johab",
        1386: "gbk",
        12000: "utf_32_le",
        12001: "utf_32_be",
        20127: "ascii",
        20866: "koi8_r",
        21866: "koi8_u",
    },
    **{10000: "mac_roman", 10001: "shift_jis", 10002: "big5", 10003: "euc_kr", 10004: "mac_arabic", 10006: "mac_greek"},
    **{10007: "mac_cyrillic", 10008: "gb2312", 10010: "mac_romanian", 10017: "mac_cyrillic", 10029: "mac_latin2"},
    **{10079: "mac_iceland", 10081: "mac_turkish", 10082: "mac_croatian", 20273: "cp273", 20424: "cp424"},
    **{20932: "euc_jp", 20936: "gb2312", 20949: "euc_kr", 33722: "euc_jp", 38598: "iso8859_8", 50220: "iso2022_jp"},
    **{
        50221: "iso2022_jp",
        50222: "iso2022_jp",
        50225: "iso2022_kr",
        51932: "euc_jp",
        51936: "gb2312",
        51949: "euc_kr",
    },
    **{52936: "hz", 54936: "gb18030", 65000: "utf_7", 65001: "utf_8"},
}
"""The code pages of Windows that Python has under another name."""

_LARGER: Final = {
    "big5": ("cp950", "big5hkscs"),
    "big5hkscs": ("cp950",),
    "cp950": ("big5hkscs",),
    "euc_jp": ("euc_jis_2004",),
    "euc_kr": ("cp949",),
    "gb2312": ("gb18030",),
    "gbk": ("gb18030",),
    "iso2022_jp": ("iso2022_jp_ext", "iso2022_jp_3"),
    "shift_jis": ("cp932", "shift_jis_2004"),
}
"""The sets in which text is read that does not fit the named one."""

_WINDOWS: Final = {"latin_1": "cp1252", "iso8859_9": "cp1254", "iso8859_11": "cp874", "tis_620": "cp874"}
"""The sets of Windows that have characters where those of ISO have controls (0x80 to 0x9F), which no mail uses."""

_MAX_NAME: Final = 60
_CONTROLS: Final = re.compile(rb"[\x80-\x9f]")
_PUNCTUATION: Final = re.compile(r"[^a-z0-9]+")
_PREFIX: Final = re.compile(r"^(?:cs|x)+")
_PAGE: Final = re.compile(r"(?:x?mswin|windows|win|xcp|mscp|cp|ibm|ms|msdos|dos|oem|codepage|ccsid)0*([1-9]\d{1,4})")
_PART: Final = re.compile(r"(?:iso)?8859(\d{1,2})")


def _plain(name: str) -> str:
    return _PUNCTUATION.sub("", name.lower())


_BY_NAME: Final = {
    **{_plain(codec): codec for codec in sorted(_CODECS)},
    **{_plain(alias): codec for alias, codec in sorted(aliases.items()) if codec in _CODECS},
    **{_plain(name): codec for codec, names in _OTHER_NAMES.items() for name in names.split()},
}


def codec_of(charset: str) -> str | None:
    """Return the name of Python's codec for a character set as a mail names it; None if the set is unknown."""
    if len(charset) > _MAX_NAME:
        return None
    name = _plain(charset)
    for spelling in (name, _PREFIX.sub("", name, count=1)):
        codec_name = _BY_NAME.get(spelling)
        if codec_name is not None:
            return codec_name
        page, part = _PAGE.fullmatch(spelling), _PART.fullmatch(spelling)
        number = int(page[1]) if page is not None else 28590 + int(part[1]) if part is not None else 0
        codec = _PAGES.get(number, f"cp{number}")
        if codec in _CODECS:
            return codec
    return None


def fitting_text(codec: str, data: bytes) -> str | None:
    """Return text that a mail says to be in the set of this codec; None if it does not fit the set, nor a larger one."""
    windows = _WINDOWS.get(codec)
    larger = _LARGER.get(codec, ())
    for candidate in (windows, codec) if windows is not None and _CONTROLS.search(data) else (codec, *larger):
        try:
            return data.decode(candidate)
        except UnicodeDecodeError:
            continue
    return None


def text_in(codec: str, data: bytes) -> str:
    """Return text in the set of this codec, with U+FFFD where it does not fit."""
    text = fitting_text(codec, data)
    return data.decode(_LARGER.get(codec, (codec,))[0], "replace") if text is None else text
