"""cost.py train|empty COUNT [--profiler]: prints the seconds that the loop took."""

import sys
import time

import torch

kind, count = sys.argv[1], int(sys.argv[2])
has_profiler = "--profiler" in sys.argv


def train(steps):
    model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    data = torch.randn(2048, 2048, device="cuda")
    for step in range(steps):
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 50 == 0:
            loss.item()


def empty(launches):
    tiny = torch.zeros(1, device="cuda")
    for _ in range(launches):
        tiny.add_(1)


work = {"train": train, "empty": empty}[kind]
work(50)
torch.cuda.synchronize()
if has_profiler:
    from torch.profiler import ProfilerActivity, profile

    profiler = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    profiler.start()
start = time.perf_counter()
work(count)
torch.cuda.synchronize()
print("SECONDS", time.perf_counter() - start, flush=True)
if has_profiler:
    profiler.stop()
