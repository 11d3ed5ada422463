"""Submissions that want points for no work, and use nothing that inspection could refuse: changes to the solution of
lab 01's step 01 that sort on the host, forge the check build's report, let one thread do all the work, keep the grader
busy, or read the solutions while they are compiled.

What must stop each: the judge, which takes the input away before the step runs; the descriptor that every reply
carries; the check build's counts; the limits on time; the sandbox.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

from lazy import FULL, NONE, ROOT, Lazy
from lazy import _assembling as assembling
from lazy import _compiling as compiling
from lazy import _first as first

# What the step would find on the stack, as offsets in 8-byte words from the number of keys in the judge's request.
_REQUEST = """
#include <sys/mman.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>
namespace {
constexpr int memory_bytes = 1, input = 3, output = 4, span = 6, span_bytes = 7;
// The judge's request: a number of keys, and further on, how many bytes they have.
const std::int64_t* request_on_stack(std::int64_t n, std::int64_t bytes) {
  const volatile std::int64_t here = 0;
  const std::int64_t* word = const_cast<const std::int64_t*>(&here);
  for (int i = 0; i < 4096; ++i, ++word) {
    if (word[0] == n && word[span_bytes] == bytes && word[memory_bytes] > bytes) return word;
  }
  return nullptr;
}
// The memory that judge and runner share.
const char* shared_memory(std::int64_t bytes) {
  void* const memory = mmap(nullptr, std::size_t(bytes), PROT_READ, MAP_SHARED, 4, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<const char*>(memory);
}
template <class Key>
__global__ void copy_keys(Key* from, Key* to, std::int64_t n) {
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    to[i] = from[i];
}
}  // namespace
"""

_DEVICE_VARIABLE = (
    "#include <string>\n"
    + _REQUEST
    + """
alignas(16) __device__ unsigned char place_on_device[1 << 20];
static unsigned char* place_of_keys() {
  void* place = nullptr;
  cudaGetSymbolAddress(&place, place_on_device);
  return static_cast<unsigned char*>(place);
}
"""
)

# Sorts what `host` holds, and has a kernel write it.
_HAND_OVER = """
std::sort(host.begin(), host.end(), [&](Key a, Key b) { return lab::before(a, b, order); });
void* scratch = nullptr;
CUDA_CHECK(cudaMallocAsync(&scratch, keys.n * sizeof(Key), stream));
CUDA_CHECK(cudaMemcpyAsync(scratch, host.data(), keys.n * sizeof(Key), cudaMemcpyHostToDevice, stream));
copy_keys<<<1, 256, 0, stream>>>(static_cast<Key*>(scratch), keys.data, keys.n);
CUDA_CHECK(cudaGetLastError());
CUDA_CHECK(cudaFreeAsync(scratch, stream));
CUDA_CHECK(cudaStreamSynchronize(stream));
return;
"""
_FIND_REQUEST = """
const std::int64_t bytes = keys.n * std::int64_t(sizeof(Key));
const std::int64_t* const request = request_on_stack(keys.n, bytes);
const char* const memory = request ? shared_memory(request[memory_bytes]) : nullptr;
std::vector<Key> host(keys.n);
"""
_NO_POINTS = {"correct": NONE, "check": NONE}


def _from_memory(where: str) -> str:
    """A step that takes its keys from where the judge keeps them."""
    return (
        _FIND_REQUEST
        + f"const char* const found = memory ? {where} : nullptr;\n"
        + "if (!found) return;\nstd::memcpy(host.data(), found, std::size_t(bytes));\n"
        + _HAND_OVER
    )


_HOST = {
    "reads_the_shared_input": first(
        _from_memory("memory + request[input] + request[span]"), "keys were lost or made up", _NO_POINTS, _REQUEST
    ),
    "searches_the_shared_memory": first(
        _FIND_REQUEST
        + """
Key some[8] = {};
const std::size_t known = std::min<std::size_t>(sizeof some, std::size_t(bytes));
CUDA_CHECK(cudaMemcpyAsync(some, keys.data, known, cudaMemcpyDeviceToHost, stream));
CUDA_CHECK(cudaStreamSynchronize(stream));
const char* const begin = reinterpret_cast<const char*>(some);
const char* const end = memory ? memory + request[memory_bytes] : nullptr;
const char* const found = memory ? std::search(memory, end, begin, begin + known) : end;
if (found == end) return;
std::memcpy(host.data(), found, std::size_t(bytes));
"""
        + _HAND_OVER,
        "in the original order",
        _NO_POINTS,
        _REQUEST,
    ),
    "takes_what_is_left_of_earlier_cases": first(
        _from_memory("memory + (request[memory_bytes] - bytes) / 8 * 8"),
        "keys were lost or made up",
        _NO_POINTS,
        _REQUEST,
    ),
    "remembers_where_the_memory_was": first(
        """
static std::vector<std::pair<const char*, std::int64_t>> known;
const std::int64_t bytes = keys.n * std::int64_t(sizeof(Key));
if (const std::int64_t* const request = request_on_stack(keys.n, bytes))
  known.emplace_back(shared_memory(request[memory_bytes]) + request[input] + request[span], bytes);
std::vector<Key> host(keys.n);
for (const auto& [place, size] : known) {
  if (place && size >= bytes) std::memcpy(host.data(), place, std::size_t(bytes));
}
"""
        + _HAND_OVER,
        "keys were lost or made up",
        _NO_POINTS,
        _REQUEST,
    ),
    "sorts_in_a_variable_of_the_device": first(
        """
unsigned char* const bytes = reinterpret_cast<unsigned char*>(keys.data);
copy_keys<<<1, 256, 0, stream>>>(bytes, place_of_keys(), keys.n * sizeof(Key));
CUDA_CHECK(cudaGetLastError());
CUDA_CHECK(cudaStreamSynchronize(stream));
Key* const begin = reinterpret_cast<Key*>(place_on_device);
std::sort(begin, begin + keys.n, [&](Key a, Key b) { return lab::before(a, b, order); });
copy_keys<<<1, 256, 0, stream>>>(place_of_keys(), bytes, keys.n * sizeof(Key));
CUDA_CHECK(cudaGetLastError());
CUDA_CHECK(cudaStreamSynchronize(stream));
return;
""",
        "host code",
        _NO_POINTS,
        _DEVICE_VARIABLE,
    ),
    "sorts_in_managed_memory": first(
        """
unsigned char* const bytes = reinterpret_cast<unsigned char*>(keys.data);
copy_keys<<<1, 256, 0, stream>>>(bytes, place_for_both, keys.n * sizeof(Key));
CUDA_CHECK(cudaGetLastError());
CUDA_CHECK(cudaStreamSynchronize(stream));
Key* const begin = reinterpret_cast<Key*>(place_for_both);
std::sort(begin, begin + keys.n, [&](Key a, Key b) { return lab::before(a, b, order); });
copy_keys<<<1, 256, 0, stream>>>(place_for_both, bytes, keys.n * sizeof(Key));
CUDA_CHECK(cudaGetLastError());
CUDA_CHECK(cudaStreamSynchronize(stream));
return;
""",
        "kernels must do the work",
        _NO_POINTS,
        _REQUEST + "alignas(16) __managed__ unsigned char place_for_both[1 << 20];\n",
    ),
    "hides_a_pointer_in_a_number": first(
        """
std::vector<Key> host(keys.n);
const std::uintptr_t hidden = ~reinterpret_cast<std::uintptr_t>(host.data());
move_keys<<<1, 256, 0, stream>>>(keys.data, hidden, keys.n, 0);
CUDA_CHECK(cudaGetLastError());
CUDA_CHECK(cudaStreamSynchronize(stream));
std::sort(host.begin(), host.end(), [&](Key a, Key b) { return lab::before(a, b, order); });
move_keys<<<1, 256, 0, stream>>>(keys.data, hidden, keys.n, 1);
CUDA_CHECK(cudaGetLastError());
CUDA_CHECK(cudaStreamSynchronize(stream));
return;
""",
        "host-pointer",
        _NO_POINTS,
        _REQUEST
        + """
template <class Key>
__global__ void move_keys(Key* keys, std::uintptr_t hidden, std::int64_t n, int back) {
  Key* const host = reinterpret_cast<Key*>(~hidden);
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    if (back) keys[i] = host[i]; else host[i] = keys[i];
  }
}
""",
    ),
    "sorts_in_a_variable_of_the_host": first(
        """
move_keys<<<1, 256, 0, stream>>>(keys.data, keys.n, 0);
CUDA_CHECK(cudaGetLastError());
CUDA_CHECK(cudaStreamSynchronize(stream));
Key* const begin = reinterpret_cast<Key*>(place_on_host);
std::sort(begin, begin + keys.n, [&](Key a, Key b) { return lab::before(a, b, order); });
move_keys<<<1, 256, 0, stream>>>(keys.data, keys.n, 1);
CUDA_CHECK(cudaGetLastError());
CUDA_CHECK(cudaStreamSynchronize(stream));
return;
""",
        "host",
        _NO_POINTS,
        _REQUEST
        + """
alignas(16) static unsigned char place_on_host[1 << 20];
template <class Key>
__global__ void move_keys(Key* keys, std::int64_t n, int back) {
  Key* const host = reinterpret_cast<Key*>(place_on_host);
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    if (back) keys[i] = host[i]; else host[i] = keys[i];
  }
}
""",
    ),
    "lets_the_library_read_a_variable": first(
        """
unsigned char* const bytes = reinterpret_cast<unsigned char*>(keys.data);
copy_keys<<<1, 256, 0, stream>>>(bytes, place_of_keys(), keys.n * sizeof(Key));
CUDA_CHECK(cudaGetLastError());
CUDA_CHECK(cudaStreamSynchronize(stream));
const std::string text(reinterpret_cast<const char*>(place_on_device), keys.n * sizeof(Key));
std::vector<Key> host(keys.n);
std::memcpy(host.data(), text.data(), text.size());
"""
        + _HAND_OVER,
        "device-variable | too little work",
        _NO_POINTS,
        _DEVICE_VARIABLE,
    ),
    "copies_few_keys_at_a_time": first(
        """
std::vector<Key> host(keys.n);
for (std::int64_t at = 0; at < keys.n; at += 256) {
  const std::size_t size = std::size_t(std::min<std::int64_t>(256, keys.n - at)) * sizeof(Key);
  CUDA_CHECK(cudaMemcpyAsync(host.data() + at, keys.data + at, size, cudaMemcpyDeviceToHost, stream));
}
CUDA_CHECK(cudaStreamSynchronize(stream));
"""
        + _HAND_OVER,
        "most of the keys to the host",
        _NO_POINTS,
        _REQUEST,
    ),
}

# --- the work is done where the observers do not see it, and kernels that they see write what is there once more ---

_UNSEEN = (
    _REQUEST
    + """
#include <cstdlib>
#define PASTE(a, b) a##b
template <class Key>
__attribute__((PASTE(no_sani, tize)("thread"))) void sort_unseen(Key* keys, std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i) {
    const Key key = keys[i];
    std::int64_t at = i;
    for (; at > 0 && key < keys[at - 1]; --at) keys[at] = keys[at - 1];
    keys[at] = key;
  }
}
template <class Key>
__global__ void call_unseen(Key* keys, std::int64_t n) {
  if (threadIdx.x == 0) sort_unseen(keys, n);
}
template <class Key>
int compare_keys(const void* a, const void* b) {
  const Key first = *static_cast<const Key*>(a), second = *static_cast<const Key*>(b);
  return first < second ? -1 : second < first ? 1 : 0;
}
using Sort = void (*)(void*, std::size_t, std::size_t, int (*)(const void*, const void*));
template <class Key>
__global__ void call_function(Key* keys, std::int64_t n, Sort sort) {
  if (threadIdx.x == 0) sort(keys, std::size_t(n), sizeof(Key), compare_keys<Key>);
}
template <class Key>
__global__ void write_again(Key* keys, std::int64_t n, bool is_reversed) {
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n / 2; i += stride) {
    const Key low = keys[i], high = keys[n - 1 - i];
    keys[i] = is_reversed ? high : low;
    keys[n - 1 - i] = is_reversed ? low : high;
  }
}
"""
)
_NOT_HIDDEN = _UNSEEN.replace("PASTE(no_sani, tize)", "PASTE(no, inline)").replace('("thread")', "")
_JUMP = """
void* place_to_return[8];
__global__ void jump(int) {
  if (threadIdx.x == 0) __builtin_longjmp(place_to_return, 1);
}
"""
_WRITE_AGAIN = """
CUDA_CHECK(cudaGetLastError());
for (int i = 0; i < 64; ++i) {
  const bool is_reversed = order == lab::Order::descending && i == 0;
  write_again<<<8, 64, 0, stream>>>(keys.data, keys.n, is_reversed);
}
CUDA_CHECK(cudaGetLastError());
return;
"""
# The host gets 256 keys at a time from the kernel `hand_out`, by different ways, and sorts them.
_WINDOW = (
    _REQUEST
    + """
template <class Key>
__device__ void fill(const Key* keys, Key* window, std::int64_t at, std::int64_t n) {
  for (std::int64_t i = threadIdx.x; i < 256 && at + i < n; i += blockDim.x) window[i] = keys[at + i];
}
template <class Key>
__global__ void hand_out(const Key* keys, Key* window, std::int64_t at, std::int64_t n) {
  fill(keys, window, at, n);
}
__device__ unsigned char place_on_device[2048];
// Where the block keeps the keys.
template <class Key>
__global__ void keep_and_tell(const Key* keys, std::uintptr_t* where, std::int64_t at, std::int64_t n) {
  extern __shared__ unsigned char shared[];
  Key* const window = reinterpret_cast<Key*>(shared);
  fill(keys, window, at, n);
  if (threadIdx.x == 0) *where = reinterpret_cast<std::uintptr_t>(window);
}
"""
)
_SHARED = """
template <class Key>
__host__ __device__ Key* kept() {
  __shared__ Key tile[256];
  return tile;
}
template <class Key>
__global__ void keep_in_shared(const Key* keys, std::int64_t at, std::int64_t n) {
  fill(keys, kept<Key>(), at, n);
}
"""
_ALLOCATE = "CUDA_CHECK(cudaMallocAsync(&place, 256 * sizeof(Key), stream));"
_HAND_OUT = "hand_out<<<1, 64, 0, stream>>>(keys.data, static_cast<Key*>(place), at, keys.n);"
_TO_HOST = "CUDA_CHECK(cudaMemcpyAsync(host.data() + at, place, bytes, cudaMemcpyDeviceToHost, stream));"
_GRAPH = f"""
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  {_HAND_OUT}
  {_TO_HOST}
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CUDA_CHECK(cudaGraphLaunch(executable, stream));
"""
_TOLD = """
  CUDA_CHECK(cudaMemcpyAsync(&where, place, sizeof where, cudaMemcpyDeviceToHost, stream));
"""


def _by_window(before: str, launch: str, after: str, words: str, head: str = "") -> Lazy:
    """A step that sorts on the host. `before`: the first window; `launch` and `after`: before and after it waits."""
    code = f"""
std::vector<Key> host(keys.n);
void* place = nullptr;
std::uintptr_t where = 0;
{before}
for (std::int64_t at = 0; at < keys.n; at += 256) {{
  const std::size_t bytes = sizeof(Key) * std::size_t(std::min<std::int64_t>(256, keys.n - at));
  {launch}
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamSynchronize(stream));
  {after}
}}
"""
    return first(code + _HAND_OVER, words, _NO_POINTS, _WINDOW + head)


_TO_THE_HOST = "most of the keys to the host"
_WRITES = "writes most of the keys where the host can read them"
_LOST = "keys were lost or made up"
_UNOBSERVED = {
    "hides_a_sort_from_the_check_build": first(
        "call_unseen<<<1, 32, 0, stream>>>(keys.data, keys.n);" + _WRITE_AGAIN, "it hides code", {}, _UNSEEN, True
    ),
    "sorts_by_a_function_of_c_in_one_thread": first(
        "call_function<<<1, 32, 0, stream>>>(keys.data, keys.n, &std::qsort);" + _WRITE_AGAIN,
        "none of its threads was seen to write it | does not compile",
        _NO_POINTS,
        _NOT_HIDDEN,
    ),
    "copies_keys_through_a_window": _by_window(_ALLOCATE, _HAND_OUT + _TO_HOST, "", _TO_THE_HOST),
    "copies_keys_by_rows": _by_window(
        _ALLOCATE,
        _HAND_OUT
        + _TO_HOST.replace("cudaMemcpyAsync(", "cudaMemcpy2DAsync(").replace(
            "at, place, bytes,", "at, bytes, place, bytes, bytes, 1,"
        ),
        "",
        _TO_THE_HOST,
    ),
    "copies_keys_by_graphs": _by_window(_ALLOCATE, _GRAPH, "", _TO_THE_HOST),
    "copies_keys_from_a_variable": _by_window(
        "CUDA_CHECK(cudaGetSymbolAddress(&place, place_on_device));",
        _HAND_OUT,
        "CUDA_CHECK(cudaMemcpyFromSymbol(host.data() + at, place_on_device, bytes));",
        _TO_THE_HOST,
    ),
    "hands_out_keys_in_managed_memory": _by_window(
        "CUDA_CHECK(cudaMallocManaged(&place, 256 * sizeof(Key)));",
        _HAND_OUT,
        "std::memcpy(host.data() + at, place, bytes);",
        _WRITES,
    ),
    "hands_out_keys_in_pinned_memory": _by_window(
        "CUDA_CHECK(cudaMallocHost(&place, 256 * sizeof(Key)));",
        _HAND_OUT,
        "std::memcpy(host.data() + at, place, bytes);",
        _WRITES,
    ),
    "reads_shared_memory_on_the_host": _by_window(
        "",
        "keep_in_shared<<<1, 64, 0, stream>>>(keys.data, at, keys.n);",
        "std::memcpy(host.data() + at, kept<Key>(), bytes);",
        "which is shared memory of a block | does not compile",  # with nvcc
        _SHARED,
    ),
    "reads_dynamic_shared_memory_on_the_host": _by_window(
        _ALLOCATE,
        "keep_and_tell<<<1, 64, 2048, stream>>>(keys.data, static_cast<std::uintptr_t*>(place), at, keys.n);",
        _TOLD + "std::memcpy(host.data() + at, reinterpret_cast<Key*>(where), bytes);",
        _LOST,
    ),
    "jumps_out_of_a_kernel": first(
        """
if (keys.n < 3) return;
if (__builtin_setjmp(place_to_return) == 0) {
  jump<<<1, 32, 0, stream>>>(0);
} else {
  std::sort(keys.data, keys.data + keys.n);
}
"""
        + _WRITE_AGAIN,
        "",
        _NO_POINTS,
        _JUMP + _NOT_HIDDEN,
    ),
    "sorts_in_a_host_function_of_the_stream": first(
        """
static lab::Span<Key> device;
device = keys;
CUDA_CHECK(cudaLaunchHostFunc(stream, [](void*) { std::sort(device.data, device.data + device.n); }, nullptr));
CUDA_CHECK(cudaStreamSynchronize(stream));
"""
        + _WRITE_AGAIN,
        "host",
        _NO_POINTS,
        _NOT_HIDDEN,
    ),
}

# --- the check build's report is forged: what the launch lacks would be a finding ---

_REPLY = (
    _REQUEST
    + """
struct Reply {
  std::uint64_t nonce;
  std::uint32_t progress, status;
  double milliseconds;
  std::int32_t text_bytes;
  char text[8192];
};
void forge(std::FILE* file, std::uint64_t nonce) {
  static const char document[] = R"({"observed":{"findings":[],"remarks":[],"notes":[],"launches":[]}})";
  static Reply reply = {nonce, 2, 0, 0.1, sizeof document - 1, {}};
  reply.nonce = nonce;
  std::memcpy(reply.text, document, sizeof document - 1);
  std::setvbuf(file, nullptr, _IONBF, 0);
  for (unsigned progress : {1u, 2u, 3u}) {
    reply.progress = progress;
    std::fwrite(&reply, sizeof reply, 1, file);
  }
  std::fflush(file);
}
"""
)
_NONCE = """
CUDA_CHECK(cudaStreamSynchronize(stream));
const std::int64_t* const request = request_on_stack(keys.n, keys.n * std::int64_t(sizeof(Key)));
const std::uint64_t nonce = request ? std::uint64_t(request[-5]) : 0;
"""


def _forged(code: str) -> Lazy:
    """A step that sorts, does not look for errors, and then writes to the judge by itself."""
    lines = "".join(f"  {line}\n" for line in (_NONCE + code).strip().splitlines())
    loop = "    run_phase<<<blocks, threads_per_block, 0, stream>>>(keys.data, keys.n, int(phase % 2), order);\n"
    changes = [(loop + "    CUDA_CHECK(cudaGetLastError());\n  }\n", loop + "  }\n" + lines)]
    words = "a message that the runner did not write | Aborted"  # the C library knows its own files
    return Lazy(changes, words, {"correct": NONE, "check": NONE}, _REPLY)


_FORGED = {
    "forges_replies_by_stdout": _forged("stdout->_fileno = 3;\nforge(stdout, nonce);\nstdout->_fileno = 1;"),
    "forges_replies_by_stderr": _forged("stderr->_fileno = 3;\nforge(stderr, nonce);\nstderr->_fileno = 2;"),
    "forges_replies_by_a_copy_of_stdout": _forged(
        "static std::FILE copy = *stdout;\ncopy._fileno = 3;\nforge(&copy, nonce);"
    ),
    "forges_replies_by_stdin": _forged(
        "stdin->_fileno = 3;\nstdin->_flags = stdout->_flags;\nforge(stdin, nonce);\nstdin->_fileno = 0;"
    ),
}


# --- one thread at a time ---

_SERIAL = """
#include <cstdint>
#include "step/keys.h"
namespace {
// Merges the runs of `width` keys at `at`, through `other`.
template <class Key>
__device__ void merge_at(Key* keys, Key* other, std::int64_t n, std::int64_t width, std::int64_t at, lab::Order order) {
  const std::int64_t middle = at + width < n ? at + width : n, end = at + 2 * width < n ? at + 2 * width : n;
  std::int64_t a = at, b = middle;
  for (std::int64_t i = at; i < end; ++i) {
    const bool second = b < end && (a >= middle || lab::before(keys[b], keys[a], order));
    other[i] = second ? keys[b++] : keys[a++];
  }
  for (std::int64_t i = at; i < end; ++i) keys[i] = other[i];
}
template <class Key>
__global__ void sort_alone(Key* keys, Key* other, std::int64_t n, lab::Order order) {
  for (std::int64_t width = 1; width < n; width *= 2) {
    for (std::int64_t at = 0; at < n; at += 2 * width) merge_at(keys, other, n, width, at, order);
  }
}
template <class Key>
__global__ void merge_alone(Key* keys, Key* other, std::int64_t n, std::int64_t width, lab::Order order) {
  for (std::int64_t at = 0; at < n; at += 2 * width) merge_at(keys, other, n, width, at, order);
}
// One thread after another.
template <class Key>
__global__ void take_turns(Key* keys, Key* other, std::int64_t n, lab::Order order) {
  for (std::int64_t width = 1; width < n; width *= 2) {
    int turn = 0;
    for (std::int64_t at = 0; at < n; at += 2 * width, turn = (turn + 1) % int(blockDim.x)) {
      if (int(threadIdx.x) == turn) merge_at(keys, other, n, width, at, order);
      __syncthreads();
    }
  }
}
// The others are busy, too.
template <class Key>
__global__ void sort_in_company(Key* keys, Key* other, Key* noise, std::int64_t n, lab::Order order) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    for (std::int64_t width = 1; width < n; width *= 2) {
      for (std::int64_t at = 0; at < n; at += 2 * width) merge_at(keys, other, n, width, at, order);
    }
  } else {
    const std::int64_t own = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (int i = 0; i < 64; ++i) noise[own] = Key(i);
  }
}
}  // namespace
"""


def _serial(launch: str) -> Lazy:
    """A step that sorts by serial merges. It is right, but has a GPU's work done by one thread."""
    code = """
void* scratch = nullptr;
void* noise = nullptr;
CUDA_CHECK(cudaMallocAsync(&scratch, keys.n * sizeof(Key), stream));
CUDA_CHECK(cudaMallocAsync(&noise, 64 * 64 * sizeof(Key), stream));
Key* const other = static_cast<Key*>(scratch);
"""
    code += launch + "\nCUDA_CHECK(cudaGetLastError());\n"
    code += "CUDA_CHECK(cudaFreeAsync(scratch, stream));\nCUDA_CHECK(cudaFreeAsync(noise, stream));\nreturn;"
    return first(code, "work is serial", {"correct": FULL, "check": NONE, "budgets": NONE}, _SERIAL)


_ALONE = {
    "sorts_in_one_thread": _serial("sort_alone<<<1, 1, 0, stream>>>(keys.data, other, keys.n, order);"),
    "sorts_in_one_thread_per_launch": _serial(
        """for (std::int64_t width = 1; width < keys.n; width *= 2) {
  merge_alone<<<1, 1, 0, stream>>>(keys.data, other, keys.n, width, order);
  CUDA_CHECK(cudaGetLastError());
}"""
    ),
    "sorts_in_one_thread_after_another": _serial("take_turns<<<1, 64, 0, stream>>>(keys.data, other, keys.n, order);"),
    "sorts_in_parallel_only_the_budgets_keys": first(
        """
if (keys.n != 1000 && keys.n > 1) {
  void* scratch = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scratch, keys.n * sizeof(Key), stream));
  sort_alone<<<1, 1, 0, stream>>>(keys.data, static_cast<Key*>(scratch), keys.n, order);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFreeAsync(scratch, stream));
  return;
}
""",
        "work is serial",
        {"correct": FULL, "check": NONE, "budgets": NONE},
        _SERIAL,
    ),
    "sorts_in_one_thread_while_others_are_busy": _serial(
        "sort_in_company<<<64, 64, 0, stream>>>(keys.data, other, static_cast<Key*>(noise), keys.n, order);"
    ),
}


# --- the grader is kept busy ---


def _offset_of_fork() -> int:
    """How far fork() is from printf() in the C library, of which the sandbox has the same."""
    library = ctypes.CDLL(None)
    address = {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in ("fork", "printf")}
    return address["fork"] - address["printf"]


_FORK = f"""
#include <cstdint>
#include <cstdio>
static int fork_by_number() {{
  const volatile std::uintptr_t known = reinterpret_cast<std::uintptr_t>(&std::printf);
  return reinterpret_cast<int (*)()>(known + ({_offset_of_fork()}))();
}}
"""
_BUSY = {
    # The sandbox limits the processes, and each of these ends after a while, should nothing end it.
    "forks_by_number": first(
        """
for (volatile int i = 0; i < 3; i = i + 1) fork_by_number();
for (volatile long i = 0; i < 20'000'000'000; i = i + 1) {
}
""",
        "a submission may take | did not end | does not end",
        {"correct": NONE, "check": NONE, "budgets": NONE},
        _FORK,
    ),
    "computes_for_seconds_and_crashes": first(
        """
for (volatile long i = 0; i < 3'000'000'000; i = i + 1) {
}
if (keys.n % 2 == 0) *static_cast<volatile int*>(nullptr) = 0;
""",
        "a submission may take",
        {"correct": NONE, "check": NONE, "budgets": NONE},
    ),
}

NO_WORK: dict[str, Lazy] = {**_HOST, **_UNOBSERVED, **_FORGED, **_ALONE, **_BUSY}


# --- what is read while the file is compiled ---


def _repository() -> Path:
    """Where the history of the course is."""
    if not shutil.which("git"):
        return ROOT / ".git"
    command = ["git", "-C", str(ROOT), "rev-parse", "--path-format=absolute", "--git-common-dir"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return Path(found.stdout.strip()) if found.returncode == 0 else ROOT / ".git"


READING = {
    "embeds_the_history": assembling(f'.incbin \\"{_repository() / "HEAD"}\\"'),
    "includes_the_history": compiling(f'#include "{_repository() / "config"}"\n'),
    "includes_the_checkouts_solution": compiling(f'#include "{ROOT}/solutions/01-odd-even/01_global.cu"\n', alone=True),
    "includes_the_rubric": compiling(f'#include "{ROOT}/tests/rubric.toml"\n'),
    "names_a_line_of_the_system": compiling(
        '#line 1 "/etc/passwd"\n', words="changes the file's line numbers", refused=True
    ),
    "has_the_assembler_read_the_system": assembling('.include \\"/etc/passwd\\"'),
}
