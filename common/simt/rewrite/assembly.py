"""Inline PTX in device code: short pieces become C++ (simt/ptx.h), others an error in the reader's words.

The instructions are those of tutorials and of sorts (PTX ISA, "Instruction Set"): special registers, integers and bits,
floating-point numbers, loads and stores of global memory, atomics, barriers and fences."""

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
# What an instruction computes from its operands a, b, c and d of type T.
_VALUES = dict(
    line.split(maxsplit=1)
    for line in """
        mov       a
        cvta.to   a
        add       T(a + b)
        sub       T(a - b)
        mul       T(a * b)
        mul.lo    T(a * b)
        mul.hi    simt::ptx::high(a, b)
        mul.wide  simt::ptx::wide(a, b)
        mad.lo    T(a * b + c)
        mad.hi    T(simt::ptx::high(a, b) + c)
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
        prmt      ::__byte_perm(a, b, c)
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
_TYPED = {"shl": 1, "shr": 1, "bfe": 1, "bfi": 2, "selp": 2, "lop3": 3}  # how many of type T; the others are of u32
_STATEMENTS = {
    **dict.fromkeys(("membar.cta", "fence.acq_rel.cta", "fence.sc.cta"), "__threadfence_block()"),
    **dict.fromkeys(("membar.gl", "fence.acq_rel.gpu", "fence.sc.gpu"), "__threadfence()"),
    **dict.fromkeys(("membar.sys", "fence.acq_rel.sys", "fence.sc.sys"), "__threadfence_system()"),
    **dict.fromkeys(("bar.sync 0", "barrier.sync 0", "barrier.cta.sync 0"), "__syncthreads()"),
    "trap": "__trap()",
}
_ATOMICS = {word: word.capitalize() for word in ("add", "min", "max", "exch", "and", "or", "xor", "inc", "dec")}
_ATOMICS["cas"] = "CAS"
_ATOMIC_TYPES = {"std::uint32_t": "unsigned", "std::uint64_t": "unsigned long long", "std::int32_t": "int"}
# Roundings to nearest, approximations, and ways through the caches.
_NO_DIFFERENCE = frozenset(
    "rn approx ftz full global ca cg cs lu cv nc wb wt relaxed gpu volatile weak".split()  # noqa: SIM905
)
_VOLATILE = frozenset(("volatile", "relaxed", "cv"))
_INSTRUCTION = re.compile(r"(?:@(!?)(\w+)\s+)?([a-z]\w*(?:\.\w+)*)\s+(.*)", re.S)
_OPERAND = re.compile(r"\[[^\]]*\]|[^,\s][^,]*")


class _Unknown(Exception):
    """An instruction that is not translated."""


class _Piece:
    """The text of one `asm` and its operands' expressions, which become C++."""

    def __init__(self, text: str, operands: list[str]) -> None:
        self._operands = operands
        self._locals: set[str] = set()
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S).strip()
        if text.startswith("{") and text.endswith("}"):
            text = text[1:-1]
        self.code = " ".join(self._translated(line.strip()) for line in text.split(";") if line.strip())

    def _translated(self, line: str) -> str:
        """An instruction; _Unknown has its text."""
        try:
            if declared := re.fullmatch(r"\.reg\s+\.(\w+)\s+([\w\s,]+)", line):
                names = [name.strip() for name in declared[2].split(",")]
                self._locals.update(names)
                return f"{_TYPES[declared[1]]} {', '.join(names)};"
            if line in _STATEMENTS:
                return f"{_STATEMENTS[line]};"
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
        kind = _TYPES[words[-1]]
        name, *rest = [word for word in words[:-1] if word not in _NO_DIFFERENCE]
        if name in ("atom", "red"):
            (operation,) = rest
            return self._atomic(name, operation, kind, operands)
        if name == "ld" and not rest:
            to, address = operands
            volatile = "volatile " if _VOLATILE & {*words} else ""
            value = f"*reinterpret_cast<const {volatile}{kind}*>({self._address(address)})"
            return f"simt::ptx::put({self._operand(to)}, {kind}({value}));"
        if name == "st" and not rest:
            address, value = operands
            volatile = "volatile " if _VOLATILE & {*words} else ""
            to = f"*reinterpret_cast<{volatile}{kind}*>({self._address(address)})"
            return f"{to} = simt::ptx::get<{kind}>({self._operand(value)});"
        return self._assignment(name, _VALUES[".".join([name, *rest])], kind, operands)

    def _assignment(self, name: str, formula: str, kind: str, operands: list[str]) -> str:
        to, *values = operands
        types = [kind if i < _TYPED.get(name, len(values)) else "std::uint32_t" for i in range(len(values))]
        # A function of its own: the program's names may be the same as these.
        parameters = ", ".join(f"{own} {letter}" for own, letter in zip(types, "abcd"))
        read = ", ".join(f"simt::ptx::get<{own}>({self._operand(value)})" for own, value in zip(types, values))
        value = re.sub(r"\bT\b", kind, formula)
        return f"simt::ptx::put({self._operand(to)}, []({parameters}) {{ return {value}; }}({read}));"

    def _atomic(self, name: str, operation: str, kind: str, operands: list[str]) -> str:
        kind = _ATOMIC_TYPES.get(kind, kind)
        address, *values = operands[name == "atom" :]
        given = "".join(f", simt::ptx::get<{kind}>({self._operand(value)})" for value in values)
        call = f"atomic{_ATOMICS[operation]}(reinterpret_cast<{kind}*>({self._address(address)}){given})"
        return f"{call};" if name == "red" else f"simt::ptx::put({self._operand(operands[0])}, {call});"

    def _address(self, operand: str) -> str:
        inner = re.fullmatch(r"\[\s*([^+\]]+?)\s*(?:\+\s*(\d+)\s*)?\]", operand)
        if not inner:
            raise ValueError
        return f"simt::ptx::get<std::uintptr_t>({self._operand(inner[1])}) + {inner[2] or 0}"

    def _operand(self, operand: str) -> str:
        operand = operand.strip()
        if number := re.fullmatch(r"%(\d+)", operand):
            return f"({self._operands[int(number[1])]})"
        if operand in self._locals or re.fullmatch(r"-?(?:0[xX][\da-fA-F]+|\d+)U?", operand):
            return operand
        return _REGISTERS[operand]


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
        text, operands = _parts(source, tokens, begin, end)
        try:
            code = _Piece(text, operands).code
        except _Unknown as unknown:
            code = _refusal(str(unknown))
        source.replace(token.start, tokens[end].end, f"do {{ {code} }} while (false)")


def _parts(source: Source, tokens: list[Token], begin: int, end: int) -> tuple[str, list[str]]:
    """The instructions of the `asm` whose brackets these are, and its operands' expressions."""
    i = begin + 1
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
