"""Known work on the GPU, one marked line for each kind; what it took goes to a JSON file.

work.py OUT [--profiler]: the times are those of CUDA events, and of torch.profiler if asked for.
"""

import json
import sys
import time

import torch

QUICK = "--quick" in sys.argv
REPEATS = 10 if QUICK else 30
SMALL = 2000 if QUICK else 10000
device = torch.device("cuda")
a = torch.randn(4096, 4096, device=device)
b = torch.randn(4096, 4096, device=device)
c = torch.empty(4096, 4096, device=device)
tiny = torch.zeros(64, device=device)
host = torch.randn(64 << 20).pin_memory()
there = torch.empty(64 << 20, device=device)
model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096, bias=False) for _ in range(4)]).to(device)
batch = torch.randn(4096, 4096, device=device)
graph = torch.cuda.CUDAGraph()


def matmul():
    for _ in range(REPEATS):
        torch.mm(a, b, out=c)  # matmul


def elementwise():
    for _ in range(REPEATS * 10):
        torch.add(a, b, out=c)  # elementwise


def small():
    for _ in range(SMALL):
        tiny.add_(1)  # small


def to_device():
    for _ in range(REPEATS):
        there.copy_(host, non_blocking=True)  # to_device


def from_device():
    for _ in range(REPEATS):
        host.copy_(there, non_blocking=True)  # from_device


def replay():
    for _ in range(REPEATS):
        graph.replay()  # replay


def train():
    for _ in range(REPEATS):
        loss = model(batch).mean()  # forward
        loss.backward()  # backward
        model.zero_grad(set_to_none=False)  # zero_grad


def items():
    for _ in range(200):
        torch.mm(a, b, out=c)  # before_item
        c[0, 0].item()  # item


def warm_up():
    torch.mm(a, b, out=c)
    torch.add(a, b, out=c)
    tiny.add_(1)
    there.copy_(host, non_blocking=True)
    host.copy_(there, non_blocking=True)
    model(batch).mean().backward()
    model.zero_grad(set_to_none=False)
    c[0, 0].item()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(4):
            torch.mm(a, b, out=c)
            torch.add(a, c, out=c)
    graph.replay()
    torch.cuda.synchronize()


def measure(section, has_profiler):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    profiler = None
    if has_profiler:
        from torch.profiler import ProfilerActivity, profile

        profiler = profile(activities=[ProfilerActivity.CUDA])
        profiler.start()
    start_s = time.perf_counter()
    begin.record()
    section()
    end.record()
    torch.cuda.synchronize()
    found = {"events_s": begin.elapsed_time(end) / 1e3, "wall_s": time.perf_counter() - start_s}
    if profiler:
        profiler.stop()
        work = [e for e in profiler.events() if str(e.device_type).endswith("CUDA")]
        found["profiler_s"] = sum(e.device_time for e in work) / 1e6
        found["profiler_count"] = len(work)
    return found


def main():
    warm_up()
    sections = (matmul, elementwise, small, to_device, from_device, replay, train, items)
    found = {s.__name__: measure(s, "--profiler" in sys.argv) for s in sections}
    with open("/proc/self/maps") as maps:
        found["cupti"] = sorted({line.split()[-1] for line in maps if "libcupti" in line})
    with open(sys.argv[1], "w") as out:
        json.dump(found, out)


main()
