"""Statistics as the AWS command line prints them."""

from __future__ import annotations

import pytest

from tests.collectors.fabric.reading import take, take_log, values


def test_text_and_both_forms_of_json() -> None:
    intake = take_log("metrics/cloudwatch.txt")
    assert values(intake.records, "cloudwatch_BurstCreditBalance") == {" ": [412316860416.0, 0.0]}
    assert values(intake.records, "cloudwatch_BurstBalance") == {" ": [12.5, 3.25]}
    assert values(intake.records, "cloudwatch_DataReadBytes") == {" ": [1.5e9, 0.0]}


def test_table() -> None:
    text = (
        "$ aws cloudwatch get-metric-statistics --metric-name BurstCreditBalance --output table\n"
        "---------------------------------------------------\n|               GetMetricStatistics               |\n"
        "+-----------+-------------------------------------+\n|  Label    |  BurstCreditBalance                 |\n"
        "||                  Datapoints                   ||\n|+--------+------------------------------+--------+|\n"
        "|| Minimum|          Timestamp           | Unit   ||\n|+--------+------------------------------+--------+|\n"
        "||  0.0   |  2025-03-02T12:00:00+00:00   |  Bytes ||\n|+--------+------------------------------+--------+|\n"
    )
    assert values(take(text).records, "cloudwatch_BurstCreditBalance") == {" ": [0.0]}


@pytest.mark.parametrize(
    "text",
    [
        "DATAPOINTS\t0.0\t2025-03-02T12:00:00+00:00\tBytes\n",  # of which metric is not said
        '{"Label": "X", "Datapoints": []}\n',
        "$ aws cloudwatch get-metric-statistics --metric-name X\nnode-a$ date 2025-03-02T12:00:00Z 5\n",
    ],
)
def test_nothing_without_a_name_and_a_point(text: str) -> None:
    assert not [one for one in take(text).records if getattr(one, "metric", "").startswith("cloudwatch")]
