"""A program that profiles itself with torch.profiler."""

import torch
from torch.profiler import ProfilerActivity, profile

a = torch.randn(2048, 2048, device="cuda")
for _ in range(20):
    a @ a  # before
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    for _ in range(20):
        a @ a  # within
    torch.cuda.synchronize()
for _ in range(20):
    a @ a  # behind
torch.cuda.synchronize()
kernels = [e for e in profiler.events() if str(e.device_type).endswith("CUDA")]
print("profiler saw", len(kernels), "pieces of work,", round(sum(e.device_time for e in kernels) / 1e3, 3), "ms")
