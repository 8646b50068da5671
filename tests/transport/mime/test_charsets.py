"""Text in character sets by all names that mail programs write (spec: ML-5)."""

from __future__ import annotations

import codecs
import pkgutil
from base64 import b64encode
from encodings import __path__ as codec_modules
from encodings import aliases

import pytest

from tests.support.post_office import PostOffice
from transport.mime.charsets import codec_of
from transport.mime.headers import decode_charset, decode_words

TEXTS = {
    "회의 자료": (
        "euc-kr ks_c_5601-1987 KS_C_5601-1989 ksc5601 korean iso-ir-149 csKSC56011987 cp949 ms949 windows-949 x-windows-949"
        " uhc x-mac-korean x-cp20949 cp51949"
    ),
    "会議の資料": (
        "shift_jis x-sjis Shift-JIS sjis MS_Kanji windows-31j csWindows31J cp932 ms932 x-ms-cp932 windows-932 x-mac-japanese"
        " euc-jp x-euc x-euc-jp eucjp-ms ujis cp51932 iso-2022-jp csISO2022JP x-jis cp50220 cp50221 iso-2022-jp-2"
    ),
    "会议材料": (
        "gb2312 GB_2312-80 csGB2312 chinese euc-cn cn-gb gbk x-gbk cp936 ms936 windows-936 gb18030 cp54936 hz-gb-2312 hz"
        " x-mac-chinesesimp x-cp20936"
    ),
    "會議資料": "big5 cn-big5 x-x-big5 csBig5 big5-hkscs cp950 ms950 windows-950 x-mac-chinesetrad",
    "שלום": "iso-8859-8 iso-8859-8-i iso-8859-8-e logical visual hebrew windows-1255 cp1255 cp862 dos-862 cp38598 cp28598",
    "привет": (
        "koi8-r koi8 koi8-u koi8-ru iso-8859-5 cyrillic windows-1251 x-cp1251 win-1251 cp866 ibm866 cp20866 cp21866"
        " x-mac-cyrillic x-mac-ukrainian cp10007"
    ),
    "مرحبا": "iso-8859-6 iso-8859-6-i asmo-708 windows-1256 cp720 dos-720 x-mac-arabic",
    "γειά": "iso-8859-7 greek windows-1253 cp737 ibm737 x-mac-greek cp869",
    "สวัสดี": "tis-620 TIS620 iso-8859-11 windows-874 cp874 x-windows-874",
    "příliš": "iso-8859-2 latin2 windows-1250 cp852 ibm852 x-mac-ce x-mac-centraleurroman cp10029",
    "İstanbul": "iso-8859-9 latin5 windows-1254 cp857 x-mac-turkish",
    "Größe": (
        "iso-8859-1 ISO_8859-1:1987 iso8859-1 iso88591 8859_1 latin1 l1 csISOLatin1 cp28591 windows-1252 x-cp1252 ansi"
        " macintosh x-mac-roman csMacintosh cp850 ibm850 IBM00858 cp437 iso-8859-15 latin-9 cp037 IBM01140 utf-8 utf8"
        " UTF_8 cp65001 unicode-1-1-utf-8 utf-7 unicode-1-1-utf-7 csUnicode11UTF7 cp65000 utf-16 unicode ucs-2 utf-16le"
        " cp1200 unicodeFFFE utf-16be utf-32 'utf-8'"
    ),
    "hello": "us-ascii ascii ansi_x3.4-1968 ansi_x3.4-1986 iso646-us x-ia5 7bit cp20127",
}


@pytest.mark.parametrize(("text", "name"), [(text, name) for text, names in TEXTS.items() for name in names.split()])
def test_text_is_read_by_every_name_of_its_set(text: str, name: str) -> None:
    """Names of IANA, Windows, Exchange, Java and old browsers mean the same sets, in words of a header and in texts."""
    codec = codec_of(name)
    assert codec is not None
    data = text.encode(codec)
    assert decode_charset(name, data) == text
    word = f"=?{name}?B?{b64encode(data).decode()}?="
    assert decode_words(f"Re: {word}") == f"Re: {text}"


def test_every_set_of_python_is_known_by_every_name() -> None:
    """Each codec of Python that is a character set is known by its name and aliases; other codecs are not."""
    unsafe = {"idna", "mbcs", "oem", "punycode", "raw_unicode_escape", "undefined", "unicode_escape", "tactis"}
    modules = {each.name for each in pkgutil.iter_modules(codec_modules)} - {"aliases", "charmap", "utf_8_sig"} - unsafe
    names = {module for module in modules if not module.startswith("_") and codecs.lookup(module)._is_text_encoding}
    aliased = {alias for alias, codec in aliases.aliases.items() if codec in names}
    for name in names | aliased:
        codec = codec_of(name)
        assert codec is not None, name
        assert decode_charset(name, "abc".encode(codec)) == "abc"
    for name in unsafe | {"rot13", "base64", "hex", "zlib", "iso-8859-12", "cp0", "x", "", "a" * 100}:
        assert codec_of(name) is None, name


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("gb2312", "镕基".encode("gbk"), "镕基"),
        ("ks_c_5601-1987", "똠방각하".encode("cp949"), "똠방각하"),
        ("shift_jis", "①㈱".encode("cp932"), "①㈱"),
        ("big5", "€".encode("cp950"), "€"),
        ("tis-620", "“ก”".encode("cp874"), "“ก”"),
        ("iso-8859-1", "“Größe” 5 €".encode("cp1252"), "“Größe” 5 €"),
        ("iso-8859-9", "“İ”".encode("cp1254"), "“İ”"),
        ("iso-8859-1", b"\x81", "\x81"),
        ("us-ascii", "привет".encode(), "привет"),
        ("ks_c_5601-1987", "회의".encode("cp949") + b"\xc8", "회의\ufffd"),
        ("us-ascii", b"Gr\xf6\xdfe", "Größe"),
        ("", b"Gr\xf6\xdfe", "Größe"),
    ],
)
def test_text_that_does_not_fit_is_read_as_programs_mean_it(name: str, data: bytes, text: str) -> None:
    """Programs call a set by the name of a smaller one, or cut text; what can be read is read."""
    assert decode_charset(name, data) == text


def test_what_is_unknown_is_shown_as_what_it_is() -> None:
    """A word in an unknown set stays as it is; in a text, UTF-8 is read, and other bytes are shown by their numbers."""
    assert decode_words("=?viscii?Q?Ch=E0o?= =?utf-8?Q?=C3=9F?=") == "=?viscii?Q?Ch=E0o?= ß"
    assert decode_charset("viscii", b"Ch\xe0o") == "Ch\\xe0o"
    assert decode_charset("unknown-8bit", "Größe".encode()) == "Größe"


def test_a_mail_of_outlook_is_shown_as_text() -> None:
    """Subject, sender and text of a mail in ks_c_5601-1987 are shown, and its bytes are kept."""
    office = PostOffice()
    node = office["A"]
    text = b64encode("회의 자료".encode("cp949"))
    mail = (
        b"From: =?ks_c_5601-1987?B?%s?= <kim@x.test>\r\nSubject: =?ks_c_5601-1987?B?%s?=\r\nMIME-Version: 1.0\r\n"
        b'Content-Type: text/plain; charset="ks_c_5601-1987"\r\nContent-Transfer-Encoding: base64\r\n\r\n%s\r\n'
    ) % (text, text, text)
    message = node.post_mail(office.at(1), "Projects", mail).id
    (view,) = node.messages("Projects")
    assert (view.subject, view.sender, node.body("Projects", message)) == ("회의 자료", "회의 자료", "회의 자료")
    assert node.mail("Projects", message) == mail
