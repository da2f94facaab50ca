"""argv[1] children that are not Python."""
import os
import sys

for _ in range(int(sys.argv[1])):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
