"""CUDA on the CPU in gdb, under the names of cuda-gdb. gdb imports this file, and no other program does.

cuda [kernel] [block [B]] [warp [W]] [lane [L]] [thread [T]]    shows the focus, or moves it to another thread
info cuda kernels, info cuda threads                            the launch, and where the threads of its block are
threadIdx, blockIdx, blockDim, gridDim                          in expressions and conditions: those of the focus
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

import gdb
import gdb.unwinder

from .emulation import (
    ENDED,
    LANES,
    NOT_STARTED,
    Block,
    Coordinates,
    Thread,
    coordinates,
    in_words,
    is_aarch64,
    is_inside,
    parsed,
    required_block,
    running_block,
)
from .focus import (
    Frames,
    Unwinder,
    calls,
    continued,
    focus,
    innermost,
    is_launch,
    is_programs,
    show,
    stopped,
)

# --- the program continues ---


class Arrival(gdb.Breakpoint):
    """Stops one thread of one block at a place, and prints nothing."""

    def __init__(self, place: str, block: Coordinates, thread: Coordinates) -> None:
        super().__init__(place, internal=True)
        self.silent, self.has_come = True, False
        self._where = block, thread

    def stop(self) -> bool:
        """Called by gdb."""
        block = running_block()
        self.has_come = block is not None and (block.index, block.running().thread_idx) == self._where
        return self.has_come


class Failure(gdb.Breakpoint):
    """Stops where a block fails, after its error has been printed."""

    made: Failure | None = None

    def __init__(self) -> None:
        super().__init__("simt::set_sticky", internal=True)
        self.silent = True

    @classmethod
    def when_loaded(cls, _event: Any) -> None:
        """Called by gdb when it has read a program. Before, it would complain that there is no such function."""
        cls.made = cls.made or cls()

    def stop(self) -> bool:
        """Called by gdb."""
        focus.has_failed = running_block() is not None
        return focus.has_failed


class Resume(gdb.Command):
    """Continue until the thread in the CUDA focus runs: cuda-resume COMMAND. `next` and `step` begin with it."""

    def __init__(self) -> None:
        super().__init__("cuda-resume", gdb.COMMAND_RUNNING)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        """Called by gdb. Raises an error if something else stops the program first, or if the thread is at its next
        line already, so that nothing is left for the command to do."""
        thread = focus.chosen or focus.interrupted
        if thread is None:
            return
        line = innermost().find_sal().line
        arrival = Arrival(f"*{innermost().pc()}", required_block().index, thread.thread_idx)
        try:
            gdb.execute("continue")
            if gdb.selected_thread() is None or not arrival.has_come:
                raise gdb.GdbError(f"The program stopped before thread {in_words(thread.thread_idx)} continued.")
        finally:
            arrival.delete()
        while not is_programs(gdb.newest_frame()):  # inside __syncthreads(), which is inline
            gdb.execute("finish", to_string=True)
            is_done = is_programs(gdb.newest_frame()) and gdb.newest_frame().find_sal().line != line
            if is_done and argument in ("next", "step", "until"):
                raise gdb.GdbError(f"[Thread {in_words(thread.thread_idx)} has passed the barrier.]")


class Start(gdb.Command):
    """Run the program until a thread begins a kernel: cuda-start BLOCK THREAD, as in cuda-start 2,0,0 37."""

    def __init__(self) -> None:
        super().__init__("cuda-start", gdb.COMMAND_RUNNING)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        """Called by gdb. Raises an error if no launch has such a thread."""
        place, index = map(parsed, argument.split())
        launches = gdb.Breakpoint("simt::run", internal=True)
        launches.silent = True
        seen: list[str] = []
        try:
            gdb.execute("run")
            while gdb.selected_thread() is not None and launches.hit_count > len(seen):
                name, site, grid, block = self._launch()
                if is_inside(place, grid) and is_inside(index, block):
                    launches.enabled = False
                    self._enter(Arrival(site, place, index))
                    return
                seen.append(f"{name}, with a grid of {in_words(grid)} blocks of {in_words(block)} threads")
                gdb.execute("continue")
        finally:
            launches.delete()
        launched = "; ".join(dict.fromkeys(seen)) or "none"
        raise gdb.GdbError(f"No launch has thread {in_words(index)} in block {in_words(place)}. Launched: {launched}.")

    @staticmethod
    def _launch() -> tuple[str, str, Coordinates, Coordinates]:
        """At simt::run(kernel, config): the kernel as it is written at the launch, FILE:LINE of that, grid, block."""
        registers = ("x0", "x1") if is_aarch64() else ("rdi", "rsi")
        types = ("simt::Kernel", "simt::LaunchConfig")
        kernel, config = (
            # Not written in C++: gdb may believe that the emulation, which has no debug information, is C.
            gdb.parse_and_eval(f"${name}").cast(gdb.lookup_type(kind).pointer()).dereference()
            for kind, name in zip(types, registers)
        )
        site = f"{kernel['site']['file'].string()}:{int(kernel['site']['line'])}"
        return kernel["name"].string(), site, coordinates(config["grid"]), coordinates(config["block"])

    @staticmethod
    def _enter(arrival: Arrival) -> None:
        """To the first line of the kernel, from the lambda function by which the launch calls it."""
        focus.is_entering = True
        try:
            gdb.execute("continue")
            if arrival.has_come and not is_launch(gdb.newest_frame()):  # it is inline
                gdb.execute("frame")
            while arrival.has_come and is_launch(gdb.newest_frame()):
                gdb.execute("step")
        finally:
            focus.is_entering = False
            arrival.delete()


# --- commands ---

PARTS = ("kernel", "block", "warp", "lane", "thread")
WORD = re.compile(rf"\s*({'|'.join(PARTS)})\b\s*(\d[\d,]*|\(\d[\d,]*\))?")
UNCHANGED = "CUDA focus unchanged."


class Cuda(gdb.Command):
    """Show or change the CUDA focus: the thread whose variables are shown.

    cuda thread           which thread it is; the same for kernel, block, warp, lane, or several of them
    cuda thread 5         thread (5,0,0) of the block
    cuda thread (5,1,0)
    cuda warp 1 lane 3
    cuda lane 3           of the same warp
    """

    def __init__(self) -> None:
        super().__init__("cuda", gdb.COMMAND_STACK)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        """Called by gdb."""
        given, at = {}, 0
        while match := WORD.match(argument, at):
            given[match[1]], at = match[2], match.end()
        if argument[at:].strip() or not given:
            raise gdb.GdbError(f"Usage: cuda {' '.join(f'[{part} [N]]' for part in PARTS)}; N is a number, or (X,Y,Z).")
        block = required_block()
        if any(given.values()):
            show(block, chosen(block, {part: parsed(text) for part, text in given.items() if text}))
            return
        thread = focus.thread(block)
        values = (int(block.launch["number"]) - 1, in_words(block.index), thread.number // LANES, thread.number % LANES)
        known = dict(zip(PARTS, (*values, in_words(thread.thread_idx))))
        print(", ".join(f"{part} {known[part]}" for part in given))


def chosen(block: Block, wanted: dict[str, Coordinates]) -> Thread:
    """The thread of the block that the parts of the focus name. Raises an error if there is none."""
    if "kernel" in wanted and wanted["kernel"][0] != int(block.launch["number"]) - 1:
        raise gdb.GdbError(f"Only kernel {int(block.launch['number']) - 1} is running. {UNCHANGED}")
    if "block" in wanted and wanted["block"] != block.index:
        place = in_words(wanted["block"])
        if not is_inside(wanted["block"], block.grid_dim):
            raise gdb.GdbError(
                f"There is no block {place}: the grid has {in_words(block.grid_dim)} blocks. {UNCHANGED}"
            )
        raise gdb.GdbError(
            f"Block {place} is not running. On the CPU, blocks run one at a time, now {in_words(block.index)}: "
            f"break LINE if blockIdx.x == {wanted['block'][0]} stops in the other. {UNCHANGED}"
        )
    threads = focus.threads(block)
    if "thread" in wanted:
        if not is_inside(wanted["thread"], block.block_dim):
            shape = in_words(block.block_dim)
            raise gdb.GdbError(
                f"There is no thread {in_words(wanted['thread'])}: blocks have {shape} threads. {UNCHANGED}"
            )
        return next(thread for thread in threads if thread.thread_idx == wanted["thread"])
    now = focus.thread(block).number
    warp = wanted.get("warp", (now // LANES, 0, 0))[0]
    lane = wanted.get("lane", (now % LANES if "warp" not in wanted else 0, 0, 0))[0]
    if lane >= LANES or LANES * warp + lane >= len(threads):
        raise gdb.GdbError(f"There is no lane {lane} in warp {warp}: blocks have {len(threads)} threads. {UNCHANGED}")
    return threads[LANES * warp + lane]


def place_of(thread: Thread) -> tuple[str, str, str]:
    """The file and the line where a thread is, and its state."""
    if thread.state in (NOT_STARTED, ENDED):
        return "", "", thread.state
    focus.set(thread)
    place = innermost().find_sal()
    return (os.path.basename(place.symtab.filename) if place.symtab else "?"), str(place.line), thread.state


class InfoCuda(gdb.Command):
    """Show the kernel that is running, or where its threads are."""

    def __init__(self) -> None:
        super().__init__("info cuda", gdb.COMMAND_STATUS, prefix=True)


class InfoThreads(gdb.Command):
    """Show where the threads of the running block are. Consecutive threads at the same line share a row."""

    def __init__(self) -> None:
        super().__init__("info cuda threads", gdb.COMMAND_STATUS)

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        """Called by gdb."""
        block = required_block()
        before, level = focus.chosen, gdb.selected_frame().level()
        rows: list[list[Any]] = []  # the first and the last thread, and their place
        for thread in focus.threads(block):
            place = place_of(thread)
            if rows and rows[-1][2] == place:
                rows[-1][1] = thread
            else:
                rows.append([thread, thread, place])
        focus.set(before or block.running())
        shown = focus.thread(block).number
        frame = gdb.newest_frame()
        while frame.level() < level:
            frame = frame.older()
        frame.select()
        names = f"{'BlockIdx':<10} {'ThreadIdx':<10} {'To ThreadIdx':<12} {'Count':>5} {'Filename':>20} {'Line':>5}"
        print(f"  {names}  State")
        for first, last, (file, line, state) in rows:
            mark = "*" if first.number <= shown <= last.number else " "
            print(
                f"{mark} {in_words(block.index):<10} {in_words(first.thread_idx):<10} {in_words(last.thread_idx):<12} "
                f"{last.number - first.number + 1:>5} {file:>20} {line:>5}  {state}"
            )


class InfoKernels(gdb.Command):
    """Show the kernel that is running."""

    def __init__(self) -> None:
        super().__init__("info cuda kernels", gdb.COMMAND_STATUS)

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        """Called by gdb."""
        block = required_block()
        number, name = int(block.launch["number"]), block.launch["kernel"]["name"].string()
        print("  Kernel  Grid  GridDim      BlockDim     Name")
        print(f"* {number - 1:>6} {number:>5}  {in_words(block.grid_dim):<12} {in_words(block.block_dim):<12} {name}")


class Index(gdb.Function):
    """$cuda_index("threadIdx"): the address of what threadIdx, blockIdx, blockDim or gridDim stands for."""

    def __init__(self) -> None:
        super().__init__("cuda_index")

    def invoke(self, name: Any) -> int:
        """Called by gdb."""
        block = required_block()
        if name.string() == "threadIdx":
            return int(focus.thread(block).value["index"].address)
        config = block.launch["config"]
        values = {"blockIdx": block.block_idx, "blockDim": config["block"], "gridDim": config["grid"]}
        return int(values[name.string()].address)


def set_up() -> None:
    """Tells gdb all of this."""
    gdb.unwinder.register_unwinder(None, Unwinder(), replace=True)
    gdb.frame_filters["cuda"] = Frames()
    gdb.events.stop.connect(stopped)
    gdb.events.cont.connect(continued)
    gdb.events.inferior_call.connect(calls)
    gdb.events.new_objfile.connect(Failure.when_loaded)
    for made in (InfoCuda, Cuda, Start, Resume, InfoThreads, InfoKernels, Index):
        made()
    for name, kind in {"threadIdx": "uint3", "blockIdx": "uint3", "blockDim": "dim3", "gridDim": "dim3"}.items():
        gdb.execute(f'macro define {name} (*({kind}*)$cuda_index("{name}"))')
    for step in ("next", "step", "nexti", "stepi", "finish", "until", "advance"):
        gdb.execute(f"define hook-{step}\ncuda-resume {step}\nend")
    # One OS thread runs all blocks, in order, and the threads of a block begin in CUDA's order.
    gdb.execute("set environment SIMT_THREADS 1")
    if "SIMT_SEED" not in os.environ:
        gdb.execute("set environment SIMT_SEED 0")
    gdb.execute("handle SIGURG nostop noprint pass", to_string=True)  # the emulation's own: see OsThreads::watch()
    gdb.execute("set print thread-events off")
    for pattern in ("*common/simt/*", "/usr/*"):  # `step` goes into the program's functions only
        gdb.execute(f"skip -gfile {pattern}", to_string=True)
    # Otherwise gdb resumes one OS thread after the other, and fails if the first of them ends the program meanwhile.
    gdb.execute("maintenance set target-non-stop off")
    with contextlib.suppress(gdb.error):  # gdb 12 and later could ask whether to download symbols
        gdb.execute("set debuginfod enabled off")


set_up()
