"""Series and their peers."""

from __future__ import annotations

from statistics import median

import pytest

from collectors.observation import Sample
from diagnosis.metric_series import find_series
from diagnosis.rulebook import When


@pytest.mark.parametrize("values", [[5, 1, 2], [1, 2, 3, 4], [7, 7, 7, 1, 9], [2, 1], [8, 0, 3, 3]])
def test_an_outlier_is_measured_by_the_median_of_the_others(values: list[float]) -> None:
    samples = [Sample("metrics", "power", value, "a", line, entity=f"gpu:{line}") for line, value in enumerate(values)]
    when = When.model_validate({"metric": "power", "outlier": "low", "factor": 2, "peers": 1})
    middles = [median(values[:at] + values[at + 1 :]) for at in range(len(values))]
    low = [at for at, value in enumerate(values) if value * 2 <= middles[at] and value < middles[at]]
    found = find_series(when, {"power": samples})
    assert sorted(one.line for match in found for one in match.observations) == low


def test_a_series_without_peers_is_no_outlier() -> None:
    when = When.model_validate({"metric": "power", "outlier": "low", "factor": 2, "peers": 1})
    assert find_series(when, {"power": [Sample("metrics", "power", 1.0, "a", 1, entity="gpu:0")]}) == []
