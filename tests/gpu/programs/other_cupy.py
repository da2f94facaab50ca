import cupy

a = cupy.random.rand(4096, 4096, dtype=cupy.float32)
a @ a
begin, end = cupy.cuda.Event(), cupy.cuda.Event()
cupy.cuda.Device().synchronize()
begin.record()
for _ in range(20):
    b = a @ a  # work
end.record()
end.synchronize()
print("SECONDS", cupy.cuda.get_elapsed_time(begin, end) / 1e3)
