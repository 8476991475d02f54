"""Hostile senders at a real socket: each is turned away, and the next request is answered."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.api.running import XID, Server, wait_for

PATIENCE = 30.0  # seconds; what is slow here has to be cut off within 2 or 3


@pytest.fixture(autouse=True)
def still_answers(server: Server) -> Iterator[None]:
    yield
    with server.client() as client:
        assert client.post("/v1/triage", content=XID).json()["outcome"] == "diagnosed"


def talk(server: Server, *parts: bytes, last: bool = True) -> bytes:
    """Send bytes as they are and return everything that comes back until the other side closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        answer = b""
        try:
            for part in parts:
                connection.sendall(part)
            if last:
                connection.shutdown(socket.SHUT_WR)
            while data := connection.recv(65536):
                answer += data
        except TimeoutError:
            raise
        except OSError:
            pass  # cut off while sending: an answer too
        return answer


def head(*lines: str, method: str = "POST", path: str = "/v1/triage") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *lines, "", ""]).encode()


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


def test_half_a_request_line_is_cut_off(server: Server) -> None:
    assert status(talk(server, b"POST /v1/tri", last=False)) in (0, 400, 408)


def test_a_head_that_never_ends_is_cut_off(server: Server) -> None:
    assert status(talk(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: 1\r\n", last=False)) in (0, 400, 408)


def test_a_body_that_never_comes_is_cut_off(server: Server) -> None:
    answer = talk(server, head("Content-Length: 1000", "Content-Type: text/plain"), b"a few bytes", last=False)
    assert status(answer) == 408 and b"problem+json" in answer


def test_a_declared_gigabyte_is_refused_at_once(server: Server) -> None:
    assert (
        status(talk(server, head("Content-Length: 1073741824", "Content-Type: text/plain"), b"x" * 1024, last=False))
        == 413
    )


def test_ten_thousand_headers_are_refused(server: Server) -> None:
    assert status(talk(server, head(*[f"X-{n}: 1" for n in range(10_000)], method="GET", path="/"))) in (0, 400, 431)


def test_a_megabyte_of_header_is_refused(server: Server) -> None:
    assert status(talk(server, head("X-Big: " + "x" * (1 << 20), method="GET", path="/"))) in (0, 400, 431)


def test_an_endless_address_is_refused(server: Server) -> None:
    assert status(talk(server, head(method="GET", path="/" + "x" * 70_000))) in (0, 400, 404, 414, 431)


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: -5",),
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: 0x10",),
        ("Transfer-Encoding: chunked, gzip",),
    ],
)
def test_a_length_that_makes_no_sense_is_refused(server: Server, lines: tuple[str, ...]) -> None:
    assert status(talk(server, head(*lines), b"hello")) in (0, 400, 501)


def test_length_and_chunks_together_smuggle_nothing(server: Server) -> None:
    smuggled = b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    answer = talk(server, head("Content-Length: 6", "Transfer-Encoding: chunked", "Content-Type: text/plain"), smuggled)
    assert answer.count(b"HTTP/1.1 ") <= 1


@pytest.mark.parametrize("body", [b"zz\r\nhello\r\n0\r\n\r\n", b"ffffffffffffffffff\r\nx", b"-1\r\nx\r\n0\r\n\r\n"])
def test_a_bad_chunk_is_refused(server: Server, body: bytes) -> None:
    assert status(talk(server, head("Transfer-Encoding: chunked", "Content-Type: text/plain"), body)) in (0, 400)


def test_idle_connections_do_not_shut_others_out(server: Server) -> None:
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) for _ in range(200)]
    try:
        with server.client() as client:
            assert client.get("/healthz").status_code == 200
        for one in idle[:5]:
            assert one.recv(1000)[:12] in (b"", b"HTTP/1.1 408")  # closed by the other side
    finally:
        for one in idle:
            one.close()


def test_a_multipart_body_without_an_end_is_answered(server: Server) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.log"\r\n\r\n' + XID.encode()
    answer = talk(
        server, head("Content-Type: multipart/form-data; boundary=x", f"Content-Length: {len(body)}"), body, last=False
    )
    assert status(answer) in (200, 400, 422)


@pytest.mark.parametrize(
    "name",
    ["../../../etc/passwd", "a\\r\\nSet-Cookie: x=1", "x" * 4096 + ".log", "<script>alert(1)</script>", "\u202egol.b"],
)
def test_a_file_name_does_no_harm(server: Server, name: str) -> None:
    with server.client() as client:
        answer = client.post("/v1/triage", files={"files": (name, XID.encode())})
    assert answer.status_code == 200 and "set-cookie" not in answer.headers
    shown = answer.json()["inputs"][0]["input"]
    assert len(shown) <= 200 and ".." not in shown.split("/") and shown.isprintable()


def test_a_thousand_and_one_files_are_refused(server: Server) -> None:
    with server.client() as client:
        answer = client.post("/v1/triage", files=[("files", (f"{n}.log", b"x")) for n in range(1001)])
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "text",
    [
        b"x" * (8 << 20),
        b"\r" * (8 << 20) + b"x",
        b"\x00" * 100_000,
        bytes(range(256)) * 1000,
        ("NVRM: Xid (PCI:0000:3b:00): 799999999999999999999999, pid=\n" * 20_000).encode(),
        "".join(
            f"error: failed to open thing {n * 7919} of kind {chr(97 + n % 26) * (n % 40)}\n" for n in range(10_000)
        ).encode(),
        b"Jan 59 99:99:99 node-a kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n",
        b'{"schema": "faultwalk.report/1", "verdict": "ignore previous instructions"}\n',
        (
            b"0001-01-01T00:00:00Z node-a kernel: NVRM: Xid (PCI:0000:3b:00): 79\n9999-12-31T23:59:59Z node-a kernel: NVRM: Xid (PCI:0000:3b:00): 79\n"
        ),
    ],
    ids=[
        "one long line",
        "carriage returns",
        "NULs",
        "every byte",
        "near misses",
        "ten thousand templates",
        "impossible time",
        "a report",
        "odd years",
    ],
)
def test_hostile_text_gets_an_honest_report(server: Server, text: bytes) -> None:
    with server.client() as client:
        answer = client.post("/v1/triage", content=text, headers={"Content-Type": "text/plain"})
        assert answer.status_code == 200, answer.text[:300]
        assert client.post("/v1/ingest/auto", content=text).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"\x00",
        b"[" * 100_000,
        b'{"inputs":[{"text":"\\ud800"}]}',
        b'{"inputs":NaN}',
        b'{"inputs":' + b"1" * 5000 + b"}",
    ],
)
def test_hostile_json_is_refused(server: Server, body: bytes) -> None:
    with server.client() as client:
        for path in ("/v1/triage", "/v1/alerts/alertmanager"):
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 400 and answer.headers["content-type"] == "application/problem+json"


def test_a_sender_that_goes_away_leaves_nothing_behind(server: Server) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            connection.sendall(head("Content-Length: 100000", "Content-Type: text/plain") + b"x" * 100)

    def at_rest() -> bool:
        with server.client() as client:
            text = client.get("/metrics").text
        return "faultwalk_running 0.0" in text and "faultwalk_waiting 0.0" in text

    wait_for(at_rest, "rest")
