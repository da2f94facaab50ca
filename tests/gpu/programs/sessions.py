"""Sessions of heatline.start() in a process that uses CUDA, with torch.profiler between and within."""

import torch
from torch.profiler import ProfilerActivity, profile

import heatline


def work():
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(20):
        a @ a  # work
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1e3


def tell(name, events_s, measured):
    gpu = measured.data["heatline"].get("gpu") or {}
    line_s = sum(line.gpu_s for line in measured.lines if line.text.endswith("# work"))
    print(name, "events", round(events_s, 6), "line", round(line_s, 6), gpu.get("source"), gpu.get("note"), flush=True)


def count(profiler):
    return len([e for e in profiler.events() if str(e.device_type).endswith("CUDA") and "gemm" in e.name.lower()])


with heatline.profiling() as p:  # CUDA begins in here
    a = torch.randn(4096, 4096, device="cuda")
    a @ a
    first = work()
tell("later", first, p.profile)
for turn in range(2):
    work()
    with heatline.profiling() as p:
        events_s = work()
    tell("again", events_s, p.profile)
with profile(activities=[ProfilerActivity.CUDA]) as profiler:
    work()
print("profiler between", count(profiler), flush=True)
with heatline.profiling() as p:
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        events_s = work()
print("profiler within", count(profiler), flush=True)
tell("yielded", events_s, p.profile)
with heatline.profiling() as p:
    events_s = work()
tell("last", events_s, p.profile)
