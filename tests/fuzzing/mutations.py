"""Structured changes of a text: whole lines, words, numbers, brackets, prefixes and bytes are what gets changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

Change = tuple[str, int, int]  # what is done, and two numbers that say where and with what

_WORD = re.compile(rb"[A-Za-z_]+|\d+|[^\sA-Za-z_\d]")
_NUMBER = re.compile(rb"\d+")
_NUMBERS = (
    b"0", b"-1", b"00000", b"1", b"65536", b"4294967296", b"18446744073709551616", b"9" * 40, b"9" * 5000, b"1e999", b"nan", b"inf",
    b"0x", b"1.2.3", "١٢".encode(), "²".encode(), b"",
)  # fmt: skip
_PIECES = (
    b"", b" ", b"\t", b"\r", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[31m", b"\x1b]0;", b"\\u0000", b"\\ud800", b'"', b"'", b"''", b"\\",
    b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"|", b":", b": ", b",", b"=", b"%", b"%s", b"{0}", b"...", b"- ", b"---\n", b"# ", b"$ ",
    b"null", b"NaN", b"Infinity", b"true", b"-", b"N/A", b"<unknown>", "掉卡".encode(), "\u2028".encode(), "\x85".encode(), "é".encode("latin-1"),
    b"2025-02-30T25:61:61Z", b"Foo 99 99:99:99", b"[99999999999.999999] ", b"0000:00:00.0", b"GPU-", b"::", b"/", b"../..", b"0" * 300, b"x" * 3000,
)  # fmt: skip
_PREFIXES = (
    b"[rank3]:", b"3: ", b"[1,3]<stdout>:", b"(Worker pid=1, ip=10.0.0.1) ", b"2025-11-26T01:00:00.000000000Z stdout F ", b"\x1b[36m", b"    ",
    b"> ", b"[pod/a/b] ", b"Jan 31 04:00:00 node-a kernel: ", b"[ 12.345678] ", b"{\"log\":\"", b"root@node-a:~# ",
)  # fmt: skip


def _cut_lines(data: bytes, first: int, second: int) -> bytes:
    lines = data.split(b"\n")
    at = first % len(lines)
    return b"\n".join(lines[:at] + lines[at + 1 + second % 3 :])


def _repeat_line(data: bytes, first: int, second: int) -> bytes:
    lines = data.split(b"\n")
    at = first % len(lines)
    return b"\n".join(lines[:at] + [lines[at]] * (1 + second % 200) + lines[at + 1 :])


def _swap_lines(data: bytes, first: int, second: int) -> bytes:
    lines = data.split(b"\n")
    one, other = first % len(lines), second % len(lines)
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _join_lines(data: bytes, first: int, second: int) -> bytes:
    lines = data.split(b"\n")
    at = first % len(lines)
    return b"\n".join([*lines[:at], b"".join(lines[at : at + 2 + second % 5]), *lines[at + 2 + second % 5 :]])


def _prefix_lines(data: bytes, first: int, second: int) -> bytes:
    prefix = _PREFIXES[first % len(_PREFIXES)]
    return b"\n".join(
        prefix + line if number % (1 + second % 3) == 0 else line for number, line in enumerate(data.split(b"\n"))
    )


def _indent_line(data: bytes, first: int, second: int) -> bytes:
    lines = data.split(b"\n")
    at = first % len(lines)
    lines[at] = b" " * (second % 40) + lines[at].lstrip()
    return b"\n".join(lines)


def _break_off(data: bytes, first: int, second: int) -> bytes:
    return data[: first % (len(data) + 1)]


def _begin_late(data: bytes, first: int, second: int) -> bytes:
    return data[first % (len(data) + 1) :]


def _change_word(data: bytes, first: int, second: int) -> bytes:
    words = list(_WORD.finditer(data))
    if not words:
        return data + _PIECES[second % len(_PIECES)]
    word = words[first % len(words)]
    return data[: word.start()] + _PIECES[second % len(_PIECES)] + data[word.end() :]


def _change_number(data: bytes, first: int, second: int) -> bytes:
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return data
    number = numbers[first % len(numbers)]
    return data[: number.start()] + _NUMBERS[second % len(_NUMBERS)] + data[number.end() :]


def _insert(data: bytes, first: int, second: int) -> bytes:
    at = first % (len(data) + 1)
    return data[:at] + _PIECES[second % len(_PIECES)] * (1 + first // 7 % 3) + data[at:]


def _nest(data: bytes, first: int, second: int) -> bytes:
    at = first % (len(data) + 1)
    opening = (b"[", b'{"a":', b"(", b"<a>", b"- ", b" " * 2 + b"a:\n")[second % 6]
    return data[:at] + opening * (1 + second % 3000) + data[at:]


def _flip_byte(data: bytes, first: int, second: int) -> bytes:
    if not data:
        return bytes([second % 256])
    at = first % len(data)
    return data[:at] + bytes([second % 256]) + data[at + 1 :]


def _end_lines_otherwise(data: bytes, first: int, second: int) -> bytes:
    return data.replace(b"\n", (b"\r\n", b"\r", b"\n\n", b"\x0b", b"\\n")[second % 5])


CHANGES: dict[str, Callable[[bytes, int, int], bytes]] = {
    one.__name__.lstrip("_"): one
    for one in (
        _cut_lines, _repeat_line, _swap_lines, _join_lines, _prefix_lines, _indent_line, _break_off, _begin_late, _change_word,
        _change_number, _insert, _nest, _flip_byte, _end_lines_otherwise,
    )
}  # fmt: skip


def apply(data: bytes, changes: Sequence[Change], most: int = 1 << 16) -> bytes:
    """Return the text with the changes made, one after another, cut at `most` bytes."""
    for name, first, second in changes:
        data = CHANGES[name](data, first, second)[:most]
    return data
