"""What a training job is busy with besides steps: saving, evaluating, preparing data, compiling.

Programs: Hugging Face Transformers and Datasets, torchtune, Megatron-LM, DeepSpeed, Lightning, NeMo. Only the beginnings and
ends of such work, and the ends of epochs (MXNet), are read; how long it took is arithmetic (`diagnosis.analyses`). Samples::

    [INFO|trainer.py:3993] 2025-09-01 05:10:01,377 >> Saving model checkpoint to output/checkpoint-12000
    saving checkpoint at iteration   20000 to /data/ckpt in torch format
      successfully saved checkpoint at iteration   20000 to /data/ckpt
    ***** Running Evaluation *****
    Running tokenizer on dataset (num_proc=16):  12%|##        | 36000/300000
    2026-07-22 18:20:04,602 INFO trainer rank=0 running validation: 30 datasets
    Validation DataLoader 0:  12%|#2        | 120/1000 [25:11<3:04:00, 12.5s/it]
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.clock import find_iso
from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "training"
LAYERS: tuple[str, ...] = ()
_SAVING = r"(?:[Ss]aving|[Ss]tart(?:ing)? to save|[Ss]tart saving|[Bb]egin(?:ning)? to save)"
_KINDS = r"(?:the |a |full |sharded |model |state |dist(?:ributed)? |async )*"
_START = r"(?:^|\]:? |> )"  # of a line, or behind a launcher's mark
_PREPARING = (  # a progress bar of such work
    r"(?:Preparing|(?:Pre-?)?[Pp]rocessing|Caching|Building|Packing|Grouping|Encoding|Extracting|Converting|Indexing|Filtering)"
)
_PHASES: tuple[tuple[str, str, tuple[str, ...]], ...] = (  # phase, its edge, what marks it; the first that matches counts
    (
        "checkpoint", "end",
        (
            r"[Ss]uccessfully saved checkpoint", r"[Cc]heckpoint (?:was |has been )?saved\b(?! to .*[._-]\d+_)", r"\b[Ss]aved checkpoint\b",
            r"\[Torch\] Saved ", r"[Ss]aving (?:took|finished)", r"[Ff]inished saving",
            r"scheduled an async checkpoint",
        ),
    ),
    (
        "checkpoint", "part",
        (
            r"checkpoint of size .* saved to", r"Configuration saved in ", r"Model weights saved in ", r"(?:chunk|shard) .* saved",
        ),
    ),
    (
        "checkpoint", "begin",
        (
            rf"{_SAVING} {_KINDS}(?:checkpoint|ckpt|state[_ ]dict|model|weights)\b", r"\[Torch\] Saving ",
            r"[Rr]etrieving full model state dict", r"[Gg]athering (?:full )?state[_ ]dict",
        ),
    ),
    (
        "evaluation", "begin",
        (
            r"\*+ ?Running (?:Evaluation|Prediction|evaluation|Test) ?\*+", r"[Vv]alidation sanity check",
            r"\b(?:[Rr]un|[Ss]tart|[Bb]egin)(?:n?ing)?(?: the| full)? (?:evaluation|validation|eval)\b",
            r"\b(?:Evaluat|Validat|Test)ing:? [^|]{0,60}\b\d{1,2}%\|",
            r"Generating (?:samples|predictions)", r"Validation DataLoader \d+: +\d{1,2}%\|",
        ),
    ),
    ("evaluation", "end", (r"(?:[Ee]valuation|[Vv]alidation) (?:finished|done|took|complete)", r"Validation DataLoader \d+: +100%\|",)),
    (
        "data preparation", "end",
        (
            rf"{_START}{_PREPARING}[^|]{{0,60}}: +100%\|", rf"{_START}(?:Map|Filter)(?: \(num_proc=\d+\))?: +100%\|",
            r"Running tokenizer on [^|]{0,60}: +100%\|",
        ),
    ),
    (
        "data preparation", "begin",
        (
            r"Running tokenizer on (?:the )?\w*", r"Generating \w+ split: ", r"> building .*index",
            r"[Tt]okeniz(?:ing|e) (?:the )?(?:\w+ )?(?:[Dd]ata|[Dd]ataset|split|corpus|[Pp]rompts|[Tt]ext)",
            r"[Bb]uilding (?:the )?(?:dataset|index|indices|sample|shuffle|doc-idx)", rf"{_START}Map(?: \(num_proc=\d+\))?:\s+\d+%",
            rf"{_START}{_PREPARING}[^|]{{0,60}}: +\d{{1,2}}%\|",
            r"^(?:Pre-?)?[Pp]rocessing (?:the )?dataset", r"Filter(?:ing)?(?: \(num_proc=\d+\))?:\s+\d+%",
        ),
    ),
    ("epoch", "end", (r"\bEpoch\[\d+\] Time cost=", r"\b[Ee]poch \d+ (?:is )?(?:finished|completed|done)\b")),
    (
        "compilation", "begin",
        (
            r"Compiling (?:the )?(?:model|graph|kernels?)", r"torch\.compile(?:d)? .*(?:start|compil)",
            r"> compiling dataset index builder",
            r"> compiling and loading fused kernels", r"Building extension module ",
            r"Capturing (?:CUDA|cudagraph)", r"[Aa]utotun(?:e|ing) ",
        ),
    ),
)  # fmt: skip
_COMPILED = tuple((phase, edge, compile_later("|".join(marks))) for phase, edge, marks in _PHASES)
ANCHORS = tuple(mark.replace(r"(?! to .*[._-]\d+_)", "") for _, _, marks in _PHASES for mark in marks)
CONTEXT = ANCHORS
_RANK = compile_later(r"\brank[= :]{1,2}(\d{1,6})\b")
_SECOND_WRITER = compile_later(r"\|[^|]*\]\[rank ?\d+\]:")


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield a `phase` observation; its code is the phase, attribute `edge` is begin, part or end."""
    for phase, edge, regex in _COMPILED:
        if regex.search(line.text):
            if line.time is None:
                line.time = find_iso(line.text)
            named = _RANK.search(line.text)
            second = _SECOND_WRITER.search(line.raw)  # a bar has no line end: another rank's message may follow it
            rank = (line.rank if second is None else "") or (named[1] if named else "")
            attributes = {"edge": edge} | ({"rank": rank} if rank else {})
            yield Observation(
                SOURCE, "phase", line.input, line.number, line.number, line.text[:500], code=phase, time=line.time,
                node=line.host, entity=f"rank:{rank}" if rank else "", attributes=attributes,
            )  # fmt: skip
            return
