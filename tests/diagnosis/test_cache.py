"""What is kept between runs: given back whole or not at all, and never a reason to fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from diagnosis import cache
from diagnosis.engine import Knowledge
from diagnosis.rulebook import RuleError, find_rules_folder, load_rulebook

KEY = "a" * 64


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("FAULTWALK_CACHE", raising=False)
    return tmp_path / "faultwalk"


def only(folder: Path, name: str) -> Path:
    (path,) = folder.glob(f"{name}-*")
    return path


def test_what_is_kept_is_given_back(folder: Path) -> None:
    cache.keep("rules", KEY, b"one\ntwo")
    assert cache.load("rules", KEY) == b"one\ntwo"
    assert cache.load("rules", "b" * 64) is None
    assert cache.load("scan", KEY) is None
    assert [path.name for path in folder.iterdir()] == [f"rules-{KEY[:32]}"]
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [b"", b"x", b"one\ntwo", b"0" * 64 + b"\none\ntwo"])
def test_a_damaged_file_is_as_good_as_none(folder: Path, damage: bytes) -> None:
    cache.keep("rules", KEY, b"one\ntwo")
    only(folder, "rules").write_bytes(damage)
    assert cache.load("rules", KEY) is None


def test_a_file_that_others_may_write_is_not_trusted(folder: Path) -> None:
    cache.keep("rules", KEY, b"one")
    only(folder, "rules").chmod(0o666)
    assert cache.load("rules", KEY) is None


def test_the_cache_can_be_turned_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULTWALK_CACHE", "off")
    cache.keep("rules", KEY, b"one")
    assert cache.load("rules", KEY) is None and not folder.exists()


def test_a_relative_cache_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.find_folder() == tmp_path / ".cache" / "faultwalk"


def test_a_home_that_takes_no_files_costs_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    cache.keep("rules", KEY, b"one")
    assert cache.load("rules", KEY) is None


def test_few_of_a_name_are_kept(folder: Path) -> None:
    for number in range(9):
        cache.keep("scan", f"{number}" * 64, b"x")
        os.utime(folder / f"scan-{str(number) * 32}", (number, number))
    assert sorted(path.name[5] for path in folder.iterdir()) == ["5", "6", "7", "8"]


def test_parts_of_a_key_do_not_run_together() -> None:
    assert cache.make_key([b"ab", b"c"]) != cache.make_key([b"a", b"bc"])


def write_rules(folder: Path) -> Path:
    shipped = find_rules_folder()
    rules = folder / "rules"
    (rules / "hardware").mkdir(parents=True)
    (rules / "taxonomy.yaml").write_bytes((shipped / "taxonomy.yaml").read_bytes())
    (rules / "hardware" / "one.yaml").write_bytes((shipped / "hardware" / "gpu-bus.yaml").read_bytes())
    return rules


def test_kept_rules_are_the_rules(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = write_rules(tmp_path)
    first = load_rulebook(rules, cached=True)
    monkeypatch.setattr("diagnosis.rulebook.loader.load_vocabulary", None)  # nothing is read again
    assert load_rulebook(rules, cached=True) == first


def test_a_changed_rule_is_read_again(tmp_path: Path) -> None:
    rules = write_rules(tmp_path)
    load_rulebook(rules, cached=True)
    (rules / "hardware" / "one.yaml").write_text("- cause: nonsense\n")
    with pytest.raises(RuleError):
        load_rulebook(rules, cached=True)


def test_kept_rules_of_another_shape_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = write_rules(tmp_path)
    first = load_rulebook(rules, cached=True)
    for body in (
        b"[]",
        b"{}",
        b"not JSON",
        b'{"vocabulary": [{}, [], {}, {}], "rules": [[{"cause": "x"}, "y", true]]}',
    ):
        monkeypatch.setattr(cache, "load", lambda name, key, body=body: body)
        assert load_rulebook(rules, cached=True) == first


def test_the_compiled_scan_is_kept(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hyperscan")
    rulebook = load_rulebook(write_rules(tmp_path))
    block = b"nothing\nNVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"
    first = Knowledge.build(rulebook, cached=True)
    monkeypatch.setattr("collectors.engines.compile_database", None)  # nothing is compiled again
    again = Knowledge.build(rulebook, cached=True)
    assert list(again.scanner.find(block)) == list(first.scanner.find(block)) != []


def test_a_scan_that_cannot_be_loaded_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rulebook = load_rulebook(write_rules(tmp_path))
    block = b"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"
    for blob in (b"", b"[]\nrubbish", b"[[0]]\n" + b"\0" * 100, b"[[9999]]\nx"):
        monkeypatch.setattr(cache, "load", lambda name, key, blob=blob: blob)
        assert list(Knowledge.build(rulebook, cached=True).scanner.find(block))
