"""opensm's log: ports that come and go, notices of switches, state of the manager."""

from __future__ import annotations

import pytest

from tests.collectors.fabric.reading import seen, take, take_log


def test_sample_log() -> None:
    intake = take_log("subnet-manager/opensm.log")
    assert intake.kind == "subnet-manager"
    events = seen(intake.records, "subnet-event")
    assert [one.code for one in events] == [
        "state", "subnet-up", "link-state-change", "port-left", "port-joined", "link-integrity", "bad-pkey", "sm-down",
    ]  # fmt: skip
    assert (events[3].node, events[3].entity) == ("node-a", "link:mlx5_5:1")
    assert events[2].attributes["lid"] == "3" and events[5].entity == "link:lid-3-P12:1"
    assert events[3].time is not None and events[2].time is not None and events[3].time - events[2].time == 2


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Mar  3 08:00:04 node-sm OpenSM[811]: SM port is down", "sm-down"),
        ("Mar  3 08:00:04 node-sm OpenSM[811]: Entering STANDBY state", "state"),
        (("Sep 30 10:00:00 123456 [7F5C2700] 0x01 -> osm_report_notice: Reporting Generic Notice type:1 num:128 (Link state change) from LID:3 "
         "GID:fe80::2c5e:ab30:d5f4:fa00"), "link-state-change"),
        (("Sep 30 10:00:00 123456 [7F5C2700] 0x01 -> log_trap_info: Received Generic Notice type:0 num:130 (Excessive Buffer Overrun Threshold "
         "reached) Producer:2 (Switch) from LID:3 Port 4 TID:0x0000000000000042"), "buffer-overrun"),
        (("Sep 30 10:00:00 123456 [7F5C2700] 0x01 -> sm_mad_ctrl_send_err_cb: ERR 3120: Timeout while getting attribute 0x15 (PortInfo); "
         "Possible mis-set mkey?"), "no-response"),
    ],
)  # fmt: skip
def test_other_forms(line: str, code: str) -> None:
    (one,) = seen(take(line).records, "subnet-event")
    assert one.code == code
