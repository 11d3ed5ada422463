"""What is written: the rewritten files, in which every token keeps its line, and their dependencies."""

import glob
import hashlib
import os
import re

from .architecture import rewrite_architecture
from .assembly import translate_assembly
from .builtins import call_copies
from .constants import register_constants
from .conversions import saturate_casts
from .device_arrays import separate_arrays
from .functions import Places, qualifying_macros
from .kernel_arguments import kernel_names, name_kernel_arguments
from .kernel_calls import refuse_kernel_calls
from .launches import Known, configuration_macros, rewrite_launches
from .local_arrays import watch_arrays
from .references import kernels_with_objects, reference_parameters
from .returns import mark_returns
from .shared_arrays import rewrite_casts, rewrite_shared
from .shifts import clamp_shifts
from .source import Source, Twin
from .tokens import quoted


def rewrite_all(sources: list[Source], architecture: int, saturates: bool = False) -> None:
    """Collects the changes to each source, and marks those that need a rewritten copy. `saturates`: conversions to
    integers do, and shifts by large distances shift out all bits, as on a GPU."""
    refuse_kernel_calls(sources)
    rewrite_architecture(sources, architecture)
    names: set[str] = set()
    qualifying = qualifying_macros(sources) if saturates else {}
    for source in sources:
        places = Places(source, {})
        names |= rewrite_shared(source, source.code, places.of_tokens)
        separate_arrays(source, places.of_tokens)
        register_constants(source, places.of_tokens)
        if saturates:
            of_tokens = Places(source, qualifying).of_tokens
            saturate_casts(source, of_tokens)
            clamp_shifts(source, of_tokens)
        mark_returns(source, places)
        translate_assembly(source, places.of_tokens)
        watch_arrays(source, places)
        for macro in source.macros:
            rewrite_shared(source, macro.tokens, None)
        for tokens in (source.code, *(macro.tokens for macro in source.macros)):
            call_copies(source, tokens)
    kernels = kernel_names(sources)
    known = Known(configuration_macros(sources), reference_parameters(sources), kernels_with_objects(sources), kernels)
    for source in sources:
        rewrite_launches(source, source.code, known, in_macro=False)
        name_kernel_arguments(source, source.code, kernels)
        rewrite_casts(source, source.code, names)
        for macro in source.macros:
            rewrite_launches(source, macro.tokens, known, in_macro=True)
            name_kernel_arguments(source, macro.tokens, kernels)
            rewrite_casts(source, macro.tokens, names)
        source.rewritten = bool(source.edits or source.twins)
    changed = True
    while changed:  # a file that includes a copy must become one
        changed = False
        for source in sources:
            if not source.rewritten and any(i.target and i.target.rewritten for i in source.includes):
                source.rewritten = changed = True


def write_all(sources: list[Source], main: Source, output: str, macro: str = "") -> None:
    """Writes the file `main` to `output`, and copies of the headers that changed next to it. `macro`: what the file
    defines at its beginning."""
    folder = os.path.dirname(output)
    texts = [
        (os.path.join(folder, _copy_name(source, output)), _text(source, output))
        for source in sources
        if source.rewritten and source is not main
    ]
    defined = f"#define {macro}\n" if macro else ""
    texts.append((output, defined + _text(main, output)))  # last, because it names the others
    for path, text in texts:
        write(path, text)


def dependencies(output: str, sources: list[Source]) -> str:
    """A Makefile rule: the output depends on every file that was read, and on the rewriter."""
    here = os.path.dirname(os.path.abspath(__file__))
    paths = [source.path for source in sources] + sorted(glob.glob(os.path.join(glob.escape(here), "*.py")))
    return f"{_escaped(output)}: {' '.join(_escaped(path) for path in paths)}\n"


def write(path: str, text: str) -> None:
    """Writes under a temporary name first, so that no half-written file is ever taken for a complete one."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def _copy_name(source: Source, output: str) -> str:
    digest = hashlib.sha256(source.shown.encode(errors="surrogateescape")).hexdigest()[:8]
    return f"{os.path.basename(output)}.{digest}.{os.path.basename(source.path)}"


def _text(source: Source, output: str) -> str:
    """The rewritten text. Includes name copies where there are any; other files next to the original by full path."""
    edits = list(source.edits)
    for include in source.includes:
        if include.target and include.target.rewritten:
            edits.append((include.start, include.end, f'"{_copy_name(include.target, output)}"'))
        elif include.target and include.next_to_includer:
            edits.append((include.start, include.end, quoted(os.path.abspath(include.target.path))))
    edits.sort(key=lambda edit: edit[:2])
    pieces, position = [], 0
    for twin in sorted(source.twins):
        pieces += [_edited(source, position, twin.start, edits), _both_versions(source, twin, edits)]
        position = twin.end
    pieces.append(_edited(source, position, len(source.text), edits))
    return f"#line 1 {quoted(source.shown)}\n{''.join(pieces)}"


def _both_versions(source: Source, twin: Twin, edits: list[tuple[int, int, str]]) -> str:
    """The body, which runs one of its two versions. Both have the lines of the source."""
    for_device = sorted([*edits, *twin.edits], key=lambda edit: edit[:2])
    device, host = (_edited(source, twin.start, twin.end, some) for some in (for_device, edits))
    again = f"#line {source.line(twin.start)} {quoted(source.shown)}"
    return f"{{ if ({twin.choice}) {device}\n{again}\nelse {{ simt::host_version(); {host} }} }}"


def _edited(source: Source, first: int, last: int, edits: list[tuple[int, int, str]]) -> str:
    """A part of the text after the edits in it, with as many lines as before."""
    pieces, position = [], first
    for start, end, replacement in edits:
        if first <= start and end <= last and (start < last or last == len(source.text)):
            pieces += [source.text[position:start], replacement]
            position = end
    text = "".join(pieces) + source.text[position:last]
    assert text.count("\n") == source.text.count("\n", first, last), f"{source.shown}: lines were lost"
    return text


def _escaped(path: str) -> str:
    return re.sub(r"([ #\\])", r"\\\1", path).replace("$", "$$")
