"""Which lines of a paste belong to one YAML or JSON text of Kubernetes.

A text ends where `kubectl` ended: at a prompt, at the output of another command, or where the indentation falls below that of
its first line (a part of an object is pasted as often as a whole one).
"""

from __future__ import annotations

import re

from collectors.block import Reader
from collectors.regex import compile_later

MOST_LINES = 60_000

_YAML_LINE = compile_later(r'^\s*(?:- |-$|#|"?[\w./@$%*~-]+"?:(?:\s|$)|\'[^\']*\':(?:\s|$)|\? |[\]}])')
_BRACKETS = compile_later(r'"(?:[^"\\\n]|\\.)*"|[{}\[\]]')


def take_text(reader: Reader) -> list[str]:
    """Take the lines of the YAML or JSON text that begins at the next line."""
    return _take_json(reader) if (reader.peek() or "").lstrip()[:1] in ("{", '"') else _take_yaml(reader)


def _take_json(reader: Reader) -> list[str]:
    """Take the lines of one JSON value; of a part (`"conditions": [`) its value made into an object."""
    lines: list[str] = []
    depth, part = 0, (reader.peek() or "").lstrip().startswith('"')
    while len(lines) < MOST_LINES:
        line = reader.next()
        if line is None:
            break
        if part and not lines:
            line = "{" + line.lstrip()
        for match in _BRACKETS.finditer(line):
            depth += 1 if match[0] in "{[" else -1 if match[0] in "}]" else 0
        stop = 1 if part else 0
        if part and depth <= stop:
            line = line.rstrip().rstrip(",") + "}"
        lines.append(line)
        if depth <= stop:
            break
    return lines


def _take_yaml(reader: Reader) -> list[str]:
    """Take the lines that belong to a YAML text: until one that is indented less than its first, a prompt or an odd line."""
    head = reader.peek() or ""
    base = len(head) - len(head.lstrip())
    lines: list[str] = []
    deep = 0  # indentation of an open block or folded scalar
    while len(lines) < MOST_LINES:
        line = reader.peek()
        if line is None:
            break
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if not bare or line == "---" or line.startswith("--- "):
            if not bare and not deep:
                following = _next_filled(reader)
                if not _YAML_LINE.match(following) or len(following) - len(following.lstrip()) < base:
                    break
            elif bare and base:
                break
            lines.append("" if not bare else "---")
            reader.next()
            continue
        if indent < base or (indent == base and not _YAML_LINE.match(line)) or (line.startswith("$ ") and not base):
            break
        if indent == base and re.match(r"\s*[A-Z][\w ]*:\s{2,}\S", line):
            break  # describe output
        if indent == 0 and lines and re.match(r"[\w.-]+@?[\w.-]*: ?[~/].*[$#] ", line):
            break
        deep = indent if bare.endswith(("|", ">", "|-", ">-")) else deep
        lines.append(line[base:])
        reader.next()
    return lines


def _next_filled(reader: Reader) -> str:
    place = reader.place()
    for _ in range(50):
        line = reader.next()
        if line is None or line.strip():
            reader.back(place)
            return line or ""
    reader.back(place)
    return ""
