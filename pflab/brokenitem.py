"""A mail one of whose items cannot be decoded although the mail is sound: a store whose memory failed as it packed.

Altered on its way the whole mail would be refused, because its signature covers the items; so it is signed anew.
"""

from __future__ import annotations

import random
from dataclasses import replace

from node.errors import BadMail
from node.keys import LabAuthority, Verifier
from node.replmail import decode, encode
from transport.alteration import with_body
from transport.errors import CodecError
from transport.mime import BodyForm, system_body
from transport.tnef import decode_tnef, encode_tnef


def with_a_broken_item(content: bytes, authority: LabAuthority, choice: random.Random) -> bytes:
    """The mail with half of one item cut off; the mail itself where it brings none in TNEF, or
    one is broken already. `authority`: of the lab."""
    try:
        found = system_body(content)
        if found is None or found[0] is BodyForm.MDBEF:
            return content
        form, body = found
        mail = decode(decode_tnef(body), Verifier(authority.identity("").authority_key))
    except (BadMail, CodecError):
        return content  # something else has altered it
    if mail.failed:
        return content  # what was broken before would be left out, and its sender would claim what it does not bring
    items = [index for index, update in enumerate(mail.updates) if update.version.item]
    if not items:
        return content
    at = choice.choice(items)
    version = mail.updates[at].version
    assert version.item is not None, "only updates with items were taken"
    broken = replace(mail.updates[at], version=replace(version, item=version.item[: len(version.item) // 2]))
    mail = replace(mail, updates=(*mail.updates[:at], broken, *mail.updates[at + 1 :]))
    return with_body(content, form, encode_tnef(encode(mail, authority.identity(mail.store))))
