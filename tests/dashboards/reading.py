"""Pages read as a person reads them: the text of an element, the cells of the table."""

from html.parser import HTMLParser

VOID = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "circle", "path"})


class Element:
    """An element with what is in it; text is in the order of the page."""

    def __init__(self, tag: str, attributes: dict[str, str], parent: "Element | None") -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.inside: list[Element | str] = []

    @property
    def text(self) -> str:
        said = "".join(part if isinstance(part, str) else f" {part.text} " for part in self.inside)
        return " ".join(word for line in said.split("\n") for word in line.split(" ") if word)

    def all(self) -> "list[Element]":
        found = [part for part in self.inside if isinstance(part, Element)]
        return [element for child in found for element in (child, *child.all())]

    def of(self, *tags: str) -> "list[Element]":
        return [element for element in self.all() if element.tag in tags]

    def by_id(self, identity: str) -> "Element":
        return next(element for element in self.all() if element.attributes.get("id") == identity)


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.here = Element("", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.inside.append(element)
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.inside.append(Element(tag, {name: value or "" for name, value in attrs}, self.here))

    def handle_endtag(self, tag: str) -> None:
        assert self.here.tag == tag, f"</{tag}> closes <{self.here.tag}>"
        assert self.here.parent
        self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        self.here.inside.append(data)


def read(response: object) -> Element:
    """Read a page. Fails when an element is not closed in the right place."""
    builder = _Builder()
    builder.feed(response.content.decode())  # type: ignore[attr-defined]
    builder.close()
    assert builder.here is builder.root, f"<{builder.here.tag}> is never closed"
    return builder.root


def cells(response: object) -> list[list[str]]:
    """The texts of the table's rows, the total last; a bar's texts are left out."""
    rows = [row for row in read(response).by_id("rows").of("tr") if row.attributes.get("id", "").startswith("row-")]
    return [[c.text for c in row.of("th", "td") if "went" not in c.attributes.get("class", "")] for row in rows]


def text_of(response: object, identity: str) -> str:
    return read(response).by_id(identity).text
