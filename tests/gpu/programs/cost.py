"""cost.py STEPS LAUNCHES ROUNDS [--profiler]: prints the seconds that each loop took.

With --profiler there is one more round, with torch.profiler.
"""

import sys
import time

import torch

steps, launches, rounds = map(int, sys.argv[1:4])
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
data = torch.randn(2048, 2048, device="cuda")
tiny = torch.zeros(1, device="cuda")


def train(count):
    for step in range(count):
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 50 == 0:
            loss.item()


def empty(count):
    for _ in range(count):
        tiny.add_(1)


def measure(work, count, name):
    torch.cuda.synchronize()
    start = time.perf_counter()
    work(count)
    torch.cuda.synchronize()
    print(name, work.__name__, time.perf_counter() - start, flush=True)


train(50)
empty(1000)
for _ in range(rounds):
    measure(train, steps, "ALONE")
    measure(empty, launches, "ALONE")
if "--profiler" in sys.argv:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]):
        empty(10)
    for work, count in ((train, steps), (empty, launches)):
        profiler = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
        profiler.start()
        measure(work, count, "PROFILER")
        profiler.stop()
