"""Forms of log lines that many programs share: they tell what a text is when nothing in it names its program.

Programs: syslog and journald lines of any program (RFC 3164 and 5424), sshd among them, shell scripts traced by `set -x`, and
what Go's klog, logfmt and JSON loggers and Python's `logging` write. Samples::

    Dec 10 06:55:46 node-a sshd[24200]: Invalid user webmaster from 192.0.2.2
    + export MASTER_PORT=6000
    I0817 17:04:34.750065      24 e2e.go:129] Starting e2e run
    time="2025-01-02T03:04:05Z" level=info msg="started"
    {"level":"info","ts":"2025-01-02T03:04:05Z","msg":"started"}
    2025-01-02 03:04:05,678 - trainer - INFO - started
"""

from __future__ import annotations

SOURCE = "syslog"
LAYERS: tuple[str, ...] = ()
SIGNATURES = (r"^<\d{1,3}>(?:1 \d{4}-\d\d-\d\dT|[A-Z][a-z]{2} [ \d]\d \d\d:)",)
FORMS = {
    "sshd": (r" sshd(?:-session)?(?:\([\w]+\))?\[\d+\]: ",),
    "shell-trace": (r"^\+{1,8} \S",),
    "python": (
        r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3} *[-|:]? *(?:[\w.-]+ *[-|:] *)?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) *[-|:] ",
        r"^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[A-Za-z_][\w.-]*:",
        r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d,\d{3} - \w+\.py:\(\d+\) \[(?:DEBUG|INFO|WARNING|ERROR)\]: ",
    ),
    "logfmt": (
        r"^time=\"?\d{4}-\d\d-\d\dT\S+ level=\"?\w+\"? (?:source=\S+ )?msg=",
        r"^(?:ts|t|time)=\S+ (?:caller=\S+ )?(?:level|lvl)=\w+ ",
    ),
    "json-log": (
        r"^\{\"(?:level|severity|lvl)\":\"\w+\",\"(?:ts|time|timestamp)\":",
        r"^\{\"(?:ts|time|timestamp|@timestamp)\":[^,]{4,40},\"(?:level|severity|lvl|log\.level)\":\"",
    ),
    "environment": (r"^(?:declare -x |export )?[A-Z][A-Z0-9_]{2,}=\S",),
    "klog": (r"\b[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+\.go:\d+\]",),
}
