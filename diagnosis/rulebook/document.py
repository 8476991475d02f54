"""Read YAML that people write: no duplicate keys, bounded depth, and the line of every value for error messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

_MOST_BYTES = 2 << 20
_MOST_DEPTH = 40
_MOST_PARTS = 200_000  # aliases of aliases make few lines into very many
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class RuleError(Exception):
    """A rule file is wrong. `problems` are lines `file:line: what was found, what was expected`."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


class Document:
    """One YAML file: its plain value, and the line on which each part stands."""

    def __init__(self, path: Path, text: str, name: str) -> None:
        self.path, self.name = path, name
        self._text, self._parts = text, 0
        self._constructor = yaml.constructor.SafeConstructor()
        try:
            self._root: Any = yaml.compose(text, Loader=_Loader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark else text.count("\n", 0, getattr(error, "position", 0)) + 1
            problem = getattr(error, "problem", None) or str(error).splitlines()[0]
            raise RuleError([f"{name}:{line}: not YAML: {problem}"]) from error
        except RecursionError as error:
            raise RuleError([f"{name}:1: nested too deeply"]) from error
        problems: list[str] = []
        self.value: Any = self._plain(self._root, problems, 0) if self._root is not None else None
        if problems:
            raise RuleError(problems)

    @classmethod
    def read(cls, path: Path, name: str | None = None) -> Document:
        """Read a file; raises RuleError when it can't be read as YAML text of at most 2 MB."""
        name = name or path.name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise RuleError([f"{name}:1: can't be read: {error.strerror}"]) from error
        if len(data) > _MOST_BYTES:
            raise RuleError([f"{name}:1: {len(data)} bytes; a rule file has at most {_MOST_BYTES}"])
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise RuleError([f"{name}:{line}: not UTF-8"]) from error
        return cls(path, text, name)

    def _plain(self, node: yaml.Node, problems: list[str], depth: int) -> Any:
        if depth > _MOST_DEPTH:
            problems.append(f"{self.name}:{node.start_mark.line + 1}: nested deeper than {_MOST_DEPTH}")
            return None
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise RuleError([f"{self.name}:{node.start_mark.line + 1}: more than {_MOST_PARTS} values"])
        if isinstance(node, yaml.MappingNode):
            mapping: dict[Any, Any] = {}
            for key_node, value_node in node.value:
                key = self._plain(key_node, problems, depth + 1)
                if not isinstance(key, str | int | float | bool):
                    problems.append(f"{self.name}:{key_node.start_mark.line + 1}: a key must be a word")
                    continue
                if key in mapping:
                    problems.append(f"{self.name}:{key_node.start_mark.line + 1}: key `{key}` stands twice")
                mapping[key] = self._plain(value_node, problems, depth + 1)
            return mapping
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(item, problems, depth + 1) for item in node.value]
        return self._scalar(node)

    def _scalar(self, node: yaml.Node) -> Any:
        if node.tag == "tag:yaml.org,2002:str":
            return node.value
        if node.tag == "tag:yaml.org,2002:bool" and node.value.lower() not in ("true", "false"):
            return node.value  # `on`, `no` and `yes` are words here, as in YAML 1.2
        try:
            return self._constructor.construct_object(node)
        except (ValueError, LookupError, AttributeError, yaml.YAMLError):  # `!!int ''` and the like
            return node.value

    def line_of(self, path: Sequence[str | int]) -> int:
        """Return the line (from 1) of the key or item at `path`, or of the nearest part above it that exists."""
        node, line = self._root, self._root.start_mark.line if self._root is not None else 0
        for step in path:
            if isinstance(node, yaml.MappingNode):
                found = next(((key, value) for key, value in node.value if key.value == str(step)), None)
                if found is not None:
                    line, node = found[0].start_mark.line, found[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line
        return int(line) + 1

    def quote(self, line: int) -> str:
        """Return one line of the file, trimmed."""
        lines = self._text.splitlines()
        return lines[line - 1].strip()[:120] if 0 < line <= len(lines) else ""
