"""What the text of a step adds to a cause that its run has shown: the lines that decide about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from .source import Source, line_of
from .stage_check import ALL_THREADS, Cause

_HALVES = re.compile(r"/=\s*2|>>=|(\w+)\s*=\s*\1\s*(?:/\s*2|>>\s*1)")
_DIRECTION = re.compile(r"&\s*\w+\s*\)?\s*\)?\s*[=!]=\s*0|\(\s*\w+\s*&\s*\w+\s*\)")
_BARE_AND = re.compile(r"\b(\w+)\s*&\s*(\w+)\s*([!=]=)\s*0")  # a bracket ends "(i & k)" before the ==
_LOOP = re.compile(r"\bfor\s*\(")
# A number of blocks in place of that of threads, or neither. Any other factor may be the number of threads.
_NOT_OF_GRID = re.compile(r"(?:(?!blockDim).)*\bblockIdx\.x\s*\)?\s*(?:\*\s*gridDim\.x\s*)?\+\s*threadIdx\.x")
_BARE_THREAD = re.compile(r"(?!.*\bblockIdx\b).*[\[(=+*].*\bthreadIdx\.x")
_OTHER_STAGE = re.compile(
    r"\bcompares the pairs of (?:the|a|an) |\bneeds? \d+ stages|is never launched|compares? \w+\["
)
_FLAG = re.compile(r"\(\w+<[^()]*\b(true|false)\b[^()]*>\)")
_OR = re.compile(r"(\w+) comes from line (\d+): `[^`]*`, or from line (\d+): `[^`]*`")
_FLAGGED = re.compile(r"^launch \d+ \((\w+)<[^()]*\b(true|false)\b[^()]*>\) compares the pairs of (.*?):")
_STEP = re.compile(r"[-+]=\s*([^;]+)|\b(\w+)\s*=\s*\2\s*[-+]\s*([^;]+)")
_NUMBERS = re.compile(r"passes (\w+ = \d+(?: and \w+ = \d+)*), but it must be (.*)$")
_BARRIER_NEAR = 3  # lines after the place


def _of_number(cause: Cause, source: Source) -> Cause:
    """Stages that are missing at the end: which loop decides how many there are?"""
    line = line_of(cause.place)[1]
    if not re.search(r"needs? \d+ stages, but only", cause.text) or not 0 < line <= len(source.lines):
        return cause
    shared = [loop.line for loop in source.loops if source.counts_threads(loop)]
    calls = source.calls(line) or [line]
    around = [n for n in source.loops_around(calls[0]) if all(n in source.loops_around(at) for at in calls)]
    own = [n for n in source.loops_around(line) if n not in around]
    around += [n for n in own if not any(_HALVES.search(source.lines[at - 1]) for at in (n, source.step_of(n)))]
    stages = [n for n in around if n not in shared and not source.is_of_tiles(n)]
    if stages:
        return cause.also(f"where does the loop over the runs end? {source.quoted(stages[0])}")
    tests = dict.fromkeys(test for at in calls if (test := source.test_around(at)))
    return cause.also(f"should this `if` be a loop? {'; '.join(map(source.quoted, tests))}") if tests else cause


def _of_comparison(cause: Cause, source: Source) -> Cause:
    """A comparison that seems to be the wrong way round, in a line that calls a function for it."""
    way = "the comparison is the wrong way round"
    line = line_of(cause.place)[1]
    if not 0 < line <= len(source.lines) or "compare_exchange" not in source.lines[line - 1]:
        return cause
    asked = "are the two positions of this call exchanged?"
    of = [detail.partition(way) for detail in cause.details]
    return replace(cause, details=tuple(before + (asked if found else "") for before, found, _ in of))


def _of_array(cause: Cause, source: Source) -> Cause:
    """Keys that are compared in another array: which call passes it?"""
    if "compares keys in global memory" not in cause.text or not (call := source.caller(line_of(cause.place)[1])):
        return cause
    asked = f"which array does this line pass? {source.quoted(call)}"
    kept = tuple(detail.partition(": which array")[0] for detail in cause.details)
    return replace(cause, place=f"{source.file}:{call}", details=(asked, *kept))


def _of_first_stage(cause: Cause, source: Source) -> Cause:
    """A stage that is missing before another one: which loop begins too late?"""
    asked = next((detail for detail in cause.details if detail.startswith("where do the loops over runs")), "")
    line = line_of(cause.place)[1]
    around = {loop for n in (line, *source.calls(line)) for loop in source.loops_around(n)}
    _, first, last = source.function_of(line) if 0 < line <= len(source.lines) else ("", 1, 0)
    own = {loop.line for loop in source.loops if first <= loop.line <= last and not source.counts_threads(loop)}
    around |= own if not any(_HALVES.search(source.lines[loop - 1]) for loop in around) else set()
    strides = [
        source.quoted(loop)
        for loop in sorted(around)
        if any(_HALVES.search(source.lines[n - 1]) for n in (loop, source.step_of(loop)))
    ]
    if asked and "the mirror stage" in cause.text.partition(" is missing")[0]:
        return replace(cause, details=(*cause.details, source.index_of(line)))
    if not asked or not strides or "the stage with stride" not in cause.text:
        return cause
    which = "does this loop begin" if len(strides) == 1 else "do these loops begin"
    ends = " and end" if "the stage with stride 1 of" in cause.text.partition(" is missing")[0] else ""
    kept = tuple(detail for detail in cause.details if detail != asked)
    return replace(cause, details=(f"{which}{ends} with the right stride? {'; '.join(strides)}", *kept))


def _of_repetition(cause: Cause, source: Source) -> Cause:
    """A stage that is there twice: which loop begins too early?"""
    own = line_of(cause.place)[1]
    stages = [
        loop.line for loop in source.loops if not source.counts_threads(loop) and not source.is_of_tiles(loop.line)
    ]
    around = [source.loops_around(line) for line in (own, *source.calls(own), *source.lambda_calls(own))]
    loops = max(([line for line in lines if line in stages] for lines in around), key=len)
    if not cause.text.startswith("this stage compares the pairs that the stage before it") or not loops:
        return cause
    kept = tuple(detail for detail in cause.details if not detail.startswith("line "))
    counted = re.search(r"\bwhile\s*\(\s*(\w+)", source.lines[loops[-1] - 1])
    begins = source.assigned(counted[1], loops[-1]) if counted else 0
    quoted = "; ".join(map(source.quoted, filter(None, (begins, loops[-1]))))
    return replace(cause, details=(f"does this loop begin with the right stride? {quoted}", *kept))


def _of_direction(cause: Cause, source: Source) -> Cause:
    """Pairs of one direction that are wrong: which line decides about the direction?"""
    asks = [detail for detail in cause.details if detail.endswith("how does the direction follow from i?")]
    asks = asks or [detail for detail in cause.details if "(i is the first position of the pair)" in detail]
    line = next((n for n, text in enumerate(source.lines, 1) if _DIRECTION.search(text) and not _LOOP.search(text)), 0)
    is_known = any(detail.startswith(("only descending order", "the kernel compares keys")) for detail in cause.details)
    if not asks or not line or is_known:
        return cause
    kept = tuple(detail for detail in cause.details if detail not in asks)
    words = asks[0].partition(": how")[0]
    looked = f"{words}; look at {source.quoted(line)}"
    if bare := _BARE_AND.search(source.lines[line - 1]):
        a, b, compares = bare.groups()
        looked += f"; {compares} is evaluated before &: write ({a} & {b}) {compares} 0"
    return replace(cause, details=(looked, *kept))


def _of_warp_barrier(cause: Cause, source: Source) -> Cause:
    """A barrier of the warp where one of the block is needed."""
    line = line_of(cause.place)[1]
    near = range(line, min(line + _BARRIER_NEAR, len(source.lines)) + 1)
    all_found = [n for n, text in enumerate(source.lines, 1) if "__syncwarp" in text]
    _, first, last = source.function_of(line) if 0 < line <= len(source.lines) else ("", 1, 0)
    calls = source.calls(line) if last else []
    own = [
        n
        for n in all_found
        if first <= n <= last or any(source.function_of(n)[1] == source.function_of(at)[1] for at in calls)
    ]
    found = next((n for n in near if n in all_found), 0) or (own[0] if len(all_found) == len(own) == 1 else 0)
    if not found or "__syncthreads()" not in str(cause):
        return cause
    text = f"__syncwarp() in line {found} synchronizes the lanes of one warp only: use __syncthreads() there"
    return replace(cause, details=(text, *cause.details[1:]))


def _of_flag(cause: Cause, source: Source) -> Cause:
    """A launch whose template argument chooses the other kind of stage."""
    match = _FLAGGED.search(cause.text)
    if not match:
        return cause
    name, flag, kind = match.groups()
    launches = [n for n, text in enumerate(source.lines, 1) if re.search(rf"\b{name}<[^;]*\b{flag}\b[^;]*<<<", text)]
    if not launches:
        return cause
    must = next((detail for detail in cause.details if detail.startswith("it must be")), "")
    own = {line_of(cause.place)[1], line_of(cause.launched_at)[1]}
    launches = [n for n in launches if n in own] or launches
    lines = " or ".join(map(str, launches))
    text = f"the template argument {flag} in the launch of {name} in line {lines} selects {kind}; is that right?"
    return replace(cause, place=f"{source.file}:{launches[-1]}", details=tuple(filter(None, (text, must))))


def _of_counting(cause: Cause, source: Source) -> Cause:
    """A launch that passes the numbers of another stage: which loop makes them, in which direction?"""
    match = _NUMBERS.search(cause.text)
    loops = source.loops_around(line_of(cause.place)[1]) if match else []
    if not match or not loops or "n = " in match[1]:
        return cause
    given, wanted = (dict(re.findall(r"(\w+) = (\d+)", part)) for part in match.groups())
    changed = [name for name, number in given.items() if wanted.get(name, number) != number]
    for line in reversed(loops):
        text = source.lines[line - 1]
        for name in changed:
            rises = re.search(rf"\b{name}\s*(?:\*=|<<=)|\+\+{name}\b|\b{name}\+\+", text)
            falls = re.search(rf"\b{name}\s*(?:/=|>>=)|--{name}\b|\b{name}--", text)
            # Runs grow, and strides, the last number, become smaller. A loop may also begin at a wrong number.
            is_upward = rises and name == [*given][-1] and given[name] == "1"
            is_downward = falls and name == [*given][0] and int(given[name]) > 2 * int(wanted[name])
            if is_upward or is_downward:
                way = "increases" if is_upward else "decreases"
                return cause.also(
                    f"does this loop count in the wrong direction? It {way} {name}: {source.quoted(line)}"
                )
    assigned = re.compile(rf"line \d+: `[^`]*\b(?:{'|'.join(changed)})\s*[-+*/]?=(?!=)" if changed else "$^")
    is_explained = any(
        "exchanged" in detail or detail.startswith("the launch passes `") or assigned.match(detail)
        for detail in cause.details
    )
    step = source.step_of(loops[-1])
    advances = f"; {source.quoted(step)}" if step != loops[-1] else ""
    numbers = f"these numbers come from the loop in {source.quoted(loops[-1])}{advances}"
    return cause if is_explained else cause.also(numbers)


def _of_missing_launch(cause: Cause, source: Source) -> Cause:
    """A launch that is missing between others: it may be outside the loop, or its own loop ends too early."""
    match = re.match(r"the launch of (\w+)\(\) for .* is missing before", cause.text)
    if not match:
        return cause
    own = [n for n, text in enumerate(source.lines, 1) if re.search(rf"\b{match[1]}\b.*<<<", text)]
    if not own:
        return cause.also(f"nothing launches {match[1]}()")
    loops = [source.loops_around(line) for line in own]
    inner = max(loops, key=len)
    around = source.loops_around(line_of(cause.place)[1])
    if len(inner) < len(around) and not set(around) & set(inner):
        line = own[loops.index(inner)]
        text = f"line {line} launches {match[1]}() outside the loop in {source.quoted(around[0])}"
        return replace(cause, place=f"{source.file}:{line}", details=(text, *cause.details))
    if not inner:
        return cause
    text = f"does this loop end too early? {source.quoted(inner[-1])}"
    return replace(cause, place=f"{source.file}:{inner[-1]}", details=(text, *cause.details))


def _of_whole_array(cause: Cause, source: Source) -> Cause:
    """An index into a tile that is a position in the whole array."""
    match = re.search(
        r"of block [1-9]\d* compares (\w+)\[(\d+)\] and \w+\[(\d+)\], but (?:there is no|\w+\[\d+\] holds)", cause.text
    )
    line = line_of(cause.place)[1]
    if not match or match[1] == "keys" or not 0 < line <= len(source.lines):
        return cause
    most = re.search(r"there are ([\d,]+) keys", cause.text)
    if not most or int(match[2]) < int(most[1].replace(",", "")):
        return cause
    text = f"the indices of {match[1]} begin at 0 in every block: is this index a position in the whole array instead?"
    kept = tuple(d for d in cause.details if not d.startswith(("skip a comparator", "line ", "the guard")))
    return replace(cause, details=(text, *kept), is_certain=True)


def _of_grid_in_tile(cause: Cause, source: Source) -> Cause:
    """A block that does nothing in its tile, because the threads of the whole grid are numbered there."""
    is_idle = any(detail.startswith("check the loops that lead to a comparison") for detail in cause.details)
    block = re.search(r"\bblock ([1-9]\d*)\b", " ".join(cause.details))
    if not is_idle or not block:
        return cause
    at = line_of(cause.place)[1]
    own = source.function_of(at) if 0 < at <= len(source.lines) else None
    line = 0
    for number, text in enumerate(source.lines, 1):
        if ALL_THREADS.search(text) and not line:
            around = source.function_of(number)
            is_kernel = "__global__" in "\n".join(source.lines[around[1] - 1 : number])
            line = number if around == own or not is_kernel else 0
    if not line:
        return cause
    text = (
        f"in block {block[1]}, no thread compares anything: this line numbers the threads of all blocks, but the "
        "positions in a tile begin at 0 in every block"
    )
    kept = tuple(d for d in cause.details if d.startswith("in "))
    return replace(cause, place=f"{source.file}:{line}", text=text, details=kept)


def _of_launches(cause: Cause, source: Source) -> Cause:
    """Launches that are missing at the end: which loop ends too early?"""
    if not cause.text.startswith("a launch is missing"):
        return cause
    last = max((n for n, text in enumerate(source.lines, 1) if "<<<" in text), default=0)
    loops = source.loops_around(last) if last else []
    if not loops:
        return cause
    asked = f"does this loop end too early? {source.quoted(loops[0])}"
    counted = "; ".join(map(source.quoted, source.counted_by(loops[0])))
    return replace(cause, place=f"{source.file}:{loops[0]}", details=(*cause.details, asked, counted))


def _of_guard(cause: Cause, source: Source) -> Cause:
    """A pair beyond the end, although the line has a guard: then the guard's limit is wrong."""
    line = line_of(cause.place)[1]
    guard = re.search(r"\bif \(((\w+) < (\w+))\)", source.lines[line - 1]) if 0 < line <= len(source.lines) else None
    kept = tuple(detail for detail in cause.details if not detail.startswith("skip a comparator whose partner"))
    most = next((detail.rpartition(" ")[2] for detail in cause.details if detail not in kept), "")
    if not guard or not most:
        return cause
    text = f"the guard `{guard[1]}` does not exclude this pair: {guard[3]} must be {most} here; which value is passed?"
    call = re.search(rf",\s*{guard[2]},\s*([^,;()]+)\)", source.lines[line - 1])
    both = [int(number) for number in re.findall(r"\[(\d+)\]", cause.text)[:2]]
    if call and most.isdigit() and any(number < int(most) for number in both):
        text = f"the guard `{guard[1]}` tests only the first position of the pair: {call[1]} must be below {most}, too"
    return replace(cause, details=(text, *kept))


def _of_lost_exchange(cause: Cause, source: Source) -> Cause:
    """Keys that are lost, or an array in place of another one: two assignments that were to exchange two variables."""
    exchange = source.lost_exchange()
    if not exchange or not re.search(r"loses the key|the last launch, number \d+, writes", cause.text):
        return cause
    line, text, *_ = exchange
    asked = ("nothing new is stored in", "is its store missing", "is a key overwritten before")
    details = (cause.text, *(detail for detail in cause.details if not detail.startswith(asked)))
    return replace(cause, place=f"{source.file}:{line}", text=text, details=details)


def _is_of_block(step: re.Match[str], cause: Cause) -> bool:
    """Whether a loop advances by the threads of a block, as it must for the pairs of a tile."""
    return step[step.lastindex or 1].strip() == "blockDim.x" and bool(re.search(r"\b(?:tile|window)\[", cause.text))


def _of_step(cause: Cause, source: Source) -> Cause:
    """Threads that take one pair each, although there is a loop: does it advance by too much?"""
    asked = next((detail for detail in cause.details if detail.endswith("use a loop, so that it takes more pairs")), "")
    line = line_of(cause.place)[1]
    if not asked or not 0 < line <= len(source.lines):
        return cause
    lines = {line, source.caller(line)}
    steps = (
        (loop, step)
        for loop in source.loops
        if any(loop.line <= at <= loop.last for at in lines) and source.counts_threads(loop)
        if (step := _STEP.search(loop.step or loop.body)) and not _is_of_block(step, cause)
    )
    loop, step = next(steps, (None, None))
    if loop is None or step is None:
        return cause
    names = re.findall(r"(?<![\w.])[A-Za-z_]\w*", step[step.lastindex or 1])
    name, comes = next(((one, at) for one in names if (at := source.assigned(one, loop.line))), ("", 0))
    begins = source.assigned(name, comes) if comes else 0
    at = source.step_of(loop.line)
    text = f"{asked.partition(': use a loop')[0]}: does its loop advance too far? {source.quoted(at)}"
    text += "".join(f"; {source.quoted(line)}" for line in (comes, begins) if line)
    kept = (detail for detail in cause.details if "takes no pair after comparator" not in detail)
    return replace(cause, details=tuple(text if detail == asked else detail for detail in kept))


def _of_exit(cause: Cause, source: Source) -> Cause:
    """Pairs that are missing because a thread ends its loop at one that it should skip: where it does so."""
    asked = next((detail for detail in cause.details if "does it leave its loop there" in detail), "")
    line = line_of(cause.place)[1]
    if not asked or not 0 < line <= len(source.lines):
        return cause
    line = source.launched_at(line) or line
    _, first, last = source.function_of(line)
    for loop in source.loops:
        if not first <= loop.line <= last or not source.counts_threads(loop):
            continue
        for number in range(loop.line + 1, loop.last + 1):
            left = re.search(r"\bif\s*\(.*\)\s*\{?\s*(return|break)\s*;", source.lines[number - 1])
            if left and (left[1] == "return" or source.loops_around(number)[-1:] == [loop.line]):
                text = f"`{left[1]}` ends a thread's loop; `continue` skips one comparator: {source.quoted(number)}"
                return replace(cause, place=f"{source.file}:{number}", details=(text, *cause.details))
        leaves = re.search(r"\b(?:return|break)\b", loop.body)
        step = _STEP.search(loop.step or loop.body)
        if not leaves and step and not _is_of_block(step, cause):
            comes = source.assigned(step[step.lastindex or 1].strip(), source.step_of(loop.line))
            asked_step = "; ".join(map(source.quoted, filter(None, (source.step_of(loop.line), comes))))
            text = f"{asked.partition(': does it leave')[0]}: does its loop advance too far? {asked_step}"
            return replace(cause, details=tuple(text if detail == asked else detail for detail in cause.details))
    if not any(source.counts_threads(loop) for loop in source.loops if first <= loop.line <= last):
        return replace(cause, details=tuple(detail for detail in cause.details if detail != asked))
    return cause


def _of_braces(cause: Cause, source: Source) -> Cause:
    """A line that looks as if an if or a loop controlled it, and is the second one below it."""
    line = line_of(cause.place)[1]
    if not 2 < line <= len(source.lines):
        return cause
    control, first, second = source.lines[line - 3 : line]
    indents = [len(text) - len(text.lstrip()) for text in (control, first, second)]
    is_control = re.match(r"\s*(?:if|for|while|else)\b", control) and not control.rstrip().endswith(("{", ";"))
    if not is_control or not indents[0] < indents[1] == indents[2] or not first.rstrip().endswith(";"):
        return cause
    return cause.also(
        f"line {line - 2} controls only line {line - 1}, not this line: enclose both lines in braces {{ }}"
    )


def _of_grid_number(cause: Cause, source: Source) -> Cause:
    """A thread of a later block that takes a wrong pair of keys: how is its number in the grid computed, and which line
    does without it?"""
    if not re.search(r"of block [1-9]\d* (?:both )?compares? keys\[", cause.text):
        return cause
    _, first, last = source.function_of(line_of(cause.place)[1])
    lines = {n: source.lines[n - 1] for n in range(first, last + 1)}
    asked = "the number of a thread in the grid is blockIdx.x * blockDim.x + threadIdx.x"
    number = next((n for n, text in lines.items() if _NOT_OF_GRID.match(text)), 0)
    if not number and "__shared__" not in source.text and any(ALL_THREADS.search(text) for text in lines.values()):
        asked = "this line uses threadIdx.x without blockIdx.x, so that all blocks take the same keys"
        number = next((n for n, text in lines.items() if _BARE_THREAD.match(text)), 0)
    if number:
        return replace(cause, details=(f"{asked}: {source.quoted(number)}", *cause.details))
    return cause


def _of_branch(cause: Cause, source: Source) -> Cause:
    """A variable that has its value from one of two branches, of which the template argument chooses one."""
    flag = _FLAG.search(" ".join((cause.text, *cause.details)))
    details = []
    for detail in cause.details:
        for found in _OR.finditer(detail):
            chosen = [(n, source.branch_of(n)) for n in map(int, found.group(2, 3))]
            kept = [n for n, branch in chosen if flag and branch and branch[1] == (flag[1] == "true")]
            if len(kept) == 1 and all(branch for _, branch in chosen):
                detail = detail.replace(found[0], f"{found[1]} comes from {source.quoted(kept[0])}")
        details.append(detail)
    return replace(cause, details=tuple(details))


def _of_unused_variable(cause: Cause, source: Source) -> Cause:
    """A wrong stage, in a loop that does not use what it counts."""
    line = line_of(cause.place)[1]
    if not _OTHER_STAGE.search(cause.text) or not 0 < line <= len(source.lines):
        return cause
    lines = (line, *source.calls(line))
    around = {at for one in lines for at in source.loops_around(one)}
    for loop in source.loops:
        counted = re.search(r"(\w+)\s*(?:[-+*/]=|>>=|<<=|\+\+|--)|(?:\+\+|--)(\w+)", loop.step)
        name = counted and (counted[1] or counted[2])
        if loop.line in around and name and not re.search(rf"\b{name}\b", loop.body):
            unused = f"nothing in this loop uses {name}: {source.quoted(loop.line)}"
            # A loop that adds to a number may only count its iterations.
            is_count = re.search(r"\+\+|--|[-+]=", loop.step)
            return replace(cause, details=(*cause.details, unused)) if is_count else cause.also(unused)
    return cause


_REMARKS: Sequence[Callable[[Cause, Source], Cause]] = (
    _of_number,
    _of_repetition,
    _of_first_stage,
    _of_array,
    _of_comparison,
    _of_direction,
    _of_warp_barrier,
    _of_flag,
    _of_launches,
    _of_whole_array,
    _of_guard,
    _of_counting,
    _of_missing_launch,
    _of_grid_in_tile,
    _of_braces,
    _of_lost_exchange,
    _of_exit,
    _of_step,
    _of_grid_number,
    _of_branch,
    _of_unused_variable,
)


def remarked(cause: Cause | None, source: Source) -> Cause | None:
    """The cause, with the lines that decide about it."""
    for remark in _REMARKS:
        cause = cause and remark(cause, source)
    return cause
