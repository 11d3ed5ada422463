"""The *focus*: the thread whose frames and variables gdb shows. It is the one that runs, until another is chosen.

Nothing of the program is changed for a thread that waits. An unwinder tells gdb that the innermost frame was called
from where that thread waits. When the program continues, the focus is on the running thread again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import gdb
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator

from .emulation import (
    ENDED,
    NOT_STARTED,
    RUNNING,
    WAITING,
    Block,
    Thread,
    in_words,
    pointers,
    running_block,
    saved_registers,
)

# Where the emulation and the system's headers are, whose frames are not shown.
NOT_THE_PROGRAMS = re.compile(r"(^|/)common/simt/|^/usr/")


class Focus:
    """Which thread gdb shows."""

    def __init__(self) -> None:
        self.chosen: Thread | None = None  # None: the running one
        self.registers: dict[str, int] = {}  # of the chosen one
        self.innermost = (0, 0)  # pc and stack pointer of the frame in which the program has stopped
        self.interrupted: Thread | None = None  # the running one, if Ctrl-C has stopped it inside the emulation
        self.announced = ""
        self.is_entering = False  # a thread is about to begin a kernel
        self.has_failed = False  # the block, for example because its threads are at different barriers
        self.has_left = False  # the thread that has found this out has left its stack, as if it waited
        self.is_in_call = False  # gdb calls a function of the program, after which everything is as before
        self.has_warned = False

    def set(self, thread: Thread | None) -> None:
        """Moves to a thread that runs or waits; None: the one that runs."""
        chosen = thread if thread is not None and thread.state == WAITING else None
        registers = saved_registers(chosen.value["context"]) if chosen else {}
        if chosen is None and self.chosen is None:
            return
        self.chosen = None
        gdb.invalidate_cached_frames()
        self.innermost = pointers(gdb.newest_frame())
        self.chosen, self.registers = chosen, registers
        gdb.invalidate_cached_frames()

    def is_hidden(self, frame: Any) -> bool:
        """Whether this frame is the running thread's, and another one is shown."""
        return self.chosen is not None and pointers(frame) == self.innermost

    def threads(self, block: Block) -> list[Thread]:
        """All threads of the block."""
        return [
            own._replace(state=WAITING) if self.has_left and own.state == RUNNING else own for own in block.threads()
        ]

    def thread(self, block: Block) -> Thread:
        """The thread that is shown."""
        return self.chosen or block.running()


focus = Focus()


class FrameId(NamedTuple):
    """What gdb knows a frame by."""

    sp: Any
    pc: Any


class Unwinder(gdb.unwinder.Unwinder):
    """Makes the chosen thread's saved frame the caller of the innermost one."""

    def __init__(self) -> None:
        super().__init__("cuda focus")

    def __call__(self, pending: Any) -> Any:
        if focus.chosen is None or pointers(pending) != focus.innermost:
            return None
        known = {name: pending.read_register(name).type for name in focus.registers}
        values = {name: gdb.Value(number).cast(known[name]) for name, number in focus.registers.items()}
        pc = next(iter(values.values()))
        # gdb refuses a caller whose stack is below that of the frame; none is below address 0.
        info = pending.create_unwind_info(FrameId(gdb.Value(0).cast(pc.type), pc))
        for name, value in values.items():
            info.add_saved_register(name, value)
        return info


def is_programs(frame: Any) -> bool:
    """Whether the frame is in the program's own source, and not in that of a library."""
    table = frame.find_sal().symtab
    if table is None or table.objfile.filename != gdb.current_progspace().filename:
        return False
    return not NOT_THE_PROGRAMS.search(table.filename)


def own_frames() -> Iterator[Any]:
    """The frames of the focus that are in the program's source, from the innermost one."""
    frame = gdb.newest_frame()
    while frame is not None:
        if not focus.is_hidden(frame) and is_programs(frame):
            yield frame
        frame = frame.older()


def innermost() -> Any:
    """The innermost one of these, or else of all."""
    return next(own_frames(), None) or gdb.newest_frame()


class Frame(FrameDecorator):
    """A frame as gdb prints it without a filter: the name of its function has no types of parameters."""

    def function(self) -> Any:
        """Called by gdb."""
        name = super().function()
        depth = 0
        for at in range(len(name) - 1, 0, -1) if isinstance(name, str) and name.endswith(")") else ():
            depth += (name[at] == ")") - (name[at] == "(")
            if depth == 0:
                return name[:at]
        return name


class Frames:
    """The frames that `backtrace` shows: those of the focus that are in the program's source. (`backtrace -no-filters`
    shows all.)"""

    name, priority, enabled = "cuda", 100, True

    def filter(self, decorators: Iterable[FrameDecorator]) -> Iterator[FrameDecorator]:
        """Called by gdb."""
        every = [Frame(decorator) for decorator in decorators]
        own = [d for d in every if not focus.is_hidden(d.inferior_frame()) and is_programs(d.inferior_frame())]
        if len(own) > 1 and is_launch(own[-1].inferior_frame()):
            own.pop()
        return iter(own or every)


def is_launch(frame: Any) -> bool:
    """Whether this outermost frame of the program is the lambda function by which a launch calls its kernel."""
    return "operator()" in (frame.name() or "")


def show(block: Block, thread: Thread) -> None:
    """Moves the focus to a thread, and prints where it is."""
    if thread.state in (NOT_STARTED, ENDED):
        has = "has not started" if thread.state == NOT_STARTED else "has ended"
        raise gdb.GdbError(f"Thread {in_words(thread.thread_idx)} {has}, so it has no variables. CUDA focus unchanged.")
    focus.set(thread)
    innermost().select()
    announce(block, thread)
    gdb.execute("frame")


def announce(block: Block, thread: Thread) -> None:
    """Says which thread the focus is on, if it has moved."""
    name = f"{block.kernel_in_words()}, {thread.in_words()}"
    if name != focus.announced:
        focus.announced = name
        print(f"[Switching focus to CUDA {name}]")


# --- the program stops and continues ---


def show_failed(block: Block) -> None:
    """The emulation has printed what is wrong: shows the thread that has found out, or else one that waits, and where
    the others are."""
    focus.has_left = next(own_frames(), None) is None
    current = block.running().number
    threads = sorted(focus.threads(block), key=lambda own: own.number != current)
    thread = next((own for state in (RUNNING, WAITING) for own in threads if own.state == state), None)
    print("[The block has failed, as the error says. Its threads are here; `continue` ends the kernel.]")
    if thread is not None:
        show(block, thread)
        focus.interrupted = thread if thread.state == RUNNING else None
    gdb.execute("info cuda threads")


def stopped(event: Any) -> None:
    """The focus is on the thread that runs."""
    focus.set(None)
    block = running_block()
    if block is None:
        focus.announced = ""
        return
    if focus.has_failed:
        show_failed(block)
        return
    announce(block, block.running())
    table = gdb.newest_frame().find_sal().symtab
    if not focus.has_warned and table is not None and re.search(r" -O[123s]", table.producer or ""):
        focus.has_warned = True
        print("[This program is optimized: lines are out of order, and variables may be missing. Build it with cc -G.]")
    focus.interrupted = None
    if isinstance(event, gdb.SignalEvent) and innermost().pc() != gdb.newest_frame().pc():
        focus.interrupted = block.running()
        innermost().select()
        gdb.execute("frame")
    is_step = not isinstance(event, (gdb.BreakpointEvent, gdb.SignalEvent))
    if is_step and not focus.is_entering and all(map(is_launch, own_frames())):
        print("[This thread has returned from its kernel. `continue` runs to the next stop.]")


def continued(_event: Any) -> None:
    """The frames of a thread that was shown are no longer true."""
    if not focus.is_in_call:
        focus.chosen, focus.has_failed, focus.has_left = None, False, False


def calls(event: Any) -> None:
    """Before and after gdb calls a function of the program."""
    focus.is_in_call = isinstance(event, gdb.InferiorCallPreEvent)
