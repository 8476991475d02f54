"""A regex of a rule or of a collector, as the scan takes it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regex to look for. Without `capture` a hit only marks the line (a collector's own parser decides).

    `trusted` patterns (shipped) capture with `re`; others (a user's) with RE2, in time linear in the line. Lines of a
    `routine` pattern come by the thousand in healthy runs, those of a `context` pattern by the hundred: the intake passes
    over some of the former and of many of the latter. The groups of `gist` hold all that such a line says: of lines with the
    same groups the intake reads the first few.
    """

    key: str
    regex: str
    anchor: str | None = None
    capture: bool = True
    trusted: bool = True
    routine: bool = False
    context: bool = False
    gist: str = ""
