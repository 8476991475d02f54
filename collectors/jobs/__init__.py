"""What jobs and model servers print: NCCL, PyTorch, training steps, serving."""
