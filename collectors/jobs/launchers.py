"""Output of training runs and of what starts them, before the first step: told by its form, facts are read by other collectors.

Programs: DeepSpeed's launcher and engine, Megatron-LM (arguments, set-up, timers), NeMo, PyTorch Lightning, Hugging Face
Trainer and transformers, MLPerf (`:::MLLOG`), torchrun, accelerate, Ray, PaddlePaddle, TensorFlow and XLA, JAX, Horovod, Slurm
scripts with `set -x`. Samples::

    [2023-11-29 08:50:49,536] [INFO] [launch.py:145:main] WORLD INFO DICT: {'node-a': [0, 1, 2, 3]}
      global_batch_size ............................... 2048
    [NeMo I 2024-10-09 11:17:28 megatron_init:297] Rank 0 has data parallel group : [0, 8]
    GPU available: True (cuda), used: True
    :::MLLOG {"namespace": "", "time_ms": 1715112345678, "event_type": "POINT_IN_TIME", "key": "submission_benchmark", ...}
    [2024-05-01 10:00:00,123 I 812 812] (raylet) main.cc:179: Setting cluster ID to: 0123
"""

from __future__ import annotations

SOURCE = "training"
LAYERS = ("application", "framework")
SIGNATURES = (
    r"\] \[(?:DEBUG|INFO|WARNING|ERROR)\] \[\w+\.py:\d+:\w+\] ",
    r"(?:^|: ) {2,}[a-z][a-z0-9_]+ \.{3,} \S",
    r"(?:^|: )-{10,} (?:end of )?(?:\w+ )?arguments -{10,}",
    r"(?:^|: )> (?:initializ(?:ing|ed)|building|setting|compiling|finished|padded|learning rate|number of parameters)\b",
    r"(?:^|: )(?:using world size: \d+|time to initialize megatron|\(min, max\) time across ranks|setting number of micro-batches)",
    r"(?:^|: )\[(?:before|after) the start of training step\]",
    r":::(?:MLLOG|MLPv\d[\w.]* |DLPAL|SYSJSON|GITCOMMITID|NVLOGGER|BENCHMARK)",
    r"\[NeMo [IWED] \d{4}-\d\d-\d\d ",
    r"^(?:(?:GPU|TPU|IPU|HPU) available: (?:True|False)|LOCAL_RANK: \d+ - CUDA_VISIBLE_DEVICES|Initializing distributed: GLOBAL_RANK)",
    r"^(?:distributed_backend=|Sanity Checking(?: DataLoader)?|You are using a CUDA device \(|Using (?:bfloat16|16bit|native) .*AMP)",
    r"\*{5} (?:Running|Finished) (?:training|Evaluation|Prediction|evaluation) \*{5}",
    r"\[(?:INFO|WARNING|ERROR)\|(?:[\w.]+\.py:\d+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\] ",
    r"^subprocess\.CalledProcessError: Command |^accelerate launch |^The following values were not passed to `accelerate launch`",
    r"Setting OMP_NUM_THREADS environment variable for each process",
    r"^mpirun2pytorch: |^(?:STARTING|ENDING|RESULT) ?(?:TIMING RUN|,)",
    r"INFO worker\.py:\d+ -- |\(\w[\w:.<>]* pid=\d+, ip=[\d.]+\) ",
    r"\((?:\w*[Tt]rain\w*|WorkerDict|TaskRunner|main_task|raylet|autoscaler) pid=\d+\) ",
    r"\bLAUNCH (?:DEBUG|INFO|WARNING|ERROR) \d{4}-\d\d-\d\d ",
    r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: [IWEF] (?:external/|tensorflow/|tsl/|xla/|third_party/)",
    r"(?:^|: )(?:DeepSpeed C\+\+/CUDA extension op report|DeepSpeed general environment info:|NVIDIA Release \d\d\.\d\d|== PyTorch ==)",
    r"\d (?:images|imgs?|samples|tokens|sequences)/s(?:ec)?\b|^Train Epoch: \d+ \[\d+/\d+ ",
    r"(?:Trainable|Non-trainable|Total) params|Total estimated model params size|trainable params: [\d,]+ \|\| all params",
)  # fmt: skip
FORMS = {
    "ray": (r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [DIWECF] \d+ \d+\] (?:\(\w+\) )?\w+\.cc:\d+: ",),
    "libfabric": (r"^(?:\w+:)?libfabric:\d+:\d*:", r"(?:^|\] )libfabric:"),
    "ucx": (r"\[\d{10}\.\d{6}\] \[[\w.-]+:\d+:\d+(?:@\d+)?\] +[\w./]+:\d+ +(?:UCX|UCC|XCCL|SHARP|HCOLL) +[A-Z]+ ",),
    "openmpi": (
        r"^\[[\w.-]+:\d{2,8}\] (?:\[\[\d+,\d+\],\d+\]|mca[:_]|select: |MCW rank \d|pml_|btl[:_]|base/|common_|ess_|plm:)",
    ),
}
