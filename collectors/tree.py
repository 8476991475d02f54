"""YAML and JSON of Kubernetes objects as a tree that knows the line of every value.

libyaml's event stream is read into plain nodes: no tags, no aliases (an alias is an empty value, so alias bombs stay small),
bounded depth and size. A text that breaks off or is not quite YAML gives the part that could be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

MOST_NODES = 400_000
MOST_DEPTH = 60
_SURROGATE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?")
# Control characters, and what YAML takes for the end of a line where the intake does not: line numbers would be others.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Tree:
    """A value: a text, a mapping (`fields`) or a list (`items`), from `line` to `last`."""

    value: str = ""
    line: int = 0
    last: int = 0
    fields: dict[str, Tree] = field(default_factory=dict)
    items: list[Tree] = field(default_factory=list)

    def at(self, *path: str) -> Tree:
        """Return the value under a path of names, an empty one when there is none."""
        here = self
        for name in path:
            found = here.fields.get(name)
            if found is None:
                return Tree()
            here = found
        return here

    def text(self, *path: str) -> str:
        """Return the text under a path of names, "" when there is none."""
        return self.at(*path).value

    def pairs(self, *path: str) -> dict[str, str]:
        """Return the texts of a mapping."""
        return {name: one.value for name, one in self.at(*path).fields.items() if one.value}


def read_trees(text: str, first: int) -> Iterator[Tree]:
    """Yield the documents of a text whose first line has the number `first`."""
    clean = _CONTROL.sub(" ", _SURROGATE.sub("?", text)).replace("\t", "  ")
    stack: list[Tree] = []
    keys: list[str | None] = []
    document: Tree | None = None
    count = 0
    try:
        for event in yaml.parse(clean, Loader=_LOADER):
            count += 1
            if count > MOST_NODES or event.start_mark is None or event.end_mark is None:
                break
            line, last = first + event.start_mark.line, first + event.end_mark.line
            if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                made = Tree("", line, last)
                _attach(stack, keys, made)
                document = document or made
                stack.append(made)
                keys.append(None if isinstance(event, yaml.SequenceStartEvent) else "")
                if len(stack) > MOST_DEPTH:
                    break
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                done = stack.pop()
                keys.pop()
                done.last = max(done.last, last)
            elif isinstance(event, yaml.ScalarEvent):
                _scalar(stack, keys, event.value, line, _last_line(event, first))
            elif isinstance(event, yaml.AliasEvent):
                _scalar(stack, keys, "", line, line)
            elif isinstance(event, yaml.DocumentEndEvent):
                if document is not None:
                    yield document
                document, stack, keys = None, [], []
    except yaml.YAMLError:
        pass
    if document is not None:
        yield document


def _last_line(event: yaml.ScalarEvent, first: int) -> int:
    # A block scalar ends at the start of the next line.
    start, end = event.start_mark, event.end_mark
    if start is None or end is None:
        return first
    return int(first + end.line - (1 if end.column == 0 and end.line > start.line else 0))


def _attach(stack: list[Tree], keys: list[str | None], made: Tree) -> None:
    if not stack:
        return
    parent, key = stack[-1], keys[-1]
    if key is None:
        parent.items.append(made)
    elif key:
        parent.fields.setdefault(key, made)
        keys[-1] = ""


def _scalar(stack: list[Tree], keys: list[str | None], value: str, line: int, last: int) -> None:
    if not stack:
        return
    if keys[-1] == "":
        keys[-1] = value or " "
        return
    _attach(stack, keys, Tree(value, line, last))
