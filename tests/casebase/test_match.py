"""Which case is cited, how similar it is called, and why."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebase.case import CHINESE, Case
from casebase.library import Library
from casebase.match import Citation, cite
from casebase.phrases import SYMPTOMS, listed, name

Make = Callable[..., Case]
LOST = "gpu.fell-off-bus"


@pytest.fixture
def library(make_case: Make) -> Library:
    return Library(
        (
            make_case("plain", signals="'xid:79', nccl.peer-died", symptoms="gpu-lost"),
            make_case("admission", signals="'xid:79', 'kube:UnexpectedAdmissionError'", symptoms="pod-start-failure"),
            make_case("beside", cause="pcie.aer", also=LOST, signals="'xid:79', pcie.aer", symptoms="gpu-lost"),
            make_case("other", cause="node.host-oom", signals="nccl.peer-died", symptoms="job-crash"),
        )
    )


def ids(citations: list[Citation]) -> list[str]:
    return [citation.case for citation in citations]


def test_same_cause_comes_first_and_others_never(library: Library) -> None:
    found = cite(library, LOST, signals=["xid:79", "nccl.peer-died"], symptoms=["gpu-lost", "job-crash"])
    assert ids(found) == ["plain", "admission", "beside"]
    assert found[0].title == "The plain"
    assert found[0].similarity > 0.8
    assert cite(library, "app.cuda-oom", signals=["xid:79"], symptoms=["gpu-lost"]) == []


def test_everything_shared_is_one_and_nothing_shared_is_little(library: Library) -> None:
    [first, *_] = cite(library, LOST, signals=["xid:79", "nccl.peer-died"], symptoms=["gpu-lost"])
    assert (first.case, first.similarity) == ("plain", 1.0)
    found = cite(library, LOST, signals=[], symptoms=[])
    assert [(citation.case, citation.similarity) for citation in found] == [("admission", 0.3), ("plain", 0.3)]
    assert found[0].why == "Same root cause; the other signs of that case were not seen here."


def test_rare_signals_weigh_more_than_common_ones(library: Library) -> None:
    found = cite(library, LOST, signals=["kube:UnexpectedAdmissionError"], symptoms=[])
    common = cite(library, LOST, signals=["xid:79"], symptoms=[])
    assert found[0].case == "admission"
    assert found[0].similarity > next(citation.similarity for citation in common if citation.case == "admission")


def test_what_no_case_knows_changes_nothing(library: Library) -> None:
    seen = ["xid:79", "nccl.peer-died"]
    expected = cite(library, LOST, signals=seen, symptoms=["gpu-lost"])
    assert cite(library, LOST, signals=[*seen, "vendor:new", LOST], symptoms=["gpu-lost"]) == expected


def test_accompanying_cause_needs_something_shared(library: Library) -> None:
    assert "beside" not in ids(cite(library, LOST, signals=["nccl.peer-died"], symptoms=[]))
    found = cite(library, LOST, signals=["xid:79", "pcie.aer"], symptoms=[], language="en")
    beside = next(citation for citation in found if citation.case == "beside")
    assert beside.similarity <= 0.5
    assert (
        beside.why == "That case ended at pcie.aer, with gpu.fell-off-bus beside it; both showed pcie.aer and Xid 79."
    )


def test_why_reads_well_in_both_languages(library: Library) -> None:
    seen = {"signals": ["XID:79", "kube:unexpectedadmissionerror"], "symptoms": ["pod-start-failure"]}
    english, chinese = (cite(library, LOST, language=language, limit=1, **seen)[0] for language in ("en", "zh"))  # type: ignore[arg-type]
    assert english.why == (
        "Same root cause; both showed event UnexpectedAdmissionError, a pod that could not start and Xid 79."
    )
    assert chinese.why == "根因相同；两次都看到：UnexpectedAdmissionError 事件、Pod 启动失败、Xid 79。"
    assert (english.similarity, chinese.title) == (chinese.similarity, "案例 admission")


def test_callers_names_are_used(library: Library) -> None:
    names = {"nccl.peer-died": "a peer that died"}
    [first, *_] = cite(library, LOST, signals=["nccl.peer-died"], symptoms=[], names=names)
    assert first.why == "Same root cause; both showed a peer that died."


def test_limit_and_ties_by_id(make_case: Make) -> None:
    library = Library(tuple(make_case(case_id) for case_id in ("c", "a", "d", "b")))
    assert ids(cite(library, LOST, signals=["xid:79"], symptoms=[])) == ["a", "b", "c"]
    assert ids(cite(library, LOST, signals=["xid:79"], symptoms=[], limit=1)) == ["a"]
    assert cite(library, LOST, signals=["xid:79"], symptoms=[], limit=0) == []


def test_order_of_anything_does_not_matter(shipped: Library) -> None:
    signals = ["nccl.timeout-unexplained", "nccl.peer-died", "app.cuda-oom", "kube:FailedScheduling", "xid:79"]
    symptoms = ["nccl-hang", "job-crash", "pod-pending"]
    causes = sorted({case.cause for case in shipped})
    expected = [cite(shipped, cause, signals=signals, symptoms=symptoms) for cause in causes]
    for seed in range(3):
        shuffle = random.Random(seed).shuffle
        cases = list(shipped)
        for items in (cases, signals, symptoms):
            shuffle(items)
        library = Library(tuple(cases))
        assert [cite(library, cause, signals=set(signals), symptoms=symptoms) for cause in causes] == expected


def test_each_shipped_case_is_most_like_itself(shipped: Library) -> None:
    for case in shipped:
        found = cite(shipped, case.cause, signals=case.signals, symptoms=case.symptoms, language="zh")
        assert (found[0].case, found[0].similarity) == (case.id, 1.0)
        assert CHINESE.search(found[0].why)
        assert CHINESE.search(found[0].title)


@given(st.data())
def test_similarity_stays_between_zero_and_one(shipped: Library, data: st.DataObject) -> None:
    known = sorted(shipped.spread)
    cause = data.draw(st.sampled_from(sorted({cause for case in shipped for cause in (case.cause, *case.also)})))
    seen = data.draw(st.lists(st.sampled_from(known) | st.text(max_size=8), max_size=12))
    for citation in cite(shipped, cause, signals=seen, symptoms=seen, limit=100):
        assert 0 < citation.similarity <= 1


def test_every_symptom_has_a_name_in_both_languages(taxonomy: dict[str, Any]) -> None:
    assert list(SYMPTOMS) == list(taxonomy["symptoms"])
    assert all(CHINESE.search(chinese) for _, chinese in SYMPTOMS.values() if chinese != "节点 NotReady")


def test_names_and_lists() -> None:
    assert [
        name(code, "en") for code in ("sxid:12028", "kube:BackOff", "errno:122", "vendor:x", "gpu.power-brake")
    ] == [
        "SXid 12028",
        "event BackOff",
        "errno 122",
        "vendor:x",
        "gpu.power-brake",
    ]
    assert listed(["a"], "en") == "a"
    assert listed(["a", "b", "c", "d", "e", "f"], "en") == "a, b, c, d and 2 more"
    assert listed(["a", "b", "c", "d", "e", "f"], "zh") == "a、b、c、d等 6 项"
