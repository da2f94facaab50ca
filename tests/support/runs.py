"""Running a command to its end, and what came of it."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

# A run that takes longer hangs: the programs of the tests take a second or two.
TIMEOUT_S = 120

_STEERING = ("PYTHON", "PYTEST", "HEATLINE", "COV_", "VIRTUAL_ENV")
_KEPT = ("HEATLINE_LIBDIR",)  # which agent an executable under test takes


class ProfiledRun(subprocess.CompletedProcess):
    """A finished ``heatline run``: a CompletedProcess that knows its profile."""

    def __init__(self, done: subprocess.CompletedProcess, profile_path: Path):
        super().__init__(done.args, done.returncode, done.stdout, done.stderr)
        self.profile_path = profile_path
        self._profile: Optional[dict] = None

    @property
    def profile(self) -> dict:
        """The profile, parsed.  Fails the test when none was written."""
        if self._profile is None:
            assert self.profile_path.exists(), f"no profile was written\n{self.describe()}"
            self._profile = json.loads(self.profile_path.read_text(encoding="utf-8"))
        return self._profile

    def lines_of(self, path: Any) -> dict:
        """{line number: line object} of one file, named by its path or its last part."""
        wanted = str(path)
        for name, file in self.profile["files"].items():
            if name == wanted or Path(name).name == wanted:
                return {line["lineno"]: line for line in file["lines"]}
        raise AssertionError(f"{wanted} is not in the profile, only {list(self.profile['files'])}")

    def describe(self) -> str:
        """Everything about the run, for a failure's message."""
        return (
            f"command: {' '.join(map(str, self.args))}\n"
            f"exit status: {self.returncode}\n"
            f"--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"
        )

    def __repr__(self) -> str:  # what pytest prints when an assert on the run fails
        return self.describe()


def clean_environment(extra: Optional[Mapping[str, Optional[str]]] = None) -> dict:
    """This process's environment without what would steer a Python or Heatline.

    ``extra`` is added to it; a value of None takes the variable away.
    """
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_STEERING) or name in _KEPT
    }
    for name, value in (extra or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def run(
    argv: Sequence[Any],
    *,
    env: Optional[Mapping[str, Optional[str]]] = None,
    cwd: Any = None,
    input: Any = None,
    timeout: float = TIMEOUT_S,
    text: bool = True,
    check: bool = False,
) -> subprocess.CompletedProcess:
    """Run a command in a session of its own and collect both streams.

    Past ``timeout`` the whole session is killed, children included, and the test
    fails with what had been printed.  stdin is empty unless ``input`` is given.
    """
    argv = [str(part) for part in argv]
    codec = {"encoding": "utf-8", "errors": "surrogateescape"} if text else {}
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(env),
        cwd=cwd,
        start_new_session=True,
        **codec,
    )
    try:
        out, err = process.communicate(input, timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(
            f"still running after {timeout} s: {' '.join(argv)}\n--- stdout\n{out}\n--- stderr\n{err}"
        ) from None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    done = subprocess.CompletedProcess(argv, process.returncode, out, err)
    if check:
        assert done.returncode == 0, ProfiledRun(done, Path()).describe()
    return done
