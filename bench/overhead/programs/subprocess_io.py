"""Children and files: short commands, a few Pythons, files written, read and removed."""
import os
import subprocess
import sys
import tempfile

CHILD = "print(sum(i * i for i in range(300000)))"


def files(folder, count):
    total = 0
    for i in range(count):
        path = os.path.join(folder, "f%d.txt" % (i % 50))
        with open(path, "w") as out:
            for n in range(200):
                out.write("line %d of %d\n" % (n, i))
        with open(path) as lines:
            total += sum(len(line) for line in lines)
        os.stat(path)
        os.remove(path)
    return total


def commands(count):
    size = 0
    for i in range(count):
        text = "\n".join(str((i * 7919 + n * 31) % 10007) for n in range(5000))
        done = subprocess.run(["sort", "-n"], input=text, capture_output=True, text=True, check=True)
        size += len(done.stdout)
    return size


def pythons(count):
    return [subprocess.check_output([sys.executable, "-c", CHILD], text=True).strip() for _ in range(count)]


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    with tempfile.TemporaryDirectory() as folder:
        print(files(folder, int(12_000 * scale)), commands(max(1, int(60 * scale))), pythons(max(1, int(4 * scale)))[-1])
