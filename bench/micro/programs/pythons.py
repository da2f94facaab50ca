"""argv[1] Python children that do nothing."""
import os
import sys

for _ in range(int(sys.argv[1])):
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-c", ""], os.environ), 0)
