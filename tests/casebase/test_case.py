"""One case: what is read, and what is refused with file and line."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import casebase
from casebase import head
from casebase.case import CHINESE, FILE_LIMIT, Case, CaseError, Text, parse_case, read_case
from casebase.library import SHIPPED, Library

FILES = sorted(SHIPPED.glob("*.md"))
ENGLISH = ["What was seen", "What misled", "What it was", "What helped"]
CHINESE_SECTIONS = ["看到的现象", "容易误判之处", "真正的原因", "处理"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shipped_case_keeps_to_the_vocabulary(path: Path, taxonomy: dict[str, Any]) -> None:
    case = read_case(path, causes=taxonomy["causes"], symptoms=taxonomy["symptoms"])
    assert case.layer == taxonomy["causes"][case.cause][0]
    assert case.layer in taxonomy["layers"]
    assert case.entity in taxonomy["entities"]
    assert case.symptoms
    kinds = {signal.partition(":")[0] for signal in case.signals if ":" in signal}
    assert kinds <= {"xid", "sxid", "kube", "errno", "exit"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shipped_case_is_written_in_both_languages(path: Path) -> None:
    case = read_case(path)
    for text in (case.title, case.summary, case.fix):
        assert CHINESE.search(text.zh)
        assert not CHINESE.search(text.en)
    english, chinese = case.prose("en"), case.prose("zh")
    assert re.findall("^## (.+)$", english, re.M) == ENGLISH
    assert re.findall("^## (.+)$", chinese, re.M) == CHINESE_SECTIONS
    assert not CHINESE.search(english)
    quoted = [line for block in re.findall("```text\n(.*?)```", english, re.S) for line in block.splitlines()]
    assert 2 <= len(quoted) <= 6
    lines = path.read_text(encoding="utf-8").splitlines()
    assert 40 <= len(lines) <= 80


def test_shipped_cases_cover_every_layer_and_many_causes(shipped: Library, taxonomy: dict[str, Any]) -> None:
    assert len(shipped) >= 24
    assert {case.layer for case in shipped} == set(taxonomy["layers"])
    assert len({case.cause for case in shipped}) >= 24


def test_head_and_prose_are_read(case_text: Callable[..., str]) -> None:
    case = parse_case(
        case_text(signals="'xid:79', nccl.peer-died", body="Gone.\n\n# 中文\n掉卡。"), name="lost-card.md"
    )
    assert (case.id, case.cause, case.also, case.date) == ("lost-card", "gpu.fell-off-bus", (), None)
    assert case.signals == ("xid:79", "nccl.peer-died")
    assert case.features == {"xid:79", "nccl.peer-died", "gpu-lost"}
    assert case.title.get("zh") == "案例 lost-card"
    assert case.prose("en") == "## What was seen\nGone."
    assert case.prose("zh") == "掉卡。"


def test_prose_in_one_language_serves_both(make_case: Callable[..., Case]) -> None:
    assert make_case().prose("zh") == make_case().prose("en") == "## What was seen\nNothing."


def test_case_cannot_be_changed(make_case: Callable[..., Case]) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        make_case().id = "other"  # type: ignore[misc]
    assert hash(make_case()) == hash(make_case())


def test_scalars_stay_text(case_text: Callable[..., str]) -> None:
    text = case_text().replace("source: 'example/repository issue 1'", "source: 65:00").replace("'It failed.'", "no")
    case = parse_case(text, name="x.md")
    assert (case.source, case.summary.en) == ("65:00", "no")


def test_windows_line_ends_and_byte_order_mark_are_read(tmp_path: Path, case_text: Callable[..., str]) -> None:
    path = tmp_path / "lost-card.md"
    path.write_bytes(b"\xef\xbb\xbf" + case_text().replace("\n", "\r\n").encode())
    assert read_case(path).prose("en") == "## What was seen\nNothing."


def test_date_is_read_and_checked(case_text: Callable[..., str]) -> None:
    text = case_text().replace("confidence:", "date: 2026-05-31\nconfidence:")
    assert str(parse_case(text, name="x.md").date) == "2026-05-31"
    with pytest.raises(CaseError, match=r"x\.md:13: date: "):
        parse_case(text.replace("2026-05-31", "last May"), name="x.md")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("---\nid", "id", "x.md:1: expected '---' as the first line, then the YAML head"),
        ("confirmed\n---", "confirmed\n", "x.md:17: expected a line '---' that ends the head"),
        ("layer: hardware", "cause: gpu.c2c-error", "x.md:6: expected each field once; 'cause' is already on line 4"),
        ("zh: '出错了。'", "en: 'Twice.'", "x.md:10: expected each field once; 'en' is already on line 10"),
        ("layer: hardware\n", "", "x.md:1: expected the field 'layer'"),
        (", zh: '出错了。'", "", "x.md:10: expected the field 'summary.zh'"),
        (
            "layer:",
            "layers: x\nlayer:",
            "x.md:6: unknown field 'layers'; expected one of: also, cause, confidence, date",
        ),
        ("zh: '更换。'", "zh: '更换。', fr: 'x'", "x.md:11: unknown field 'fix.fr'; expected one of: en, zh"),
        ("layer:", "body: x\nlayer:", "x.md:6: expected the body below the head, not in it"),
        ("'更换。'", "'replace it'", "x.md:11: fix.zh: expected Chinese text"),
        (
            "cause: gpu.fell-off-bus",
            "cause: GPU lost",
            "x.md:4: cause: expected a cause such as gpu.fell-off-bus, found 'GPU",
        ),
        ("signals: ['xid:79']", "signals: []", "x.md:9: signals: Tuple should have at least 1 item"),
        ("signals: ['xid:79']", "signals: ['xid 79']", "x.md:9: signals.0: expected a signal such as xid:79"),
        (
            "signals: ['xid:79']",
            "signals:\n- 'xid:79'\n- 'xid:79'",
            "x.md:9: signals: expected each entry once, found xid:79",
        ),
        ("signals: ['xid:79']", "signals: xid:79", "x.md:9: signals: "),
        ("also: []", "also: [gpu.fell-off-bus]", "x.md:1: expected other causes than gpu.fell-off-bus under 'also'"),
        (
            "also: []",
            "wrong_turns: [gpu.fell-off-bus]",
            "x.md:1: expected wrong causes under 'wrong_turns', found gpu.fell",
        ),
        (
            "confirmed\n",
            "certain\n",
            "x.md:13: confidence: expected 'confirmed', 'maintainer' or 'inferred', found 'certain'",
        ),
        ("layer: hardware", "layer: &name hardware", "x.md:6: expected no anchors or aliases; write the value out"),
        ("layer: hardware", "layer: *name", "x.md:6: expected no anchors or aliases; write the value out"),
        (
            "layer: hardware",
            "layer: !!python/name:os.system x",
            "x.md:6: expected no YAML tags; quote the text instead",
        ),
        ("layer: hardware", "layer: 'hardware", "x.md:"),
        ("layer: hardware", "[a]: b", "x.md:6: expected a plain field name"),
        ("layer: hardware", "layer: [[[[[[[[x]]]]]]]]", "x.md:6: expected at most 4 levels"),
        ("layer: hardware", "--- # again\nlayer: hardware", "x.md:6: expected one YAML document in the head"),
        ("Nothing.", "red \x1b[31m", "x.md:16: expected printable text, found U+001B"),
        ("Nothing.", "\u202egnihton", "x.md:16: expected printable text, found U+202E"),
        ("## What was seen\nNothing.\n", "\n", "x.md:1: body: String should have at least 1 character"),
        ("'It failed.'", "'" + "long " * 400 + "'", "x.md:10: summary.en: String should have at most 1500 characters"),
        ("layer: hardware", "layer: hardware\n#" + "x" * 20_000, "x.md:2: expected a head of at most 16384 bytes"),
    ],
)
def test_mistakes_are_named_with_file_and_line(case_text: Callable[..., str], old: str, new: str, message: str) -> None:
    text = case_text()
    assert old in text
    with pytest.raises(CaseError) as caught:
        parse_case(text.replace(old, new, 1), name="x.md")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("fields", "message"), [("", "an empty head"), ("- a\n", "one 'name: value' a line"), ("# a\n", "empty")]
)
def test_head_without_fields_is_refused(fields: str, message: str) -> None:
    with pytest.raises(CaseError, match=rf"^x\.md:2: expected fields, .*{message}"):
        parse_case(f"---\n{fields}---\nprose\n", name="x.md")


def test_every_mistake_is_told_at_once(case_text: Callable[..., str]) -> None:
    text = case_text().replace("layer: hardware", "layers: hardware").replace("confirmed", "sure")
    with pytest.raises(CaseError) as caught:
        parse_case(text, name="x.md")
    assert [problem.line for problem in caught.value.problems] == [1, 6, 13]


def test_unknown_ids_are_named_with_the_nearest_known(case_text: Callable[..., str]) -> None:
    text = case_text(also="gpu.ecc", signals="'xid:79',\n  nccl.peer-dead, gpu-gone, gpu-lost")
    with pytest.raises(CaseError) as caught:
        parse_case(text, name="x.md", causes=["gpu.fell-off-bus", "nccl.peer-died"], symptoms=["gpu-lost"])
    assert str(caught.value).splitlines() == [
        "x.md:5: expected a known cause, found 'gpu.ecc'",
        "x.md:10: expected a known cause, found 'nccl.peer-dead'; did you mean 'nccl.peer-died'?",
        "x.md:10: expected a known symptom, found 'gpu-gone'; did you mean 'gpu-lost'?",
    ]
    assert parse_case(text, name="x.md").also == ("gpu.ecc",)


def test_file_must_be_readable_small_and_named_after_its_id(tmp_path: Path, case_text: Callable[..., str]) -> None:
    path = tmp_path / "other.md"
    with pytest.raises(CaseError, match=r"other\.md:1: expected a readable file: No such file"):
        read_case(path)
    path.write_text(case_text(), encoding="utf-8")
    with pytest.raises(CaseError, match=r"other\.md:2: expected id 'other' as in the file's name, found 'lost-card'"):
        read_case(path)
    path.write_bytes(b"---\nid: x\n\xff\n")
    with pytest.raises(CaseError, match=r"other\.md:3: expected UTF-8, found byte 0xff"):
        read_case(path)
    path.write_bytes(b"x" * (FILE_LIMIT + 1))
    with pytest.raises(CaseError, match=rf"other\.md:1: expected at most {FILE_LIMIT} bytes"):
        read_case(path)


@given(st.text(max_size=300))
def test_any_text_is_a_case_or_a_case_error(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\nprose"):
        with pytest.raises(CaseError):
            parse_case(whole, name="x.md")


def test_yaml_without_its_c_library_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [read_case(path) for path in FILES[:5]]
    monkeypatch.setattr(head, "LOADER", yaml.SafeLoader)
    assert [read_case(path) for path in FILES[:5]] == expected
    with pytest.raises(CaseError, match=r"x\.md:4: expected YAML: "):
        parse_case("---\nid: x\ntitle: 'open\n---\nprose\n", name="x.md")


def test_text_needs_both_languages() -> None:
    with pytest.raises(ValidationError):
        Text(en="", zh="中文")
    assert Text(en="English", zh="中文").get("en") == "English"


def test_readme_example_is_a_case(taxonomy: dict[str, Any]) -> None:
    readme = (Path(casebase.__file__).with_name("README.md")).read_text(encoding="utf-8")
    found = re.search("```markdown\n(.*?)```", readme, re.S)
    assert found
    case = parse_case(found[1], name="README.md", causes=taxonomy["causes"], symptoms=taxonomy["symptoms"])
    assert [re.findall("^## (.+)$", case.prose(language), re.M) for language in ("en", "zh")] == [
        ENGLISH,
        CHINESE_SECTIONS,
    ]
    table = re.findall(r"^\| `(\w+)` \|", readme, re.M)
    assert table == [name for name in Case.model_fields if name != "body"]
