import torch
import triton
import triton.language as tl


@triton.jit
def spin(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    for _ in range(200):
        value = value * 1.0001 + 0.5
    tl.store(y + at, value, mask=at < n)


n = 1 << 26
x = torch.ones(n, device="cuda")
y = torch.empty_like(x)
spin[(n // 1024,)](x, y, n, BLOCK=1024)
begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
torch.cuda.synchronize()
begin.record()
for _ in range(20):
    spin[(n // 1024,)](x, y, n, BLOCK=1024)  # work
end.record()
torch.cuda.synchronize()
print("SECONDS", begin.elapsed_time(end) / 1e3)
