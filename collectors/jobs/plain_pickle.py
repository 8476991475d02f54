"""Read a pickle that holds nothing but plain values, without the pickle module: nothing in it can be called or imported.

Format: CPython `Lib/pickletools.py` (protocols 2 to 5); writers: PyTorch's `torch::jit::Pickler` (protocol 2) and Python.
Values are dict, list, tuple, str, bytes, int, float, bool and None. Any other opcode (a global, a reduce call, a persistent
id, an extension, an out-of-band buffer) ends the reading with its name, as do lengths, depths and counts beyond the limits.
"""

from __future__ import annotations

import pickletools
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from collectors.block import RefusedError
from collectors.notes import Note

_NAMES = {ord(one.code): one.name for one in pickletools.opcodes}
_MARK = object()
_INT4, _UINT4, _UINT8 = struct.Struct("<i"), struct.Struct("<I"), struct.Struct("<Q")
_UINT2, _FLOAT = struct.Struct("<H"), struct.Struct(">d")
_KEYS = frozenset({str, bytes, int, float, bool, type(None)})
_FIXED = {ord("N"): None, 0x88: True, 0x89: False}
# opcode -> (bytes of its length field, whether text)
_COUNTED = {
    ord("X"): (4, True), 0x8C: (1, True), 0x8D: (8, True), ord("B"): (4, False), ord("C"): (1, False), 0x8E: (8, False),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a pickle may hold at most."""

    bytes: int = 64 << 20
    text: int = 1 << 20  # bytes of one string
    integer: int = 64  # bytes of one number
    depth: int = 32
    memo: int = 2_000_000
    operations: int = 10_000_000


BOUNDS = Bounds()


def loads(data: bytes, bounds: Bounds = BOUNDS) -> Any:
    """Return the plain value that a pickle holds; raises RefusedError for anything else."""
    if len(data) > bounds.bytes:
        raise RefusedError(Note.of("larger-than-bytes", size=bounds.bytes))
    if len(data) < 3 or data[0] != 0x80 or not 2 <= data[1] <= 5:
        raise RefusedError(Note.of("no-pickle"))
    machine = _Machine(data, bounds)
    try:
        value = machine.run()
    except (IndexError, struct.error) as error:
        raise RefusedError(Note.of("breaks-off", place=machine.at)) from error
    except (TypeError, ValueError) as error:  # an unhashable key, text that is not UTF-8
        raise RefusedError(Note.of("malformed", place=machine.at, error=str(error)[:160])) from error
    _check_depth(value, bounds.depth)
    return value


class _Machine:
    """The stack machine of a pickle, with the opcodes of plain values only."""

    def __init__(self, data: bytes, bounds: Bounds) -> None:
        self.data, self.bounds, self.at = data, bounds, 2
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        data, stack, memo = self.data, self.stack, self.memo
        left = self.bounds.operations
        most = self.bounds.memo
        at = 2
        while True:
            left -= 1
            if left < 0:
                raise RefusedError(Note.of("too-many-operations", most=self.bounds.operations))
            code = data[at]
            at += 1
            if code == 0x68:  # BINGET
                stack.append(self._recall(data[at]))
                at += 1
            elif code == 0x71:  # BINPUT
                memo[data[at]] = stack[-1]
                at += 1
            elif code == 0x6A:  # LONG_BINGET
                stack.append(self._recall(_UINT4.unpack_from(data, at)[0]))
                at += 4
            elif code == 0x72:  # LONG_BINPUT
                memo[_UINT4.unpack_from(data, at)[0]] = stack[-1]
                at += 4
                if len(memo) > most:
                    raise RefusedError(Note.of("too-many-remembered", most=most))
            elif code == 0x94:  # MEMOIZE
                memo[len(memo)] = stack[-1]
                if len(memo) > most:
                    raise RefusedError(Note.of("too-many-remembered", most=most))
            elif code == 0x2E:  # STOP
                self.at = at
                if len(stack) != 1 or stack[0] is _MARK:
                    raise RefusedError(Note.of("unfinished"))
                return stack[0]
            else:
                self.at = at
                at = self._step(code, at)

    def _recall(self, place: int) -> Any:
        if place not in self.memo:
            raise RefusedError(Note.of("never-remembered", place=place))
        return self.memo[place]

    def _step(self, code: int, at: int) -> int:
        """Carry out one of the rarer opcodes; return where the next one stands."""
        data, stack = self.data, self.stack
        if code in _COUNTED:
            return self._counted(code, at)
        if code in _FIXED:
            stack.append(_FIXED[code])
        elif code == 0x4B:  # BININT1
            stack.append(data[at])
            return at + 1
        elif code == 0x4D:  # BININT2
            stack.append(_UINT2.unpack_from(data, at)[0])
            return at + 2
        elif code == 0x4A:  # BININT
            stack.append(_INT4.unpack_from(data, at)[0])
            return at + 4
        elif code == 0x47:  # BINFLOAT
            stack.append(_FLOAT.unpack_from(data, at)[0])
            return at + 8
        elif code == 0x8A:  # LONG1
            size = data[at]
            if size > self.bounds.integer:
                raise RefusedError(Note.of("long-number", size=size))
            stack.append(int.from_bytes(data[at + 1 : at + 1 + size], "little", signed=True))
            return at + 1 + size
        elif code == 0x95:  # FRAME
            _UINT8.unpack_from(data, at)
            return at + 8
        elif code == 0x28:  # MARK
            stack.append(_MARK)
        elif code in (0x5D, 0x7D, 0x29):  # EMPTY_LIST, EMPTY_DICT, EMPTY_TUPLE
            stack.append([] if code == 0x5D else {} if code == 0x7D else ())
        else:
            self._gather(code)
        return at

    def _counted(self, code: int, at: int) -> int:
        width, text = _COUNTED[code]
        size = int.from_bytes(self.data[at : at + width], "little")
        start = at + width
        if size > self.bounds.text:
            raise RefusedError(Note.of("long-string", size=size, place=at - 1))
        if start + size > len(self.data):
            raise RefusedError(Note.of("breaks-off-in-string", place=at - 1))
        raw = self.data[start : start + size]
        self.stack.append(raw.decode("utf-8", "replace") if text else raw)
        return start + size

    def _gather(self, code: int) -> None:
        """Build a list, dict or tuple from what lies on the stack."""
        stack = self.stack
        if code in (0x85, 0x86, 0x87):  # TUPLE1 to TUPLE3
            size = code - 0x84
            if len(stack) < size:
                raise RefusedError(Note.of("tuple-without-values"))
            stack[-size:] = [tuple(stack[-size:])]
            self._refuse_mark(stack[-1])
        elif code == 0x61:  # APPEND
            value = stack.pop()
            self._refuse_mark((value,))
            self._own(list).append(value)
        elif code == 0x73:  # SETITEM
            value, key = stack.pop(), stack.pop()
            self._fill([key, value])
        elif code == 0x65:  # APPENDS
            values = self._since_mark()
            self._own(list).extend(values)
        elif code == 0x75:  # SETITEMS
            self._fill(self._since_mark())
        elif code == 0x74:  # TUPLE
            stack.append(tuple(self._since_mark()))
        else:
            name = _NAMES.get(code, f"0x{code:02x}")
            raise RefusedError(Note.of("opcode-refused", name=name, place=self.at - 1))

    def _fill(self, values: list[Any]) -> None:
        if len(values) % 2:
            raise RefusedError(Note.of("key-without-value"))
        self._refuse_mark(values)
        keys = values[::2]
        if not all(type(key) in _KEYS for key in keys):  # the hash of a nested key is found by recursion
            raise RefusedError(Note.of("odd-key"))
        self._own(dict).update(zip(keys, values[1::2], strict=True))

    def _own(self, kind: type) -> Any:
        value = self.stack[-1]
        if type(value) is not kind:
            raise RefusedError(Note.of("fills-nothing", kind=kind.__name__))
        return value

    def _since_mark(self) -> list[Any]:
        stack = self.stack
        for place in range(len(stack) - 1, -1, -1):
            if stack[place] is _MARK:
                values = stack[place + 1 :]
                del stack[place:]
                return values
        raise RefusedError(Note.of("no-mark"))

    def _refuse_mark(self, values: Iterable[Any]) -> None:
        if any(value is _MARK for value in values):
            raise RefusedError(Note.of("mark-for-value"))


def _check_depth(value: Any, most: int) -> None:
    """Refuse values nested too deep, those that hold themselves among them, without recursion of our own."""
    layer = [value]
    for _ in range(most):
        met: dict[int, Any] = {}
        for one in layer:
            inner = one.values() if type(one) is dict else one if type(one) in (list, tuple) else ()
            for item in inner:
                if type(item) in (dict, list, tuple) and item:
                    met[id(item)] = item
        if not met:
            return
        layer = list(met.values())
    raise RefusedError(Note.of("nested-deeper", most=most))
