"""Inline PTX in device code: short pieces become C++ (simt/ptx.h), others an error in the reader's words.

The instructions are those of tutorials and of sorts (PTX ISA, "Instruction Set"): special registers, integers and bits,
floating-point numbers, loads and stores of global and shared memory, atomics, barriers, fences, primitives of a warp,
and asynchronous copies, which are made at once."""

from __future__ import annotations

import re
from ast import literal_eval

from .functions import BOTH, DEVICE
from .source import Source
from .tokens import Token, closing, is_mark, quoted

_KEYWORDS = frozenset(("asm", "__asm", "__asm__"))
_TYPES = {
    **{f"{kind}{bits}": f"std::uint{bits}_t" for kind in "ub" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": f"std::int{bits}_t" for bits in (8, 16, 32, 64)},
    "f32": "float",
    "f64": "double",
    "pred": "bool",
}
_LANE_MASKS = [f"lanemask_{which}" for which in ("eq", "lt", "le", "gt", "ge")]
_PLACES = ("smid", "nsmid", "laneid", "warpid", "nwarpid", *_LANE_MASKS)
_REGISTERS = {f"%{name}": f"simt::ptx::{name}()" for name in _PLACES}
_REGISTERS |= {
    f"%{register}.{axis}": f"{name}.{axis}"
    for register, name in {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}.items()
    for axis in "xyz"
}
_REGISTERS |= {"%clock": "unsigned(clock64())", "%clock64": "clock64()", "WARP_SZ": "warpSize"}
_REGISTERS |= {"%globaltimer": "clock64()", "%globaltimer_lo": "unsigned(clock64())"}
# What an instruction computes from its operands a, b, c and d of type T.
_VALUES = dict(
    line.split(maxsplit=1)
    for line in """
        mov       a
        cvta.to   a
        cvta.to.shared  simt::ptx::address_in_shared(reinterpret_cast<const void*>(std::uintptr_t(a)))
        cvta.shared     simt::ptx::pointer_to_shared(std::uint32_t(a))
        cvta            a
        add       T(a + b)
        sub       T(a - b)
        mul       T(a * b)
        mul.lo    T(a * b)
        mul.hi    simt::ptx::high(a, b)
        mul.wide  simt::ptx::wide(a, b)
        mad.lo    T(a * b + c)
        mad.hi    T(simt::ptx::high(a, b) + c)
        mad.wide  simt::ptx::wide(a, b) + c
        sad       T(c + (a < b ? b - a : a - b))
        cnot      T(a == 0)
        tanh      ::tanh(a)
        fma       ::fma(a, b, c)
        div       T(a / b)
        rem       T(a % b)
        neg       T(-a)
        abs       T(a < 0 ? -a : a)
        min       ::min(a, b)
        max       ::max(a, b)
        and       T(a & b)
        or        T(a | b)
        xor       T(a ^ b)
        not       T(~a)
        lop3      simt::ptx::lop3(a, b, c, d)
        shl       simt::ptx::shl(a, b)
        shr       simt::ptx::shr(a, b)
        bfe       simt::ptx::bfe(a, b, c)
        bfi       simt::ptx::bfi(a, b, c, d)
        bfind     simt::ptx::bfind(a)
        brev      T(sizeof(T) == 4 ? ::__brev(a) : ::__brevll(a))
        clz       sizeof(T) == 4 ? ::__clz(int(a)) : ::__clzll(a)
        popc      ::__popcll(a)
        prmt      simt::ptx::prmt(a, b, c)
        rcp       T(1 / a)
        sqrt      ::sqrt(a)
        rsqrt     ::rsqrt(a)
        ex2       ::exp2(a)
        lg2       ::log2(a)
        sin       ::sin(a)
        cos       ::cos(a)
        selp      c ? a : b
        setp.eq   a == b
        setp.ne   a != b
        setp.lt   a < b
        setp.le   a <= b
        setp.gt   a > b
        setp.ge   a >= b
    """.strip().splitlines()
)
_CONVERSIONS = {
    "": "T(a)",
    "rni": "simt::to_integer<T>(::rint(a))",
    "rzi": "simt::to_integer<T>(::trunc(a))",
    "rmi": "simt::to_integer<T>(::floor(a))",
    "rpi": "simt::to_integer<T>(::ceil(a))",
}
_TYPED = {"shl": 1, "shr": 1, "bfe": 1, "bfi": 2, "selp": 2, "lop3": 3}  # how many of type T; the others are of u32
_STATEMENTS = {
    **dict.fromkeys(("membar.cta", "fence.acq_rel.cta", "fence.sc.cta"), "__threadfence_block()"),
    **dict.fromkeys(("membar.gl", "fence.acq_rel.gpu", "fence.sc.gpu"), "__threadfence()"),
    **dict.fromkeys(("membar.sys", "fence.acq_rel.sys", "fence.sc.sys"), "__threadfence_system()"),
    **dict.fromkeys(("cp.async.commit_group", "cp.async.wait_all"), ""),
    "trap": "__trap()",
}
_BARRIER = re.compile(r"bar(?:rier)?(?:\.cta)?\.(sync|arrive|red\.popc|red\.and|red\.or|warp\.sync)(?:\.\w+)*\s+(.*)")
_REDUCING_BARRIERS = {"red.popc": "__syncthreads_count", "red.and": "__syncthreads_and", "red.or": "__syncthreads_or"}
# Where the operands of an instruction for a warp are in the call, from 0: the destination.
_OF_WARP = {
    "activemask": "__activemask()",
    "vote.sync.all": "__all_sync({2}, {1})",
    "vote.sync.any": "__any_sync({2}, {1})",
    "vote.sync.uni": "__uni_sync({2}, {1})",
    "vote.sync.ballot": "__ballot_sync({2}, {1})",
    "shfl.sync.idx": "__shfl_sync({4}, {1}, {2}, simt::ptx::width({3}))",
    "shfl.sync.up": "__shfl_up_sync({4}, {1}, {2}, simt::ptx::width({3}))",
    "shfl.sync.down": "__shfl_down_sync({4}, {1}, {2}, simt::ptx::width({3}))",
    "shfl.sync.bfly": "__shfl_xor_sync({4}, {1}, {2}, simt::ptx::width({3}))",
    "match.any.sync": "__match_any_sync({2}, {1})",
    **{
        f"redux.sync.{name}": f"__reduce_{name}_sync({{2}}, {{1}})"
        for name in ("add", "min", "max", "and", "or", "xor")
    },
}
_CARRYING = {"add": "+", "addc": "+", "sub": "-", "subc": "-"}
_ATOMICS = {word: word.capitalize() for word in ("add", "min", "max", "exch", "and", "or", "xor", "inc", "dec")}
_ATOMICS["cas"] = "CAS"
_ATOMIC_TYPES = {"std::uint32_t": "unsigned", "std::uint64_t": "unsigned long long", "std::int32_t": "int"}
# Roundings to nearest, approximations, and ways through the caches.
_NO_DIFFERENCE = frozenset(
    """rn approx ftz full global ca cg cs lu cv nc wb wt relaxed gpu sys cta volatile weak L1::no_allocate
    L1::evict_first L1::evict_last L2::64B L2::128B L2::256B""".split()  # noqa: SIM905
)
_VOLATILE = frozenset(("volatile", "relaxed", "cv"))
_INSTRUCTION = re.compile(r"(?:@(!?)(\w+)\s+)?([a-z]\w*(?:\.[\w:]+)*)\s+(.*)", re.S)
_OPERAND = re.compile(r"\[[^\]]*\]|\{[^}]*\}|[^,\s][^,]*")


class _Unknown(Exception):
    """An instruction that is not translated."""


class _Piece:
    """The text of one `asm` and its operands' expressions, which become C++."""

    def __init__(self, text: str, operands: list[str]) -> None:
        self._operands = operands
        self._locals: set[str] = set()
        self._has_carry = False
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S).strip()
        if text.startswith("{") and text.endswith("}"):
            text = text[1:-1]
        code = " ".join(self._translated(line.strip()) for line in text.split(";") if line.strip())
        self.code = f"bool simt_carry; {code}" if self._has_carry else code

    def _translated(self, line: str) -> str:
        """An instruction; _Unknown has its text."""
        try:
            if declared := re.fullmatch(r"\.reg\s+\.(\w+)\s+([\w\s,]+)", line):
                names = [name.strip() for name in declared[2].split(",")]
                self._locals.update(names)
                return f"{_TYPES[declared[1]]} {', '.join(names)};"
            if line in _STATEMENTS:
                return f"{_STATEMENTS[line]};"
            if barrier := _BARRIER.fullmatch(line):
                return self._barrier(barrier[1], _OPERAND.findall(barrier[2]))
            if re.match(r"cp\.async\.wait_group\s", line):
                return ""
            match = _INSTRUCTION.fullmatch(line)
            if match:
                negation, predicate, opcode, rest = match.groups()
                code = self._instruction(opcode.split("."), _OPERAND.findall(rest))
                return f"if ({negation}{self._operand(predicate)}) {{ {code} }}" if predicate else code
        except (KeyError, IndexError, ValueError):
            pass
        raise _Unknown(line)

    def _instruction(self, words: list[str], operands: list[str]) -> str:
        """KeyError, IndexError or ValueError: it is not known."""
        if words[:2] == ["cp", "async"]:
            return self._copy(words, operands)
        if words[0] == "prefetch":
            return ""
        kind = _TYPES[words[-1]]
        if words[0] == "cvt":
            return self._conversion(words[1:-2], _TYPES[words[-2]], kind, operands)
        if ".".join(words[:-1]) in _OF_WARP:
            return self._of_warp(_OF_WARP[".".join(words[:-1])], kind, operands)
        if words[0] in _CARRYING and (words[0].endswith("c") or words[1] == "cc"):
            return self._carrying(words, kind, operands)
        if words[0] == "nanosleep":
            return f"__nanosleep({self._read(operands[0], kind)});"
        if words[0] in ("ld", "st"):
            return self._access(words, kind, operands)
        name, *rest = [word for word in words[:-1] if word not in _NO_DIFFERENCE]
        if name in ("atom", "red"):
            return self._atomic(name, rest, kind, operands)
        return self._assignment(name, _VALUES[".".join([name, *rest])], kind, operands)

    def _assignment(self, name: str, formula: str, kind: str, operands: list[str]) -> str:
        to, *values = operands
        types = [kind if i < _TYPED.get(name, len(values)) else "std::uint32_t" for i in range(len(values))]
        # A function of its own: the program's names may be the same as these.
        parameters = ", ".join(f"{own} {letter}" for own, letter in zip(types, "abcd"))
        read = ", ".join(f"simt::ptx::get<{own}>({self._operand(value)})" for own, value in zip(types, values))
        value = re.sub(r"\bT\b", kind, "!a" if (name, kind) == ("not", "bool") else formula)
        return f"simt::ptx::put({self._operand(to)}, []({parameters}) {{ return {value}; }}({read}));"

    def _read(self, operand: str, kind: str) -> str:
        return f"simt::ptx::get<{kind}>({self._operand(operand)})"

    def _conversion(self, words: list[str], to: str, kind: str, operands: list[str]) -> str:
        rounding = [word for word in words if word not in _NO_DIFFERENCE]
        is_to_integer = kind in ("float", "double") and to not in ("float", "double")
        formula = _CONVERSIONS[rounding[0] if rounding else ""]
        if len(rounding) > 1 or is_to_integer != bool(rounding) or (is_to_integer and to[-4:-2] not in ("32", "64")):
            raise ValueError
        value = re.sub(r"\bT\b", to, formula)
        destination, source = operands
        call = f"[]({kind} a) {{ return {value}; }}({self._read(source, kind)})"
        return f"simt::ptx::put({self._operand(destination)}, {to}({call}));"

    def _of_warp(self, call: str, kind: str, operands: list[str]) -> str:
        kinds = ["bool" if kind == "bool" else kind, *["std::uint32_t"] * 4]
        if "shfl" in call or "match" in call or "reduce" in call:
            kinds[1] = _ATOMIC_TYPES.get(kind, kind)
        elif "_sync" in call:
            kinds[1] = "bool"
        given = [""] + [self._read(value, own) for value, own in zip(operands[1:], kinds[1:])]
        return f"simt::ptx::put({self._operand(operands[0])}, {kind}({call.format(*given)}));"

    def _barrier(self, what: str, operands: list[str]) -> str:
        """A barrier with a number and, possibly, a number of threads, which are those of the block otherwise."""
        if what in _REDUCING_BARRIERS:
            to, number, predicate = operands
            if number != "0":
                raise ValueError
            call = f"{_REDUCING_BARRIERS[what]}({self._read(predicate, 'bool')})"
            return f"simt::ptx::put({self._operand(to)}, std::uint32_t({call}));"
        numbers = [self._read(operand, "std::uint32_t") for operand in operands]
        if what == "warp.sync":
            return f"__syncwarp({numbers[0]});"
        if what == "sync" and operands == ["0"]:
            return "__syncthreads();"
        if what == "sync" and len(numbers) <= 2:
            return f"simt::named_barrier({', '.join(numbers)});"
        if what == "arrive" and len(numbers) == 2:
            return f"simt::arrive_at_named_barrier({', '.join(numbers)});"
        raise ValueError

    def _carrying(self, words: list[str], kind: str, operands: list[str]) -> str:
        """Additions and subtractions of numbers of several words, within one `asm`."""
        name = words[0]
        if name.endswith("c") and not self._has_carry:
            raise ValueError  # the carry comes from another one
        self._has_carry = True
        to, a, b = operands
        carry = "simt_carry" if name.endswith("c") else "false"
        values = f"{self._read(a, kind)}, {self._read(b, kind)}, {carry}"
        function = "add" if _CARRYING[name] == "+" else "subtract"
        return f"simt::ptx::put({self._operand(to)}, simt::ptx::{function}({values}, simt_carry));"

    def _copy(self, words: list[str], operands: list[str]) -> str:
        """cp.async.ca.shared.global [to], [from], bytes, n: n of the bytes are copied, and the others set to 0."""
        if words[2] not in ("ca", "cg") or words[3:5] not in (["shared", "global"], ["shared::cta", "global"]):
            raise ValueError
        to, start, *sizes = operands
        numbers = [self._read(size, "std::uint32_t") for size in sizes]
        return f"simt::ptx::copy({self._address(to, True)}, {self._address(start)}, {', '.join(numbers)});"

    def _access(self, words: list[str], kind: str, operands: list[str]) -> str:
        rest = [word for word in words[1:-1] if word not in _NO_DIFFERENCE]
        count = 1
        if rest and rest[-1] in ("v2", "v4"):
            count = int(rest.pop()[1])
        is_shared = _takes(rest, "shared", "shared::cta")
        order = next((word for word in ("acquire", "release") if _takes(rest, word)), "")
        if rest:
            raise ValueError
        is_load = words[0] == "ld"
        value, address = operands if is_load else reversed(operands)
        values = [one.strip() for one in value.strip("{}").split(",")]
        if len(values) != count:
            raise ValueError
        qualified = f"volatile {kind}" if order or _VOLATILE & {*words} else kind
        pointer = f"simt_address{'' if is_load else '_to'}"
        code = f"const auto {pointer} = reinterpret_cast<{qualified}*>({self._address(address, is_shared)});"
        own = f"simt_value{count}"
        if is_load:
            # All are read before one is written: the address may be one of them.
            read = ", ".join(f"{own}_{i} = {kind}({pointer}[{i}])" for i in range(count))
            write = " ".join(
                f"simt::ptx::put({self._operand(one)}, {own}_{i});" for i, one in enumerate(values) if one != "_"
            )
            code = f"{code} const {kind} {read}; {'__threadfence(); ' if order else ''}{write}"
        else:
            write = " ".join(f"{pointer}[{i}] = {self._read(one, kind)};" for i, one in enumerate(values))
            code = f"{code} {'__threadfence(); ' if order else ''}{write}"
        return f"{{ {code} }}"

    def _atomic(self, name: str, words: list[str], kind: str, operands: list[str]) -> str:
        kind = _ATOMIC_TYPES.get(kind, kind)
        is_shared = _takes(words, "shared", "shared::cta")
        is_ordered = _takes(words, "acquire", "release", "acq_rel")
        (operation,) = words
        address, *values = operands[name == "atom" :]
        given = "".join(f", {self._read(value, kind)}" for value in values)
        call = f"atomic{_ATOMICS[operation]}(reinterpret_cast<{kind}*>({self._address(address, is_shared)}){given})"
        done = f"{call};" if name == "red" else f"simt::ptx::put({self._operand(operands[0])}, {call});"
        fence = "__threadfence();"
        return f"{fence + ' ' if is_ordered else ''}{done}{' ' + fence if is_ordered else ''}"

    def _address(self, operand: str, is_shared: bool = False) -> str:
        inner = re.fullmatch(r"\[\s*([^+\]]+?)\s*(?:\+\s*(\d+)\s*)?\]", operand)
        if not inner:
            raise ValueError
        function = "simt::ptx::in_shared" if is_shared else "simt::ptx::get<std::uintptr_t>"
        return f"{function}({self._operand(inner[1])}) + {inner[2] or 0}"

    def _operand(self, operand: str) -> str:
        operand = operand.strip()
        if number := re.fullmatch(r"%(\d+)", operand):
            return f"({self._operands[int(number[1])]})"
        if operand in self._locals or re.fullmatch(r"-?(?:0[xX][\da-fA-F]+|\d+)U?", operand):
            return operand
        return _REGISTERS[operand]


def _takes(words: list[str], *names: str) -> bool:
    """Whether one of the names is among the words, from which it is removed."""
    found = [word for word in words if word in names]
    words[:] = [word for word in words if word not in names]
    return bool(found)


def translate_assembly(source: Source, places: list[str]) -> None:
    """Each `asm` statement in functions for the device becomes C++, or an error where the compiler reaches it."""
    tokens = source.code
    for i, token in enumerate(tokens):
        if token.text not in _KEYWORDS or places[i] not in (DEVICE, BOTH):
            continue
        begin = i + 1
        while begin < len(tokens) and tokens[begin].text in ("volatile", "__volatile__", "__volatile"):
            begin += 1
        end = closing(tokens, begin) if begin < len(tokens) and is_mark(tokens[begin], "(") else None
        if end is None:
            continue
        code = _with_branches(source, begin, end) or _translated(source, tokens[begin : end + 1])
        source.replace(token.start, tokens[end].end, f"do {{ {code} }} while (false)")


def _with_branches(source: Source, begin: int, end: int) -> str:
    """The same for an `asm` with one #if ... #else ... #endif in it, which stays; "" for others."""
    inside = [directive for directive in source.directives if begin < directive.place <= end]
    if [directive.name for directive in inside[1:]] != ["else", "endif"]:
        return ""
    first, second, last = (directive.place for directive in inside)
    tokens = source.code
    head, tail = tokens[begin:first], tokens[last : end + 1]
    one = _translated(source, head + tokens[first:second] + tail)
    other = _translated(source, head + tokens[second:last] + tail)
    start = source.text.rindex("#", 0, inside[0].start)
    line = re.match(r"(?:\\\r?\n|.)*", source.text[start:])
    condition = source.edited(start, start + (line.end() if line else 0))
    return f"\n{condition}\n{one}\n#else\n{other}\n#endif\n"


def _translated(source: Source, tokens: list[Token]) -> str:
    """The C++ for an `asm`, given from bracket to bracket."""
    try:
        return _Piece(*_parts(source, tokens)).code
    except _Unknown as unknown:
        return _refusal(str(unknown))


def _parts(source: Source, tokens: list[Token]) -> tuple[str, list[str]]:
    """The instructions of the `asm` whose brackets these are, and its operands' expressions."""
    i, end = 1, len(tokens) - 1
    text = ""
    while tokens[i].kind == "string":
        text += str(literal_eval(tokens[i].text)).replace("%%", "%")
        i += 1
    operands = []
    while i < end:
        if is_mark(tokens[i], "("):
            last = closing(tokens, i) or end
            operands.append(source.edited(tokens[i].end, tokens[last].start).replace("\n", " "))
            i = last
        i += 1
    return text, operands


def _refusal(instruction: str) -> str:
    message = (
        f"CUDA on the CPU does not know the inline PTX '{instruction}': write C++ for it behind #ifdef __SIMT__, or "
        "build the program with nvcc"
    )
    return f"_Pragma({quoted('GCC error ' + quoted(message))})"
