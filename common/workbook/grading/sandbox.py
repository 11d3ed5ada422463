"""Where a submission's code is compiled and run: without network, with its own files only, and within limits.

Bubblewrap makes a view of the file system that holds nothing else, where the kernel allows it. Where it does not, and
we are root, another user without rights runs the code. Which of them works here is found out by sandbox_trial.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import machine
from .cgroups import PREFIX, Group

USERS = range(60800, 61180)  # numbers that no distribution gives to a user; each box has one to itself
BUBBLEWRAP, SECOND_USER, NONE = "bubblewrap", "second user", "none"
_SERIAL = itertools.count()
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime")
_WRITABLE = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock")  # by everybody
ALL_NAMESPACES = ("--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
_EMPTY = "ro,mode=0,size=4k"  # options of a file system that hides a folder
# The first process of a namespace, with which all others end. It hides the folders that $1 names, one by one if one of
# them is gone; says nothing about how the command ended, and ends with its status, as a shell does.
_INIT = f"""
exec 9>&2 2>/dev/null
mount -a -T "$1" || while IFS= read -r place; do
  [ ! -d "$place" ] || mountpoint -q "$place" || mount -t tmpfs -o {_EMPTY} none "$place" || exit 126
done <"$1.list"
shift
"$@" 2>&9 9>&-
exit $?
"""


@dataclass(frozen=True)
class Limits:
    """What may be used in a box, at a time."""

    memory: int = 3 << 30  # bytes; with control groups of all processes together, else of each
    processes: int = 64 + 4 * (os.cpu_count() or 1)  # and threads
    file: int = 512 << 20  # bytes of one file, and of the output
    disk: int = 1 << 30  # bytes of all files
    seconds: int = 600  # of a processor, for each process


@dataclass
class Box:
    """A place for one submission at a time. What is in its folder can be read in the sandbox, but not changed."""

    folder: Path
    user: int | None  # who runs there; None: we
    group: Group | None

    @property
    def scratch(self) -> Path:
        """Where files can be written, unless the sandbox has its own /tmp."""
        return self.folder / "tmp"


@dataclass(frozen=True)
class Done:
    """A command that has ended in the sandbox."""

    status: int  # of the process, as in subprocess
    output: bytes
    errors: str
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.status == 0 and not self.timed_out


def variables() -> dict[str, str]:
    """The environment in the sandbox. Ours may hold secrets."""
    kept = {name: os.environ[name] for name in ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH") if name in os.environ}
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/cuda/bin"
    return {"PATH": path, "LC_ALL": "C.UTF-8", "CUDA_CACHE_DISABLE": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID", **kept}


@functools.cache
def python() -> str:
    """A Python that is there in the sandbox, which does not see those of version managers and of .venv."""
    system = "/usr/bin/python3"
    works = "import sys; sys.exit(sys.version_info < (3, 9))"
    return system if machine.answer(system, "-I", "-c", works) is not None else os.path.realpath(sys.executable)


class Sandbox:
    """One way to isolate a submission. The folder `shared` can be read in it; so can a box in that box."""

    def __init__(self, kind: str, workspace: Path, limits: Limits, drops_user: bool) -> None:
        """`drops_user`: another user runs in the box, for which we must be root."""
        self.kind, self.workspace, self.limits, self.drops_user = kind, workspace, limits, drops_user
        self.shared = workspace / "shared"
        self.namespaces = _namespaces() if kind == SECOND_USER else ()
        self.tools: tuple[Path, ...] = ()  # folders of compilers that are not below /usr
        self.with_groups = True
        self.description = ""  # what it limits, and what it cannot limit
        self.boxes: list[Box] = []
        self._users = contextlib.ExitStack()  # holds the numbers of users

    # --- boxes ---

    def add_box(self) -> Box:
        """A further box."""
        box = Box(self.workspace / f"box-{len(self.boxes)}", None, None)
        self.boxes.append(box)
        self._renew(box)
        self.empty(box)
        return box

    def _renew(self, box: Box) -> None:
        """Gives a box a user and a control group that are new."""
        box.user = self._users.enter_context(_free_user()) if self.drops_user else None
        if box.group:
            box.group.remove()
        if self.with_groups:
            name = f"{PREFIX}{os.getpid()}-{next(_SERIAL)}"
            try:
                box.group = Group(name, self.limits.memory, self.limits.processes)
            except OSError:
                self.with_groups = False

    def empty(self, box: Box) -> None:
        """Ends what was left running in a box, and removes all files of the submission."""
        self._end_all(box)
        if box.folder.exists():
            shutil.rmtree(box.folder)
        box.folder.mkdir(parents=True, mode=0o700)
        box.scratch.mkdir(mode=0o700)
        if box.user is not None:
            os.chown(box.folder, 0, box.user)
            box.folder.chmod(0o750)
            os.chown(box.scratch, box.user, box.user)
            _remove_files_of(box.user)

    def _end_all(self, box: Box) -> None:
        if box.group:
            box.group.kill()
        if box.user is not None:
            command = [*_as_user(box.user), "/bin/sh", "-c", "kill -9 -1"]
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Processes that have ended count until the system's first process has noticed; in some containers, forever.
            if not _is_gone(box.user):
                self._renew(box)

    def close(self) -> None:
        """Removes all boxes."""
        for box in self.boxes:
            self._end_all(box)
            if box.group:
                box.group.remove()
            if box.user is not None:
                _remove_files_of(box.user)
        self.boxes.clear()
        self._users.close()

    # --- commands ---

    def words(self, box: Box, with_gpu: bool = False) -> list[str]:
        """The beginning of a command that runs in a box; the words of the command follow."""
        words = box.group.enter() if box.group else []
        if self.namespaces:
            words += [_path("unshare"), *self.namespaces, "--"]
        if self.namespaces == ALL_NAMESPACES:
            words += ["/bin/sh", "-c", _INIT, "sh", str(self._mounts)]
        if box.user is not None:
            words += _as_user(box.user)
        if self.kind == BUBBLEWRAP:
            words += self._bubblewrap(box, with_gpu)
        return [*words, *self._rlimits(box, with_gpu)]

    @property
    def _mounts(self) -> Path:
        """What is mounted for a second user that has its own mounts."""
        return self.workspace / "fstab"

    def hide(self, folders: Sequence[Path]) -> None:
        """Covers folders, in each box, by empty ones that cannot be read, where boxes have their own mounts."""
        places = [str(path) for path in folders if "\n" not in str(path)]
        escaped = (place.replace("\\", r"\134").replace(" ", r"\040").replace("\t", r"\011") for place in places)
        self._mounts.write_text("".join(f"none {place} tmpfs {_EMPTY} 0 0\n" for place in escaped))
        Path(f"{self._mounts}.list").write_text("".join(f"{place}\n" for place in places))

    def _rlimits(self, box: Box, with_gpu: bool) -> list[str]:
        limits = self.limits
        words = [_path("prlimit"), "--core=0", f"--fsize={limits.file}", f"--cpu={limits.seconds}"]
        words += [f"--nproc={limits.processes}"] if self.kind != NONE else []
        # The driver of a GPU maps more memory than is ever used.
        words += [] if box.group or with_gpu else [f"--data={limits.memory}"]
        return [*words, "--"]

    def _bubblewrap(self, box: Box, with_gpu: bool) -> list[str]:
        words = [_path("bwrap"), "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
        words += ["--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr"]
        for path in _SYSTEM:
            if os.path.islink(path):
                words += ["--symlink", os.readlink(path), path]
            elif os.path.isdir(path):
                words += ["--ro-bind", path, path]
        for path in _ETC:
            words += ["--ro-bind-try", path, path]
        words += ["--proc", "/proc", "--dev", "/dev", "--size", str(self.limits.disk), "--tmpfs", "/tmp"]
        for folder in (*self.tools, self.shared, box.folder):
            words += ["--ro-bind", str(folder), str(folder)]
        if with_gpu:
            for device in sorted(Path("/dev").glob("nvidia*")):
                words += ["--dev-bind-try", str(device), str(device)]
            words += ["--ro-bind-try", "/sys", "/sys"]
        return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--"]

    def environment(self, box: Box) -> dict[str, str]:
        """The environment of commands in a box."""
        scratch = "/tmp" if self.kind == BUBBLEWRAP else str(box.scratch)
        return {**variables(), "TMPDIR": scratch, "HOME": scratch}

    def run(self, box: Box, words: Sequence[str], seconds: float, stdin: Path | None = None) -> Done:
        """Runs a command in a box, and ends it, with all that it has started, after `seconds`."""
        environment = self.environment(box)
        scratch = None if self.kind == BUBBLEWRAP else environment["TMPDIR"]
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, contextlib.ExitStack() as held:
            given = held.enter_context(open(stdin, "rb")) if stdin else subprocess.DEVNULL
            process = subprocess.Popen(
                [*self.words(box), *words],
                stdin=given,
                stdout=output,
                stderr=errors,
                env=environment,
                cwd=scratch or "/",
                start_new_session=True,
            )
            timed_out = False
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                timed_out = True
            finally:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            output.seek(0)
            errors.seek(0)
            return Done(process.returncode, output.read(), errors.read(1 << 20).decode(errors="replace"), timed_out)

    def works(self, box: Box) -> bool:
        """Whether a command can still be started in a box: if not, a failure there is the machine's."""
        return self.run(box, [_path("true")], 60).ok


def _path(program: str) -> str:
    return shutil.which(program) or f"/usr/bin/{program}"


def _as_user(user: int) -> list[str]:
    words = [_path("setpriv"), f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]
    return [*words, "--inh-caps=-all", "--bounding-set=-all", "--pdeathsig=KILL", "--"]


@contextlib.contextmanager
def _free_user() -> Iterator[int]:
    """The number of a user that no other grader on this machine uses: a box ends all processes of its user."""
    folder = "/run/lock" if os.path.isdir("/run/lock") else tempfile.gettempdir()
    for user in random.sample(USERS, len(USERS)):
        with contextlib.suppress(OSError):
            handle = os.open(f"{folder}/workbook-grade-{user}", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield user
                return
    raise OSError("other graders use all users that this grader could use")


def _is_gone(user: int) -> bool:
    """Whether no process of a user is left, after some patience."""
    for _ in range(20):
        if not any(_owner(entry) == user for entry in os.listdir("/proc") if entry.isdigit()):
            return True
        time.sleep(0.05)
    return False


def _owner(pid: str) -> int | None:
    with contextlib.suppress(OSError):
        return os.stat(f"/proc/{pid}").st_uid
    return None


@functools.cache
def _namespaces() -> tuple[str, ...]:
    """The namespaces that this system lets root create for a command, as options of unshare."""
    for options in (ALL_NAMESPACES, ("--net", "--ipc")):
        if machine.answer(_path("unshare"), *options, "--", _path("true")) is not None:
            return options
    return ()


def _remove_files_of(user: int) -> None:
    """Removes what a user has left in folders that everybody may write to."""
    for folder in _WRITABLE:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid != user:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path, ignore_errors=True)
                    else:
                        os.unlink(entry.path)
