"""What the pages say beside the words of every report (`api.wording`), in both languages."""

from __future__ import annotations

from api.wording import word
from diagnosis.model import Language

_WORDS: dict[str, dict[str, str]] = {
    "tagline": {
        "en": "Paste logs, get the root cause",
        "zh": "粘贴日志，找到根因",
    },
    "lead": {
        "en": "Kernel and NCCL logs, events, nvidia-smi, metrics, job output: all mixed is fine. Nothing leaves this machine.",
        "zh": "内核日志、NCCL 日志、事件、nvidia-smi、指标、作业输出，混在一起也可以。数据不会离开本机。",
    },
    "text": {"en": "Logs", "zh": "日志"},
    "placeholder": {
        "en": "Paste here, for example dmesg -T and the job's stderr",
        "zh": "粘贴到这里，例如 dmesg -T 和作业的 stderr",
    },
    "files": {"en": "Files", "zh": "文件"},
    "files_hint": {
        "en": "Choose files, or drop them anywhere on this page. gzip, zip and tar are opened; {size} MB in all.",
        "zh": "选择文件，或拖放到页面任意位置。支持 gzip、zip、tar；总共不超过 {size} MB。",
    },
    "diagnose": {"en": "Diagnose", "zh": "开始诊断"},
    "working": {"en": "Diagnosing …", "zh": "正在诊断……"},
    "shortcut": {"en": "or Ctrl + Enter", "zh": "或按 Ctrl + Enter"},
    "sample_intro": {"en": "No log at hand?", "zh": "手头没有日志？"},
    "sample": {"en": "Diagnose a sample incident", "zh": "诊断一个示例事故"},
    "new": {"en": "New diagnosis", "zh": "新的诊断"},
    "skip": {"en": "Skip to the content", "zh": "跳到正文"},
    "kept": {"en": "The text is not kept; the report is.", "zh": "日志原文不会保存，只保存报告。"},
    "first_evidence": {"en": "First evidence", "zh": "首条证据"},
    "more_evidence": {"en": "{count} more lines", "zh": "另有 {count} 行"},
    "checks": {"en": "Checks", "zh": "验证方法"},
    "expect": {"en": "confirms", "zh": "证实标志"},
    "why_score": {"en": "How the score came about", "zh": "评分依据"},
    "similar": {"en": "similarity", "zh": "相似度"},
    "copy": {"en": "Copy as Markdown", "zh": "复制为 Markdown"},
    "copied": {"en": "Copied", "zh": "已复制"},
    "copy_failed": {"en": "The browser refused; use the Markdown link", "zh": "浏览器拒绝了复制，请使用 Markdown 链接"},
    "keys": {"en": "n next evidence, p previous", "zh": "n 下一条证据，p 上一条"},
    "recognised": {"en": "{count} understood", "zh": "识别 {count} 行"},
    "unrecognised": {"en": "unknown error lines: {count}", "zh": "未知错误 {count} 行"},
    "add_more": {
        "en": "Add what was not looked at yet and the job's own output, for example",
        "zh": "补充还没有查看的内容和作业自身的输出，例如",
    },
    "created": {"en": "Made", "zh": "生成于"},
    "case": {"en": "Past incident", "zh": "历史案例"},
    "confidence": {"en": "confidence", "zh": "可信度"},
    "source": {"en": "Source", "zh": "来源"},
    "fix": {"en": "What helped", "zh": "解决办法"},
    "wrong_turns": {"en": "What was blamed first", "zh": "容易误判为"},
    "error": {"en": "That did not work", "zh": "没有成功"},
    "back": {"en": "Back to the start", "zh": "返回首页"},
    "token": {"en": "Access token", "zh": "访问令牌"},
    "token_hint": {"en": "The one that the service was started with.", "zh": "启动服务时设置的令牌。"},
    "sign_in": {"en": "Sign in", "zh": "登录"},
    "token_wrong": {"en": "That is not the token.", "zh": "令牌不正确。"},
    "footer": {"en": "Deterministic and offline: rules, not guesses.", "zh": "确定性、离线运行：靠规则，不靠猜测。"},
    "problem.empty": {"en": "Paste some text or choose a file.", "zh": "请粘贴文本或选择文件。"},
    "problem.body-too-large": {
        "en": "That is more than this service reads at once.",
        "zh": "内容超过了本服务一次能处理的大小。",
    },
    "problem.busy": {
        "en": "Too many diagnoses are running. Try again in a moment.",
        "zh": "正在运行的诊断太多，请稍后再试。",
    },
    "problem.no-report": {
        "en": "There is no report with this id, or it is no longer kept.",
        "zh": "没有这个编号的报告，或已不再保存。",
    },
    "problem.no-case": {"en": "There is no case with this id.", "zh": "没有这个编号的案例。"},
    "problem.other-origin": {"en": "The request came from another site.", "zh": "请求来自其他站点。"},
    "problem.http-404": {"en": "There is nothing here.", "zh": "这里什么也没有。"},
}


def page_word(key: str, language: Language, **values: object) -> str:
    """Return a word or sentence of a page; falls back to the reports' words."""
    texts = _WORDS.get(key)
    return texts[language].format(**values) if texts is not None else word(key, language, **values)


def problem_text(code: str, detail: str, language: Language) -> str:
    """Return what a page says for an error."""
    texts = _WORDS.get(f"problem.{code}")
    return texts[language] if texts is not None else detail
