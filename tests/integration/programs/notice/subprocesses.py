"""Children of subprocess: Python in all forms, a shell, other programs, bare environments."""

import os
import subprocess
import sys

from burn import burn

BUSY = "import time\nend = time.process_time() + .05\nwhile time.process_time() < end: pass\n"


def show(what, *command, **options):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **options
    )
    print(what, done.returncode, done.stdout, done.stderr)


burn()
show("-c", sys.executable, "-c", BUSY + "import sys; print(sys.argv); sys.exit(3)", "a", "b")
show("-V", sys.executable, "-V")
show("stdin", sys.executable, "-", "x", input=(BUSY + "import sys; print(sys.argv)").encode())
show("-m", sys.executable, "-m", "platform", "--help-not")
show("-I -S", sys.executable, "-I", "-S", "-c", BUSY + "import sys; print(sys.flags.isolated)")
show("traceback", sys.executable, "-c", BUSY + "1 // 0")
show("syntax error", sys.executable, "-c", "1 +")
show("no environment", sys.executable, "-c", BUSY + "import os; print(len(os.environ))", env={})
show(
    "closed descriptors", sys.executable, "-c", "import os; print(len(os.listdir('/proc/self/fd')))"
)
show("sh", "sh", "-c", "echo out; echo err >&2; exit 4")
show("sh starts python", "sh", "-c", '"$0" -c "print(1)"; exit 5', sys.executable)
show("pipe in a shell", "sh", "-c", '"$0" -c "print(5 * 5)" | cat; kill -9 $$', sys.executable)
show("true", "true")
show(
    "killed", sys.executable, "-c", BUSY + "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
)
show(
    "new session",
    sys.executable,
    "-c",
    BUSY + "import os; print(os.getsid(0) == os.getpid())",
    start_new_session=True,
)
show("not found", "sh", "-c", "no-such-command-here")
try:
    show("missing", "/nonexistent/program")
except FileNotFoundError as error:
    print("missing", error)
print(os.system("exit 3"), subprocess.getoutput("echo $((2 + 3))"))
try:
    subprocess.run([sys.executable, "-c", "while True: pass"], timeout=0.3)
except subprocess.TimeoutExpired:
    print("timed out")
