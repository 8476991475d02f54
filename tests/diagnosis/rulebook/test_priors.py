from pathlib import Path

import pytest

from diagnosis.rulebook import RuleError, find_rules_folder, load_rulebook
from diagnosis.rulebook.priors import load_priors


def test_shares_of_a_cause_are_added(tmp_path: Path) -> None:
    path = tmp_path / "priors.csv"
    path.write_text("cause,count,source\na.b,3,study one\nc.d,1,study one\na.b,4,study two\n", "utf-8")
    assert load_priors(path) == {"a.b": 0.875, "c.d": 0.125}


@pytest.mark.parametrize("row", ["a.b,many,study", "a.b,3,", "a.b,-1,study"])
def test_a_row_without_count_or_source_is_named(tmp_path: Path, row: str) -> None:
    path = tmp_path / "priors.csv"
    path.write_text(f"cause,count,source\n{row}\n", "utf-8")
    with pytest.raises(RuleError, match=r"priors\.csv:2: "):
        load_priors(path)


def test_the_shipped_priors_name_known_causes() -> None:
    priors = load_priors(find_rules_folder() / "tables" / "priors.csv")
    assert set(priors) <= set(load_rulebook().vocabulary.causes)
    assert sum(priors.values()) == pytest.approx(1.0)
