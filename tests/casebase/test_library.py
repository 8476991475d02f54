"""Many cases: loading a folder, finding by id, cause and words."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from casebase.case import Case, CaseError
from casebase.library import SHIPPED, Library, load_cases
from casebase.words import words


def test_shipped_cases_load_against_the_taxonomy(taxonomy: dict[str, Any]) -> None:
    library = load_cases(causes=taxonomy["causes"], symptoms=taxonomy["symptoms"])
    assert [case.id for case in library.all()] == sorted(path.stem for path in SHIPPED.glob("*.md"))


def test_library_is_ordered_and_finds_by_id(make_case: Callable[..., Case]) -> None:
    cases = [make_case("c"), make_case("a"), make_case("b")]
    library = Library(tuple(cases))
    assert [case.id for case in library] == ["a", "b", "c"]
    assert library.get("b") == cases[2]
    assert library.get("d") is None
    assert "a" in library
    assert len(library) == 3
    assert library == Library(tuple(reversed(cases)))


def test_two_cases_with_one_id_are_refused(make_case: Callable[..., Case]) -> None:
    with pytest.raises(ValueError, match="expected each case once, found 'a' again"):
        Library((make_case("a"), make_case("a", cause="gpu.init-failure")))


def test_extended_library_prefers_the_newcomer(make_case: Callable[..., Case]) -> None:
    ours = Library((make_case("a"), make_case("b")))
    both = ours.extended(Library((make_case("b", cause="gpu.init-failure"), make_case("c"))))
    assert [(case.id, case.cause) for case in both] == [
        ("a", "gpu.fell-off-bus"),
        ("b", "gpu.init-failure"),
        ("c", "gpu.fell-off-bus"),
    ]
    assert len(ours) == 2


def test_found_by_cause_and_by_accompanying_cause(make_case: Callable[..., Case]) -> None:
    library = Library((make_case("b"), make_case("a", cause="pcie.aer", also="gpu.fell-off-bus")))
    assert [case.id for case in library.with_cause("gpu.fell-off-bus")] == ["a", "b"]
    assert library.with_cause("gpu.init-failure") == ()


def test_folder_with_mistakes_tells_all_of_them(tmp_path: Path, case_text: Callable[..., str]) -> None:
    (tmp_path / "a.md").write_text(case_text("a", cause="gpu.lost"), encoding="utf-8")
    (tmp_path / "b.md").write_text("prose only", encoding="utf-8")
    (tmp_path / "c.md").write_text(case_text("c"), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no case", encoding="utf-8")
    (tmp_path / "d.md").mkdir()
    with pytest.raises(CaseError) as caught:
        load_cases(tmp_path, causes=["gpu.fell-off-bus"])
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/a.md:4: expected a known cause, found 'gpu.lost'",
        f"{tmp_path}/b.md:1: expected '---' as the first line, then the YAML head",
    ]


def test_unknown_symptom_is_refused_with_its_line(tmp_path: Path, case_text: Callable[..., str]) -> None:
    (tmp_path / "a.md").write_text(case_text("a", symptoms="gpu-gone"), encoding="utf-8")
    with pytest.raises(
        CaseError, match=r"a\.md:7: expected a known symptom, found 'gpu-gone'; did you mean 'gpu-lost'\?"
    ):
        load_cases(tmp_path, symptoms=["gpu-lost", "nccl-hang"])
    assert len(load_cases(tmp_path)) == 1


def test_missing_folder_is_an_error_and_an_empty_one_is_not(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="expected a folder of cases"):
        load_cases(tmp_path / "none")
    assert load_cases(tmp_path).all() == ()
    assert load_cases(tmp_path).search("xid") == ()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Xid 79", "xid79-node-rejects-eight-gpu-pods"),
        ("xid:79", "xid79-node-rejects-eight-gpu-pods"),
        ("掉卡", "xid79-node-rejects-eight-gpu-pods"),
        ("nfs server not responding", "nfs-server-stall-behind-watchdog"),
        ("ＮＦＳ 无响应", "nfs-server-stall-behind-watchdog"),
        ("/dev/shm No space left on device", "shm-64mb-in-pod"),
        ("runtime.memlock-limit", "memlock-limit-not-in-force"),
        ("检查点 配额", "checkpoint-over-disk-quota"),
        ("NVIDIA/nccl issue 1405", "host-oom-behind-ib-status-12"),
    ],
)
def test_search_finds_in_both_languages(shipped: Library, text: str, first: str) -> None:
    assert shipped.search(text)[0].id == first


def test_search_for_nothing_known_finds_nothing(shipped: Library) -> None:
    for text in ("", "the of and", "zzzzqqqq", "\x00\ud800", "。，"):
        assert shipped.search(text) == ()
    assert shipped.search("xid", limit=0) == shipped.search("xid", limit=-1) == ()
    assert len(shipped.search("gpu", limit=2)) == 2


def test_search_takes_a_long_paste(shipped: Library) -> None:
    assert shipped.search("Watchdog caught collective operation timeout " * 10_000)


def test_search_does_not_depend_on_the_order_of_cases(shipped: Library) -> None:
    queries = ("timeout", "connection closed", "内存 不足", "gpu pod node")
    expected = [[case.id for case in shipped.search(query)] for query in queries]
    for seed in range(3):
        cases = list(shipped)
        random.Random(seed).shuffle(cases)
        library = Library(tuple(cases))
        assert [[case.id for case in library.search(query)] for query in queries] == expected


def test_words_go_whole_and_in_parts() -> None:
    assert words("gpu.fell-off-bus") == ["gpu.fell-off-bus", "gpu", "fell", "off", "bus"]
    assert words("显存不足 a 卡") == ["显存", "存不", "不足", "卡"]
    assert words("显存", single=True) == ["显存", "显", "存"]
