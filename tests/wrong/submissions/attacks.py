"""The attacks that inspection must refuse, and the words by which it does: attacks/NAME.cu defines attack().

What inspection overlooks meets the sandbox (processes, files, network), then the judge, which compares every key with a
reference that the runner cannot see, and takes the time itself.
"""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "attacks"

_PROCESSES, _FILES, _THREADS = "controls processes", "accesses files", "uses threads of the host"
_BEFORE_MAIN, _DEFINES = "runs code before or after main", "which the workbook or a library of the system defines"
_MACHINERY, _CLOCK = "part of the workbook's own machinery", "sets a clock or waits for one"

REFUSED = {
    # --- processes ---
    "forks": _PROCESSES,
    "runs_a_program": _PROCESSES,
    "becomes_a_program": _PROCESSES,
    "spawns": _PROCESSES,
    "kills_the_judge": _PROCESSES,
    "attaches_to_the_judge": _PROCESSES,
    "changes_the_environment": _PROCESSES,
    "handles_signals": "sends or handles signals",
    "starts_a_thread": _THREADS,
    "starts_a_thread_of_c": _THREADS,
    # --- files and the network ---
    "fills_the_disk": _FILES,
    "writes_by_streams": _FILES,
    "reads_others_files": _FILES,
    "walks_through_folders": _FILES,
    "writes_to_the_judge": _FILES,
    "reads_memory_as_a_file": _FILES,
    "reads_the_judges_memory": "changes or searches the memory of the process",
    "reaches_the_network": "uses the network or a socket",
    "loads_a_library": "loads or searches code while the program runs",
    # --- clocks ---
    "sets_its_own_clock": _DEFINES,
    "sets_the_clock": _CLOCK,
    "sleeps": _CLOCK,
    # --- the runner, the observers and libraries ---
    "answers_in_the_runners_place": _MACHINERY,
    "finishes_for_the_runner": _MACHINERY,
    "stops_the_observers": _MACHINERY,
    "listens_to_launches": _MACHINERY,
    "replaces_the_runners_end": _DEFINES,
    "patches_the_observers": _DEFINES,
    "replaces_memcpy": _DEFINES,
    "replaces_new": _DEFINES,
    "replaces_a_template": _DEFINES,
    # --- before and after main ---
    "runs_before_others": _BEFORE_MAIN,
    "runs_before_libraries": _BEFORE_MAIN,
    "runs_after_main": _BEFORE_MAIN,
    "is_chosen_when_loaded": "by a function that runs before main (ifunc)",
    # --- below the C library ---
    "calls_the_system": "makes a system call by an instruction",
    "calls_the_system_as_in_1995": "makes a system call by an instruction",
    "calls_the_system_by_name": "makes system calls",
    "renames_a_function": "uses fork: it controls processes",
    "refers_weakly": "uses __fork: it controls processes",
    "changes_its_code": "changes or searches the memory of the process",
    "executes_data": "can be written and executed",
    "executes_the_stack": "makes the stack executable",
}
