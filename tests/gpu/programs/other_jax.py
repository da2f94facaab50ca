import time

import jax
import jax.numpy as jnp

a = jnp.ones((4096, 4096), dtype=jnp.float32)
product = jax.jit(lambda x: x @ x)
product(a).block_until_ready()
begin = time.perf_counter()
for _ in range(20):
    b = product(a)  # work
b.block_until_ready()
print("SECONDS", time.perf_counter() - begin)
