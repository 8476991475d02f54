"""What a fresh checkout promises: two commands, pinned packages, one place for everything."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOCK_FILES = sorted(ROOT.glob("requirements*.lock"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = {".ci", "api", "casebase", "collectors", "diagnosis", "docs", "fixtures", "rules", "tests"}


def normalised(requirement: str) -> str:
    name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(path: Path) -> dict[str, str]:
    """Every requirement of a lock file by name, with all that belongs to it on one line."""
    text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE).replace("\\\n", " ")
    return {normalised(line): line for line in text.splitlines()}


def checked_in() -> list[Path]:
    """The files git has or would take; without git, there is nothing to say."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_there_are_four_lock_files() -> None:
    assert [path.name for path in LOCK_FILES] == [
        "requirements-build.lock",
        "requirements-dev.lock",
        "requirements-fuzz.lock",
        "requirements.lock",
    ]


@pytest.mark.parametrize("path", LOCK_FILES, ids=lambda path: path.name)
def test_a_lock_pins_versions_and_hashes(path: Path) -> None:
    for line in locked(path).values():
        assert re.fullmatch(r"[a-z0-9._-]+==\S+(\s*;[^\\]*?)?(\s+--hash=sha256:[0-9a-f]{64})+", line), line


@pytest.mark.parametrize("path", LOCK_FILES, ids=lambda path: path.name)
def test_a_lock_names_no_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"--(extra-)?index-url|--find-links|--trusted-host|(^|\s)@\s", text)
    assert not re.search(r"\b[\w-]+\.(com|org|net|io|dev|cn)\b", text)


def test_the_locks_hold_what_the_project_asks_for() -> None:
    run, build, dev = (locked(ROOT / f"requirements{part}.lock") for part in ("", "-build", "-dev"))
    assert {normalised(item) for item in PROJECT["project"]["dependencies"]} <= set(run)
    groups = PROJECT["dependency-groups"]
    assert {normalised(item) for item in groups["build"]} <= set(build)
    assert {normalised(item) for item in groups["dev"] if isinstance(item, str)} <= set(dev)
    for part in (run, build):
        assert {name: line.split()[0] for name, line in part.items()}.items() <= {
            name: line.split()[0] for name, line in dev.items()
        }.items()


def test_the_readme_opens_with_the_two_commands() -> None:
    lines = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if line]
    assert lines[0] == "# faultwalk"
    assert lines[1] == "```sh"
    assert [line.split("#")[0].strip() for line in lines[2:4]] == ["make run", "make test"]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", text):
        assert (ROOT / target).exists(), f"{name} links to {target}"


def test_every_make_target_named_in_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE))
        assert named <= targets, f"{name} names {sorted(named - targets)}"


def test_every_folder_has_its_place() -> None:
    found = {path.relative_to(ROOT).parts[0] for path in checked_in() if len(path.relative_to(ROOT).parts) > 1}
    assert found <= FOLDERS


def test_nothing_large_or_executable_by_accident() -> None:
    for path in checked_in():
        assert path.stat().st_size < 1_000_000, path
        if path.stat().st_mode & 0o111:
            assert path.read_bytes()[:2] == b"#!", path


def test_the_packages_are_those_of_the_wheel_and_of_the_import_contracts() -> None:
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    packages = PROJECT["tool"]["importlinter"]["root_packages"]
    assert [entry for entry in wheel["only-include"] if entry not in wheel["sources"]] == packages
    for package in packages:
        assert (ROOT / package / "__init__.py").is_file()
