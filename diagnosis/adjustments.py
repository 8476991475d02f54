"""Named parts of a score: what raised or lowered a hypothesis, by how much, and the sentence that says why."""

from __future__ import annotations

from diagnosis.model import Hypothesis, ScorePart

SENTENCES: dict[str, dict[str, str]] = {
    "against": {"en": "speaks against it", "zh": "与之矛盾"},
    "draft": {"en": "draft rule", "zh": "草案规则"},
    "old": {
        "en": "last seen more than a day before the first complaint",
        "zh": "最后一次出现比首个故障现象早一天以上",
    },
    "earlier-boot": {
        "en": "last seen before the host was started anew, and {other} was seen after that",
        "zh": "最后一次出现在主机上次启动之前，而此后出现的是“{other}”",
    },
    "ended-boot": {
        "en": "the host was started anew afterwards, and nothing of it was seen since",
        "zh": "此后主机已重新启动，且再未出现",
    },
    "ended-reset": {
        "en": "the GPU was reset afterwards, and nothing of it was seen since",
        "zh": "此后该 GPU 已复位，且再未出现",
    },
    "ended-cleared": {
        "en": "the driver took its request back afterwards (Xid 154: None), and nothing of it was seen since",
        "zh": "此后驱动已撤回恢复要求（Xid 154：None），且再未出现",
    },
    "unrelated": {
        "en": "explains none of the symptoms seen",
        "zh": "不能解释已看到的任何症状",
    },
    "explains": {"en": "explains {count} other finding(s)", "zh": "能解释另外 {count} 项发现"},
    "shared": {
        "en": "rests only on lines that {other} explains better",
        "zh": "所依据的日志行由“{other}”解释得更好",
    },
}


def multiply(one: Hypothesis, part: str, factor: float, because: str) -> None:
    """Multiply a hypothesis's probability, and say so."""
    one.probability *= factor
    one.parts.append(ScorePart(part, round(factor - 1.0, 3), because))
