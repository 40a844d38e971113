"""YAML in and out: plain data only, small; no aliases, which could make much of little, and no tags.

A tag says that a text is a number or a date which it need not be; what has none is read by how it is written.
"""

from typing import Any

import yaml

from ledger.logs.profiles import DOCUMENT_BYTES_MAX

DEPTH_MAX = 32
YAML = "application/yaml"
YAML_TYPES = frozenset({YAML, "application/x-yaml", "text/yaml", "text/x-yaml"})


class BadYaml(ValueError):
    """A text that is not taken as YAML; the text says why in one sentence."""


class PlainLoader(yaml.SafeLoader):
    """Strings, numbers, lists, objects; dates stay text."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise BadYaml("The YAML must not have aliases.")
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "tag", None) is not None:
            raise BadYaml("The YAML must not have tags, like !!int or !!timestamp.")
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise BadYaml(f"The YAML is nested deeper than {DEPTH_MAX} levels.")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, expression) for tag, expression in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read(text: bytes) -> Any:
    """Return the one document of a YAML text. Raises BadYaml."""
    if len(text) > DOCUMENT_BYTES_MAX:
        raise BadYaml(f"A profile has at most {DOCUMENT_BYTES_MAX:,} bytes.")
    try:
        return yaml.load(text, PlainLoader)  # noqa: S506  # a safe loader with less
    except BadYaml:
        raise
    except (yaml.YAMLError, ValueError, RecursionError, UnicodeDecodeError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise BadYaml(f"The text is not YAML{where}.") from None


def write(document: Any) -> str:
    """Return a document as YAML, its keys in their order."""
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=10_000)
    return text
