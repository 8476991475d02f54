"""Fixed sentences of the report in both languages."""

from __future__ import annotations

from collectors.observation import HOST_KINDS
from diagnosis.model import Language

_SENTENCES: dict[str, dict[str, str]] = {
    "diagnosed": {
        "en": "Root cause: {title} ({entity}), probability {probability}.",
        "zh": "根因：{title}（{entity}），概率 {probability}。",
    },
    "diagnosed-nowhere": {
        "en": "Root cause: {title}, probability {probability}. The inputs do not name the component.",
        "zh": "根因：{title}，概率 {probability}。输入中没有指明具体部件。",
    },
    "undecided": {
        "en": "Undecided between {titles}. The next check below separates them.",
        "zh": "尚不能在 {titles} 之间定论，下面的检查可以区分。",
    },
    "suspected": {
        "en": "Not proven: {title} is the best explanation so far (probability {probability}).",
        "zh": "证据不足：目前最好的解释是“{title}”（概率 {probability}）。",
    },
    "symptoms-only": {
        "en": "{titles}, but nothing in these inputs shows why. What is missing is listed below.",
        "zh": "看到了症状（{titles}），但这些输入里没有任何线索说明原因；缺少的输入见下。",
    },
    "nothing-found": {
        "en": "Nothing found in {count} input(s), {lines} lines. That is not a clean bill of health: see which layers had no data.",
        "zh": "在 {count} 份输入（共 {lines} 行）中没有发现问题。这不等于健康：请看哪些层没有数据。",
    },
    "over": {
        "en": "Over, as it seems: {title} ({entity}); {because}.",
        "zh": "看来已经结束：{title}（{entity}）；{because}。",
    },
    "filtered": {
        "en": "What was seen of {sources} was filtered ({words}): what is not in it is not ruled out.",
        "zh": "{sources} 的日志经过过滤（{words}）：没有出现的内容不能据此排除。",
    },
    "look-whole": {
        "en": "only lines with {words} were seen; the driver's own messages and what came before them may be missing",
        "zh": "只看到含 {words} 的行；驱动自身的消息及其之前的日志可能缺失",
    },
    "brought-about": {"en": "brought about by it: {title}", "zh": "由其引起：{title}"},
    "check-separates": {
        "en": "tells {first} from {second}",
        "zh": "可区分“{first}”与“{second}”",
    },
    "check-confirms": {"en": "confirms or rules out {first}", "zh": "可证实或排除“{first}”"},
    "look-at": {
        "en": "nothing was seen of the {layer} layer; this shows whether {first} began there",
        "zh": "没有看到 {layer} 层的任何数据；运行它可看出“{first}”是否由该层引起",
    },
    "same-lines": {"en": "same lines", "zh": "同样的日志行"},
    "or": {"en": " and ", "zh": "与"},
}


def say(sentence: str, language: Language, **values: object) -> str:
    """Return a fixed sentence with its values filled in."""
    return _SENTENCES[sentence][language].format(**values)


_KINDS: dict[str, dict[str, str]] = {
    "cluster": {"en": "cluster", "zh": "集群"},
    "queue": {"en": "queue", "zh": "队列"},
    "job": {"en": "job", "zh": "作业"},
    "pod": {"en": "pod", "zh": "Pod"},
    "container": {"en": "container", "zh": "容器"},
    "process": {"en": "process", "zh": "进程"},
    "rank": {"en": "rank", "zh": "rank"},
    "namespace": {"en": "namespace", "zh": "命名空间"},
    "node": {"en": "node", "zh": "节点"},
    "gpu": {"en": "GPU", "zh": "GPU"},
    "mig_instance": {"en": "MIG instance", "zh": "MIG 实例"},
    "nvlink": {"en": "NVLink", "zh": "NVLink"},
    "nvswitch": {"en": "NVSwitch", "zh": "NVSwitch"},
    "pcie_device": {"en": "PCIe device", "zh": "PCIe 设备"},
    "nic": {"en": "NIC", "zh": "网卡"},
    "link": {"en": "link", "zh": "链路"},
    "switch": {"en": "switch", "zh": "交换机"},
    "rack": {"en": "rack", "zh": "机柜"},
    "volume": {"en": "volume", "zh": "卷"},
    "filesystem": {"en": "file system", "zh": "文件系统"},
}


def percent(value: float) -> str:
    """Return a probability as people read it; nothing is certain and nothing shown is impossible.

    >>> percent(0.953), percent(0.9999), percent(0.004)
    ('95 %', '99 %', '1 %')
    """
    return f"{min(max(round(value * 100), 1), 99)} %"


def describe_entity(entity: str, language: Language = "en") -> str:
    """Return an entity as people write it.

    >>> (
    ...     describe_entity("gpu:node-a/0000:3b:00.0"),
    ...     describe_entity("gpu:node-a/0000:3b:00.0", "zh"),
    ...     describe_entity("rank:11"),
    ... )
    ('GPU 0000:3b:00.0 on node-a', 'node-a 的 GPU 0000:3b:00.0', 'rank 11')
    """
    if entity == "job:this job":
        return "本作业" if language == "zh" else "this job"
    kind, _, name = entity.partition(":")
    label = _KINDS.get(kind, {}).get(language, kind)
    node, slash, rest = name.partition("/")
    if not slash or kind not in HOST_KINDS:
        return f"{label} {name}".strip()
    if not node:
        return f"{label} {rest}"
    return f"{node} 的 {label} {rest}" if language == "zh" else f"{label} {rest} on {node}"
