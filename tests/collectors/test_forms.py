"""Texts that are told by their form: what program wrote them, and nothing where the form is not sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.ingest import Intake, read_inputs, text_input
from collectors.registry import Registry
from collectors.scan import Scanner

LOGS = Path(__file__).parents[2] / "fixtures/logs"


def read(text: str) -> Intake:
    registry = Registry()
    return read_inputs([text_input("a.log", text)], Scanner(registry.patterns()), registry, now=0.0)[0]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("kube-apiserver", "E1103 14:03:18.810474    2472 cacher.go:260] unexpected ListAndWatch error: pkg/storage/cacher.go:201"),
        ("kube-apiserver", "Feb 11 19:02:50 node-a kube-apiserver.daemon[18448]: W0211 19:02:50.490772   18448 services.go:37] No CIDR"),
        ("kube-apiserver", '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"1"}'),
        ("kube-controller-manager", "I0301 08:00:18.400500       1 garbagecollector.go:155] Starting garbage collector controller"),
        ("kube-controller-manager", "Feb 11 19:02:50 node-a kube-controller-manager[7]: E0211 19:02:50.490772 7 leaderelection.go:330] x"),
        ("kube-proxy", "I0301 08:00:18.400500       1 proxier.go:250] \"Setting route_localnet=1\""),
        ("cluster-autoscaler", "I0301 08:00:18.400500       1 static_autoscaler.go:230] Starting main loop"),
        ("coredns", '[INFO] 10.42.0.8:51234 - 4242 "A IN node-a.example.com. udp 42 false 512" NOERROR qr,rd,ra 82 0.0001s'),
        ("coredns", "[ERROR] plugin/errors: 2 node-a.example.com. A: read udp 10.42.0.2:41->192.0.2.53:53: i/o timeout"),
        ("k3s", 'time="2024-05-01T10:00:00Z" level=info msg="Starting k3s v1.29.4+k3s1 (94e29e2e)"'),
        ("kubernetes-e2e", "Aug 17 17:05:04.096: INFO: Waiting up to 3m0s for all (but 0) nodes to be ready"),
        ("kubelet", "W0120 11:43:25.615660    4787 pod_workers.go:191] Error syncing pod"),
        ("storage", "2018-06-13 11:04:42.135 7f3ab15cc700 -1 osd.3 1222 heartbeat_check: no reply from 192.0.2.4:6804 osd.1"),
        ("storage", "debug 2024-02-10T09:32:05.746+0000 7f6fa1d2ad80  0 log_channel(cluster) log [DBG] : pgmap v1: 1 pgs"),
        ("storage", "2024-03-01_10:02:11.123+0100: [N] Node 192.0.2.7 (node-b) lease renewal is overdue."),
        ("training", ':::MLLOG {"namespace": "", "time_ms": 1715112345678, "event_type": "POINT_IN_TIME", "key": "cache_clear"}'),
        ("training", "  0: :::MLLOG {\"namespace\": \"\", \"time_ms\": 1715112345678}"),
        ("training", "[NeMo I 2024-10-09 11:17:28 megatron_init:297] Rank 0 has data parallel group : [0, 8]"),
        ("training", "GPU available: True (cuda), used: True"),
        ("training", "***** Running training *****"),
        ("training", "2024-05-01 10:00:00.123456: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1929] Created device"),
        ("ray", "[2024-05-01 10:00:00,123 I 812 812] (raylet) main.cc:179: Setting cluster ID to: 0123"),
        ("ucx", "[1652677195.203757] [node-a:77766:0]          parser.c:1906 UCX  WARN  unused env variable: UCX_X"),
        ("libfabric", "libfabric:1612790:1751035970::core:core:fi_param_get_():279<info> variable hook=<not set>"),
        ("sshd", "Dec 10 06:55:46 node-a sshd[24200]: Invalid user webmaster from 192.0.2.2"),
        ("syslog", "Dec 10 06:56:14 node-a systemd[1]: Started Session 41 of user root."),
        ("klog", "I0817 17:04:34.750065      24 framework.go:129] hello"),
        ("audit", 'type=AVC msg=audit(1612345678.123:456): apparmor="DENIED" operation="open" pid=12'),
        ("apache", "[Sun Dec 04 04:47:44 2005] [error] mod_jk child workerEnv in error state 6"),
        ("hdfs", "081109 203615 148 INFO dfs.DataNode$PacketResponder: PacketResponder 1 for block blk_38 terminating"),
        ("spark", "17/06/09 20:10:40 INFO spark.SecurityManager: Changing view acls to: yarn"),
        ("hadoop", "2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.mapreduce.v2.app.MRAppMaster: Executing with tokens:"),
        ("zookeeper", "2015-07-29 17:41:44,747 - WARN  [SendWorker:18:QuorumCnxManager$SendWorker@688] - Send worker leaving thread"),
        ("openstack", "2017-05-16 00:00:00.008 25746 INFO nova.virt.libvirt.imagecache [req-addc - - - - -] image in use"),
        ("bluegene-ras", "KERNDTLB 1118542012 2005.06.11 R30-M0 2005-06-11-19.06.52.571964 R30-M0 RAS KERNEL FATAL data TLB error"),
        ("cluster-syslog", "- 1131566461 2005.11.09 node-a Nov 9 12:01:01 node-a/node-a crond[2916]: (root) CMD (run-parts)"),
        ("hpc-events", "134681 node-246 unix.hw state_change.unavailable 1077804742 1 Component State Change: unavailable"),
        ("logcat", "03-17 16:13:38.811  1702  2395 D WindowManager: printFreezingDisplayLogs"),
        ("windows-servicing", "2016-09-28 04:30:30, Info                  CBS    Loaded Servicing Stack v6.1"),
        ("java", "2024-05-01 10:00:00,123 INFO [main] com.example.Server - started"),
        ("storage", "2022-02-10T00:01:03.870414+0000 mon.node-a (mon.2) 200 : audit [DBG] from='client.? 192.0.2.4:0/42' cmd=[]"),
        ("storage", "[2022-02-10 09:15:32,855][ceph_volume.main][INFO  ] Running command: ceph-volume  lvm list"),
        ("training", "Throughput: 4754.937 images/s, Batch size: 16, Num of GPUs: 8"),
        ("openvswitch", "2022-02-10T16:09:19.414Z|00118|bridge|INFO|bridge br-int: added interface tap0 on port 3"),
        ("rabbitmq", "2022-02-04 09:52:57.780 [info] <0.258.0> ra: meta data store initialised. 0 record(s) recovered"),
        ("pacemaker", "Feb 04 09:57:32 node-a pacemakerd          [12750] (main) \tinfo: Maximum core file size is: 18446744073709551615"),
        ("juju", "2022-02-11 19:12:18 WARNING unit.kubernetes-master/0.install logger.go:60 hello"),
        ("htcondor", "001 (4377005.000.000) 2023-02-02 07:06:37 Job executing on host: <192.0.2.5:9618>"),
        ("linpack", "Column=000099072 Fraction=25.8% Gflops=8.167e+03"),
        ("junit", '      <testcase name="[sig-node] Pods" classname="e2e" time="4.2">'),
        ("python", "2024-05-01 10:00:00,123 - trainer - INFO - hello"),
        ("logfmt", 'time="2024-05-01T10:00:00Z" level=info msg="hello"'),
        ("json-log", '{"level":"info","ts":"2024-05-01T10:00:00Z","msg":"hello"}'),
        ("environment", "SLURM_JOB_ID=42"),
        ("nginx", '2024/05/01 10:00:00 [error] 31#31: *1 connect() failed (111: Connection refused)'),
        ("kernel", "2024-05-01T10:00:00.123456+00:00 node-a kernel: hello"),
    ],
)  # fmt: skip
def test_a_line_tells_its_program(kind: str, line: str) -> None:
    assert read(line).kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a sentence about kube-apiserver and HDFS",
        "the dog + the cat",
        "INFO hello",
        "previous kernel: no debug info",
        "2024-05-01 10:00:00,123 hello",
        "\n".join(["some words"] * 60 + ["I0817 17:04:34.750065      24 framework.go:129] one line of sixty"]),
    ],
)
def test_what_has_no_sure_form_stays_unknown(text: str) -> None:
    assert read(text).kind == "unknown"


@pytest.mark.parametrize(
    ("file", "kinds"),
    [
        ("control-plane/kube-apiserver.log", {"kube-apiserver"}),
        ("control-plane/kube-controller-manager.log", {"kube-controller-manager"}),
        ("training/megatron-deepspeed-start.log", {"training"}),
        ("training/libfabric-and-ucx-debug.log", {"libfabric", "ucx", "openmpi"}),
        ("storage/ceph-osd.log", {"storage"}),
        ("control-plane/karpenter.log", {"karpenter"}),
        ("storage/servers.log", {"storage"}),
        ("storage/seaweedfs.log", {"storage"}),
        ("system/syslog-and-services.log", {"sshd", "syslog"}),
        (
            "other-systems/forms.log",
            {"hdfs", "spark", "zookeeper", "openstack", "bluegene-ras", "cluster-syslog", "apache"},
        ),
    ],
)
def test_a_sample_is_recognised(file: str, kinds: set[str]) -> None:
    assert set(read((LOGS / file).read_text()).kinds) == kinds


def test_a_form_yields_to_a_source_that_is_read() -> None:
    lines = ["Dec 10 06:55:46 node-a CRON[1]: (root) CMD (true)"] * 30
    assert set(read("\n".join(lines)).kinds) == {"syslog"}
    assert set(read("\n".join([*lines, *["Dec 10 06:55:47 node-a kubelet[7]: hello"] * 10])).kinds) == {"kubelet"}


def test_a_job_is_told_by_what_follows_its_shell_trace() -> None:
    trace = "\n".join(f"+++ export VARIABLE_{number}=/opt/a/long/path/of/modules:{'x' * 80}" for number in range(900))
    steps = "\n".join(f':::MLLOG {{"namespace": "", "time_ms": {number}}}' for number in range(900))
    assert read(f"{trace}\n{steps}\n").kind == "training"


def test_the_layers_of_a_form() -> None:
    registry = Registry()
    assert registry.layers_of("kube-proxy") == ("platform",)
    assert registry.layers_of("hdfs") == ()
    assert {"hdfs", "kube-proxy", "kernel"} <= set(registry.sources())
