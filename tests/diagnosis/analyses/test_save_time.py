"""How long saves of a checkpoint held a job up."""

from __future__ import annotations

from collectors.observation import Observation
from diagnosis.analyses import save_time
from diagnosis.facts import Facts


def fact(line: int, time: float | None, code: str = "", edge: str = "", text: str = "") -> Observation:
    kind = "phase" if code else "step"
    attributes = {"edge": edge} if edge else {}
    return Observation("training", kind, "a", line, line, text, code=code, time=time, attributes=attributes)


def begin(line: int, time: float, text: str = "saving checkpoint") -> Observation:
    return fact(line, time, "checkpoint", "begin", text)


def end(line: int, time: float) -> Observation:
    return fact(line, time, "checkpoint", "end", "saved checkpoint")


STEPS = [fact(line, 10.0 * line) for line in range(1, 5)]


def derived(*facts: Observation) -> list[tuple[str, str]]:
    return [(one.code, one.attributes["seconds"]) for one, _ in save_time.derive(Facts(list(facts)))]


def test_a_save_between_steps() -> None:
    assert derived(*STEPS, begin(5, 45), end(6, 845), fact(7, 855)) == [("stalled", "800")]
    assert derived(*STEPS, begin(5, 45), end(6, 60)) == []  # quick
    assert derived(*STEPS, begin(5, 45), end(6, 45 + 7 * 3600)) == []  # the job was away


def test_a_save_in_the_background() -> None:
    assert derived(*STEPS, begin(5, 45), fact(6, 55), end(7, 845)) == []
    assert derived(*STEPS, begin(5, 45, "saving checkpoint (async)"), end(6, 845)) == []


def test_where_the_log_tells_little() -> None:
    assert derived(begin(5, 45), end(6, 845)) == [("since", "800")]  # no steps are told
    assert derived(*STEPS, begin(5, 45), end(900, 845)) == [("since", "800")]  # much was printed between
    assert derived(fact(1, 10, "epoch", "end"), end(2, 900)) == [("since", "890")]
    assert derived(fact(1, 10, "evaluation", "begin"), end(2, 900)) == []
    assert derived(end(2, 900)) == []


def test_a_save_in_the_background_holds_nobody_up() -> None:
    assert derived(*STEPS, begin(5, 45, "saving async checkpoint"), end(6, 845)) == []
    always = "Saving the checkpoint (or staging if async is enabled)."  # TorchTitan says so of every save
    assert derived(*STEPS, begin(5, 45, always), end(6, 845)) == [("stalled", "800")]
