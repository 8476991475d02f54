"""How signals and symptoms are named in a sentence, in English and in Chinese."""

from collections.abc import Mapping, Sequence

from casebase.case import Language

# The symptoms of `rules/taxonomy.yaml`, short enough to stand in a list.
SYMPTOMS: Mapping[str, tuple[str, str]] = {
    "nccl-hang": ("a hanging collective", "集合通信卡死"),
    "nccl-init-failure": ("a communicator that never came up", "通信组初始化失败"),
    "job-crash": ("a crashed job", "作业崩溃"),
    "gpu-lost": ("a lost GPU", "GPU 丢失"),
    "container-no-gpu": ("a container without its GPU", "容器内看不到 GPU"),
    "low-gpu-utilization": ("mostly idle GPUs", "GPU 利用率低"),
    "slow-training": ("slow training", "训练变慢"),
    "straggler": ("a straggler", "个别节点拖慢全组"),
    "gpu-throttled": ("throttled clocks", "GPU 降频"),
    "nan-loss": ("a diverging loss", "损失发散或 NaN"),
    "cuda-oom": ("a failed GPU allocation", "显存不足"),
    "host-oom": ("a process killed for memory", "进程因内存不足被杀"),
    "pod-pending": ("a pending pod", "Pod 一直 Pending"),
    "pod-start-failure": ("a pod that could not start", "Pod 启动失败"),
    "pod-crashloop": ("a restarting container", "容器反复重启"),
    "pod-evicted": ("an evicted pod", "Pod 被驱逐"),
    "node-not-ready": ("a node that is not ready", "节点 NotReady"),
    "queue-stuck": ("a stuck queue", "队列不动"),
    "checkpoint-failure": ("a failed checkpoint", "检查点读写失败"),
    "io-stall": ("stalled I/O", "I/O 停顿"),
    "serving-unavailable": ("an unavailable model server", "推理服务不可用"),
    "serving-slow": ("a slow model server", "推理服务变慢"),
}
CODES: Mapping[str, tuple[str, str]] = {
    "xid": ("Xid {}", "Xid {}"),
    "sxid": ("SXid {}", "SXid {}"),
    "kube": ("event {}", "{} 事件"),
    "exit": ("exit code {}", "退出码 {}"),
    "errno": ("errno {}", "errno {}"),
}


def name(feature: str, language: Language, names: Mapping[str, str] | None = None) -> str:
    """Return a signal or symptom as it reads in a sentence; `names` are the caller's own, by id."""
    if names and feature in names:
        return names[feature]
    pick = 1 if language == "zh" else 0
    if feature in SYMPTOMS:
        return SYMPTOMS[feature][pick]
    kind, colon, code = feature.partition(":")
    return CODES.get(kind, ("{}",) * 2)[pick].format(code) if colon and kind in CODES else feature


def listed(items: Sequence[str], language: Language, limit: int = 4) -> str:
    """Join names into one phrase, and count those past the limit."""
    rest = len(items) - limit
    if language == "zh":
        return "、".join(items[:limit]) + (f"等 {len(items)} 项" if rest > 0 else "")
    shown = [*items[:limit], f"{rest} more"] if rest > 0 else list(items)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
