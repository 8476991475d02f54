"""Hide secrets in log lines before they are shown: keys, tokens, passwords. Kinds are named, values never.

Shapes: AWS access keys, GitHub, GitLab, Hugging Face, Slack and OpenAI-style tokens, JSON Web Tokens, bearer and basic
credentials, passwords in URLs and in `name=value` pairs, private key blocks.
"""

from __future__ import annotations

import re

_SECRETS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("aws-key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("github-token", re.compile(r"\bgh[opsur]_[A-Za-z0-9]{30,255}\b|\bgithub_pat_[A-Za-z0-9_]{40,255}\b")),
    ("gitlab-token", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,64}\b")),
    ("hugging-face-token", re.compile(r"\bhf_[A-Za-z0-9]{30,64}\b")),
    ("slack-token", re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,200}\b")),
    ("api-key", re.compile(r"\bsk-[A-Za-z0-9_-]{20,200}\b")),
    ("wandb-key", re.compile(r"(?i)(?<=wandb_api_key=)[0-9a-f]{40}\b")),
    ("web-token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,2000}")),
    (
        "credentials",
        re.compile(r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/=-]{12,4000}|(?<=\bbasic )[A-Za-z0-9+/]{16,2000}={0,2}"),
    ),
    ("password-in-url", re.compile(r"(?<=://)[^\s/:@]{1,200}:[^\s/@]{1,200}(?=@)")),
    (
        "password",
        re.compile(
            r"(?i)(?<![A-Za-z])(?P<name>[A-Za-z_]{0,40}(?:password|passwd|secret|api_?key|access_?key|auth_?token|token))"
            r"(?P<sign>[\"']?\s{0,2}[=:]\s{0,2}[\"']?)(?P<value>[^\s\"',;&]{6,500})"
        ),
    ),
    ("private-key", re.compile(r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]{0,8000}")),
)
_HARMLESS = re.compile(
    r"(?i)^(?:none|null|true|false|\d+|<[^>]*>|\*+|\[.*|\$.*|/.*|tokenizer.*|invalid|expired|missing|required)$"
)


def hide_secrets(text: str) -> str:
    """Return the text with each secret replaced by `[kind hidden]`.

    >>> hide_secrets("HF_TOKEN=hf_" + "a" * 34), hide_secrets("num_tokens: 4096")
    ('HF_TOKEN=[hugging-face-token hidden]', 'num_tokens: 4096')
    >>> hide_secrets("redis://user:swordfish@10.0.0.1:6379/1")
    'redis://[password-in-url hidden]@10.0.0.1:6379/1'
    """
    for kind, pattern in _SECRETS:
        text = pattern.sub(_hide_value if kind == "password" else f"[{kind} hidden]", text)
    return text


def _hide_value(match: re.Match[str]) -> str:
    value = match["value"]
    if _HARMLESS.match(value) or value.startswith("["):
        return match[0]
    return f"{match['name']}{match['sign']}[password hidden]"
