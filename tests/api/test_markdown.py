"""The report as Markdown: log text stays inside its fence, and names from logs are no markup."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.markdown import render_markdown
from diagnosis.model import (
    CausePart,
    EvidencePart,
    Explained,
    InputPart,
    LayerPart,
    NextCheck,
    Report,
    SymptomPart,
    UnexplainedPart,
)


def make(
    text: str = "a line",
    *,
    entity: str = "gpu:node-a/0",
    name: str = "a.log",
    outcome: str = "diagnosed",
    roots: int = 1,
) -> Report:
    line = EvidencePart(input=name, line=7, text=text, signal="gpu.lost#0", why="because")
    causes = [
        CausePart(
            rank=number + 1, cause=f"gpu.lost{number}", title=f"Title {number}", summary="a summary", layer="hardware", entity=entity, probability=0.9,
            verdict="root" if number < roots else "consequence", because_of=None if number < roots else "gpu.lost0", action="reboot", score=[],
            evidence=[line, line.model_copy(update={"role": "contradicts"})], explains=[Explained(id="hang", title="Hang", entity="")],
            path=["job:1", entity], checks=[], fix=["Mend it"], cases=[],
        )
        for number in range(roots + 1)
    ]  # fmt: skip
    return Report.model_validate(
        {
            "id": "1", "created": "2026-01-31T04:15:00Z", "language": "en", "outcome": outcome, "verdict": f"Root cause ({entity}).",
            "inputs": [InputPart(input=name, kind="kernel", lines=9, recognised=1, unrecognised_errors=0)],
            "symptoms": [SymptomPart(symptom="hang", title="Hang", entity=entity, evidence=[line])], "causes": causes,
            "walk": [LayerPart(layer="hardware", status="fault", looked_at=[name], findings=["Title 0"])],
            "next_checks": [NextCheck(run=f"grep '{text}'", on=entity, separates=[], because="it tells")],
            "unexplained": [UnexplainedPart(template=text, count=3, first=line)],
        }
    )  # fmt: skip


def test_a_report_in_full() -> None:
    assert (
        render_markdown(make())
        == """\
# DIAGNOSED: Root cause (gpu:node-a/0).

## Title 0 · GPU 0 on node-a

`gpu.lost0` · hardware · 90 % · action: reboot the node

a summary

- **Do**: Mend it
- **Path**: job 1 → GPU 0 on node-a
- **Explains**: Hang

### Evidence

```text
a.log:7: a line
a.log:7: (-) a line
```

## Other causes

- Title 1 (GPU 0 on node-a): consequence, 90 %, because of gpu.lost0 `gpu.lost1`

## Symptoms

- Hang (GPU 0 on node-a) `hang`

## Layers

- hardware: **fault**: Title 0

## Run next

- `grep 'a line'` (on gpu:node-a/0): it tells

## Inputs

- a.log (kernel, 9 lines)

## Error lines that no rule knows

- 3 × `a line` (a.log:7)
"""
    )


def test_rivals_are_all_shown_when_undecided() -> None:
    shown = render_markdown(make(outcome="undecided", roots=2))
    assert [line for line in shown.splitlines() if line.startswith("## Title")] == [
        "## Title 0 · GPU 0 on node-a",
        "## Title 1 · GPU 0 on node-a",
    ]


@pytest.mark.parametrize(
    "text", ["``` out", "````\n# heading", "`", "~~~", "\x1b[31mred\x00", "a\nb", "<script>alert(1)</script>"]
)
@pytest.mark.parametrize("where", ["text", "name", "entity"])
def test_nothing_from_outside_leaves_its_place(text: str, where: str) -> None:
    shown = render_markdown(
        make(text) if where == "text" else make(name=text) if where == "name" else make(entity=f"gpu:{text}")
    )
    _assert_tame(shown)


@given(st.text(), st.text(), st.text())
def test_any_text_stays_in_its_place(text: str, name: str, entity: str) -> None:
    _assert_tame(render_markdown(make(text, name=name, entity=entity)))


def _assert_tame(shown: str) -> None:
    lines = shown.split("\n")
    opening = next(number for number, line in enumerate(lines) if re.fullmatch(r"`{3,}text", line))
    fence = lines[opening].removesuffix("text")
    closing = lines.index(fence, opening + 1)
    inside = lines[opening + 1 : closing]
    assert len(inside) >= 2 and all(re.search(r":\d+: ", line) for line in inside)  # lines of evidence and nothing else
    assert all(fence not in line for line in inside)
    outside = [line for number, line in enumerate(lines) if not opening <= number <= closing]
    assert [line for line in outside if line.startswith("#")] == [
        line for line in outside if re.match(r"# DIAGNOSED: |## (Title \d|Other causes|Symptoms|Layers|Run next|Inputs|Error lines)|### Evidence$", line)
    ]  # fmt: skip
    assert not any(c < " " and c != "\t" for line in lines for c in line)
    for line in outside:
        assert "<script" not in re.sub(r"(`+).*?\1", "", line).replace("\\<", "")
