"""Headings and short sentences of the reports that people read, in both languages."""

from __future__ import annotations

from diagnosis.model import Language

_WORDS: dict[str, dict[str, str]] = {
    "outcome.diagnosed": {"en": "DIAGNOSED", "zh": "已定位"},
    "outcome.undecided": {"en": "UNDECIDED", "zh": "未定论"},
    "outcome.nothing-found": {"en": "NOTHING FOUND", "zh": "未发现问题"},
    "do": {"en": "Do", "zh": "处理"},
    "action": {"en": "action", "zh": "动作"},
    "evidence": {"en": "Evidence", "zh": "证据"},
    "explains": {"en": "Explains", "zh": "可解释"},
    "path": {"en": "Path", "zh": "路径"},
    "score": {"en": "Score", "zh": "评分"},
    "cases": {"en": "Seen before", "zh": "相似历史案例"},
    "others": {"en": "Other causes", "zh": "其他原因"},
    "because_of": {"en": "because of {cause}", "zh": "由 {cause} 引起"},
    "root": {"en": "root", "zh": "根因"},
    "consequence": {"en": "consequence", "zh": "后果"},
    "symptoms": {"en": "Symptoms", "zh": "症状"},
    "walk": {"en": "Layers", "zh": "逐层检查"},
    "status.fault": {"en": "fault", "zh": "故障"},
    "status.suspect": {"en": "suspect", "zh": "可疑"},
    "status.clear": {"en": "clear", "zh": "正常"},
    "status.no-data": {"en": "no data", "zh": "无数据"},
    "next": {"en": "Run next", "zh": "下一步检查"},
    "on": {"en": "on", "zh": "在"},
    "unexplained": {"en": "Error lines that no rule knows", "zh": "没有规则能解释的错误行"},
    "inputs": {"en": "Inputs", "zh": "输入"},
    "lines": {"en": "{count} lines", "zh": "{count} 行"},
    "also_on": {"en": "also on", "zh": "同样出现在"},
    "references": {"en": "References", "zh": "参考"},
    "contradicts": {"en": "speaks against it", "zh": "反面证据"},
    "layer.application": {"en": "application", "zh": "应用"},
    "layer.framework": {"en": "framework", "zh": "框架"},
    "layer.scheduler": {"en": "scheduler", "zh": "调度"},
    "layer.platform": {"en": "platform", "zh": "平台"},
    "layer.runtime": {"en": "runtime", "zh": "容器运行时"},
    "layer.node": {"en": "node", "zh": "节点"},
    "layer.fabric": {"en": "fabric", "zh": "网络"},
    "layer.storage": {"en": "storage", "zh": "存储"},
    "layer.hardware": {"en": "hardware", "zh": "硬件"},
    "action.ignore": {"en": "nothing to do", "zh": "无需处理"},
    "action.restart-app": {"en": "restart the application", "zh": "重启应用"},
    "action.reset-gpu": {"en": "reset the GPU", "zh": "复位 GPU"},
    "action.reboot": {"en": "reboot the node", "zh": "重启节点"},
    "action.drain": {"en": "drain the node", "zh": "排空节点"},
    "action.replace": {"en": "replace the part", "zh": "更换部件"},
    "action.reconfigure": {"en": "change the configuration", "zh": "修改配置"},
    "action.contact-support": {"en": "contact support", "zh": "联系厂商支持"},
    "action.investigate": {"en": "investigate further", "zh": "进一步排查"},
    "sweep.node": {"en": "node", "zh": "节点"},
    "sweep.window": {"en": "window (UTC)", "zh": "时间窗（UTC）"},
    "sweep.cause": {"en": "cause", "zh": "根因"},
    "sweep.layer": {"en": "layer", "zh": "层"},
    "sweep.probability": {"en": "prob.", "zh": "概率"},
    "sweep.first_seen": {"en": "first seen", "zh": "首次出现"},
    "sweep.last_seen": {"en": "last seen", "zh": "最后出现"},
    "sweep.lines": {"en": "lines", "zh": "行数"},
    "sweep.inputs": {"en": "input", "zh": "输入"},
    "sweep.no_cause": {"en": "nothing shows why", "zh": "没有线索说明原因"},
    "sweep.footer": {
        "en": "{incidents} incident(s) in {inputs} input(s), {lines} lines; {unknown} input(s) of no known kind, {refused} refused. "
        "Nothing listed is not a clean bill of health.",
        "zh": "{inputs} 份输入（共 {lines} 行）中有 {incidents} 起故障；{unknown} 份类型未知，{refused} 份未读取。没有列出不等于健康。",
    },
}


def word(key: str, language: Language, **values: object) -> str:
    """Return a heading or phrase; raises KeyError for one that is not written."""
    return _WORDS[key][language].format(**values)
