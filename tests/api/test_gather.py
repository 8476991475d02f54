"""Gathering: what may run, what is left out, and an archive that `triage` reads; by Python and by the shell script alike."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli import app
from api.gather import gather, read_port_counters, run_bounded
from api.gather_plan import Plan, Step, make_plan, read_file, split_commands
from api.gather_script import make_script
from diagnosis.engine import Knowledge
from diagnosis.model import Report
from tests.api.running import program

XID = "[Sat Jan 31 04:15:00 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=python, GPU has fallen off the bus."
TOKEN = "hf_" + "a" * 34
NEEDED = (
    "sh cat date mkdir rm mv tar gzip sed sleep uname kill grep ls hostname"  # of which the script itself needs most
)


# --- what may run


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-smi -r", "nvidia-smi --gpu-reset -i 0", "nvidia-smi -pl 300", "nvidia-smi -q -f /tmp/x", "nvidia-smi nvlink -r 0",
        "dmesg -C", "dmesg -c", "dmesg -T -C", "dmesg --clear", "journalctl --vacuum-size=1", "journalctl --rotate", "hostname other",
        "date -s now", "sysctl -w vm.x=1", "sysctl vm.x=1", "mount /dev/sda1 /mnt", "ip link set eth0 down", "ip -br link set eth0 down",
        "ethtool -s eth0 speed 10", "ethtool -K eth0 tso off", "perfquery -R", "perfquery -r", "ipmitool sel clear", "ipmitool chassis power off",
        "systemctl restart kubelet", "kubectl delete pod x", "kubectl exec x -- id", "kubectl get secrets -A", "kubectl get pods,secrets -A",
        "kubectl get pods -A -o yaml", "kubectl get configmap -A", "kubectl get nodes -A -w", "kubectl describe pod x", "kubectl logs x -f",
        "kubectl -n default logs x", "kubectl apply -f x", "scontrol update node=x", "sdiag -r", "scancel 1", "dcgmi diag -r 3",
        "dcgmi health -s a", "cat /etc/shadow", "cat /root/.kube/config", "cat /proc/1/environ", "cat /proc/driver/nvidia/../../1/environ",
        "cat /sys/class/net/../../../../etc/shadow", "cat /dev/sda", "grep -r . /etc", "ps -ef", "ps -eo pid,args", "env", "printenv", "bash -c id",
        "sh", "fuser -k /dev/nvidia*", "smartctl -t long /dev/sda", "nvme format /dev/nvme0", "lctl set_param x=1", "ceph osd out 1",
        "modinfo -F", "rm -rf /", "lspci > /tmp/x", "lspci; id", "last -f /etc/shadow", "nvidia-smi -q  -r", "hostname -F /etc/x",
        "mlnx_qos -i eth0 --pfc 0,0,0,1", "mlxconfig -d x set A=1", "crictl info", "docker inspect x", "curl http://x",
    ],
)  # fmt: skip
def test_what_changes_or_tells_too_much_is_never_run(line: str) -> None:
    _, allowed = read_file()
    assert not allowed.permits(tuple(line.split()))


@pytest.mark.parametrize(
    "arguments", [(), ("dmesg", "-T\n-C"), ("nvidia-smi", "-q -r"), ("sysctl", "a b"), ("cat", "")]
)
def test_nothing_hides_inside_an_argument(arguments: tuple[str, ...]) -> None:
    _, allowed = read_file()
    assert not allowed.permits(arguments)


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-smi", "nvidia-smi -q", "nvidia-smi -q -d ECC,ROW_REMAPPER -i 0", "dmesg -T", "ibstat", "perfquery -x", "df -h / /var/lib/kubelet",
        "kubectl get events -A --field-selector reason=FailedCreate", "kubectl get nodes -o yaml", "kubectl describe nodes",
        "kubectl get pods -A -o wide", "journalctl -u kubelet -n 50 --no-pager", "scontrol show node", "cat /proc/cmdline",
        "grep . /sys/devices/system/edac/mc/mc*/*_count", "lspci -nnk -d 10de:", "ls -l /dev/infiniband", "sinfo -R", "ethtool -S eth0",
    ],
)  # fmt: skip
def test_what_only_reads_may_run(line: str) -> None:
    _, allowed = read_file()
    assert allowed.permits(tuple(line.split()))


def test_a_shell_line_is_taken_apart() -> None:
    line = (
        'dmesg -T | grep -E "a;b" | head || lspci -vv; nc -vz <peer> 54263; cat x > /proc/sysrq-trigger; echo "unclosed'
    )
    assert list(split_commands(line)) == []
    found = list(split_commands(line.rpartition(";")[0]))
    assert found[:2] == [("dmesg", "-T"), ("lspci", "-vv")]
    _, allowed = read_file()
    assert [one for one in found[2:] if allowed.permits(one)] == []
    assert ("/proc/sysrq-trigger",) not in found


def test_the_plan_is_the_fixed_list_and_the_checks_of_the_symptom(knowledge: Knowledge) -> None:
    _, allowed = read_file()
    whole = make_plan(knowledge.rulebook, wanted=["node", "cluster"])
    narrow = make_plan(knowledge.rulebook, wanted=["node"], symptoms=["nccl-hang"])
    assert {step.on for step in narrow.steps} == {"node"}
    assert len(narrow.steps) < len(whole.steps)
    assert len({step.name for step in whole.steps}) == len(whole.steps)
    commands = [step.command for step in whole.steps]
    for wanted in (
        "nvidia-smi -q",
        "dmesg -T",
        "ibstat",
        "ibv_devinfo -v",
        "kubectl describe nodes",
        "squeue -l",
        "df -h",
        "mount",
    ):
        assert wanted in commands
    for step in whole.steps:
        assert allowed.permits(tuple(word.replace("{netdev}", "eth0") for word in step.arguments))
    assert ("env", "not on the list of commands that only read") in whole.left_out


# --- a machine of small scripts


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with small real programs, and a /sys with one InfiniBand port and one network card."""
    folder = tmp_path / "bin"
    folder.mkdir()
    scripts = {
        "dmesg": f"echo '{XID}'",
        "nvidia-smi": 'case "$*" in *-q*) echo "$$" > "$0.pid"; sleep 60;; *) echo "No devices were found";; esac',
        "kubectl": f"echo 'HF_TOKEN={TOKEN}'; env",
        "ethtool": "echo 'NIC statistics:'; echo '     rx_discards_phy: 7'",
        "ibstat": "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
        "mount": "echo broken >&2; exit 3",
    }
    for name, body in scripts.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
        path.chmod(0o755)
    for name in NEEDED.split():
        (folder / name).symlink_to(shutil.which(name) or program("busybox"))
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    (port / "counters").mkdir(parents=True)
    (port / "counters/link_downed").write_text("3\n", "ascii")
    (port / "counters/text").write_text("N/A\n", "ascii")
    (tmp_path / "sys/class/net/eth0/device").mkdir(parents=True)
    (tmp_path / "sys/class/net/lo").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("MY_PASSWORD", "swordfish-1234")
    return tmp_path


def small_plan(plan: Plan) -> Plan:
    """Return the plan with tight limits, and only what the machine has or lacks in an interesting way."""
    programs = ("dmesg", "nvidia-smi", "kubectl", "ethtool", "ibstat", "mount", "lspci")
    steps = tuple(replace(step, seconds=2) for step in plan.steps if step.arguments[0] in programs)
    keep = [step for step in steps if step.command in ("dmesg -T", "nvidia-smi", "nvidia-smi -q", "kubectl describe nodes", "ethtool -S {netdev}", "ibstat", "mount", "lspci -vv")]  # fmt: skip
    return Plan(tuple(keep), plan.left_out, plan.limits.model_copy(update={"apart": 1, "bytes": 100_000}))


def members_of(path: Path) -> dict[str, str]:
    with tarfile.open(path) as archive:
        return {
            member.name.partition("/")[2]: (archive.extractfile(member) or sys.stdin.buffer).read().decode()
            for member in archive
            if member.isfile()
        }


def check(members: dict[str, str], path: Path) -> None:
    """Check what either way of gathering promises."""
    listed = members["gather.txt"]
    assert "dmesg-T.txt | ok" in listed
    assert "mount.txt | exit 3" in listed and "broken" in members["mount.txt"]
    assert "lspci-vv.txt | absent" in listed and "lspci-vv.txt" not in members
    assert "nvidia-smi-q.txt | stopped after 2 s" in listed
    assert "xxxx" in members["ibstat.txt"] and len(members["ibstat.txt"]) < 220_000
    assert TOKEN not in "".join(members.values())
    assert "HF_TOKEN=[hugging-face-token hidden]" in members["kubectl-describe-nodes.txt"]
    assert members["kubectl-describe-nodes.txt"].startswith("$ kubectl describe nodes\n")
    assert members["infiniband-counters-1.txt"].splitlines()[2] == "link_downed 3"
    assert "text" not in members["infiniband-counters-2.txt"]
    for turn in (1, 2):
        assert "rx_discards_phy: 7" in members[f"ethtool-S-eth0-{turn}.txt"]
    assert members["ethtool-S-eth0-1.txt"].splitlines()[1] < members["ethtool-S-eth0-2.txt"].splitlines()[1]
    result = CliRunner().invoke(app, ["triage", "--json", str(path)])
    report = Report.model_validate_json(result.stdout)
    assert report.causes[0].cause == "gpu.fell-off-bus"
    assert report.causes[0].evidence[0].input.endswith("/dmesg-T.txt")
    assert "node-7" in report.causes[0].entity


def test_what_python_gathers(machine: Path, knowledge: Knowledge) -> None:
    plan = small_plan(make_plan(knowledge.rulebook, wanted=["node", "cluster"]))
    path = machine / "out.tar.gz"
    counts = gather(plan, path, host="node-7", sys_folder=machine / "sys")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    members = members_of(path)
    check(members, path)
    assert "swordfish" not in "".join(members.values())
    assert counts["absent"] == 1 and counts["stopped"] == 1
    assert [one.name for one in machine.glob(".faultwalk*")] == []
    pid = int((machine / "bin/nvidia-smi.pid").read_text("ascii"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("shell", ["sh", "dash"])
def test_what_the_script_gathers(machine: Path, knowledge: Knowledge, shell: str) -> None:
    interpreter = shutil.which(shell, path="/bin:/usr/bin")
    assert interpreter is not None
    script, path = machine / "gather.sh", machine / "out.tar.gz"
    script.write_text(make_script(small_plan(make_plan(knowledge.rulebook, wanted=["node", "cluster"]))), "utf-8")
    (machine / "bin/hostname").unlink()
    (machine / "bin/hostname").write_text("#!/bin/sh\necho node-7.example.com\n", "utf-8")
    (machine / "bin/hostname").chmod(0o755)
    environment = {"PATH": str(machine / "bin"), "TMPDIR": str(machine), "FAULTWALK_SYS": str(machine / "sys")}
    done = subprocess.run(
        [interpreter, str(script), str(path)], env=environment, capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == str(path)
    check(members_of(path), path)
    assert [one.name for one in machine.glob("faultwalk-gather*")] == []


def test_the_whole_script_is_a_script(knowledge: Knowledge, tmp_path: Path) -> None:
    script = tmp_path / "gather.sh"
    script.write_text(CliRunner().invoke(app, ["gather", "--script"]).stdout, "utf-8")
    assert script.read_text("utf-8").startswith("#!/bin/sh\n")
    for shell in ("/bin/sh", program("dash")):
        subprocess.run([shell, "-n", str(script)], check=True)
    for step in make_plan(knowledge.rulebook, wanted=["node", "cluster"]).steps:
        assert f" {step.seconds} {step.arguments[0]}" in script.read_text("utf-8")


# --- bounds


def test_output_and_time_are_bounded() -> None:
    environment = {"PATH": "/usr/bin:/bin"}
    began = time.monotonic()
    slow = run_bounded(["/bin/sh", "-c", "trap '' TERM; echo begun; sleep 60"], 0.5, 1000, environment)
    assert (slow.status, slow.output) == ("stopped after 0.5 s", b"begun\n")
    long = run_bounded(["/bin/sh", "-c", "while :; do echo aaaaaaaaaaaaaaaa; done"], 20, 1000, environment)
    assert (long.status, len(long.output)) == ("cut", 1000)
    assert time.monotonic() - began < 15
    assert run_bounded(["/nowhere"], 1, 10, environment).status == "can't be started: No such file or directory"


def test_a_program_that_hangs_is_not_started_again_and_again(machine: Path, knowledge: Knowledge) -> None:
    limits = make_plan(knowledge.rulebook, wanted=["node"]).limits
    steps = tuple(Step(f"q-{number}", "node", ("nvidia-smi", "-q"), 1) for number in range(4))
    gather(Plan(steps, (), limits), machine / "o.tar.gz", host="a", with_counters=False)
    listed = members_of(machine / "o.tar.gz")["gather.txt"]
    assert listed.count("stopped after 1 s") == 2 and listed.count("not started again") == 2


def test_no_port_no_counters(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    assert read_port_counters(tmp_path, datetime.now(UTC)) == ""


# --- the command


def test_a_dry_run_lists_and_runs_nothing(machine: Path) -> None:
    result = CliRunner().invoke(app, ["gather", "--dry-run", "--cluster", "--symptom", "pod-pending"])
    assert result.exit_code == 0
    assert "cluster: kubectl describe nodes" in result.stdout
    assert "node: " not in result.stdout
    assert "left out: " in result.stdout
    assert list(machine.glob("*.tar.gz")) == []


def test_what_means_nothing_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["gather", "--symptom", "sadness"])
    assert result.exit_code == 2
    assert result.stderr.startswith("faultwalk: --symptom sadness: expected one of ")
    result = CliRunner().invoke(app, ["gather", "--node", "--quiet", "-o", str(tmp_path / "no" / "x.tar.gz")])
    assert (result.exit_code, result.stderr) == (2, f"faultwalk: {tmp_path / 'no' / 'x.tar.gz'}: can't be written: No such file or directory\n")  # fmt: skip
