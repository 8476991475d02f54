"""Tell a paste that was filtered from a whole one: what is missing from a filtered one is not ruled out.

`dmesg | grep -i nvidia` drops every `NVRM:` line that has no such word in it. The command is visible above its output, or every
line of the kernel's log holds the same word. Samples::

    root@node-a:~# dmesg -T | grep -i nvidia
    $ journalctl -k -b | grep -E 'NVRM|Xid'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from collectors import shell
from collectors.notes import Note
from collectors.observation import Observation
from collectors.prefix import peel
from collectors.regex import compile_later

_COMMAND = compile_later(r"^(?:sudo )?(?:dmesg|journalctl|lspci|lsmod|nvidia-smi|kubectl|oc|e?grep|zgrep|cat|zcat)\b.*")
_GREP = compile_later(
    r"(?:^|\|\s*|\bsudo )(?:[efz]?grep|zegrep|rg|ack|findstr|Select-String)\s+(?P<options>(?:-\S+\s+(?:\d+\s+)?)*)"
    r"(?P<words>\"[^\"]+\"|'[^']+'|\S+)"
)
_INSIDE = compile_later(
    r"\bjournalctl\b.*\s(?:-g|--grep)[ =](?P<words>\"[^\"]+\"|'[^']+'|\S+)|\|\s*(?:awk|sed -n)\s+'/(?P<slashed>[^/]+)/"
)
_BARE_PROMPT = compile_later(r"^\[?(?:[\w.-]+@)?[\w.-]+[: ~/][^#$%>]{0,80}[#$] ?$|^[#$] ?$")
_MARK = compile_later(r"[#$%]")  # of a prompt
_WORD = compile_later(r"[a-z]{3,}")
_OF_THE_DRIVER = ("nvidia", "nvrm", "xid", "nvlink", "nvswitch")


@dataclass(frozen=True, slots=True)
class Filter:
    """The lines of one source are only those with some words; `line` is where that is seen, `command` whether as a command."""

    source: str
    line: int
    text: str
    words: str
    command: bool
    lines: int = 0  # that hold the words, where no command is seen

    def observe(self, input_name: str) -> Observation:
        """Return the fact that this source was filtered in this input."""
        return Observation(
            self.source, "filtered", input_name, self.line, self.line, self.text, code=self.words, raw=self.text,
            attributes={"by": "command" if self.command else "word"},
        )  # fmt: skip

    def note(self) -> str:
        """Return what is said of the input, "" of a lone line."""
        if self.lines == 1:
            return ""
        return Note.of("filtered-command" if self.command else "filtered-word", source=self.source, words=self.words)


def read_filter(command: str) -> str:
    """Return the words that a command keeps lines by, "" when it keeps all, or drops some (`grep -v`) or counts.

    >>> (
    ...     read_filter("dmesg -T | grep -iE 'nvrm|xid' | tail"),
    ...     read_filter("dmesg | grep -v usb"),
    ...     read_filter("dmesg -T"),
    ... )
    ('nvrm|xid', '', '')
    """
    match = _INSIDE.search(command)
    if match:
        return (match["words"] or match["slashed"]).strip("\"'")[:80]
    for match in _GREP.finditer(command):
        options = "".join(one[1:] for one in match["options"].split() if re.match(r"-[A-Za-z]+$", one))
        if "v" not in options and "c" not in options:
            return match["words"].strip("\"'")[:80]
    return ""


def find_filters(lines: Sequence[str], recognise: Callable[[Iterable[str]], Counter[str]]) -> list[Filter]:
    """Return the sources of which the first lines of an input show nothing but what a filter left."""
    sections = [(first, command, texts, read_filter(command)) for first, command, texts in _sections(lines)]
    commons = [
        _common_word(texts) if not words and texts and set(recognise(texts[:1])) == {"kernel"} else ""
        for _, _, texts, words in sections
    ]
    if not any(commons) and not any(words for *_, words in sections):
        return []
    filters, whole = [], Counter[str]()
    for (first, command, texts, words), common in zip(sections, commons, strict=True):
        kinds = recognise(texts) if texts else Counter[str]()
        if words:
            filters += [Filter(kind, first, command, words, True) for kind in sorted(kinds)]
        elif common and set(kinds) == {"kernel"}:
            filters.append(Filter("kernel", first, texts[0][:400], common, False, len(texts)))
        else:
            whole.update(kinds)
    seen: dict[str, Filter] = {}
    for one in filters:
        if one.source not in whole:
            seen.setdefault(one.source, one)
    return list(seen.values())


def _sections(lines: Sequence[str]) -> Iterable[tuple[int, str, list[str]]]:
    """Yield (line, command, the lines below it that are not blank) for each command, and for what stands above the first."""
    first, command, texts = 1, "", []
    for number, raw in enumerate(lines, 1):
        if not raw.strip():
            continue
        entered = _read_command(raw, number)
        if entered is None:
            texts.append(raw)
            continue
        if command or texts:
            yield first, command, texts
        first, command, texts = number, entered, []
    if command or texts:
        yield first, command, texts


def _read_command(raw: str, number: int) -> str | None:
    """Return the command that a line enters, "" for a bare prompt, None for output."""
    found = next(iter(shell.parse_line(peel("", number, raw[:1000]))), None) if _MARK.search(raw[:200]) else None
    if found is not None:
        return found.attributes["command"]
    if _COMMAND.match(raw) and "|" in raw:
        return raw.strip()
    return "" if _BARE_PROMPT.match(raw) else None


def _common_word(texts: Sequence[str]) -> str:
    """Return the word that all lines of a kernel's log hold, "" when there is none."""
    words: set[str] | None = None
    driver = True
    for raw in texts:
        text = peel("", 0, raw[:2000]).text.lower()
        words = set(_WORD.findall(text)) if words is None else words & set(_WORD.findall(text))
        driver = driver and any(word in text for word in _OF_THE_DRIVER)
        if not words and not driver:
            return ""
    named = sorted(words or (), key=lambda word: (word not in _OF_THE_DRIVER, word))
    if named and (len(texts) > 1 or named[0] in _OF_THE_DRIVER):
        return named[0]
    return "nvidia or nvrm" if driver and texts else ""
