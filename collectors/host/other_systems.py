"""Logs of systems that faultwalk has no rules for: told by their form, so that a report does not call them unknown.

Programs: HDFS, Hadoop, Spark, ZooKeeper, Kafka and other Java services (log4j layouts), OpenStack (oslo.log), BlueGene/L and
Thunderbird, Spirit and Liberty (alert flag, epoch, date, host), the HPC4 event log, Android's logcat, Windows' servicing log,
HealthApp, Proxifier, PostgreSQL, MySQL, MongoDB, Redis, RabbitMQ, Pacemaker, Juju, High-Performance Linpack, web servers
(httpd, nginx, access logs), the audit daemon, cloud-init, package managers. Most of the forms are in the public LogHub
collection. Samples::

    081109 203615 148 INFO dfs.DataNode$PacketResponder: PacketResponder 1 for block blk_38 terminating
    17/06/09 20:10:40 INFO executor.Executor: Finished task 3.0 in stage 1.0 (TID 78). 2651 bytes result sent to driver
    2015-07-29 17:41:44,747 - INFO  [QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181:FastLeaderElection@774] - Notification time out: 3200
    2017-05-16 00:00:00.008 25746 INFO nova.osapi_compute.wsgi.server [req-38101a0b - - -] 192.0.2.1 "GET /v2 HTTP/1.1" status: 200
    - 1117838570 2005.06.03 R02-M1-N0-C:J12-U11 2005-06-03-15.42.50.675872 R02-M1-N0-C:J12-U11 RAS KERNEL INFO parity error corrected
"""

from __future__ import annotations

SOURCE = "java"
LAYERS: tuple[str, ...] = ()

_LEVEL = r"(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|AUDIT)"
_TIME = r"\d\d:\d\d:\d\d"

SIGNATURES = (
    rf"^\d{{4}}-\d\d-\d\d[T ]{_TIME}[.,]\d{{3}}Z? +{_LEVEL} +(?:\d+ --- )?\[[^\]]+\] [\w.$]+",
    rf"^{_TIME}[.,]\d{{3}} \[[^\]]+\] {_LEVEL} +[\w.$]+ - ",
)
FORMS = {
    "audit": (r"^(?:node=\S+ )?type=[A-Z_0-9]+ msg=audit\(\d+\.\d+:\d+\):",),
    "cloud-init": (
        r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - [\w.]+\.py\[(?:DEBUG|INFO|WARNING|ERROR)\]: ",
        r"^(?:Cloud-init v\. \d|ci-info: )",
    ),
    "packages": (
        r"^(?:Get|Hit|Ign|Err):\d+ (?:https?|file|cdrom):",
        r"^(?:Selecting previously unselected package|Preparing to unpack|Unpacking|Setting up) \S+",
        r"^(?:Start-Date: \d{4}-|End-Date: \d{4}-|Commandline: (?:apt|/usr/bin/apt|aptdaemon|packagekit))",
        r"^(?:Collecting|Downloading|Requirement already satisfied:|Installing collected packages:) \S+",
        r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?:status (?:half-|un|installed|triggers)|(?:install|configure|upgrade|trigproc) \S+:\S+ )",
    ),
    "web-access": (
        r"^\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] \"[A-Z]+ \S+ HTTP/[\d.]+\" \d{3} ",
    ),
    "apache": (
        r"^\[[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d [\d:.]{8,18} \d{4}\] \[(?:\w+:)?(?:emerg|alert|crit|error|warn|notice|info|debug|trace\d)\]",
    ),
    "nginx": (r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[(?:emerg|alert|crit|error|warn|notice|info|debug)\] \d+#\d+: ",),
    "htcondor": (r"^\d{3} \(\d+\.\d{3}\.\d{3}\) (?:\d{4}-\d\d-\d\d|\d\d/\d\d) \d\d:\d\d:\d\d ",),
    "openvswitch": (rf"^\d{{4}}-\d\d-\d\dT{_TIME}\.\d+Z\|\d{{5}}\|\w+(?:\([\w:]+\))?\|[A-Z]+\|",),
    "junit": (r"^\s*<(?:testsuites?|testcase|system-out|system-err|skipped)\b[^>]*>",),
    "hdfs": (
        rf"^\d{{6}} \d{{6}} \d+ {_LEVEL} dfs\.",
        rf" {_LEVEL} +(?:\[[^\]]+\] )?(?:org\.apache\.hadoop\.hdfs|(?:hdfs|datanode|namenode|blockmanagement)\.\w+[.\w]*[:$])",
    ),
    "spark": (
        rf"^\d\d/\d\d/\d\d {_TIME} {_LEVEL} [\w.$]+: ",
        rf" {_LEVEL} +(?:\[[^\]]+\] )?(?:org\.apache\.spark|(?:Spark|DAGScheduler|TaskSetManager|BlockManager|MemoryStore)\w*: )",
    ),
    "hadoop": (rf" {_LEVEL} +(?:\[[^\]]*\] )?org\.apache\.hadoop\.",),
    "zookeeper": (
        rf"^\d{{4}}-\d\d-\d\d {_TIME},\d{{3}} (?:- |\[myid:\d*\] - ){_LEVEL} +\[.*@\d+\] - ",
        r"org\.apache\.zookeeper\.|QuorumPeer\[myid=|\[myid:\w*\]",
    ),
    "kafka": (rf"^\[\d{{4}}-\d\d-\d\d {_TIME},\d{{3}}\] {_LEVEL} .*\((?:kafka|org\.apache\.kafka)\.[\w.$]+\)",),
    "openstack": (
        rf"^(?:[\w.-]+\.log[\w.:-]* )?\d{{4}}-\d\d-\d\d {_TIME}\.\d{{3}} \d+ {_LEVEL} [\w.-]+ \[(?:(?:None )?req-[0-9a-f-]+|-|instance:)",
        rf"^\d{{4}}-\d\d-\d\d {_TIME}\.\d{{3}} \d+ {_LEVEL} (?:nova|neutron|cinder|glance|keystone|heat|oslo\w*|octavia|ironic)\.",
    ),
    "bluegene-ras": (
        r"^[A-Z0-9-]+ \d{10} \d{4}\.\d\d\.\d\d \S+ \d{4}-\d\d-\d\d-\d\d\.\d\d\.\d\d\.\d{6} \S+ [A-Z]+ [A-Z_]+ [A-Z]+ ",
    ),
    "cluster-syslog": (rf"^[A-Z_0-9-]+ \d{{10}} \d{{4}}\.\d\d\.\d\d \S+ [A-Z][a-z]{{2}} +\d{{1,2}} {_TIME} \S+ ",),
    "hpc-events": (r"^\d+ \S+ [a-z][\w.]* [\w.]+ \d{9,10} [01] \S",),
    "logcat": (rf"^(?:\d{{4}}-)?\d\d-\d\d {_TIME}\.\d{{3}} +\d+ +\d+ [VDIWEFA] [^:]+: ",),
    "windows-servicing": (rf"^\d{{4}}-\d\d-\d\d {_TIME}, (?:Info|Warning|Error) +(?:CBS|CSI|DISM|SXS|DPX)\b",),
    "healthapp": (r"^\d{8}-\d{1,2}:\d{1,2}:\d{1,2}:\d{1,3}\|\w+\|\d+\|",),
    "proxifier": (rf"^\[\d\d\.\d\d {_TIME}\] \S+(?: \*\d+)? - \S+ (?:open through|close,|error)",),
    "postgresql": (rf"^\d{{4}}-\d\d-\d\d {_TIME}\.\d{{3}} [A-Z]{{3,4}} \[\d+\](?: \S+)? ?(?:LOG|ERROR|FATAL|WARNING|DETAIL|STATEMENT): ",),
    "mysql": (r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+Z?)? +\d+ \[(?:Note|System|Warning|ERROR)\] ",),
    "redis": (r"^\d+:[XCSM] \d\d [A-Z][a-z]{2} (?:\d{4} )?\d\d:\d\d:\d\d\.\d{3} [.*#-] ",),
    "juju": (
        rf"^\d{{4}}-\d\d-\d\d {_TIME} {_LEVEL} (?:unit\.[\w-]+/\d+\.|juju[\w.]*\b|machine-lock)",
        rf"^\d{{4}}-\d\d-\d\d {_TIME} (?:=== agent \S+ started|unit-[\w-]+: .*, waited \S+, held \S+$)",
    ),
    "pacemaker": (
        r"(?:pacemaker[\w-]*|corosync|attrd|cib|crmd|lrmd|pengine) *(?:\[\d+\])? ?(?:\(\w+\) ?)?[ \t](?:info|notice|warning|error|debug):",
    ),
    "rabbitmq": (r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?:[+-]\d\d:\d\d)? \[\w+\] <0\.\d+\.\d+> ",),
    "linpack": (r"^HPLinpack \d|^Column=\d+ Fraction=|^W[RC]\d+[RLC]\d\w+ +\d+ ",),
    "mongodb": (r"^\{\"t\":\{\"\$date\":\"[^\"]+\"\},\"s\":\"[A-Z]\d?\",",),
}  # fmt: skip
