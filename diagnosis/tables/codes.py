"""Codes and the words of vendors for what to do about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnosis.model import Action

KINDS = ("xid", "sxid", "dcgm", "cuda", "nvml")
# From what leaves everybody alone to what takes the part away. Nothing below `restart-app` interrupts anybody's work.
HARSHNESS: tuple[Action, ...] = (
    "ignore", "investigate", "reconfigure", "restart-app", "reset-gpu", "reboot", "drain", "contact-support", "replace",
)  # fmt: skip
UNSTATED: Action = "reconfigure"  # the harshest action for a code whose source states none


class TableError(Exception):
    """A table is wrong. `problems` are lines `file:line: what was found`."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence in both languages; both are empty or neither is."""

    en: str
    zh: str

    def in_language(self, language: str) -> str:
        """Return the sentence in `en` or `zh`."""
        return self.zh if language == "zh" else self.en

    def __bool__(self) -> bool:
        return bool(self.en)


@dataclass(frozen=True, slots=True)
class StatedAction:
    """A vendor's word for an action, what it means, and the harshest of our actions that it allows."""

    name: str
    limit: Action
    meaning: Words
    source: str


@dataclass(frozen=True, slots=True)
class Code:
    """One code of one table."""

    kind: str
    code: str
    name: str
    meaning: Words
    action: Action
    source: str
    in_use: bool = True
    prints: str = ""  # what programs print for it
    products: tuple[str, ...] = ()
    group: str = ""  # the class of an SXid
    immediate: StatedAction | None = None
    investigatory: StatedAction | None = None
    action_reason: str = ""  # who says so, where `action` is harsher than the source's
    xid154: str = ""  # the driver release from which an Xid 154 repeats the action, or `yes`
    cause: str = ""
    harmless: str = ""  # `harmless`: nothing is wrong; `secondary`: it only follows from or tells of something else
    note: Words = Words("", "")
    follows: tuple[str, ...] = ()  # what it is a follower of; `*` is any
    brings: tuple[str, ...] = ()  # what follows from it
    others: Words = Words("", "")  # what other health agents say, and why we follow whom

    @property
    def spellings(self) -> tuple[str, ...]:
        """Return the names and the message under which programs print it."""
        return tuple(dict.fromkeys(part for part in (*self.name.split(" / "), self.prints) if part))
