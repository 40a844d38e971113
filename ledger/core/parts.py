"""Names as parts of the addresses of pages, whatever is in them.

A slash is escaped twice, for the first time is undone before addresses are told apart.
"""

from urllib.parse import quote

ESCAPES = (("%", "%25"), ("/", "%2F"))  # in this order, and back in the other
DOTS = (".", "..")  # as a part of an address they would be taken for a way up


def escaped(name: str) -> str:
    """Return a name as the site gets it, once the first escape is undone: without a slash."""
    for sign, said in ESCAPES:
        name = name.replace(sign, said)
    return name.replace(".", "%2E") if name in DOTS else name


def part(name: str) -> str:
    """Return a name as one part of an address."""
    return quote(escaped(name), safe="")


def named(text: str) -> str:
    """Return the name that a part of an address stands for, the part as the site gets it."""
    for sign, said in ((".", "%2E"), *reversed(ESCAPES)):
        text = text.replace(said, sign)
    return text
