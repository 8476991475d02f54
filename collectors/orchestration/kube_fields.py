"""The fields of a `kubectl describe`, as a tree by their indentation."""

from __future__ import annotations

from dataclasses import dataclass, field

from collectors.block import Reader
from collectors.regex import compile_later

MOST_LINES = 20000

_KEY = compile_later(r"^(?P<indent> *)(?P<key>[A-Za-z0-9][^:]{0,120}|[\w.-]+/[\w.-]+):(?: +(?P<value>.*\S))? *$")
_TOP = compile_later(r"^[A-Z][\w .()/-]{0,40}:(?: |$)")
RULER = compile_later(r"^\s+-+(?:\s+-+)+\s*$")  # below the names of a table's columns


@dataclass(slots=True)
class Field:
    """One field of a description and what stands indented below it."""

    key: str
    value: str
    line: int
    last: int
    indent: int
    fields: list[Field] = field(default_factory=list)
    rows: list[tuple[int, str]] = field(default_factory=list)  # lines below it that are no fields

    def get(self, key: str) -> Field | None:
        """Return the first field of that name."""
        return next((one for one in self.fields if one.key == key), None)

    def text(self, key: str) -> str:
        """Return the value of the first field of that name, "" when there is none."""
        found = self.get(key)
        return found.value if found is not None else ""


def read_fields(reader: Reader) -> Field:
    """Take the lines of one description; return a field without a name that holds its fields."""
    root = Field("", "", reader.number, reader.number, -1)
    stack = [root]
    for _ in range(MOST_LINES):
        line = reader.peek()
        if line is None:
            break
        if not line.strip():
            place = reader.place()
            reader.next()
            following = reader.peek()
            if (
                following is None
                or not (_TOP.match(following) or following.startswith("  "))
                or following.startswith(("Name:", "Events:"))
            ):
                reader.back(place)
                break
            continue
        indent = len(line) - len(line.lstrip(" "))
        if line.startswith("Events:") or (root.fields and line.startswith("Name:")):
            break
        if indent == 0 and not _TOP.match(line):
            break
        if root.fields and root.fields[0].indent > indent:
            break
        _place(stack, reader.number, line, indent)
        reader.next()
    return root


def _place(stack: list[Field], number: int, line: str, indent: int) -> None:
    match = _KEY.match(line)
    key = match["key"].strip() if match else ""
    if match and not RULER.match(line) and "  " not in key:
        while len(stack) > 1 and stack[-1].indent >= indent:
            stack.pop()
        parent = stack[-1]
        # A pod's fields hang at the value's column: `Labels:   a=b` goes on with `          c=d`.
        if (
            parent.value
            and indent > parent.indent + 8
            and parent.key in ("Labels", "Annotations", "Tolerations", "Taints")
        ):
            parent.rows.append((number, line.strip()))
            return
        made = Field(key, (match["value"] or "").strip(), number, number, indent)
        parent.fields.append(made)
        stack.append(made)
        return
    holder = next((one for one in reversed(stack) if one.indent < indent), stack[0])
    holder.rows.append((number, line.strip() if not _is_table(holder, line) else line))
    if holder.value and not holder.fields and holder.key in ("Message", "Reason"):
        holder.value, holder.last = f"{holder.value} {line.strip()}", number


def _is_table(holder: Field, line: str) -> bool:
    return holder.key in ("Conditions", "Allocated resources", "Non-terminated Pods") or bool(holder.rows)
