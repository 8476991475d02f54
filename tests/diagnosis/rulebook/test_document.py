"""YAML that people write: plain values, the line of each, and what is wrong with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.rulebook.document import Document, RuleError

TEXT = """\
# a comment
- cause: 'gpu.lost'
  title: {en: 'A', zh: '甲'}
  evidence:
    - when: {kind: xid,
             code: 79}
      strength: strong
  unknown:
    - 1
- second
"""


def read(text: str) -> Document:
    return Document(Path("x.yaml"), text, "x.yaml")


def test_values_are_plain() -> None:
    assert read("a: 1\nb: [on, no, 'yes', true, 1.5, null, ~]\nc: {d: x}\n").value == {
        "a": 1, "b": ["on", "no", "yes", True, 1.5, None, None], "c": {"d": "x"},
    }  # fmt: skip
    assert read("").value is None
    assert read("# only a comment\n").value is None


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ([], 2),
        ([0], 2),
        ([0, "cause"], 2),
        ([0, "title", "zh"], 3),
        ([0, "evidence"], 4),
        ([0, "evidence", 0], 5),
        ([0, "evidence", 0, "when", "code"], 6),
        ([0, "evidence", 0, "when", "int"], 5),
        ([0, "evidence", 0, "strength"], 7),
        ([0, "unknown"], 8),
        ([0, "missing"], 2),
        ([1], 10),
        ([7], 2),
    ],
)
def test_each_part_has_its_line(path: list[str | int], line: int) -> None:
    document = read(TEXT)
    assert document.line_of(path) == line
    assert document.quote(line) == TEXT.splitlines()[line - 1].strip()


def test_what_is_not_there_is_not_quoted() -> None:
    assert read(TEXT).quote(0) == read(TEXT).quote(99) == ""
    assert read("").line_of([0, "x"]) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3: key `a` stands twice"),
        ("- {a: 1,\n   a: 2}\n", "x.yaml:2: key `a` stands twice"),
        ("? [1]\n: 2\n", "x.yaml:1: a key must be a word"),
        ("a: 'open\n", "x.yaml:2: not YAML: found unexpected end of stream"),
        ("a: b: c\n", "x.yaml:1: not YAML: mapping values are not allowed in this context"),
        ("a: 1\n---\nb: 2\n", "x.yaml:2: not YAML: but found another document"),
        ("a:\n\tb: 1\n", "x.yaml:2: not YAML: found character that cannot start any token"),
        ("a: *nothing\n", "x.yaml:1: not YAML: found undefined alias"),
        ("a: &x [*x]\n", "x.yaml:1: nested deeper than 40"),
        ("[" * 45 + "]" * 45, "x.yaml:1: nested deeper than 40"),
        ("a: 1\nb: \x00", "x.yaml:2: not YAML: unacceptable character #x0000: control characters are not allowed"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(RuleError) as caught:
        read(text)
    assert caught.value.problems == [problem]


def test_aliases_of_aliases_are_bounded() -> None:
    text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 12)
    )
    with pytest.raises(RuleError, match=r"^x\.yaml:\d+: more than 200000 values$"):
        read(text)


def test_every_twin_key_is_named() -> None:
    with pytest.raises(RuleError) as caught:
        read("- {a: 1, a: 2}\n- {b: 1, b: 2}\n")
    assert caught.value.problems == ["x.yaml:1: key `a` stands twice", "x.yaml:2: key `b` stands twice"]


@pytest.mark.parametrize(
    ("data", "problem"),
    [(b"a: \xff\n", "x.yaml:1: not UTF-8"), (b"a: 1\nb: \xe6\x8e\n", "x.yaml:2: not UTF-8"), (b"#" * (2 << 20) + b"##", "x.yaml:1: 2097154 bytes; a rule file has at most 2097152")],
)  # fmt: skip
def test_a_file_that_is_no_text(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(data)
    with pytest.raises(RuleError) as caught:
        Document.read(path)
    assert caught.value.problems == [problem]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"^mine/x\.yaml:1: can't be read: No such file or directory$"):
        Document.read(tmp_path / "x.yaml", "mine/x.yaml")


_PIECES = st.sampled_from(["a: ", "- ", "\n", "  ", "{", "}", "[", "]", "'", '"', "!!int ", "!!timestamp ", "!!binary ", "!!python/name:os.system ", "&x ", "*x", "<<: ", "1", "x", "?", ":", "|", ">", "2024-13-99", "0x", "1_0", "65:00", "on"])  # fmt: skip


@given(st.lists(_PIECES, max_size=20).map("".join) | st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    problems: list[str] = []
    try:
        assert read(text).line_of([0, "a"]) >= 1
    except RuleError as error:
        problems = error.problems
    assert all(problem.startswith("x.yaml:") for problem in problems)
