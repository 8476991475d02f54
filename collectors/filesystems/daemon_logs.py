"""Logs of storage servers and of clients' daemons: told by their form; rules read their messages line by line.

Programs: Ceph's mon, osd, mgr, mds, rgw and libraries 10 to 19 (time, thread in hexadecimal, level), Rook's operator, Lustre's
debug log (`lctl dk`, lustre_log), BeeGFS 6 to 8, IBM Storage Scale (mmfs.log), nfs-ganesha, GlusterFS, MinIO, Alluxio,
SeaweedFS 1 to 4 (`weed` writes glog, since 3.x without thread and bracket).
Samples::

    2022-02-10T09:32:05.746+0000 7f6fa1d2ad80  0 ceph version 15.2.14 (cd3bb7e8) octopus (stable), process ceph-osd, pid 42
    2018-06-13 11:04:42.135 7f3ab15cc700 -1 osd.3 1222 heartbeat_check: no reply from 192.0.2.4:6804 osd.1
    00000100:00080000:1.0:1612345678.123456:0:12345:0:(client.c:2100:ptlrpc_expire_one_request()) @@@ Request sent has timed out
    (3) Oct02 11:15:36 Main [App] >> Version: 7.1.1
    16/09/2019 09:24:51 : epoch 5d7fb752 : node-a : ganesha.nfsd-3294[main] nfs_Start_threads :THREAD :EVENT :admin thread was started
    E0106 18:57:53.688989 reader_at.go:147 fetching chunk 47,5d91ed63: http://192.0.2.30:8081/47,5d91ed63: 404 Not Found
    2024-03-01_10:02:11.123+0100: [N] Node 192.0.2.7 (node-b) lease renewal is overdue.
"""

from __future__ import annotations

SOURCE = "storage"
LAYERS = ("storage",)
SIGNATURES = (
    r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{3,6}(?:[+-]\d\d:?\d\d)? [0-9a-f]{8,16} +-?\d+ ",
    r"^\d{4}-\d\d-\d\d[T ]\S+ (?:mon|osd|mgr|mds)\.\S+ \((?:mon|osd|mgr|mds)\.\S+\) \d+ : (?:cluster|audit) ",
    r"^(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\])?\[ceph_(?:volume|deploy)[\w.]*\]\[",
    r"^debug \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4} [0-9a-f]{8,16} ",
    r"^ +-?\d+> \d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+",
    r"\bceph-(?:osd|mon|mgr|mds|crash|volume)[\w.@-]*(?:\[\d+\])?: ",
    (
        r"\b(?:rookcmd|op-\w+|ceph-cluster-controller|cephosd|ceph-spec|clusterdisruption-controller|ceph-\w+-controller|"
        r"cephclient|cephcmd): "
    ),
    r"^[0-9a-f]{8}:[0-9a-f]{8}:\d+\.\d+F?:\d+\.\d{6}:\d+:\d+:\d+:\(\w+\.[ch]:\d+:\w+\(\)\)",
    r"\bLustre(?:Error)?: \d+:\d+:\(|\bLustre: (?:Lustre: Build|[\w-]+-(?:MDT|OST)[0-9a-f]{4}: |MGS: )|\bLNet: \d+:\d+:\(",
    r"^\(\d\) (?:[A-Z][a-z]{2}\d\d|\d{4}-\d\d-\d\d) \d\d:\d\d:\d\d \*?[\w().:-]+ \[[^\]]+\] >> ",
    r"\bbeegfs(?:-(?:mgmtd|meta|storage|client|helperd|mon)|: \w+\(\d+\))(?:\[\d+\])?: ",
    r" : epoch [0-9a-f]{8} : \S+ : (?:ganesha\.nfsd|nfs-ganesha)-\d+\[",
    r"^(?:[A-Z][a-z]{2} )?\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}: (?:\d+ )?(?:\[[NIWEXDA]\]|mm\w+:)",
    (
        r"^[IWEF]\d{4} \d\d:\d\d:\d\d(?:\.\d+)? (?: *\d+ )?(?:reader_at|reader_cache|filehandle\w*|weedfs\w*|filer_\w+|mount_std|"
        r"volume_(?:grpc|server|loading|vacuum|layout|growth)\w*|master_(?:server|grpc)\w*|needle_map\w*|disk_location\w*|topology\w*|wfs\w*|"
        r"dirty_page\w*|page_writer\w*|upload_(?:pipeline|content)|meta_(?:aggregator|cache)\w*|s3api_\w+|file_util)\.go:\d+\]? "
    ),
    r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?: \+\d{4})?\] [DIWECNTMA] (?:\[MSGID: \d+\] )?\[[\w.-]+\.c:\d+:\w+\]",
)
