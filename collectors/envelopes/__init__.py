"""Exports and copies that hold a log in another form, opened line for line: what comes out has as many lines as went in.

Forms: CSV with a message column (Kibana, Grafana, CloudWatch Insights, Splunk), the systemd journal's export format (docs/
JOURNAL_EXPORT_FORMATS), lines that a container runtime wrote in parts (CRI, tag `P`), lines that a terminal or tmux wrapped at
its width, carriage returns as only line ends. A line that continues another one is put behind it and leaves an empty line, so
that line numbers stay those of the input. Answers of HTTP APIs (Loki, Elasticsearch, CloudWatch: one JSON document)
become one line a message; there, lines count messages.
"""

from collectors.envelopes.answers import Answer, is_answer, read_answer
from collectors.envelopes.form import Envelope, Opened
from collectors.envelopes.recognition import ANSI, has_lone_returns, tell_envelope

__all__ = ["ANSI", "Answer", "Envelope", "Opened", "has_lone_returns", "is_answer", "read_answer", "tell_envelope"]
