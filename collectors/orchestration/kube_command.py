"""The kubectl command above an output: of which object and namespace it tells."""

from __future__ import annotations

from dataclasses import dataclass

from collectors.orchestration.kube_names import kind_named
from collectors.regex import compile_later


@dataclass(frozen=True, slots=True)
class Command:
    """What a kubectl (or oc) command asks for."""

    verb: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    text: str = ""


_COMMAND = compile_later(r"(?:^|[#$%>+] |\s|\|)(?:kubectl|oc|k)(?:\.exe)? +(.*)$")
_VERBS = frozenset(
    {"get", "describe", "logs", "top", "delete", "apply", "exec", "events", "cordon", "drain", "api-resources"}
)
_WITH_VALUE = frozenset(
    {
        "-n",
        "--namespace",
        "-o",
        "--output",
        "-l",
        "--selector",
        "-L",
        "--label-columns",
        "--context",
        "--kubeconfig",
        "--field-selector",
        "--sort-by",
        "-c",
        "--container",
        "--tail",
        "--since",
        "-f",
        "--filename",
        "--for",
    }
)


def parse_command(text: str) -> Command:
    """Read `kubectl [-n NS] VERB [KIND[/NAME]] [NAME]`; an empty Command when the text is none.

    >>> parse_command("$ kubectl -n team-c describe pod sft-run-0 | tail -4")
    Command(verb='describe', kind='Pod', name='sft-run-0', namespace='team-c', text='$ kubectl -n team-c describe pod sft-run-0 | tail -4')
    """
    match = _COMMAND.search(text)
    if not match:
        return Command()
    verb = kind = name = namespace = ""
    words = iter(match[1].partition(" |")[0].replace("'", " ").split())
    for word in words:
        if word in _WITH_VALUE:
            value = next(words, "")
            if word in ("-n", "--namespace"):
                namespace = value
        elif word.startswith("-"):
            if word.startswith("--namespace="):
                namespace = word.partition("=")[2]
            elif word.startswith("-n") and len(word) > 2:
                namespace = word[2:].lstrip("=")
        elif not verb:
            verb = word if word in _VERBS else "?"
        elif not kind:
            head, _, tail = word.partition("/")
            kind, name = kind_named(head.partition(",")[0]), tail
        elif not name:
            name = word
    if verb in ("", "?"):
        return Command()
    if verb == "events":
        kind, name = "Event", ""
    return Command(verb, kind, name, namespace, text.strip())


def command_above(data: bytes, offset: int, most: int = 3) -> Command:
    """Return the kubectl command in the `most` lines above an offset (blank ones aside), an empty Command when there is none."""
    start = max(0, offset - 4096)
    above = data[start:offset].decode("utf-8", "replace").split("\n")[:-1]
    for line in [one for one in reversed(above) if one.strip()][:most]:
        command = parse_command(line)
        if command.verb:
            return command
    return Command()
