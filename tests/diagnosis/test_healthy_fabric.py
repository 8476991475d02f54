"""What the tools of the network print where nothing is wrong accuses nobody."""

from __future__ import annotations

import io
from functools import cache

import pytest

from collectors.ingest import Input
from diagnosis.engine import Knowledge, triage
from diagnosis.rulebook import load_rulebook

HEALTHY = {
    "iblinkinfo": """CA: node-a mlx5_0:
      0xec0d9a03003d62be      4    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       2    1[  ] "MF0;leaf-1:MQM8700/U1" ( )
Switch: 0x506b4b0300820910 MF0;leaf-1:MQM8700/U1:
           2    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       4    1[  ] "node-a mlx5_0" ( )
           2    2[  ] ==(                Down/ Polling)==>             [  ] "" ( )
           2    3[  ] ==(                Down/ Polling)==>             [  ] "" ( )
""",
    "ibqueryerrors": """$ ibqueryerrors
Errors for 0x2c903006e29b0 "MF0;leaf-1:SX6036/U1"
   GUID 0x2c903006e29b0 port ALL: [LinkErrorRecoveryCounter == 15] [LinkDownedCounter == 48] [PortXmitWait == 4294967295]
   GUID 0x2c903006e29b0 port 1: [LinkDownedCounter == 8] [PortRcvSwitchRelayErrors == 2] [PortXmitWait == 4294967295]
   GUID 0x2c903006e29b0 port 2: [LinkDownedCounter == 5] [PortXmitWait == 4294967295]

## Summary: 5 nodes checked, 1 bad nodes found
""",
    "ibdiagnet": """-I- Discovering ... 41 nodes (3 Switches & 38 CA-s) discovered.
-I- Fabric Discover finished successfully
-I- Links Check finished successfully
-I- no credit loops found
-W- 4 nodes with the same description were found
Summary
-I- Stage                     Warnings   Errors     Comment
-I- Discovery                 3          0
-I- Subnet Manager            0          0
-I- Port Counters             0          0
-I- Nodes Information         16         0
-I- Speed / Width checks      0          0
""",
    "opensm": """Sep 30 10:00:00 123456 [7F5C2700] 0x80 -> Entering MASTER state
Sep 30 10:00:01 123456 [7F5C2700] 0x02 -> SUBNET UP
Sep 30 10:21:07 223456 [7F5C2700] 0x01 -> osm_report_notice: Reporting Urgent Notice "Link state change" from switch LID 3, GUID 0x2c5e
Sep 30 10:21:09 323456 [7F5C2700] 0x02 -> drop_mgr_remove_port: Removed port with GUID:0xe09d LID range [7, 7] of node:node-a mlx5_5
Sep 30 10:26:31 423456 [7F5C2700] 0x02 -> state_mgr_report_new_ports: Discovered new port with GUID:0xe09d LID range [7,7] of node: node-a mlx5_5
""",
    "ufm": """2024-05-28 08:00:00.001 [97211] [352] INFO [Logical_Model] Grid [Grid]: Network management is added
2024-05-28 08:03:31.020 [97214] [328] INFO Site [default] [Link] IBPort [Computer: node-a mlx5_5 / 1] [dev_id: e09d]: Link is Up
""",
    "mlxlink": """# mlxlink -d mlx5_0 -m -c
Operational Info
----------------
State                              : Active
Physical state                     : LinkUp
Speed                              : IB-NDR
Troubleshooting Info
--------------------
Status Opcode                      : 0
Recommendation                     : No issue was observed
Module Info
-----------
Temperature [C]                    : 54 [-5..75]
Rx Power Current [dBm]             : 1.886,1.989,2.281,1.976 [-10.41..6]
Rx LOS [per lane]                  : 0,0,0,0
Physical Counters and BER Info
------------------------------
Effective Physical Errors          : 0
Effective Physical BER             : 15E-255
Raw Physical Errors Per Lane       : 3946476397,5120336064,7692183445,3026261414
Raw Physical BER                   : 2E-9
Link Down Counter                  : 3
""",
    "unused port": """# mlxlink -d mlx5_7
Operational Info
----------------
State                              : Polling
Physical state                     : ETH_AN_FSM_ENABLE
Troubleshooting Info
--------------------
Status Opcode                      : 1024
Recommendation                     : Cable is unplugged
""",
    "bond": """Ethernet Channel Bonding Driver: v5.15.0-91-generic
Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Slave Interface: ens5f0np0
MII Status: up
Link Failure Count: 3
Slave Interface: ens5f1np1
MII Status: up
Link Failure Count: 2
""",
    "switch": """Nov  3 10:00:07 leaf-5 NOTICE swss#orchagent: :- updatePortOperStatus: Port Ethernet12 oper state set from down to up
admin@leaf-5:~$ show interfaces counters
      IFACE    STATE    RX_OK     RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR    TX_OK     TX_BPS    TX_UTIL    TX_ERR    TX_DRP    TX_OVR
-----------  -------  -------  ---------  ---------  --------  --------  --------  -------  ---------  ---------  --------  --------  --------
  Ethernet0        U    1,024   0.00 B/s      0.00%         0     4,002         0      981   0.00 B/s      0.00%         0     9,812         0
admin@leaf-5:~$ pfcwd show stats
       QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP
------------  -----------  -------------------------  ------------  ------------  -----------------  -----------------
Ethernet16:3  operational                        0/0           0/0           0/0                0/0                0/0
""",
    "sharp": """node-b:20775:20825 [0] sharp_plugin.c:365 NCCL WARN NET/IB : SHARP coll init error: Cannot create SHARP job(-11)
node-b:20775:20807 [0] transport.cc:384 NCCL WARN Cannot initialize CollNet, using point-to-point network instead
""",
    "tests": """3 packets transmitted, 3 received, 0% packet loss, time 2034ms
                    RDMA_Write BW Test
 Device         : mlx5_0
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      5000             392.51             392.42              0.748484
""",
}  # fmt: skip


@cache
def _knowledge() -> Knowledge:
    return Knowledge.build(load_rulebook())


@pytest.mark.parametrize("name", sorted(HEALTHY))
def test_silence(name: str) -> None:
    report = triage([Input(f"{name}.txt", io.BytesIO(HEALTHY[name].encode()))], _knowledge(), now=1_764_547_200.0)
    assert not [(one.cause, one.probability) for one in report.causes if one.probability >= 0.5]
    assert report.inputs[0].kind != "unknown"
