"""What gdb can read of CUDA on the CPU: the running launch and block, and its threads.

The threads of a block are fibers of one OS thread. One of them runs, and each of the others waits on a stack of its
own, or has not started (common/simt/src/execution/worker.h). gdb knows the OS thread only.
"""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import gdb

LANES = 32
RUNNING, WAITING, NOT_STARTED, ENDED = "running", "waiting", "not started", "ended"
Coordinates = tuple[int, int, int]


def in_words(place: Coordinates) -> str:
    """As CUDA's documents write it: (5,0,0)."""
    return f"({place[0]},{place[1]},{place[2]})"


def coordinates(value: Any) -> Coordinates:
    """Of a uint3 or dim3 of the program."""
    return int(value["x"]), int(value["y"]), int(value["z"])


def parsed(text: str) -> Coordinates:
    """The coordinates that a user writes as 5, (5,0) or 5,0,0."""
    numbers = [int(number) for number in text.strip("()").split(",")]
    return (*numbers, 0, 0)[:3]  # type: ignore[return-value]


def is_inside(place: Coordinates, shape: Coordinates) -> bool:
    """Whether a grid or block of this shape has the place."""
    return all(own < size for own, size in zip(place, shape))


# --- what the emulation knows ---


class Thread(NamedTuple):
    """A thread of the running block."""

    thread_idx: Coordinates
    number: int  # counted through the dimensions, so that 32 successive ones are a warp
    state: str
    value: Any  # the simt::Thread

    def in_words(self) -> str:
        """As in the name of the focus."""
        return f"thread {in_words(self.thread_idx)}, warp {self.number // LANES}, lane {self.number % LANES}"


class Block:
    """The running block, read from the emulation's memory when it is made."""

    def __init__(self, worker: Any) -> None:
        self._block = worker["block_"]
        self.launch = self._block["launch"].dereference()
        config = self.launch["config"]
        self.grid_dim, self.block_dim = coordinates(config["grid"]), coordinates(config["block"])
        # The quotes keep gdb from replacing the name by the macro that set_up() defines. A program that does not use
        # the variable does not describe its type.
        self.block_idx = gdb.parse_and_eval("*(uint3*)&'blockIdx'")
        self.index = coordinates(self.block_idx)
        # Not turn.current: where a block has failed, that is the thread to name, and not the one that has found out.
        self._current = coordinates(gdb.parse_and_eval("*(uint3*)&'threadIdx'"))

    def kernel_in_words(self) -> str:
        """The kernel's number and the block: kernels count from 0, grids from 1, as in cuda-gdb."""
        grid = int(self.launch["number"])
        return f"kernel {grid - 1}, grid {grid}, block {in_words(self.index)}"

    def _thread(self, value: Any, state: str) -> Thread:
        index = coordinates(value["index"])
        number = index[0] + self.block_dim[0] * (index[1] + self.block_dim[1] * index[2])
        return Thread(index, number, state, value)

    def _state(self, value: Any, warp: Any, bit: int) -> str:
        if int(warp["unstarted"]) & bit:
            return NOT_STARTED
        if not int(warp["alive"]) & bit:
            return ENDED
        return RUNNING if coordinates(value["index"]) == self._current else WAITING

    def threads(self) -> list[Thread]:
        """All threads, by their numbers."""
        first, warps = (self._block[name]["_M_impl"]["_M_start"] for name in ("threads", "warps"))
        found = []
        for position in range(int(self.launch["threads"])):
            value, warp = first[position], warps[position // LANES]
            found.append(self._thread(value, self._state(value, warp, 1 << position % LANES)))
        return sorted(found, key=lambda thread: thread.number)

    def running(self) -> Thread:
        """The thread that runs."""
        value = self._block["turn"]["current"].dereference()
        if coordinates(value["index"]) == self._current:
            return self._thread(value, RUNNING)
        return next(thread for thread in self.threads() if thread.thread_idx == self._current)


def running_block() -> Block | None:
    """The block that runs, in the OS thread that runs it, which becomes gdb's selected one; None outside kernels."""
    selected = gdb.selected_thread()
    if selected is None:
        return None
    others = [thread for thread in gdb.selected_inferior().threads() if thread.ptid != selected.ptid]
    for thread in (None, *others):
        if thread is not None:
            thread.switch()
        with contextlib.suppress(gdb.error):  # an OS thread that has just begun has none of the program's variables
            worker = gdb.parse_and_eval("simt::worker_of_thread")["running"]
            if int(worker) != 0:
                return Block(worker.dereference())
    selected.switch()
    return None


def required_block() -> Block:
    """The same. Raises an error outside kernels."""
    block = running_block()
    if block is None:
        raise gdb.GdbError("No kernel is running: set a breakpoint in one, then run or continue.")
    return block


# --- registers ---


def saved_registers(context: Any) -> dict[str, int]:
    """The registers of a thread that waits, from its simt::Context (common/simt/src/execution/context.h).

    The pc and the stack pointer come first. Raises an error if the stack cannot be read."""
    members = {field.name for field in context.type.fields()}
    if "code" in members:  # x86-64. Where simt_switch() is the code, .cfi directives say where it has kept the others
        kept = [int(context["kept"][i]) for i in range(4)]
        return {
            "rip": int(context["code"]),
            "rsp": int(context["stack"]),
            **dict(zip(("rbp", "rbx", "r12", "r13"), kept)),
        }
    if "stack" in members:  # AArch64: x19 to x30 lie where simt_switch() has put them, and it has taken 160 bytes
        stack = context["stack"]
        words = stack.cast(gdb.lookup_type("unsigned long").pointer())
        return {"pc": int(words[11]), "sp": int(stack) + 160, **{f"x{19 + i}": int(words[i]) for i in range(11)}}
    raise gdb.GdbError(
        "On this processor, stacks are switched by Boost.Context, which gdb cannot follow: only the running thread can "
        "be shown."
    )


def is_aarch64() -> bool:
    """Whether the program is for AArch64; otherwise for x86-64."""
    return str(gdb.selected_inferior().architecture().name()).startswith("aarch64")


def pointers(frame: Any) -> tuple[int, int]:
    """The pc and the stack pointer in a frame."""
    names = ("pc", "sp") if is_aarch64() else ("rip", "rsp")
    return int(frame.read_register(names[0])), int(frame.read_register(names[1]))
