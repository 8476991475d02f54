"""What a host's own firewall does with traffic that no rule lists: iptables, nftables, ufw, firewalld.

Programs: iptables 1.4 to 1.8 (`-S`, `-L`, `iptables-save`), nftables (`nft list ruleset`), ufw 0.36 (`ufw status verbose`), firewalld 0.6
to 2.x (`firewall-cmd --list-all`). Formats: their manual pages. Yields one `firewall` fact for each list: code `drops-unlisted` or
`accepts`, attributes program, and subnets (yes where a rule accepts all that a network or an interface sends). Samples::

    -P INPUT DROP                                  Default: deny (incoming), allow (outgoing), disabled (routed)
    -A INPUT -s 10.0.0.0/16 -j ACCEPT              public (active)
    Chain INPUT (policy DROP 0 packets, 0 bytes)     target: default
    chain input {                                    ports: 29500/tcp
            type filter hook input priority filter; policy drop;
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "firewall"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^-[PA] (?:INPUT|FORWARD|OUTPUT) ", r"^Chain (?:INPUT|FORWARD|OUTPUT) \(policy ", r"^:INPUT (?:ACCEPT|DROP) \[",
    r"^Default: \w+ \(incoming\)", r"^\w+ \(active\)$", r"^  (?:target|icmp-block-inversion|rich rules|masquerade): ?",
    r"^\s*type filter hook input priority ", r"^Status: (?:active|inactive)$",
)  # fmt: skip
HEADS = (
    r"^-P INPUT (?:ACCEPT|DROP)",
    r"^:INPUT (?:ACCEPT|DROP) \[",
    r"^Chain INPUT \(policy (?:ACCEPT|DROP)",
    r"^\s*type filter hook input priority ",
    r"^Default: (?:deny|reject|allow) \(incoming\)",
    r"^\w[\w.-]* \((?:default, )?active\)$",
)
_MOST = 400  # lines of one list
_DROPS = compile_later(
    r"^(?:-P INPUT DROP|:INPUT DROP|Chain INPUT \(policy DROP|Default: (?:deny|reject) )|policy drop;"
)
_LAST = compile_later(  # a last rule that takes all the rest
    r"^-A INPUT(?: -j (?:REJECT|DROP)\b(?! -m).*)$|^(?:\d+ +)?(?:[\dKMG]+ +[\dKMG]+ +)?"
    r"(?:REJECT|DROP) +(?:all|0) +(?:--|\*)? +(?:\* +\* +)?(?:0\.0\.0\.0/0|anywhere) +(?:0\.0\.0\.0/0|anywhere)(?: +reject-with \S+)? *$|"
    r"^\s+(?:counter packets \d+ bytes \d+ )?(?:reject|drop)(?: with .*)?$"
)
_SUBNET = compile_later(
    r"^-A INPUT -s \S+(?: -i \S+)? -j ACCEPT$|^-A INPUT -i (?!lo )\S+ -j ACCEPT$|"
    r"\bACCEPT +(?:all|0) +(?:--|\*)? +(?:\S+ +\S+ +)?\d+\.\d+\.\d+\.\d+(?:/[1-9]\d?)? +(?:0\.0\.0\.0/0|anywhere) *$|"
    r"^\s+ip saddr \S+ accept|^\s+iifname (?!\"lo\")\S+ accept|^Anywhere(?: on \S+)? +ALLOW (?:IN )?|"
    r"^  sources: \S|rule .*source address=\S+ accept|^  target: ACCEPT"
)
_INSIDE = compile_later(
    r"^-[A-Z] |^:[A-Z]|^\*|^#|^COMMIT|^Chain |^\s*\d* *(?:pkts|num|target) |^\s|^\s*\}?$|^(?:To|--|Anywhere|Logging|New profiles)\b|"
    r"^\S+(?:/(?:tcp|udp))?(?: \(v6\))? +(?:ALLOW|DENY|LIMIT|REJECT)|"
    r"^(?:ACCEPT|DROP|REJECT|LOG|[\w-]+) +(?:all|tcp|udp|icmp|0|6|17) |^\d+ +[A-Z]"
)
_ZONE = compile_later(HEADS[-1])


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read one list of rules from the line on that states its policy."""
    first = reader.number
    head = reader.next() or ""
    program = "iptables"
    if "hook input" in head:
        program = "nftables"
    elif head.startswith("Default: "):
        program = "ufw"
    elif _ZONE.match(head):
        program = "firewalld"
    drops, subnets, target = bool(_DROPS.search(head)), False, ""
    text, last = head.strip(), first
    other = False  # in another chain of the list
    for _ in range(_MOST):
        raw = reader.peek()
        if raw is None or (raw.strip() and not _INSIDE.match(raw)) or _ZONE.match(raw):
            break
        if raw.lstrip().startswith(("type filter hook", "chain ")) or (program == "nftables" and raw.strip() == "}"):
            break
        number = reader.number
        reader.next()
        if raw.startswith("Chain "):
            other = True
        if other or raw.startswith(("-A FORWARD", "-A OUTPUT")):
            continue
        if program == "firewalld" and raw.startswith("  target: "):
            target = raw.partition(": ")[2].strip()
            text, last = f"{text}, {raw.strip()}", number
        if _SUBNET.search(raw):
            subnets = True
        elif _LAST.search(raw) and not drops:
            drops = True
            text, last = f"{text}; {raw.strip()}", number
    if program == "firewalld":
        if not target:
            return
        drops = target in ("default", "DROP", "REJECT", "%%REJECT%%")
    yield Observation(
        SOURCE, "firewall", reader.input, first, last, text, code="drops-unlisted" if drops else "accepts", node=reader.node,
        attributes={"program": program, "subnets": "yes" if subnets else "no"},
    )  # fmt: skip
