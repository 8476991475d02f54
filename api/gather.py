"""`faultwalk gather`: run what reads, change nothing, and pack what was printed into one archive that `triage` reads."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from api.command import fail
from api.gather_plan import Plan, Step, Where, make_plan
from api.gather_script import make_script
from api.progress import Progress
from collectors.identity import normalise_node
from diagnosis.redaction import hide_secrets
from diagnosis.rulebook import RuleError, load_rulebook

_KEPT_VARIABLES = ("PATH", "HOME", "KUBECONFIG", "SLURM_CONF", "USER")
_TIMEOUTS = 2  # of one program, after which it is not started again
_GRACE = 2.0  # seconds that a stopped program has to end


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command went: a few words, what it printed, and how long it took."""

    status: str
    output: bytes = b""
    seconds: float = 0.0


def run(
    *,
    symptoms: list[str],
    node: bool,
    cluster: bool,
    output: Path | None,
    script: bool,
    dry_run: bool,
    quiet: bool,
    rules: Path | None,
) -> None:
    """Run the command; exits with 2 and one clear line when something can't be used."""
    try:
        rulebook = load_rulebook(extra=rules, cached=True)
    except RuleError as error:
        raise fail("the rules have problems:\n" + str(error)) from error
    unknown = [name for name in symptoms if name not in rulebook.vocabulary.symptoms]
    if unknown:
        raise fail(f"--symptom {unknown[0]}: expected one of {', '.join(rulebook.vocabulary.symptoms)}")
    wanted: list[Where] = [*(["node"] if node or not cluster else []), *(["cluster"] if cluster or not node else [])]  # type: ignore[list-item]
    plan = make_plan(rulebook, wanted=wanted, symptoms=symptoms)
    if script:
        sys.stdout.write(make_script(plan))
        return
    if dry_run:
        for step in plan.steps:
            print(f"{step.on}: {step.command}")
        for command, reason in plan.left_out:
            print(f"left out: {command} ({reason})")
        return
    host = normalise_node(socket.gethostname()) or "host"
    now = datetime.now(UTC)
    path = output or Path(f"faultwalk-{host}-{now:%Y%m%dT%H%M%SZ}.tar.gz")
    try:
        with Progress(quiet=quiet) as progress:
            counts = gather(plan, path, host=host, with_counters="node" in wanted, progress=progress)
    except OSError as error:
        raise fail(f"{path}: can't be written: {error.strerror}") from error
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    print(f"{path}: {told}")
    print(f"Diagnose it: faultwalk triage {path}")


def gather(
    plan: Plan,
    path: Path,
    *,
    host: str,
    with_counters: bool = True,
    sys_folder: Path = Path("/sys"),
    progress: Progress | None = None,
) -> Mapping[str, int]:
    """Run a plan and write the archive, whole or not at all; return how many commands went which way."""
    progress = progress or Progress(quiet=True)
    runner = _Runner(plan)
    steps = [one for step in plan.steps for one in _spread(step, sys_folder)]
    repeated = [one for one in steps if one.twice]
    progress.phase("gathering", len(steps) + len(repeated))
    handle, temporary = tempfile.mkstemp(prefix=".faultwalk-", dir=path.parent)  # readable by its owner only
    try:
        with os.fdopen(handle, "wb") as stream, tarfile.open(fileobj=stream, mode="w:gz") as archive:
            members = _Members(archive, host)
            began = time.monotonic()
            _read_twice(runner, members, repeated, 1, sys_folder if with_counters else None, progress)
            for step in steps:
                if not step.twice:
                    members.add_step(step, step.name, runner.run(step), stamp=False)
                    progress.advance()
            if repeated or (with_counters and any((sys_folder / "class/infiniband").glob("*"))):
                time.sleep(max(0.0, plan.limits.apart - (time.monotonic() - began)))
                _read_twice(runner, members, repeated, 2, sys_folder if with_counters else None, progress)
            members.add("gather", members.list_all())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return members.counts


def _spread(step: Step, sys_folder: Path) -> Iterator[Step]:
    """Yield a step, or one for each network card of the host."""
    if not step.each:
        yield step
        return
    for device in sorted((sys_folder / "class" / "net").glob("*")):
        if (device / "device").exists() and re.fullmatch(r"[A-Za-z][\w.-]*", device.name):
            arguments = tuple(part.replace("{netdev}", device.name) for part in step.arguments)
            yield Step(f"{step.name}-{device.name}", step.on, arguments, step.seconds, "", step.twice)


def _read_twice(
    runner: _Runner, members: _Members, steps: Collection[Step], turn: int, sys_folder: Path | None, progress: Progress
) -> None:
    if sys_folder is not None:
        text = read_port_counters(sys_folder, datetime.now(UTC))
        if text:
            members.add(f"infiniband-counters-{turn}", f"root@{members.host}:~# read_counters\n{text}")
    for step in steps:
        members.add_step(step, f"{step.name}-{turn}", runner.run(step), stamp=True)
        progress.advance()


def read_port_counters(sys_folder: Path, now: datetime) -> str:
    """Return the counters of all InfiniBand and RoCE ports, with the time of the reading."""
    lines: list[str] = []
    for port in sorted((sys_folder / "class" / "infiniband").glob("*/ports/*")):
        lines.append(f"# {now:%Y-%m-%dT%H:%M:%SZ} {port.parts[-3]} port {port.name}")
        for file in sorted([*port.glob("counters/*"), *port.glob("hw_counters/*")]):
            try:
                value = file.read_text("ascii", "replace").strip()
            except OSError:
                continue
            if value.isdigit():
                lines.append(f"{file.name} {value}")
    return "\n".join(lines) + "\n" if lines else ""


class _Runner:
    """Runs commands one after the other; a program that hangs is not started again and again."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._hung: dict[str, int] = {}
        self._environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ} | {"LC_ALL": "C"}

    def run(self, step: Step) -> Outcome:
        program = shutil.which(step.arguments[0])
        if program is None:
            return Outcome("absent")
        if self._hung.get(step.arguments[0], 0) >= _TIMEOUTS:
            return Outcome("not started again")
        arguments = [part for word in step.arguments[1:] for part in _spell_out(word)]
        outcome = run_bounded([program, *arguments], step.seconds, self._plan.limits.bytes, self._environment)
        if outcome.status.startswith("stopped"):
            self._hung[step.arguments[0]] = self._hung.get(step.arguments[0], 0) + 1
        return outcome


def _spell_out(word: str) -> list[str]:
    """Return the files that a pattern below /sys, /proc or /dev stands for."""
    if "*" not in word or not word.startswith(("/sys/", "/proc/", "/dev/")):
        return [word]
    return sorted(str(path) for path in Path("/").glob(word[1:])) or [word]


def run_bounded(arguments: list[str], seconds: float, most: int, environment: Mapping[str, str]) -> Outcome:
    """Run a program for so long and let it print so much; one that can't be killed is left behind."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(  # noqa: S603  only what gather.yaml calls read-only gets here
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            return Outcome(f"can't be started: {error.strerror}")
        status, pause = "", 0.005
        try:
            while process.poll() is None and not status:
                if time.monotonic() - began >= seconds:
                    status = f"stopped after {seconds:g} s"
                elif os.fstat(output.fileno()).st_size > most:
                    status = "cut"
                else:
                    time.sleep(pause)
                    pause = min(pause * 1.5, 0.2)
        finally:
            if process.poll() is None:
                _kill(process)
        output.seek(0)
        data = output.read(most)
    if not status:
        status = "ok" if process.returncode == 0 else f"exit {process.returncode}"
    return Outcome(status, data, time.monotonic() - began)


def _kill(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(_GRACE)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue  # in the kernel, perhaps on a device that is gone: nothing ends it
        return
    process.returncode = -signal.SIGKILL  # left behind, and nobody waits for it


class _Members:
    """Adds texts to the archive, below the host's name, secrets hidden, and keeps the list of them."""

    def __init__(self, archive: tarfile.TarFile, host: str) -> None:
        self._archive, self.host = archive, host
        self._list: list[str] = []
        self.counts: dict[str, int] = {}

    def add_step(self, step: Step, name: str, outcome: Outcome, *, stamp: bool) -> None:
        """Add what a command printed below a prompt, which tells on which host; a tool that is absent makes no file."""
        word = outcome.status.split(" ")[0]
        self.counts[word] = self.counts.get(word, 0) + 1
        self._list.append(f"{name}.txt | {outcome.status} | {outcome.seconds:.1f} s | {step.command}")
        if not outcome.output.strip():
            return
        prompt = f"root@{self.host}:~# " if step.on == "node" else "$ "
        command = f"date -u +%FT%TZ; {step.command}\n{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}" if stamp else step.command
        self.add(name, f"{prompt}{command}\n{outcome.output.decode('utf-8', 'replace')}")

    def add(self, name: str, text: str) -> None:
        """Add a text."""
        data = hide_secrets(text).encode("utf-8", "replace")
        member = tarfile.TarInfo(f"{self.host}/{name}.txt")
        member.size, member.mtime, member.mode = len(data), int(time.time()), 0o600
        self._archive.addfile(member, io.BytesIO(data))

    def list_all(self) -> str:
        """Return what was run and how it went."""
        head = f"faultwalk gather on {self.host}, {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}; file, outcome, time, command:"
        return "\n".join([head, *self._list, ""])
