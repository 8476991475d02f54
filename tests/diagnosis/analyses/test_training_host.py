"""Slow ranks, memory that grows, GPU use, CPU throttling and the loading of weights."""

from __future__ import annotations

from collectors.observation import Observation, Sample
from diagnosis.analyses import cpu_throttling, gpu_use, memory_trend, outages, slow_rank, weights_load
from diagnosis.facts import Facts


def step(line: int, **values: float) -> Observation:
    attributes = {name: f"{value:g}" for name, value in values.items()}
    rank = attributes.get("rank", "")
    return Observation(
        "training", "step", "a", line, line, "step", entity=f"rank:{rank}" if rank else "", attributes=attributes
    )


def series(metric: str, values: list[float], **labels: str) -> list[Sample]:
    return [
        Sample("series", metric, value, "a", line, time=60.0 * line, labels=labels)
        for line, value in enumerate(values, 2)
    ]


def test_one_slow_rank_of_four() -> None:
    rows = [
        step(10 * at + rank, rank=rank, gpu=rank, forward_ms=212 if rank == 2 else 119, step_ms=628)
        for at in range(3)
        for rank in range(4)
    ]
    ((found, because),) = list(slow_rank.derive(Facts(rows)))
    assert (found.entity, found.code, found.attributes["gpu"]) == ("rank:2", "compute", "2")
    assert {one.attributes["rank"] for one in because} == {"2"}
    even = [step(10 * at + rank, rank=rank, forward_ms=119 + rank, step_ms=628) for at in range(3) for rank in range(4)]
    assert list(slow_rank.derive(Facts(even))) == []


def test_memory_that_only_grows() -> None:
    grows = Facts([], series("main_rss_gib", [6, 10, 14, 18, 22, 26]))
    ((found, because),) = list(memory_trend.derive(grows))
    assert (found.code, found.attributes["factor"], [one.line for one in because]) == ("growing", "4.333", [2, 7])
    shrinks = Facts([], series("mem_available_gib", [76, 66, 56, 47, 37, 28]))
    assert [one.code for one, _ in memory_trend.derive(shrinks)] == ["shrinking"]


def test_a_plateau_or_gpu_memory_is_no_leak() -> None:
    for name, values in (
        ("main_rss_gib", [6, 10, 10.1, 9.9, 10, 10.1]),
        ("gpu_memory_used", [1, 2, 3, 4, 5, 6]),
        ("main_rss_gib", [6, 9, 12]),
    ):
        assert list(memory_trend.derive(Facts([], series(name, list(values))))) == []


def test_gpu_use_from_exporter_and_table() -> None:
    samples = [
        Sample("metrics", name, value, "a", line, entity="gpu:0000:3b:00.0", node="n", labels={"pod": "p"})
        for line, (name, value) in enumerate(
            (("DCGM_FI_DEV_GPU_UTIL", 3.0), ("DCGM_FI_DEV_FB_USED", 900.0), ("DCGM_FI_DEV_FB_FREE", 100.0)), 1
        )
    ]
    ((found, because),) = list(gpu_use.derive(Facts([], samples)))
    assert (found.attributes["utilization"], found.attributes["memory_share"], found.attributes["pod"]) == (
        "3",
        "0.9",
        "p",
    )
    assert [one.line for one in because] == [1]
    row = Observation(
        "nvidia-smi",
        "gpu_row",
        "a",
        1,
        2,
        "row",
        entity="gpu:0000:3b:00.0",
        attributes={"util": "97%", "used": "900MiB", "total": "1000MiB"},
    )
    ((found, _),) = list(gpu_use.derive(Facts([row])))
    assert (found.attributes["utilization"], found.attributes["memory_share"]) == ("97", "0.9")


def test_cpu_throttling_over_the_window() -> None:
    samples = series("container_cpu_cfs_throttled_periods_total", [1000, 1800], pod="p") + series(
        "container_cpu_cfs_periods_total", [9000, 10000], pod="p"
    )
    ((found, _),) = list(cpu_throttling.derive(Facts([], samples)))
    assert (found.attributes["share"], found.entity) == ("0.800", "pod:p")
    assert list(cpu_throttling.derive(Facts([], series("container_cpu_cfs_throttled_periods_total", [1.0])))) == []


def test_how_long_weights_took() -> None:
    start = Observation("serving", "weights", "a", 1, 1, "start", code="start", time=0.0)
    done = Observation("serving", "weights", "a", 2, 2, "done", code="done", time=7166.0, attributes={"gib": "33.9"})
    later = Observation("serving", "weights", "a", 3, 3, "done", code="done", time=7259.0, attributes={"gib": "33.9"})
    ((found, because),) = list(weights_load.derive(Facts([start, done, later])))
    assert (found.attributes["seconds"], found.attributes["mib_per_second"]) == ("7259", "4.8")
    assert [one.line for one in because] == [1, 3, 2]


def server(line: int, code: str, time: float | None = None, **attributes: str) -> Observation:
    return Observation(
        "storage",
        "file-server",
        "a",
        line,
        line,
        "nfs",
        code=code,
        time=time,
        attributes={"system": "nfs", **attributes},
    )


def test_outage_of_a_file_server() -> None:
    lines = [server(1, "silent", 100.0), server(2, "silent", 100.0), server(3, "back", 103.0), server(4, "back", 103.0),
             server(5, "silent", 900.0)]  # fmt: skip
    found = list(outages.derive(Facts(lines)))
    assert [(one.attributes["brief"], one.attributes["ended"], len(because)) for one, because in found] == [
        ("yes", "yes", 2), ("no", "no", 1),
    ]  # fmt: skip


def test_outage_measured_by_uptime_or_not_at_all() -> None:
    by_uptime = [server(1, "silent", uptime="123.1"), server(2, "back", uptime="1323.1")]
    ((one, _),) = outages.derive(Facts(by_uptime))
    assert (one.attributes["brief"], one.attributes["seconds"]) == ("no", "1200")
    ((one, _),) = outages.derive(Facts([server(1, "silent"), server(2, "back")]))
    assert one.attributes["brief"] == "unknown"


def process(line: int, rss: float, pid: str = "212") -> Observation:
    attributes = {"pid": pid, "rss": f"{rss:g}", "command": "worker"}
    return Observation("host", "process", "a", line, line, "row", entity=f"process:{pid}", attributes=attributes)


def test_a_process_that_grows_from_one_answer_of_ps_to_the_next() -> None:
    grown = [process(line, 2**30 * line) for line in range(2, 7)]
    ((found, because),) = list(memory_trend.derive(Facts(grown)))
    assert (found.code, found.entity, found.attributes["factor"]) == ("growing", "process:212", "3.000")
    assert [one.line for one in because] == [2, 6]
    assert not list(memory_trend.derive(Facts(grown[:3])))
    assert not list(memory_trend.derive(Facts([*grown, process(9, 2**30)])))
    assert not list(memory_trend.derive(Facts([process(line, 2**20 * line) for line in range(2, 7)])))
