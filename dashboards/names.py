"""Names in addresses: one part, or more where a person wrote a name's slashes as they are."""

from dashboards.places import named


class NameConverter:
    """A name in one part of an address."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        return named(value)

    def to_url(self, value: str) -> str:
        return value


class NamesConverter(NameConverter):
    """A name in all that is left of an address."""

    regex = ".+"
