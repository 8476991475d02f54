"""Rule files: what is loaded, what overrides what, and every mistake with its file, its line and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from diagnosis.rulebook import Rulebook, RuleError, find_rules_folder, load_rulebook
from tests.diagnosis.making import TAXONOMY, cause, evidence, symptom, text, write_rules

RULE = """\
- cause: 'gpu.lost'
  title: {en: 'A GPU is lost', zh: '掉卡'}
  entity: gpu
  evidence:
    - when: {kind: xid, code: 79}
      strength: decisive
      examples:
        match:
          - 'NVRM: Xid (PCI:0000:3b:00): 79, x'
        no_match:
          - {text: 'NVRM: Xid (PCI:0000:3b:00): 13, x', why: 'an application fault'}
  leads_to: ['gone']
  checks:
    - {run: 'lspci', on: '{node}'}
  fix:
    - {en: 'Reboot.', zh: '重启。'}
  action: reboot
  references: ['a catalog']
"""


def load(folder: Path, rules: str, *, extra: Path | None = None) -> Rulebook:
    path = folder / "rules" / "hardware" / "gpu.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(rules, "utf-8")
    (folder / "rules" / "taxonomy.yaml").write_text(yaml.safe_dump(TAXONOMY), "utf-8")
    return load_rulebook(folder / "rules", extra=extra)


def problems(folder: Path, rules: str, *, extra: Path | None = None) -> list[str]:
    with pytest.raises(RuleError) as caught:
        load(folder, rules, extra=extra)
    assert str(caught.value) == "\n".join(caught.value.problems)
    return caught.value.problems


def test_a_rule_is_loaded_with_its_place(tmp_path: Path) -> None:
    rulebook = load(tmp_path, "# rules\n" + RULE)
    assert list(rulebook.causes) == ["gpu.lost"]
    assert rulebook.places == {"gpu.lost": "rules/hardware/gpu.yaml:2"}
    assert rulebook.layer_of("gpu.lost") == "hardware"
    assert rulebook.title("gpu.lost", "zh") == "掉卡"
    assert rulebook.title("gone", "en") == "it shows as gone"
    assert rulebook.title("gpu.hot", "en") == "a GPU is hot"
    assert rulebook.title("no.such", "en") == "no.such"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("action: reboot", "action: reboot\n  zzz: high", "rules/hardware/gpu.yaml:18: zzz: unknown key `zzz` | zzz: high"),
        ("strength: decisive", "strenght: decisive", "rules/hardware/gpu.yaml:6: evidence.0.strenght: unknown key `strenght`; did you mean `strength`? | strenght: decisive"),
        ("strength: decisive", "strength: decisive\n      anchor: 'x'", "rules/hardware/gpu.yaml:7: evidence.0.anchor: unknown key `anchor`, which belongs elsewhere | anchor: 'x'"),
        ("code: 79}", "code: 79, pattrn: 'x'}", "rules/hardware/gpu.yaml:5: evidence.0.when.pattrn: unknown key `pattrn`; did you mean `pattern`? | - when: {kind: xid, code: 79, pattrn: 'x'}"),
        ("action: reboot", "action: reboot\n  action: drain", "rules/hardware/gpu.yaml:18: key `action` stands twice"),
        ("'gpu.lost'", "'gpu.lots'", "rules/hardware/gpu.yaml:1: `gpu.lots` is not in the taxonomy; did you mean `gpu.lost`?"),
        ("['gone']", "['gnoe']", "rules/hardware/gpu.yaml:12: `gnoe` is not in the taxonomy; did you mean `gone`?"),
        ("['gone']", "\n    - 'gone'\n    - 'zzz'", "rules/hardware/gpu.yaml:14: `zzz` is not in the taxonomy"),
        ("action: reboot", "action: reboot\n  stands_for: ['gpu.hot']", "rules/hardware/gpu.yaml:18: `gpu.hot` is no symptom of the taxonomy"),
        ("['gone']", "[]", "rules/hardware/gpu.yaml:1: `gpu.lost` leads to no symptom, so no complaint can reach it: add one to `leads_to`"),
        ("['gone']", "['gpu.hot']", "rules/hardware/gpu.yaml:1: `gpu.lost` leads to no symptom, so no complaint can reach it: add one to `leads_to`"),
        ("['gone']", "['gpu.lost', 'gone']", "rules/hardware/gpu.yaml:12: `leads_to` runs in a circle: gpu.lost -> gpu.lost"),
        ("{kind: xid, code: 79}", "{pattern: 'a(?=b)'}", "rules/hardware/gpu.yaml:5: pattern refused by RE2 (no look-around or back-reference, counts to 1000): invalid perl operator: (?= | a(?=b)"),
        ("{kind: xid, code: 79}", "{pattern: 'abc', anchor: '(x)\\1'}", "rules/hardware/gpu.yaml:5: pattern refused by RE2 (no look-around or back-reference, counts to 1000): invalid escape sequence: \\1 | (x)\\1"),
        ("{kind: xid, code: 79}", "{pattern: 'a*'}", "rules/hardware/gpu.yaml:5: pattern matches an empty line | a*"),
        ("{kind: xid, code: 79}", "{kind: xid, where: {name: {matches: '('}}}", "rules/hardware/gpu.yaml:5: name: refused by RE2 (no look-around or back-reference, counts to 1000): missing ): ( | ("),
        ("{kind: xid, code: 79}", "{query: mine}", "rules/hardware/gpu.yaml:5: no query `mine`; there are none"),
        ("{kind: xid, code: 79}", "{}", "rules/hardware/gpu.yaml:5: evidence.0.when: a condition needs one of: kind, pattern, metric, query, all, any, none, count, spread, first | - when: {}"),
        ("{kind: xid, code: 79}", "{none: [{kind: xid}]}", "rules/hardware/gpu.yaml:5: evidence.0.when: `none` stands only inside `all`: absence alone is no evidence | - when: {none: [{kind: xid}]}"),
        ("decisive", "certain", "rules/hardware/gpu.yaml:6: evidence.0.strength: Input should be 'decisive', 'strong', 'moderate' or 'weak' | strength: certain"),
        (", why: 'an application fault'", "", "rules/hardware/gpu.yaml:7: evidence.0.examples: a no_match example says `why` it must not match | examples:"),
        ("zh: '掉卡'", "zh: ''", "rules/hardware/gpu.yaml:2: title.zh: String should have at least 1 character | title: {en: 'A GPU is lost', zh: ''}"),
        (", zh: '掉卡'", "", "rules/hardware/gpu.yaml:2: title.zh: Field required | title: {en: 'A GPU is lost'}"),
        ("- cause: 'gpu.lost'", "- reason: 'gpu.lost'", "rules/hardware/gpu.yaml:1: expected `cause:` or `symptom:`"),
        ("  action: reboot", "  action: 'reboot", "rules/hardware/gpu.yaml:18: not YAML: did not find expected key"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_file_and_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in RULE
    assert expected in problems(tmp_path, RULE.replace(old, new, 1))


def test_no_example_no_rule(tmp_path: Path) -> None:
    start, end = RULE.index("      examples:"), RULE.index("  leads_to")
    assert problems(tmp_path, RULE[:start] + RULE[end:]) == [
        "rules/hardware/gpu.yaml:5: evidence.0.examples: Field required | - when: {kind: xid, code: 79}"
    ]


@pytest.mark.parametrize("rules", ["cause: 'gpu.lost'\n", "a text\n", ""])
def test_a_file_is_a_list(tmp_path: Path, rules: str) -> None:
    assert problems(tmp_path, rules) == [
        "rules/hardware/gpu.yaml:1: expected a list of rules (`- cause: ...` or `- symptom: ...`)"
    ]


def test_an_entry_that_is_no_rule(tmp_path: Path) -> None:
    assert problems(tmp_path, RULE + "- just text\n- [1]\n") == [
        "rules/hardware/gpu.yaml:19: expected `cause:` or `symptom:`",
        "rules/hardware/gpu.yaml:20: expected `cause:` or `symptom:`",
    ]


def test_a_rule_stands_once(tmp_path: Path) -> None:
    assert problems(tmp_path, RULE + RULE) == [
        "rules/hardware/gpu.yaml:19: `gpu.lost` stands already at rules/hardware/gpu.yaml:1"
    ]


def test_every_mistake_of_every_file_is_told(tmp_path: Path) -> None:
    write_rules(tmp_path / "rules", cause("gpu.hot", {"kind": "a"}, action="pray"), file="hardware/heat.yaml")
    found = problems(tmp_path, RULE.replace("strength: decisive", "strength: x").replace("['gone']", "3"))
    assert [one.split(": ")[0] for one in found] == [
        "rules/hardware/gpu.yaml:6",
        "rules/hardware/gpu.yaml:12",
        "rules/hardware/heat.yaml:21",
    ]


def test_a_long_circle_is_told(tmp_path: Path) -> None:
    write_rules(
        tmp_path / "rules",
        cause("gpu.hot", {"kind": "a"}, leads_to=["link.flap", "gone"]),
        cause("link.flap", {"kind": "a"}, leads_to=["gpu.lost"]),
        file="hardware/heat.yaml",
    )
    (problem,) = problems(tmp_path, RULE.replace("['gone']", "['gone', 'gpu.hot']"))
    assert problem.endswith(": `leads_to` runs in a circle: gpu.hot -> link.flap -> gpu.lost -> gpu.hot")


def test_a_cause_may_reach_a_symptom_through_others(tmp_path: Path) -> None:
    write_rules(tmp_path / "rules", cause("gpu.hot", {"kind": "a"}, leads_to=["gpu.lost"]), file="hardware/heat.yaml")
    rulebook = load(tmp_path, RULE)
    assert rulebook.reach("gpu.hot") == {"gpu.lost", "gone"}
    assert rulebook.reach("gpu.lost") == {"gone"}
    assert rulebook.reach("no.such") == frozenset()


# --- a folder of one's own


def test_own_rules_add_and_override(tmp_path: Path) -> None:
    own = write_rules(
        tmp_path / "own",
        cause("gpu.lost", {"pattern": "mine is lost"}),
        cause("gpu.hot", {"kind": "a"}),
        symptom("gone", {"kind": "b"}),
        file="x.yaml",
    )
    (own / "taxonomy.yaml").unlink()
    rulebook = load(tmp_path, RULE, extra=own)
    assert sorted(rulebook.causes) == ["gpu.hot", "gpu.lost"]
    assert rulebook.title("gpu.lost", "en") == "Title of gpu.lost"
    assert rulebook.places["gpu.lost"] == "own/x.yaml:1"
    assert [rule.id for rule in rulebook.rules()] == ["gpu.hot", "gpu.lost", "gone"]
    (pattern,) = rulebook.patterns
    assert (pattern.key, pattern.trusted) == ("gpu.lost#0.0", False)


def test_the_shipped_patterns_are_trusted(tmp_path: Path) -> None:
    (pattern,) = load(tmp_path, RULE.replace("{kind: xid, code: 79}", "{pattern: 'is lost'}")).patterns
    assert pattern.trusted


def test_a_mistake_in_own_rules_names_their_file(tmp_path: Path) -> None:
    own = tmp_path / "own" / "gpu"
    own.mkdir(parents=True)
    (own / "mine.yaml").write_text(RULE.replace("reboot", "pray"), "utf-8")
    (problem,) = problems(tmp_path, RULE, extra=tmp_path / "own")
    assert problem.startswith("own/gpu/mine.yaml:17: action: Input should be 'ignore', ")


def test_own_rules_in_the_folder_one_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine.yaml").write_text("- x\n", "utf-8")
    monkeypatch.chdir(own)
    assert problems(tmp_path, RULE, extra=Path()) == ["own/mine.yaml:1: expected `cause:` or `symptom:`"]


def test_no_folder_is_told(tmp_path: Path) -> None:
    assert problems(tmp_path, RULE, extra=tmp_path / "nowhere") == [f"{tmp_path / 'nowhere'}: no such folder"]


# --- patterns


def test_one_regex_is_scanned_for_once(tmp_path: Path) -> None:
    write_rules(
        tmp_path / "rules",
        cause("gpu.hot", {"all": [{"pattern": "too hot"}, {"none": [{"pattern": "cooled"}]}]}, evidence({"pattern": "too hot", "source": "kernel"}, "weak"), against=[{"when": {"pattern": "cooled"}, "strength": "weak", "why": text("x")}]),
        cause("gpu.lost", {"pattern": "too hot", "anchor": "hot"}),
    )  # fmt: skip
    rulebook = load_rulebook(tmp_path / "rules")
    assert [(one.key, one.regex) for one in rulebook.patterns] == [
        ("gpu.hot#0.0", "too hot"),
        ("gpu.hot#0.1", "cooled"),
    ]
    assert rulebook.key_of(rulebook.causes["gpu.lost"].evidence[0].when) == "gpu.hot#0.0"


def test_the_shipped_folder_is_found() -> None:
    folder = find_rules_folder()
    assert (folder / "taxonomy.yaml").is_file()
    assert (folder / "README.md").is_file()
