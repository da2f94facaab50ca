"""argv[1] threads, one after the other, that do next to nothing."""
import sys
import threading

for _ in range(int(sys.argv[1])):
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
