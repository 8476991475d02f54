"""Logs of the Kubernetes control plane: told by their form; what rules know of them is found line by line.

Programs: kube-apiserver, kube-controller-manager, cloud-controller-manager, kube-proxy, cluster-autoscaler of Kubernetes 1.5 to
1.36, Karpenter 0.5 to 1.x (zap, as JSON or separated by tabs), k3s and RKE2, CoreDNS 1.2 to 1.12, end-to-end test runs (Ginkgo).
klog writes `Lmmdd hh:mm:ss.uuuuuu threadid file:line]
msg` (k8s.io/klog), or JSON with `"caller"`; files of the programs: kubernetes/kubernetes `pkg/controlplane`, `pkg/controller`,
`staging/src/k8s.io/{apiserver,apiextensions-apiserver,kube-aggregator}`. Samples::

    E1103 14:03:18.810474    2472 cacher.go:260] unexpected ListAndWatch error: pkg/storage/cacher.go:201: Failed to list *api.Pod
    Feb 11 19:02:50 node-a kube-apiserver.daemon[18448]: W0211 19:02:50.490772   18448 services.go:37] No CIDR for service cluster
    {"ts":1710000000000.1,"caller":"garbagecollector/garbagecollector.go:157","msg":"Starting controller","v":0}
    [INFO] 10.42.0.8:51234 - 4242 "A IN node-a.example.com. udp 42 false 512" NOERROR qr,rd,ra 82 0.0001s
"""

from __future__ import annotations

SOURCE = "kube-apiserver"
LAYERS = ("platform",)

_STAMP = r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ "


def _files(names: str) -> str:
    return rf"{_STAMP}(?:{names})\.go:\d+\]"


SIGNATURES = (
    r"\bkube-?apiserver[\w.-]*(?:\[\d+\])?: ",
    _files(
        r"(?:rest_)?cacher|watch_cache|apf_controller|apf_filter|filterlatency|queueset|available_controller|\w*apiservice_controller|"
        r"storage_factory|genericapiserver|storage_(?:rbac|scheduling|flowcontrol|core)\w*|clientca|handler_proxy|aggregator|"
        r"apiaggregator|crdregistration_controller|autoregister_controller|establishing_controller|naming_controller|"
        r"nonstructuralschema_controller|apiapproval_controller|crd_finalizer|customresource_\w+|cluster_authentication_trust_\w+|"
        r"storageversion_\w+|legacy_token_tracking_controller|repair(?:ip)?|cidrallocator|peer_proxy\w*|openapi_controller|"
        r"resource_access|storage_extensions|lease(?:_manager)?_reconciler|instance_info|hostport|oidc|admission_metrics"
    ),
    r"\"caller\":\"(?:cacher|controlplane|apiserver|genericapiserver|filters|options|endpoints)/\w+\.go:\d+\"",
    r"^\{\"kind\":\"Event\",\"apiVersion\":\"audit\.k8s\.io/",
)
FORMS = {
    "kube-controller-manager": (
        r"\b(?:kube|cloud)-?controller-?manager[\w.-]*(?:\[\d+\])?: ",
        _files(
            r"controllermanager|garbagecollector|graph_builder|replica_set(?:_utils)?|deployment_(?:controller|util)|"
            r"endpoints?(?:slice)?(?:mirroring)?_controller|node_lifecycle_controller|taint_(?:manager|eviction)|pvc?_(?:protection_)?controller|"
            r"attach_detach_controller|range_allocator|job_controller|cronjob_controller(?:v2)?|daemon_controller|stateful_set\w*|horizontal|"
            r"disruption|resource_quota_(?:controller|monitor)|namespaced?_\w*(?:deleter|controller)|certificate_controller|"
            r"serviceaccounts_controller|tokens_controller|ttl(?:afterfinished)?_controller|clusterroleaggregation_controller|"
            r"node_ipam_controller|expand_controller|gc_controller|pod_gc\w*|csrcleaner|cleaner|tokencleaner|bootstrapsigner"
        ),
        r"\"caller\":\"(?:garbagecollector|replicaset|deployment|endpoint\w*|nodelifecycle|job|cronjob|daemon|statefulset)/\w+\.go:\d+\"",
        r"\"caller\":\"(?:disruption|resourcequota|podgc|namespace|persistentvolume|attachdetach|podautoscaler|app)/\w+\.go:\d+\"",
    ),
    "kube-proxy": (
        r"\bkube-?proxy[\w.-]*(?:\[\d+\])?: ",
        _files(r"proxier|server_(?:others|linux|windows)|proxy_mode|conntrack|ipvs|graceful_termination|node_port|roundrobin|healthcheck"),
    ),
    "cluster-autoscaler": (
        r"\bcluster-autoscaler[\w.-]*(?:\[\d+\])?: ",
        _files(
            r"static_autoscaler|scale_(?:up|down)|orchestrator|clusterstate|klogx|eligibility|planner|actuator|auto_scaling_groups?|"
            r"aws_manager|gce_manager|azure_manager|pre_filtering_processor|filter_out_schedulable|binpacking_estimator|cluster"
        ),
    ),
    "karpenter": (
        r"^\{\"level\":\"\w+\",\"time\":\"[^\"]+\",\"logger\":\"controller[\w.-]*\",\"(?:message|caller)\":.*\"(?:nodepools?|nodeclaims?|provisioner|NodePool|NodeClaim)\"",
        r"^\{\"level\":\"\w+\",\"time\":\"[^\"]+\",\"logger\":\"controller\.(?:provision\w+|node(?:claim|pool)|machine|disruption|deprovisioning|interruption)",
        r"^\d{4}-\d\d-\d\dT[\d:.]+Z\t(?:DEBUG|INFO|WARN|ERROR)\tcontroller(?:\.(?:provision\w+|node\w*|machine\w*|disruption|deprovisioning|interruption|aws|pricing)[\w.]*)?\t",
    ),
    "k3s": (
        r"\b(?:k3s|rke2)(?:-(?:server|agent))?(?:\[\d+\])?: ",
        r"^time=\"[^\"]+\" level=\w+ msg=\"(?:Starting (?:k3s|rke2) |Running kube-|Waiting for API server|Acquiring lock file)",
    ),
    "coredns": (
        r"^(?:\[(?:INFO|WARNING|ERROR)\] )?(?:CoreDNS-\d|plugin/\w+: )",
        r"\[INFO\] \[?[0-9a-f.:]+\]?:\d+ - \d+ \"(?:A|AAAA|PTR|SRV|TXT|MX|NS|ANY|HTTPS|SOA|CNAME|HINFO) IN ",
    ),
    "kubernetes-e2e": (
        r"^(?:STEP: |\[(?:It|BeforeEach|AfterEach|sig-[\w-]+)\] |Running Suite: Kubernetes e2e|Will run \d+ of \d+ specs|Random Seed: \d+)",
        r"^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d\.\d{3}: (?:INFO|FAIL): ",
    ),
}  # fmt: skip
