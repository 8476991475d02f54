"""What the documents say of the code, made from the code; `UPDATE_EXPECTED=1 pytest tests/test_documents.py` writes it."""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from api.codes import find_readers
from collectors.registry import COLLECTORS
from diagnosis.model import Report
from diagnosis.rulebook import CauseRule, Rulebook, When, find_rules_folder, load_rulebook
from diagnosis.tables import KINDS, Code, Tables, load_tables

ROOT = Path(__file__).resolve().parent.parent


def make_sources_table() -> str:
    """Return the table of sources: what each collector reads, and the layers that it lets one judge."""
    rows: dict[str, list[str]] = {}
    layers: dict[str, list[str]] = {}
    for module in COLLECTORS:
        head = (inspect.getdoc(module) or "").split("\n\n")[0].replace("\n", " ").strip()
        rows.setdefault(module.SOURCE, []).append(head.rstrip(".") + ".")
        layers.setdefault(module.SOURCE, []).extend(
            one for one in module.LAYERS if one not in layers.get(module.SOURCE, [])
        )
    lines = ["| source | what it is | layers it lets one judge |", "|---|---|---|"]
    lines += [
        f"| `{source}` | {' '.join(heads).replace('|', chr(92) + '|')} | {', '.join(layers[source]) or '–'} |"
        for source, heads in sorted(rows.items())
    ]
    return "\n".join(lines)


def make_layers_table() -> str:
    """Return the table of layers with how many causes have a rule."""
    rulebook = load_rulebook(find_rules_folder())
    lines = ["| layer | what belongs there | causes with a rule |", "|---|---|---|"]
    for layer, meaning in rulebook.vocabulary.layers.items():
        known = [cause for cause, (where, _) in rulebook.vocabulary.causes.items() if where == layer]
        ruled = [cause for cause in known if cause in rulebook.causes]
        lines.append(f"| {layer} | {meaning} | {len(ruled)} of {len(known)} |")
    return "\n".join(lines)


def make_report_schema() -> dict[str, Any]:
    """Return the JSON Schema of the report."""
    schema = Report.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "faultwalk.report/1", **schema}


def make_fields_table() -> str:
    """Return the report's fields, one section a part."""
    schema = make_report_schema()
    parts = [("Report", schema), *sorted(schema["$defs"].items())]
    lines: list[str] = []
    for name, part in parts:
        if "properties" not in part:
            continue
        lines += [
            f"### {name}",
            "",
            re.sub(r"\s+", " ", part.get("description", "")),
            "",
            "| field | type | meaning |",
            "|---|---|---|",
        ]
        for field, value in part["properties"].items():
            lines.append(f"| `{field}` | {_type(value)} | {value.get('description', '')} |")
        lines.append("")
    return "\n".join(lines).rstrip()


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "anyOf" in value:
        return " or ".join(_type(one) for one in value["anyOf"])
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}))}"
    return str(value.get("type", "any"))


def make_coverage() -> str:
    """Return docs/coverage.md: what is read, which codes are known, and how much evidence each cause has."""
    rulebook = load_rulebook(find_rules_folder())
    tables = load_tables(find_rules_folder(), rulebook.vocabulary.causes)
    parts = [
        "# Coverage",
        "What faultwalk reads and knows, made from the code: `UPDATE_EXPECTED=1 pytest tests/test_documents.py`.",
        "## Sources\n\nOne row a collector: the program and its versions as the collector's module states them, and the facts it yields.",
        _collectors_table(),
        "## Codes\n\n`faultwalk explain KIND:CODE` prints all that is known of one.",
        _codes_table(tables, rulebook),
        "### Xids in use",
        _xid_table(tables, rulebook),
        *(part for kind in KINDS if kind != "xid" for part in (f"### {kind}: codes by cause", _by_cause(tables, kind))),
        "### Xid 144 to 150: registers",
        _nvlink_table(tables),
        "## Causes\n\nHow many pieces of evidence a cause has, and from where. `text` is a pattern on lines of any source, `metrics` a metric.",
        _causes_table(rulebook),
    ]
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


def _collectors_table() -> str:
    lines = ["| source | module | what it reads | versions and formats | facts |", "|---|---|---|---|---|"]
    for module in sorted(COLLECTORS, key=lambda one: (one.SOURCE, one.__name__)):
        paragraphs = (inspect.getdoc(module) or "").split("\n\n")
        versions = paragraphs[1].split("Samples::")[0].split("Sample::")[0] if len(paragraphs) > 1 else ""
        facts = [
            (inspect.getdoc(parser) or "").split("\n\n")[0]
            for name in ("parse_line", "parse_block")
            if (parser := getattr(module, name, None)) is not None
        ]
        name = module.__name__.rpartition(".")[2]
        lines.append(
            f"| {module.SOURCE} | `{name}` | {_cell(paragraphs[0])} | {_cell(versions)} | {_cell(' '.join(facts))} |"
        )
    return "\n".join(lines)


def _codes_table(tables: Tables, rulebook: Rulebook) -> str:
    lines = [
        "| table | codes | in use | with a cause | secondary | harmless | read by a rule of that cause |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        used = [code for code in tables.codes[kind].values() if code.in_use]
        caused = [code for code in used if code.cause]
        read = sum(code.cause in _readers(code, rulebook) for code in caused)
        states = Counter(code.harmless for code in used)
        lines.append(
            f"| {kind} | {len(tables.codes[kind])} | {len(used)} | {len(caused)} | {states['secondary']} | {states['harmless']} | {read} |"
        )
    return "\n".join(lines)


def _readers(code: Code, rulebook: Rulebook) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for rule, evidence in find_readers(rulebook, code.kind, code.code, code):
        if isinstance(rule, CauseRule):
            found[rule.id].append(evidence.strength)
    return found


def _xid_table(tables: Tables, rulebook: Rulebook) -> str:
    lines = ["| Xid | name | GPUs | NVIDIA | action | cause | evidence |", "|---|---|---|---|---|---|---|"]
    for code in tables.codes["xid"].values():
        if code.in_use:
            stated = code.immediate.name if code.immediate else "–"
            evidence = "; ".join(
                f"{cause} {', '.join(strengths)}" for cause, strengths in sorted(_readers(code, rulebook).items())
            )
            cause = f"`{code.cause}`" if code.cause else code.harmless
            gpus = ", ".join(code.products) or "–"
            lines.append(
                f"| {code.code} | {code.name} | {gpus} | {stated} | {code.action} | {cause} | {evidence or '–'} |"
            )
    return "\n".join(lines)


def _by_cause(tables: Tables, kind: str) -> str:
    groups: dict[str, list[str]] = defaultdict(list)
    for code in tables.codes[kind].values():
        groups[f"`{code.cause}`" if code.cause else code.harmless].append(code.code.removeprefix("DCGM_FR_"))
    lines = ["| cause | codes |", "|---|---|"]
    return "\n".join(lines + [f"| {name} | {', '.join(codes)} |" for name, codes in sorted(groups.items())])


def _nvlink_table(tables: Tables) -> str:
    rows: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for row in tables.nvlink:
        rows[(row.xid, " / ".join(dict.fromkeys(row.units.values())))][row.recovery.name] += 1
    lines = ["| Xid | unit before / from R575 | entries | recovery |", "|---|---|---|---|"]
    lines += [
        f"| {xid} | {unit} | {sum(actions.values())} | {', '.join(f'{name} {count}' for name, count in sorted(actions.items()))} |"
        for (xid, unit), actions in rows.items()
    ]
    return "\n".join(lines)


def _causes_table(rulebook: Rulebook) -> str:
    lines = ["| layer | cause | evidence | from | against |", "|---|---|---|---|---|"]
    order = list(rulebook.vocabulary.layers)
    for cause, (layer, _) in sorted(
        rulebook.vocabulary.causes.items(), key=lambda one: (order.index(one[1][0]), one[0])
    ):
        rule = rulebook.causes.get(cause)
        if rule is None:
            lines.append(f"| {layer} | `{cause}` | 0 | | 0 |")
            continue
        counts = Counter(
            source for evidence in rule.evidence for source in {_source_of(leaf) for leaf in evidence.when.leaves()}
        )
        shown = ", ".join(
            f"{source} {count}" for source, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        )
        lines.append(f"| {layer} | `{cause}` | {len(rule.evidence)} | {shown} | {len(rule.against)} |")
    return "\n".join(lines)


def _source_of(leaf: When) -> str:
    if leaf.metric is not None:
        return "metrics"
    named = leaf.source if isinstance(leaf.source, str) else (leaf.source or [""])[0]
    if named and named != "any":
        return named
    if leaf.kind is not None:
        return _home_of(leaf.kind)
    return "text" if leaf.pattern is not None else "query"


@cache
def _home_of(kind: str) -> str:
    """Return the source whose collectors yield a kind of fact, `derived` when none does, the kind where several may."""
    found = {module.SOURCE for module in COLLECTORS if f'"{kind}"' in inspect.getsource(module)}
    return found.pop() if len(found) == 1 else kind if found else "derived"


def put_between(text: str, mark: str, content: str) -> str:
    """Return a document with the part between `<!-- mark:begin -->` and `<!-- mark:end -->` replaced."""
    begin, end = f"<!-- {mark}:begin -->", f"<!-- {mark}:end -->"
    head, rest = text.split(begin, 1)
    return f"{head}{begin}\n{content}\n{end}{rest.split(end, 1)[1]}"


def expected_documents() -> dict[Path, str]:
    """Return every generated file with what it should hold."""
    readme = (ROOT / "README.md").read_text("utf-8")
    readme = put_between(put_between(readme, "sources", make_sources_table()), "layers", make_layers_table())
    report = put_between((ROOT / "docs/report.md").read_text("utf-8"), "fields", make_fields_table())
    schema = json.dumps(make_report_schema(), indent=2, ensure_ascii=False) + "\n"
    return {
        ROOT / "README.md": readme,
        ROOT / "docs/report.md": report,
        ROOT / "docs/coverage.md": make_coverage(),
        ROOT / "diagnosis/report.schema.json": schema,
    }
