"""Names in addresses: one part, or more where a person wrote a name's slashes as they are."""

from ledger.core.parts import escaped, named


class NameConverter:
    """A name in one part of an address."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        return named(value)

    def to_url(self, value: str) -> str:
        return escaped(value)


class NamesConverter(NameConverter):
    """A name in several parts, or in one."""

    regex = ".+"
