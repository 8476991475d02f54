"""Fixed sentences of the report in both languages."""

from __future__ import annotations

from diagnosis.model import Language

_SENTENCES: dict[str, dict[str, str]] = {
    "diagnosed": {
        "en": "{title} on {entity} is the root cause (probability {probability}).",
        "zh": "根因：{entity} 上的“{title}”（概率 {probability}）。",
    },
    "diagnosed-nowhere": {
        "en": "{title} is the root cause (probability {probability}); the inputs do not name the component.",
        "zh": "根因：“{title}”（概率 {probability}）；输入中没有指明具体部件。",
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


def describe_entity(entity: str) -> str:
    """Return an entity as people write it: `gpu 0000:3b:00.0 on node-a`."""
    kind, _, name = entity.partition(":")
    node, slash, rest = name.partition("/")
    if slash and kind in ("gpu", "nic", "link", "nvlink", "nvswitch", "pcie_device", "mig_instance", "process", "container", "volume"):
        return f"{kind.replace('_', ' ')} {rest} on {node}" if node else f"{kind} {rest}"
    return f"{kind.replace('_', ' ')} {name}".strip()
