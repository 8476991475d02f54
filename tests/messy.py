"""Clean logs made into what people really paste: other encodings, prefixes, exports, wrapped lines, several logs in one."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from collectors.clock import is_without_year, set_year
from collectors.prefix import peel

ROOT = Path(__file__).resolve().parents[1]
START = datetime(2025, 11, 26, 1, 0, tzinfo=UTC).timestamp()
NOTE = "以下是现场的日志，请帮忙看一下：任务卡住了"


def _read_times(text: str) -> list[float]:
    """Return the time of each line: its own, else that of the line before it."""
    times, last = [], START
    for raw in text.splitlines():
        own = peel("", 0, raw).time
        if own is not None:
            last = set_year(own, 2025) if is_without_year(own) else own
        times.append(last)
    return times


def _stamp(time: float, digits: int = 9) -> str:
    """Return the time at which a transport took a line over."""
    moment = datetime.fromtimestamp(time, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond:06d}{'0' * (digits - 6)}Z"


def _lines(form: Callable[[float, str], str]) -> Callable[[str], bytes]:
    """Return a form that changes each line by itself."""
    return lambda text: "".join(form(time, line) + "\n" for time, line in _pair(text)).encode()


def _pair(text: str) -> Iterator[tuple[float, str]]:
    return zip(_read_times(text), text.splitlines(), strict=True)


def _prefixed(prefix: str) -> Callable[[str], bytes]:
    return _lines(lambda _, line: prefix + line)


def _utf16(order: str) -> Callable[[str], bytes]:
    mark = b"\xff\xfe" if order == "le" else b"\xfe\xff"
    return lambda text: mark + text.replace("\n", "\r\n").encode(f"utf-16-{order}")


def _progress_bars(text: str) -> bytes:
    bar = "\r".join(
        f"Epoch 1: {done:3d}%|{'█' * (done // 10)}| {done}/100 [00:0{done // 20}<00:09, 9.9it/s]"
        for done in range(0, 100, 10)
    )
    lines = text.splitlines()
    return "".join(
        line + "\n" + ("\r" + bar + "\n" if number % 3 == 0 else "") for number, line in enumerate(lines)
    ).encode()


def _cri_parts(text: str) -> bytes:
    out = []
    for time, line in _pair(text):
        parts = [line[at : at + 64] for at in range(0, len(line), 64)] or [""]
        out += [
            f"{_stamp(time)} stderr {'F' if part == len(parts) - 1 else 'P'} {text}\n"
            for part, text in enumerate(parts)
        ]
    return "".join(out).encode()


def _json(make: Callable[[float, str], Mapping[str, object]]) -> Callable[[str], bytes]:
    return _lines(lambda time, line: json.dumps(make(time, line), separators=(",", ":")))


def _csv(head: Sequence[str], make: Callable[[float, str], Sequence[str]]) -> Callable[[str], bytes]:
    def form(text: str) -> bytes:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL if len(head) > 2 else csv.QUOTE_MINIMAL)
        writer.writerow(head)
        writer.writerows(make(time, line) for time, line in _pair(text))
        return out.getvalue().encode()

    return form


def _journal_export(text: str) -> bytes:
    out = []
    for time, line in _pair(text):
        time = int((time) * 1e6)
        out.append(
            f"__CURSOR=s=1;i={time:f}\n__REALTIME_TIMESTAMP={time}\n_TRANSPORT=stdout\nSYSLOG_IDENTIFIER=job\nMESSAGE={line}\n\n"
        )
    return "".join(out).encode()


def _wrapped(width: int) -> Callable[[str], bytes]:
    def form(text: str) -> bytes:
        lines = (line[at : at + width] for line in text.splitlines() for at in range(0, max(len(line), 1), width))
        return "".join(line + "\n" for line in lines).encode()

    return form


def _cloudwatch_pretty(text: str) -> bytes:
    events = [
        {"timestamp": int((time) * 1000), "message": line, "ingestionTime": int((time) * 1000) + 9}
        for time, line in _pair(text)
    ]
    return json.dumps({"events": events, "searchedLogStreams": []}, indent=4).encode()


def _loki_response(text: str) -> bytes:
    values = [[str(int((time) * 1e9)), line] for time, line in _pair(text)]
    return json.dumps(
        {
            "status": "success",
            "data": {"resultType": "streams", "result": [{"stream": {"app": "train"}, "values": values}]},
        }
    ).encode()


def _elastic_response(text: str) -> bytes:
    hits = [
        {"_index": "logs", "_id": str(time), "_source": {"@timestamp": _stamp(time, 6), "message": line}}
        for time, line in _pair(text)
    ]
    return json.dumps({"took": 4, "hits": {"total": {"value": len(hits)}, "hits": hits}}, indent=2).encode()


FORMS: dict[str, Callable[[str], bytes]] = {
    "utf-16-le": _utf16("le"),
    "utf-16-be": _utf16("be"),
    "utf-8-bom": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "gb18030": lambda text: (NOTE + "\n" + text).encode("gb18030"),
    "latin-1": lambda text: ("# temp\xe9rature: 30\xb0C, serveur d\xe9di\xe9\n" + text).encode("latin-1", "replace"),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "lone-cr": lambda text: text.replace("\n", "\r").encode(),
    "progress-bars": _progress_bars,
    "ansi": _lines(lambda time, line: f"\x1b[3{int(time) % 7 + 1}m{line}\x1b[0m"),
    "ansi-words": _lines(lambda _, line: " ".join(f"\x1b[1;36m{word}\x1b[0m" if place == 0 else word for place, word in enumerate(line.split(" ")))),
    "indented": _prefixed("    "),
    "quoted-mail": _prefixed("> "),
    "fenced": lambda text: f"```text\n{text}\n```\n".encode(),
    "kubectl-prefix": _prefixed("[pod/llm-pretrain-worker-0/pytorch] "),
    "stern": _prefixed("llm-pretrain-worker-0 pytorch "),
    "stern-colours": _prefixed("\x1b[92mllm-pretrain-worker-0\x1b[0m \x1b[32mpytorch\x1b[0m "),
    "kubectl-timestamps": _lines(lambda time, line: f"{_stamp(time)} {line}"),
    "compose": _prefixed("trainer-1  | "),
    "cri": _lines(lambda time, line: f"{_stamp(time)} stdout F {line}"),
    "cri-parts": _cri_parts,
    "docker-json": _json(lambda time, line: {"log": line + "\n", "stream": "stderr", "time": _stamp(time)}),
    "loki-jsonl": _json(lambda time, line: {"labels": {"app": "train"}, "line": line, "timestamp": _stamp(time)}),
    "loki-response": _loki_response,
    "logcli": _lines(lambda time, line: f'{_stamp(time, 6)} {{app="train", pod="w-0"}} {line}'),
    "elastic-jsonl": _json(lambda time, line: {"_index": "logs", "_source": {"@timestamp": _stamp(time, 6), "message": line}}),
    "elastic-response": _elastic_response,
    "kibana-csv": _csv(("@timestamp", "kubernetes.pod.name", "message"), lambda time, line: (_stamp(time, 6), "w-0", line)),
    "grafana-csv": _csv(("Date", "Line"), lambda time, line: (_stamp(time, 6), line)),
    "cloudwatch-jsonl": _json(lambda time, line: {"timestamp": int((time) * 1000), "message": line}),
    "cloudwatch-response": _cloudwatch_pretty,
    "cloudwatch-csv": _csv(("timestamp", "message"), lambda time, line: (str(int((time) * 1000)), line)),
    "journal-json": _json(lambda time, line: {"__REALTIME_TIMESTAMP": str(int((time) * 1e6)), "_TRANSPORT": "stdout", "SYSLOG_IDENTIFIER": "job", "MESSAGE": line}),
    "journal-export": _journal_export,
    "ray": _prefixed("(RayTrainWorker pid=4711, ip=10.0.0.12) "),
    "mpi": _prefixed("[1,3]<stdout>:"),
    "torchrun": _prefixed("[rank3]:"),
    "slurm": _prefixed("3: "),
    "wrapped-120": _wrapped(120),
    "wrapped-80": _wrapped(80),
}  # fmt: skip


def join(files: Mapping[str, str], how: str) -> str:
    """Return several logs pasted one after another: with `headings`, `commands` or `nothing` between them."""
    between = {"headings": "==> {} <==\n", "commands": "$ cat {}\n", "nothing": "", "dashes": "----- {} -----\n"}[how]
    return "\n".join(between.format(name) + text for name, text in files.items())
