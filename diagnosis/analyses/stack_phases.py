"""Who is busy with something else while others stand in a collective, by stacks of a job's processes.

Reads `stack` facts of Python (py-spy, faulthandler). A thread waits where one of its innermost frames is a collective or a
barrier. Derives `busy-in` with the phase as code for a thread that saves, evaluates, prepares data, compiles or fetches files and
stands in no collective, where others wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts

_INNERMOST = 8  # frames in which a collective shows that the thread waits for others
_MOST = 4  # facts: one tells which kind of work it is
_WAITS = re.compile(
    r"\b(?:barrier|monitored_barrier|all_reduce\w*|all_gather\w*|_?all_?gather_base|reduce_scatter\w*|broadcast\w*|all_to_all\w*|"
    r"gather|scatter|recv|irecv|batch_isend_irecv|_store_based_barrier|rendezvous) \(\S*(?:distributed|deepspeed|megatron|lightning)"
)
_SAVES = r"\b_?(?:save|write|upload)_\w*(?:checkpoint|ckpt|state|pretrained|model)\w* \("
_PHASES = tuple(
    (phase, re.compile(regex))
    for phase, regex in (
        ("checkpoint", rf"{_SAVES}|torch/serialization\.py|distributed/checkpoint/"),
        ("evaluation", r"\b(?:evaluate|evaluation_loop|prediction_loop|validat\w+|run_eval\w*|eval_\w+) \("),
        ("compilation", r"torch/_(?:inductor|dynamo)/|_jit_compile \(|cpp_extension\.py|triton/(?:compiler|runtime)/"),
        ("download", r"\b(?:snapshot_download|hf_hub_download|cached_files?|http_get|_download_to_tmp\w*) \("),
        ("data preparation", r"datasets/(?:arrow_dataset|builder|load)\.py|\b(?:tokenize|preprocess|build_(?:index|dataset)\w*) \("),
    )
)  # fmt: skip


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `busy-in` observations, citing the busy thread and one that waits."""
    threads = [one for one in facts.by_kind.get("stack", ()) if one.code == "python"]
    waiting = [one for one in threads if _waits(one)]
    if waiting:
        yield from islice(_find_busy(threads, waiting), _MOST)


def _waits(one: Observation) -> bool:
    innermost = one.attributes.get("frames", "").split(" < ")[:_INNERMOST]
    return any(_WAITS.search(frame) for frame in innermost)


def _find_busy(threads: list[Observation], waiting: list[Observation]) -> Iterator[Derived]:
    for one in threads:
        frames = one.attributes.get("frames", "")
        phase = next((phase for phase, regex in _PHASES if regex.search(frames)), "")
        if not phase or _waits(one) or len(waiting) * 2 < len(threads) - len(waiting):
            continue
        text = f"{phase} goes on in one process while {len(waiting)} stand in a collective"
        attributes = {"phase": phase, "waiting": str(len(waiting)), "pid": one.attributes.get("pid", "")}
        yield derive_at(one, "busy-in", phase, text, attributes, entity=one.entity), [one, waiting[0]]
