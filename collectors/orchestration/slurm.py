"""Slurm's daemons and the messages of its launchers: slurmctld.log, slurmd.log, slurmstepd and srun lines.

Versions 18 to 25; log lines start `[2024-01-31T15:19:24.128] ` or stand behind journald (`slurmctld[123]: `). Samples::

    [2024-01-31T15:19:24.128] error: Setting node compute03 state to INVAL with reason:Low RealMemory (reported:1 < 100.00% of configured:2)
    [2024-02-01T10:00:00.001] validate_node_specs: Node compute01 unexpectedly rebooted boot_time=1706781000 last response=1706780000
    [2023-05-10T11:32:40.120] error: Nodes gpu-st-[1-3] not responding, setting DOWN
    slurmstepd: error: *** JOB 12345 ON node-a CANCELLED AT 2025-02-03T04:05:06 DUE TO TIME LIMIT ***
    slurmstepd: error: Detected 1 oom_kill event in StepId=12345.0. Some of the step tasks have been OOM Killed.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.identity import normalise_node
from collectors.observation import Observation
from collectors.orchestration.slurm_names import expand_nodes
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "slurm"
LAYERS = ("scheduler",)
SIGNATURES = (
    r"\bslurm(?:ctld|d|stepd|dbd)(?:\[\d+\])?: ",
    (
        r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\] (?:error: |fatal: |debug\d?: |\[\d+\.\w+\] )?"
        r"(?:sched|_slurm_rpc|_job_complete|slurmctld|slurmd|update_node|Node|Nodes|drain_nodes|validate_node|select/|launch task|"
        r"Launching|Recovered|Setting node|_start_job|backfill|job_|cleanup|SchedulerParameters|Time limit|node )"
    ),
    r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\] (?:error|fatal|debug\d?|verbose): ",
    r"^srun: (?:error|job|Job|launch)",
)
ANCHORS = (
    r"state to INVAL with reason",
    r"unexpectedly rebooted boot_time",
    r"not responding",
    r"DUE TO (?:TIME LIMIT|PREEMPTION|NODE FAILURE|JOB REQUEUE)",
    r"oom[_-]kill event",
    r"Time limit exhausted for",
    r"state set to (?:DRAIN|DOWN|FAIL)",
    r"Killing \S* ?on failed node",
    r"slurm(?:d|ctld|dbd)?: fatal: ",
    r"--signal[= ](?:[RB]+:)?\w+@\d+",
)
_NODE_FORMS = tuple(
    (code, compile_later(pattern))
    for code, pattern in (
        ("invalid", r"Setting node (?P<nodes>\S+) state to INVAL with reason: ?(?P<reason>.*)"),
        (
            "rebooted",
            r"Node (?P<nodes>\S+) unexpectedly rebooted boot_time=(?P<boot>\d+) last response=(?P<response>\d+)",
        ),
        ("down", r"Nodes (?P<nodes>\S+) not responding, setting DOWN"),
        ("not-responding", r"Nodes (?P<nodes>\S+) not responding"),
        ("drained", r"node (?P<nodes>\S+) state set to (?P<state>DRAIN|DOWN|FAIL)\w*(?: reason:? ?(?P<reason>.*))?"),
    )
)
_JOB_FORMS = tuple(
    (code, compile_later(pattern))
    for code, pattern in (
        (
            "cancelled",
            r"(?:JOB|STEP) (?P<job>\d+)\S* ON (?P<nodes>\S+) CANCELLED AT \S+ DUE TO (?P<reason>[A-Z ]+[A-Z])",
        ),
        ("time-limit", r"Time limit exhausted for (?:JobI[dD]=)?(?P<job>\d+)"),
        ("oom-kill", r"(?P<count>\d+) oom[_-]kill event(?:\(s\))? in (?:StepId=|step |StepId )(?P<job>\d+)"),
        ("node-failed", r"Killing (?:JobI[dD]=)?(?P<job>\d+)\S* on failed node (?P<nodes>\S+)"),
    )
)
_SIGNAL = compile_later(r"--signal[= ](?:[RB]+:)?(?P<signal>\w+)@(?P<seconds>\d{1,6})")
_FATAL = compile_later(r"(?P<program>slurm(?:d|ctld|dbd)): fatal: (?P<reason>.*)")


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `slurm-node` (code invalid, rebooted, down, not-responding, drained; one a node), `slurm-job`, `slurm-fatal`.

    Of a job's script or command line: `slurm-signal` (`signal`, `seconds`: sent that long before the time limit).
    """
    for code, form in _NODE_FORMS:
        match = form.search(line.text)
        if match:
            attributes = {name: value for name, value in match.groupdict().items() if value and name != "nodes"}
            for name in expand_nodes(match["nodes"].rstrip(",.")) or [match["nodes"]]:
                host = normalise_node(name)
                yield _observe(line, "slurm-node", code, f"node:{host}", host, attributes)
            return
    for code, form in _JOB_FORMS:
        match = form.search(line.text)
        if match:
            attributes = {name: value for name, value in match.groupdict().items() if value}
            nodes = expand_nodes(attributes.get("nodes", ""))
            host = normalise_node(nodes[0]) if len(nodes) == 1 else line.host
            yield _observe(line, "slurm-job", code, f"job:{match['job']}", host, attributes)
            return
    match = _SIGNAL.search(line.text)
    if match:
        yield _observe(line, "slurm-signal", match["signal"].upper(), "", "", {"seconds": match["seconds"]})
        return
    match = _FATAL.search(line.text) or _FATAL.search(line.raw)
    if match:
        yield _observe(line, "slurm-fatal", match["program"], "", line.host, {"reason": match["reason"]})


def _observe(line: Line, kind: str, code: str, entity: str, node: str, attributes: dict[str, str]) -> Observation:
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=node, entity=entity,
        attributes=attributes,
    )  # fmt: skip
