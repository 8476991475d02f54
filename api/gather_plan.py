"""What a gathering runs: the fixed commands of `rules/gather.yaml` and those that the rules' checks name, read-only ones only."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from diagnosis.rulebook import Rulebook, find_rules_folder

Where = Literal["node", "cluster"]
WHERE: tuple[Where, ...] = ("node", "cluster")
_SAFE = re.compile(r"[\w.:,/@=+%*-]+")
_PLACEHOLDER = re.compile(r"[{}<>$`\\]")
_CONTROL = re.compile(r"[;|&()<>]*[;|&()][;|&()<>]*")  # redirections stay in a command and have it refused
_CLUSTER = frozenset(
    {"kubectl", "sinfo", "squeue", "sacct", "scontrol", "sprio", "sdiag", "ceph", "mmgetstate", "etcdctl"}
)
_MOST_FROM_RULES = 60


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Forms(_Part):
    forms: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


class _Command(_Part):
    run: str
    each: Literal["netdev", ""] = ""
    twice: bool = False
    seconds: int = 0


class _Limits(_Part):
    seconds: int
    bytes: int
    apart: int


class _File(_Part):
    limits: _Limits
    paths: tuple[str, ...]
    listed: tuple[str, ...]
    read_only: Mapping[str, _Forms]
    words: Mapping[str, str]
    commands: Mapping[Where, tuple[_Command, ...]]


@dataclass(frozen=True, slots=True)
class Step:
    """One command to run: where, with which arguments, for how long; with `each`, once a network card."""

    name: str
    on: Where
    arguments: tuple[str, ...]
    seconds: int
    each: str = ""
    twice: bool = False

    @property
    def command(self) -> str:
        """Return the command as a person would type it."""
        return " ".join(self.arguments)


@dataclass(frozen=True, slots=True)
class Plan:
    """The commands of a gathering in order, and what of the rules' checks was left out and why."""

    steps: tuple[Step, ...]
    left_out: tuple[tuple[str, str], ...]
    limits: _Limits


@dataclass(slots=True)
class Allowed:
    """The programs and arguments that only read."""

    programs: dict[str, re.Pattern[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: _File) -> Allowed:
        """Compile the forms of a file."""
        words = {
            "VALUE": r"(?!-)[\w.:,/@=+%*-]+",
            "NUMBER": r"\d{1,4}",
            "PATH": rf"(?:{'|'.join(file.paths)})(?:/[\w.*:-]+)*",
            "LISTED": rf"(?:{'|'.join(file.listed)})(?:/[\w.*:-]+)*",
            **file.words,
        }

        def spell(form: str) -> str:
            return re.sub(r"\b(?:" + "|".join(words) + r")\b", lambda match: words[match[0]], form)

        allowed = cls()
        for program, forms in file.read_only.items():
            ways = [f"(?:{spell(form)})" for form in forms.forms]
            if forms.options:
                options = "|".join(f"(?:{spell(option)})" for option in forms.options)
                ways.append(rf"(?:(?:{options})(?: (?:{options}))*)?")
            allowed.programs[program] = re.compile("|".join(ways))
        return allowed

    def permits(self, arguments: tuple[str, ...]) -> bool:
        """Tell whether a command only reads: a known program with arguments of a known form, nothing hidden in them."""
        if not arguments or arguments[0] not in self.programs:
            return False
        rest = arguments[1:]
        if any(not _SAFE.fullmatch(one) or ".." in one for one in rest):
            return False
        return self.programs[arguments[0]].fullmatch(" ".join(rest)) is not None


def read_file(path: Path | None = None) -> tuple[_File, Allowed]:
    """Read what may be run and what always is."""
    text = (path or find_rules_folder() / "gather.yaml").read_text("utf-8")
    file = _File.model_validate(yaml.safe_load(text))
    return file, Allowed.read(file)


def make_plan(rulebook: Rulebook, *, wanted: Collection[Where], symptoms: Collection[str] = ()) -> Plan:
    """Return what to run: the fixed commands, then those of the checks of causes that lead to these symptoms (of all, without)."""
    file, allowed = read_file()
    steps: list[Step] = []
    names: set[str] = set()

    def add(on: Where, arguments: tuple[str, ...], seconds: int = 0, each: str = "", twice: bool = False) -> None:
        if on not in wanted or any(one.arguments == arguments for one in steps):
            return
        name = _make_name(arguments, names)
        steps.append(Step(name, on, arguments, seconds or file.limits.seconds, each, twice))

    for on, one in [(where, one) for where in WHERE for one in file.commands[where]]:
        arguments = tuple(shlex.split(one.run))
        if not allowed.permits(tuple(part.replace("{netdev}", "eth0") for part in arguments)):
            raise ValueError(f"rules/gather.yaml: `{one.run}` has no form under read_only")
        add(on, arguments, one.seconds, one.each, one.twice)
    left_out: dict[str, str] = {}
    fixed = len(steps)
    for name in sorted(rulebook.causes):
        if symptoms and not set(symptoms) & rulebook.reach(name):
            continue
        for check in rulebook.causes[name].checks:
            for command in split_commands(check.run):
                reason = _judge(command, allowed)
                if reason:
                    left_out.setdefault(" ".join(command), reason)
                elif len(steps) - fixed < _MOST_FROM_RULES:
                    add("cluster" if command[0] in _CLUSTER else "node", command)
    return Plan(tuple(steps), tuple(sorted(left_out.items())), file.limits)


def split_commands(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the commands of a shell line that print something of their own: the first of each pipeline.

    >>> list(split_commands('dmesg -T | grep "NVRM: Xid"; lspci -vv -s 3b:00.0'))
    [('dmesg', '-T'), ('lspci', '-vv', '-s', '3b:00.0')]
    """
    reader = shlex.shlex(line, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    reader.commenters = ""
    current: list[str] = []
    piped = False
    try:
        words: Iterable[str] = [*reader, ";"]
    except ValueError:
        return
    for word in words:
        if not _CONTROL.fullmatch(word):
            current.append(word)
            continue
        if current and not piped:
            yield tuple(current)
        current, piped = [], word.endswith("|") and not word.endswith("||")


def _judge(command: tuple[str, ...], allowed: Allowed) -> str:
    """Return why a command is not run, "" when it is."""
    if any(_PLACEHOLDER.search(word) for word in command):
        return "needs the name of a thing"
    return "" if allowed.permits(command) else "not on the list of commands that only read"


def _make_name(arguments: tuple[str, ...], taken: set[str]) -> str:
    base = re.sub(r"[^A-Za-z0-9]+", "-", " ".join(arguments).replace("{netdev}", "")).strip("-")[:60].strip("-")
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name)
    return name
