"""What the intake says of an input: what was cut, guessed, left out or refused. Each remark is written in both languages.

A `Note` is its English text, so that it can be kept and compared as one, and knows how it reads in Chinese.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

_SENTENCES: dict[str, tuple[str, str]] = {
    "not-text": ("not text: looked at nothing", "不是文本：未读取任何内容"),
    "encoding": ("{name}", "编码 {name}"),
    "refused-document": ("{source}: refused, {reason}", "{source}：拒绝读取，{reason}"),
    "larger-than-megabytes": ("larger than {size} MB", "大于 {size} MB"),
    "unreadable": ("{collector} could not read it ({error})", "{collector} 读取失败（{error}）"),
    "unreadable-line": ("{collector} could not read line {line} ({error})", "{collector} 无法读取第 {line} 行（{error}）"),
    "host-by-name": ("taken for {host} by the input's name", "根据输入的名称认定为 {host}"),
    "sampled": (
        "long: routine lines and tables looked for at both ends and in a sample between",
        "输入很长：常规行与表格只在首尾查找，中间部分抽样",
    ),
    "circumstances": (
        "of lines that only tell circumstances, the first hundreds of each kind were read, and a sample of the others",
        "仅说明环境的行，每种只读取了最前面的数百行，其余抽样",
    ),
    "told": (
        "{count} lines that say the same as others left out",
        "省略了 {count} 行与其他行内容相同的日志",
    ),
    "carriage-returns": ("carriage returns end its lines", "以回车符换行"),
    "csv": ("CSV export: its message column", "CSV 导出：读取其消息列"),
    "journal-export": ("journal export format: its messages", "journal 导出格式：读取其消息"),
    "wrapped": ("lines wrapped at {width} columns, put together again", "各行在第 {width} 列被折断，已重新拼接"),
    "answer": ("a JSON answer: lines count its messages", "JSON 应答：行号为消息序号"),
    "repeats": (
        "{total} repeats left out, the first and last of each kept; most often {what}: {count} lines",
        "省略了 {total} 条重复，每种保留最初和最后几条；最多的是 {what}：{count} 行",
    ),
    "filtered-command": (
        "{source}: filtered by a command ({words}); what is not in it is not ruled out",
        "{source}：经命令过滤（{words}）；其中没有的内容不能排除",
    ),
    "filtered-word": (
        "{source}: every line of it holds {words}; what is not in it is not ruled out",
        "{source}：每一行都含有 {words}；其中没有的内容不能排除",
    ),
    "broken-off": ("broken off: {error}", "数据中断：{error}"),
    "larger-than-limit": ("larger than the limit; the rest is not read", "超过上限；其余部分未读取"),
    "too-deep": ("packed more than {depth} deep", "嵌套打包超过 {depth} 层"),
    "too-many-members": ("more than {count} members; the rest is not read", "成员超过 {count} 个；其余未读取"),
    "too-many-files": ("more than {count} files; the rest is not read", "文件超过 {count} 个；其余未读取"),
    "not-unpacked": ("can't be unpacked further: {error}", "无法继续解包：{error}"),
    "link-or-device": ("a link or device, not a file", "是链接或设备，不是文件"),
    "link": ("a link, not a file", "是链接，不是文件"),
    "leaves-archive": ("a path that leaves the archive", "路径超出压缩包"),
    "encrypted": ("encrypted", "已加密"),
    "not-read": ("can't be read: {error}", "无法读取：{error}"),
    "dmesg-placed": (
        "seconds since boot placed in time by {by}",
        "开机以来的秒数已换算为绝对时间，依据：{by}",
    ),
    "clock-off": (
        "the clock of {host} is not believed: it shows {shown} where the other hosts show {others}; its times are moved by that",
        "{host} 的时钟不可信：同一事件它显示 {shown}，其他主机显示 {others}；已据此平移它的时间",
    ),
    "clock-unset": (
        "{count} lines bear a time before {year}: a clock that was not set; these times are not used",
        "{count} 行的时间早于 {year} 年：时钟未校准；这些时间不采用",
    ),
    "clock-ahead": (
        "{count} lines bear a time after now ({shown}): these times are not used",
        "{count} 行的时间晚于当前（{shown}）；这些时间不采用",
    ),
    "clock-jump": (
        "the clock of {host} jumped from {before} to {after} at line {line}",
        "{host} 的时钟在第 {line} 行从 {before} 跳到 {after}",
    ),
    # why a document that is read as a whole was refused
    "not-json": ("not one JSON document", "不是一个完整的 JSON 文档"),
    "not-whole-json": ("not whole JSON: {error}", "JSON 不完整：{error}"),
    "no-ras-status": ("no RAS status: its communicators are no list", "不是 RAS 状态：communicators 不是列表"),
    "dump-without-list": ("no flight recorder dump: its entries are no list", "不是 flight recorder 转储：entries 不是列表"),
    "dump-empty": (
        "no flight recorder dump: neither entries nor process groups",
        "不是 flight recorder 转储：既没有 entries 也没有进程组",
    ),
    "too-many-entries": ("more than {most} entries", "条目超过 {most} 个"),
    "nested-too-deep": ("nested too deep", "嵌套过深"),
    "nested-deeper": ("nested more than {most} deep", "嵌套超过 {most} 层"),
    "larger-than-bytes": ("larger than {size} bytes", "超过 {size} 字节"),
    "no-pickle": ("not a pickle of protocol 2 to 5", "不是协议 2 到 5 的 pickle"),
    "breaks-off": ("breaks off at byte {place}", "在第 {place} 字节处中断"),
    "breaks-off-in-string": ("breaks off in a string at byte {place}", "在第 {place} 字节处的字符串中中断"),
    "malformed": ("malformed before byte {place} ({error})", "第 {place} 字节之前格式错误（{error}）"),
    "too-many-operations": ("more than {most} operations", "操作超过 {most} 个"),
    "too-many-remembered": ("more than {most} remembered values", "暂存的值超过 {most} 个"),
    "never-remembered": ("recalls value {place}, which was never remembered", "取用了从未暂存的值 {place}"),
    "unfinished": ("ends with an unfinished value", "以未完成的值结尾"),
    "long-number": ("a number of {size} bytes", "有 {size} 字节长的数字"),
    "long-string": ("a string of {size} bytes at byte {place}", "第 {place} 字节处有 {size} 字节长的字符串"),
    "tuple-without-values": ("a tuple without its values", "元组缺少元素"),
    "opcode-refused": (
        "opcode {name} at byte {place} would do more than hold plain values",
        "第 {place} 字节处的操作码 {name} 不只是保存普通值",
    ),
    "key-without-value": ("a dict with a key without value", "字典中有键没有值"),
    "odd-key": ("a dict whose key is neither text nor a number", "字典的键既不是文本也不是数字"),
    "fills-nothing": ("fills a {kind} that is none", "向并非 {kind} 的对象写入"),
    "no-mark": ("values without their mark", "一组值缺少起始标记"),
    "mark-for-value": ("a mark where a value belongs", "应为值的位置出现了标记"),
}  # fmt: skip


class Note(str):
    """A remark; made of a key and its values by `Note.of`."""

    key: str
    values: dict[str, Any]

    __slots__ = ("key", "values")

    @classmethod
    def of(cls, key: str, **values: Any) -> Note:
        """Return a remark; raises KeyError for one that is not written."""
        values = {name: value if isinstance(value, str | int) else str(value) for name, value in values.items()}
        note = cls(_SENTENCES[key][0].format(**values))
        note.key, note.values = key, values
        return note

    def in_language(self, language: str) -> str:
        """Return the remark in English or Chinese."""
        if language != "zh":
            return str(self)
        values = {
            name: in_language(value, language) if isinstance(value, str) else value
            for name, value in self.values.items()
        }
        return _SENTENCES[self.key][1].format(**values)

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (self.key, self.values)


def _make(key: str, values: dict[str, Any]) -> Note:
    return Note.of(key, **values)


def in_language(note: str, language: str) -> str:
    """Return a remark in a language; a plain text as it is.

    >>> in_language(Note.of("too-deep", depth=4), "zh"), in_language("GBK", "zh")
    ('嵌套打包超过 4 层', 'GBK')
    """
    return note.in_language(language) if isinstance(note, Note) else note


def write(notes: Iterable[str]) -> str:
    """Return remarks as JSON, for a store.

    >>> read(write([Note.of("too-deep", depth=4), "GBK"]))
    ['packed more than 4 deep', 'GBK']
    """
    return json.dumps(
        [[one.key, one.values] if isinstance(one, Note) else one for one in notes],
        ensure_ascii=False,
        separators=(",", ":"),
    )


def read(text: str | None) -> list[str]:
    """Return the remarks that `write` kept; what another version wrote and this one does not know is left out."""
    found: list[str] = []
    for one in json.loads(text) if text else []:
        if isinstance(one, str):
            found.append(one)
        elif one[0] in _SENTENCES:
            found.append(Note.of(one[0], **one[1]))
    return found
