"""Read the JSON object that a line stands in, from that line on, as a tree that knows its lines."""

from __future__ import annotations

import re

from collectors.block import Reader
from collectors.tree import Tree, read_trees

MOST_LINES = 60_000
# A string that its line does not end counts to the end of the line, so that no text takes more than one pass.
_STRUCTURE = re.compile(r'"(?:[^"\\\n]|\\.)*(?:"|\\?$)|[{}\[\]]', re.M)


def read_enclosing(reader: Reader, most: int = MOST_LINES) -> Tree:
    """Return the object whose first members stand on the reader's line, and leave the reader behind it.

    A line that does not open the object itself is taken for one of its members; what stood above that line is not read.
    """
    first, parts, depth = reader.number, list[str](), 0
    place = reader.place()
    for _, text in reader.lines(most):
        if not parts:
            text = text[max(text.find("{"), 0) :] if text.lstrip()[:1] not in ('"', "{") else text
            if text.lstrip()[:1] == '"':
                depth, text = 1, "{" + text
                parts.append(text)
                depth += _depth(text[1:])
                if depth <= 0:
                    break
                continue
        parts.append(text)
        depth += _depth(text)
        if depth <= 0:
            break
    whole = "\n".join(parts)
    if depth < 0:  # closed by the bracket around it: what follows the object belongs to others
        whole = _cut(whole)
    tree = next(iter(read_trees(whole, first)), Tree())
    if not tree.fields and not tree.items:
        reader.back(place)
        reader.next()
    return tree


def _depth(text: str) -> int:
    found = 0
    for match in _STRUCTURE.finditer(text):
        found += 1 if match[0] in "{[" else -1 if match[0] in "}]" else 0
    return found


def _cut(text: str) -> str:
    depth = 0
    for match in _STRUCTURE.finditer(text):
        depth += 1 if match[0] in "{[" else -1 if match[0] in "}]" else 0
        if depth == 0 and match[0] in "}]":
            return text[: match.end()]
    return text
