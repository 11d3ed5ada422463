"""Mistakes in lab 01."""

from __future__ import annotations

from functools import partial

from mistake import Mistake

LOAD = "for (int i = threadIdx.x; i < count; i += blockDim.x) window[i] = from[left + i];"
COMPARE = "compare_exchange<order>(window[i], window[i + 1]);\n      }\n      __syncthreads();  // the next phase"
in_exchange = partial(Mistake, "01-odd-even", "00_exchange.cu")
in_global = partial(Mistake, "01-odd-even", "01_global.cu")
in_halo = partial(Mistake, "01-odd-even", "02_halo.cu")
in_rows = partial(Mistake, "01-odd-even", "03_rows.cu")

MISTAKES = (
    in_exchange(
        "the left neighbour instead of the right",
        {"b = keys[i + 1];": "b = keys[i - 1];"},
        [
            "FAILED  step 00 exchange, ",
            "{at}: error: out-of-bounds: ",
            "before the start of keys",
        ],
    ),
    in_exchange(
        "a pair in the wrong direction",
        {"!lab::before(b, a, order)": "!lab::before(a, b, order)"},
        ["FAILED  step 00 exchange, cpu build", "00_exchange.cu: wrong key at index 0 of 2 (pair 0)", "wrong order"],
    ),
    in_exchange(
        "a key that is overwritten before it is moved",
        {"keys[i + 1] = a;": "keys[i + 1] = keys[i];"},
        [
            "FAILED  step 00 exchange, cpu build",
            "00_exchange.cu: wrong key at index 1 of 3 (pair 0)",
            "lost or made up",
        ],
    ),
    in_global(
        "one pair too many",
        {"t < pairs;": "t <= pairs;"},
        ["FAILED  step 01 global, ", "01_global.cu:", "error: out-of-bounds: ", "keys["],
        quick=True,
    ),
    in_global(
        "a comparison in the wrong direction",
        {"lab::before(b, a, order)": "lab::before(a, b, order)"},
        [
            "FAILED  step 01 global, cpu build",
            "01_global.cu: wrong key at index 0 of 2",
            "in the wrong order",
            "2 u32 keys, range:0:9, ascending, seed 1",
        ],
    ),
    in_global(
        "a phase too few",
        {"phase < keys.n; ++phase": "phase < keys.n - 1; ++phase"},
        ["FAILED  step 01 global, cpu build", "01_global.cu: ", "wrong key at index", "again: "],
    ),
    in_global(
        "always the same parity",
        {"int(phase % 2), order": "0, order"},
        ["FAILED  step 01 global, cpu build", "01_global.cu: ", "wrong key at index", "of 3"],
    ),
    in_global(
        "a launch with no blocks",
        {"= lab::blocks_or(shape, keys.n / 2, threads_per_block);": "= (void(shape), keys.n / 2 / threads_per_block);"},
        ["FAILED  step 01 global, ", "01_global.cu:", "error: invalid-launch: ", "has no blocks"],
    ),
    in_global(
        "no loop over the pairs",
        {"t < pairs; t += stride": "t < pairs; t += pairs + 0 * stride"},
        [
            "FAILED  step 01 global, cpu build",
            "no thread compares keys[64] and keys[65]",
            "each of the 32 threads compares only one pair",
            "fails with <<<1, 32>>>, and passes for this n with the launch shape that the step chooses",
            "with 32 threads, it fails for n above 65, that is, with fewer threads than pairs of keys",
            "01_global.cu: wrong key at index",
            "the smallest case that fails: 66 u32 keys, range:0:9, ascending, <<<1, 32>>>, seed 0",
            "again: ./workbook run 01-odd-even 1 --n 66 ",
        ],
        quick=True,
    ),
    in_global(
        "the phase in place of its parity",
        {"int(phase % 2), order": "int(phase), order"},
        ["FAILED  step 01 global, cpu build", "01_global.cu: ", "wrong key at index", "input ", "got ", "expected "],
    ),
    in_global(
        "a launch on the default stream",
        {"threads_per_block, 0, stream>>>": "threads_per_block>>>"},
        [
            "FAILED  step 01 global, ",
            "{at}: error: default-stream: kernel run_phase: launched on the default stream",
            "<<<grid, block, 0, stream>>>",
        ],
        quick=True,
    ),
    in_global(
        "the span in place of its pointer",
        {"(keys.data, keys.n, int(": "(keys, keys.n, int("},
        [
            "{at}: error: argument 1 of kernel run_phase has the type lab::Span<unsigned int>, but the kernel takes ",
            "run_phase(Key*, int64_t, int, lab::Order)",
        ],
    ),
    in_global(
        "an argument too few",
        {"int(phase % 2), order);": "int(phase % 2));"},
        ["{at}: error: kernel run_phase takes 4 arguments, and the launch has 3: run_phase(Key*, int64_t, "],
    ),
    in_global(
        "no __global__",
        {"__global__ void run_phase": "void run_phase"},
        ["{at}: error: run_phase is launched with <<<>>>, so it must be a kernel: __global__ void run_phase("],
    ),
    in_global(
        "a kernel that returns an int",
        {"__global__ void run_phase": "__global__ int run_phase"},
        ["{at}: error: the kernel run_phase cannot return anything: it begins with __global__ void run_phase("],
    ),
    in_global(
        "two arguments in the wrong order",
        {"int(phase % 2), order);": "order, int(phase % 2));"},
        ["{at}: error: argument 3 of kernel run_phase has the type lab::Order, but the kernel takes int: "],
        quick=True,
    ),
    in_global(
        "the stream in place of the shared bytes",
        {"threads_per_block, 0, stream>>>": "threads_per_block, stream>>>"},
        ["{at}: error: between <<< and >>>, number 3 is the bytes of dynamic shared memory", "<<<grid, block, shared"],
    ),
    in_global(
        "two angle brackets",
        {"run_phase<<<blocks, threads_per_block, 0, stream>>>": "run_phase<<blocks, threads_per_block, 0, stream>>"},
        ["{at}: error: a launch has three angle brackets on each side: run_phase<<<grid, block>>>(...)"],
    ),
    in_global(
        "a launch that is not closed",
        {"0, stream>>>": "0, stream>>"},
        ["{at}: error: kernel launch: this '<<<' is never closed by '>>>'"],
    ),
    in_halo(
        "more phases than the halo has keys",
        {"(keys.n + 2 * halo_keys - 1) / (2 * halo_keys) * 2;": "2;"},
        [
            "FAILED  step 02 halo, cpu build",
            "but the halo of a tile has keys for 256 phases",
            "fails for every n above ",
            "02_halo.cu: wrong key at index",
            "the smallest case that fails: ",
            "again: ",
        ],
    ),
    in_halo(
        "a window that begins one key late",
        {"window[i] = from[left + i];": "window[i] = from[left + i + 1];"},
        ["FAILED  step 02 halo, ", "{at}: error: out-of-bounds: "],
    ),
    in_halo(
        "a window that begins with the tile",
        {"window[i] = from[left + i];": "window[i] = from[first + i];"},
        [
            "FAILED  step 02 halo, cpu build",
            "{at}: error: thread 0 loads position 512 of the array into window[0], but position 256 of the array "
            "belongs there",
            "error: out-of-bounds: ",
        ],
    ),
    in_halo(
        "buffers that are never exchanged",
        {"std::swap(from, to);\n  }": "\n  }"},
        ["FAILED  step 02 halo, ", "02_halo.cu"],
    ),
    in_halo(
        "an odd number of exchanges",
        {"(keys.n + 2 * halo_keys - 1) / (2 * halo_keys) * 2;": "(keys.n + halo_keys - 1) / halo_keys;"},
        [
            "FAILED  step 02 halo, check build",
            "02_halo.cu: the step changed nothing: its kernels wrote to the array allocated at ",
            "range:0:9, ascending, seed 0",
        ],
    ),
    in_halo(
        "scratch memory that is freed before its use",
        {"Key* to = scratch.data();": "Key* to = lab::DeviceArray<Key>(keys.n, stream).data();"},
        ["FAILED  step 02 halo, ", "02_halo.cu:", "error: use-after-free: "],
    ),
    in_rows(
        "the right lane of a pair keeps the earlier key",
        {"own[0] = lab::later<order>(previous, own[0]);": "own[0] = lab::earlier<order>(previous, own[0]);"},
        ["{at}: error: row 0: in odd phases the right lane of a pair keeps the earlier key\n"],
    ),
    in_rows(
        "a shuffle inside an if on a variable that follows from the lane",
        {
            "    const Key previous = __shfl_up_sync(all_lanes, own[3], 1);": "    const bool has_left = lane != 0;\n"
            "    Key previous{};\n    if (has_left) previous = __shfl_up_sync(all_lanes, own[3], 1);"
        },
        ["{at+2}: error: not all lanes of the warp reach this shuffle: it is inside the if of this line\n"],
    ),
    in_rows(
        "lane 0 has no neighbour",
        {"if (lane > 0) own[0]": "if (lane >= 0) own[0]"},
        ["FAILED  step 03 rows, ", "03_rows.cu", "wrong key at index"],
    ),
    in_rows(
        "a key that is changed before it is sent",
        {
            "    const Key next = __shfl_down_sync(all_lanes, own[0], 1);    // key 0 of lane + 1\n"
            "    if (lane > 0) own[0] = lab::later<order>(previous, own[0]);\n": "    if (lane > 0) own[0] = "
            "lab::later<order>(previous, own[0]);\n    const Key next = __shfl_down_sync(all_lanes, own[0], 1);\n"
        },
        ["FAILED  step 03 rows, cpu build", "03_rows.cu: wrong key at index", "input ", "got ", "expected ", "again: "],
    ),
    in_rows(
        "a shuffle that lane 31 skips",
        {"= __shfl_down_sync(all_lanes, own[0], 1);": "= lane < 31 ? __shfl_down_sync(all_lanes, own[0], 1) : own[0];"},
        ["FAILED  step 03 rows, ", "03_rows.cu:", "error: ", "__shfl_"],
    ),
    in_rows(
        "a short last row that is loaded whole",
        {"position + j < keys.n ? keys.data[position + j] : lab::last_key<Key>(order);": "keys.data[position + j];"},
        ["FAILED  step 03 rows, ", "{at}: error: out-of-bounds: "],
    ),
    # --- two threads for one key ---
    in_global(
        "no block in the index of a pair",
        {"t = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; t < pairs": "t = threadIdx.x; t < pairs"},
        [
            "FAILED  step 01 global, check build",
            "{at+2}: error: thread ",
            "both compare keys[",
            "in two blocks: is blockIdx in the number of a thread's first pair",
            "{at+2}: error: race: ",
            "again: ",
        ],
    ),
    in_global(
        "a thread for each key",
        {"pairs = (n - parity) / 2;": "pairs = n - parity - 1;", "i = 2 * t + parity;": "i = t + parity;"},
        [
            "FAILED  step 01 global, check build",
            "error: thread 1 of block 0 compares keys[1] and keys[2]",
            "no pair begins with keys[1]",
            "error: race: ",
        ],
    ),
    in_global(
        "a pair too few in odd phases",
        {"pairs = (n - parity) / 2;": "pairs = n / 2 - parity;"},
        ["FAILED  step 01 global, cpu build", "01_global.cu: wrong key at index"],
    ),
    # --- barriers ---
    in_halo(
        "no barrier after the load",
        {"__syncthreads();  // the first phase": ";  // the first phase"},
        [
            "FAILED  step 02 halo, check build",
            "{at-1}: error: no barrier comes between this line and line ",
            "error: race: ",
        ],
        alone=True,
    ),
    # --- threads that leave early ---
    in_halo(
        "threads without a pair return before the load",
        {LOAD: "if (2 * threadIdx.x >= count) return;\n    " + LOAD},
        [
            "FAILED  step 02 halo, check build",
            "{at}: error: 511 of 512 threads return here",
            "reads window[1], which one of them should have written",
        ],
        quick=True,
    ),
    in_halo(
        "threads without a pair return from the phases",
        {
            "for (int i = 2 * threadIdx.x + parity;": "if (2 * threadIdx.x + 2 > count) return;\n      "
            "for (int i = 2 * threadIdx.x + parity;"
        },
        ["FAILED  step 02 halo, check build", "{at}: error: early-exit: "],
    ),
    in_rows(
        "lanes without keys return before the shuffles",
        {"Key own[items_per_thread];\n": "if (position >= keys.n) return;\n    Key own[items_per_thread];\n"},
        [
            "FAILED  step 03 rows, ",
            "{at}: error: a lane that leaves here does not reach the shuffle of line ",
            "keep the lane active",
        ],
    ),
    # --- nothing changes ---
    in_global(
        "a loop without a round",
        {"phase < keys.n; ++phase": "phase < keys.n / 512; ++phase"},
        ["FAILED  step 01 global, check build", "01_global.cu: the step changed nothing: it launches no kernel"],
        quick=True,
    ),
    in_global(
        "no store",
        {"      keys[i] = b;\n      keys[i + 1] = a;\n": ""},
        [
            "FAILED  step 01 global, check build",
            "01_global.cu: the step changed nothing: its kernels store nothing in the keys",
        ],
    ),
    in_halo(
        "no store of the tile",
        {"for (std::int64_t i = first + threadIdx.x; i < end; i += blockDim.x) to[i] = window[i - left];": ""},
        [
            "FAILED  step 02 halo, check build",
            "02_halo.cu:",
            "error: uninitialized: ",
            "nothing has been stored in this array at all",
        ],
    ),
    in_halo(
        "no __shared__",
        {"__shared__ Key window": "Key window"},
        ["FAILED  step 02 halo, check build", "error: uninitialized: ", "reads window[", "declare it __shared__"],
        quick=True,
    ),
    # --- kernel parameters ---
    in_exchange(
        "the order by reference",
        {"std::int64_t n, lab::Order order) {": "std::int64_t n, const lab::Order& order) {"},
        ["FAILED  step 00 exchange, ", "error: host-pointer: ", "argument 3 refers to", "without &"],
        quick=True,
    ),
    in_rows(
        "the span by reference",
        {"sort_rows_kernel(lab::Span<Key> keys)": "sort_rows_kernel(const lab::Span<Key>& keys)"},
        ["FAILED  step 03 rows, ", "03_rows.cu:", "error: host-pointer: ", "argument 1 refers to", "without &"],
    ),
    in_global(
        "the address of the pointer",
        {
            "run_phase(Key* keys,": "run_phase(Key** of_keys,",
            "{\n  // begin solution\n  //~ // Your code: how": "{\n"
            "  Key* const keys = *of_keys;\n  // begin solution\n  //~ // Your code: how",
            "(keys.data, keys.n, int(": "(&keys.data, keys.n, int(",
        },
        ["FAILED  step 01 global, ", "01_global.cu:", "error: host-pointer: ", "pass the pointer itself, without &"],
    ),
    # --- indices ---
    in_halo(
        "pairs of neighbours that overlap",
        {"int i = 2 * threadIdx.x + parity;": "int i = threadIdx.x + parity;"},
        [
            "FAILED  step 02 halo, check build",
            "{at+1}: error: thread 1 of block 0 compares window[1] and window[2], but its pair in this stage is",
            "error: race: ",
        ],
    ),
    in_halo(
        "the left neighbour in the window",
        {"(window[i], window[i + 1]);": "(window[i - 1], window[i]);"},
        ["FAILED  step 02 halo, check build", "error: out-of-bounds: ", "before the start of __shared__ window"],
    ),
    in_global(
        "the step of a block in place of the grid's",
        {"std::int64_t(gridDim.x) * blockDim.x;": "blockDim.x;"},
        [
            "FAILED  step 01 global, check build",
            "both compare keys[",
            "its loop advances by 256 pairs (512 positions); the 512 threads of the grid take one pair each",
            "; line 30: `const std::int64_t stride = blockDim.x`\n",
        ],
    ),
    # --- host code ---
    in_halo(
        "a stream of its own",
        {
            "blocks, threads_per_block, 0, stream>>>": "blocks, threads_per_block, 0, own>>>",
            "  const std::int64_t launches =": "  cudaStream_t own;\n  CUDA_CHECK(cudaStreamCreateWithFlags(&own, "
            "cudaStreamNonBlocking));\n  const std::int64_t launches =",
        },
        ["FAILED  step 02 halo, check build", "02_halo.cu:", "error: stream-race: "],
    ),
    in_global(
        "an exception that nothing catches",
        {
            "  for (std::int64_t phase = 0;": '  [&]() noexcept { if (keys.n > 2) throw lab::Unsupported("n"); }();\n'
            "  for (std::int64_t phase = 0;"
        },
        ["FAILED  step 01 global, ", "01_global.cu: crashed: lab::Unsupported was thrown and not caught: n"],
    ),
    # --- compilers' messages ---
    in_global(
        "no template before the kernel",
        {"template <class Key>\n__global__": "__global__"},
        ["01_global.cu:23: error: Key was not declared: write template <class Key> in the line above"],
    ),
    in_global(
        "a key in place of a pointer to the keys",
        {"run_phase(Key* keys,": "run_phase(Key keys,"},
        ["01_global.cu:", "error: Key is unsigned int* here, because run_phase has a parameter", "write Key* there"],
    ),
    in_global(
        "no .x",
        {
            "blockDim.x + threadIdx.x; t <": "blockDim + threadIdx.x; t <",
        },
        ["{at}: error: no match for ", "write .x after the name"],
    ),
    in_halo(
        "the addresses of a pair",
        {
            "<order>(window[i], window[i + 1]);\n": "<order>(&window[i], &window[i + 1]);\n",
        },
        ["{at}: error: cannot bind", "pass it without &"],
    ),
    in_halo(
        "a call without the order",
        {"        compare_exchange<order>(": "        compare_exchange("},
        ["{at}: error: the template argument order of compare_exchange is missing: write compare_exchange<order>"],
    ),
    in_halo(
        "a launch without the order",
        {"run_phases<order><<<": "run_phases<<<"},
        ["{at}: error: the template argument order of run_phases is missing: write run_phases<order>"],
    ),
    in_rows(
        "a template argument that is a variable",
        {"sort_rows_kernel<lab::Order::ascending><<<": "sort_rows_kernel<order><<<"},
        ["{at}: error: order is known only when the program runs", "call sort_rows_kernel once for each value"],
    ),
    in_rows(
        "a shuffle without a mask",
        {"__shfl_up_sync(all_lanes, own[3], 1)": "__shfl_up(own[3], 1)"},
        ["{at}: error: __shfl_up is no longer part of CUDA: use __shfl_up_sync"],
    ),
    # --- which thread has which element ---
    in_global(
        "the number of blocks in place of the number of threads",
        {"t = std::int64_t(blockIdx.x) * blockDim.x +": "t = std::int64_t(blockIdx.x) * gridDim.x +"},
        [
            "FAILED  step 01 global, check build",
            "both compare keys[",
            "should compare keys[",
            "error: race: ",
        ],
    ),
    in_global(
        "a grid of one column",
        {"<<<blocks, threads_per_block,": "<<<dim3(1, blocks), threads_per_block,"},
        ["FAILED  step 01 global, check build", "both compare keys[", "the two differ in blockIdx.y or .z only"],
        alone=True,
    ),
    in_global(
        "a block of one column",
        {"<<<blocks, threads_per_block,": "<<<blocks, dim3(1, threads_per_block),"},
        ["FAILED  step 01 global, check build", "both compare keys[", "the two differ in threadIdx.y or .z only"],
        alone=True,
    ),
    in_global(
        "all phases in one launch",
        {
            "  const std::int64_t pairs = ": "  for (int phase = 0; phase < n; ++phase, __syncthreads()) {\n"
            "  parity = phase % 2;\n  const std::int64_t pairs = ",
            "    }\n  }\n  // end solution\n}\n\n}  // namespace\n": "    }\n  }\n  }\n}\n\n}  // namespace\n",
            "phase < keys.n; ++phase": "phase < 1; ++phase",
        },
        [
            "FAILED  step 01 global, check build",
            "error: this __syncthreads() orders the threads of one block",
            "run one phase per launch",
            "error: race: ",
        ],
    ),
    in_halo(
        "one array for both",
        {"(from, to, keys.n, first_phase": "(from, from, keys.n, first_phase", "    std::swap(from, to);\n": ""},
        ["FAILED  step 02 halo, check build", "error: race: ", "let the kernel write into another array than it reads"],
        quick=True,
    ),
    in_halo(
        "a step that counts threads, not pairs",
        {"i += 2 * blockDim.x": "i += blockDim.x"},
        [
            "FAILED  step 02 halo, check build",
            "both compare window[",
            "error: race: ",
        ],
        alone=True,
    ),
    # --- what has been written ---
    in_halo(
        "one key per thread is stored",
        {
            "for (std::int64_t i = first + threadIdx.x; i < end; i += blockDim.x) to[i]": "if (const std::int64_t i = "
            "first + threadIdx.x; i < end) to[i]"
        },
        [
            "FAILED  step 02 halo, check build",
            "{at}: error: nothing is stored to ",
            "threads stores one key: a loop must store the others, too",
        ],
    ),
    in_halo(
        "a pointer in place of a shared array",
        {"__shared__ Key window[window_keys];": "__shared__ Key* window;"},
        [
            "FAILED  step 02 halo, check build",
            "error: uninitialized: ",
            "window is one value of 8 bytes: if it should be an array",
        ],
    ),
    in_halo(
        "scratch memory of n bytes",
        {
            "  lab::DeviceArray<Key> scratch(keys.n, stream);\n": "",
            "Key* to = scratch.data();": "Key* to = nullptr;\n  CUDA_CHECK(cudaMallocAsync(&to, keys.n, stream));",
        },
        ["FAILED  step 02 halo, check build", "error: out-of-bounds: ", "is sizeof missing in its size?"],
    ),
    # --- wrong keys ---
    in_exchange(
        "the greater key behind, in either order",
        {"!lab::before(b, a, order)": "a <= b"},
        ["FAILED  step 00 exchange, cpu build", "which are in order", "fails only in descending order", "wrong key at"],
    ),
    in_global(
        "keys that are stored where they were read",
        {"      keys[i] = b;\n      keys[i + 1] = a;\n": "      keys[i] = a;\n      keys[i + 1] = b;\n"},
        [
            "FAILED  step 01 global, check build",
            "is each key stored back to where it was read",
            "the step changed nothing: its kernels store nothing in the keys",
        ],
    ),
    in_global(
        "one phase of each parity",
        {"phase < keys.n; ++phase": "phase < 2; ++phase"},
        ["FAILED  step 01 global, cpu build", "wrong key at index", "it launched run_phase 2 times"],
    ),
    in_rows(
        "the active lanes as a mask",
        {"constexpr unsigned all_lanes = 0xffffffffu;": "const unsigned all_lanes = __activemask();"},
        ["{at}: note: active-mask: ", "write the mask of the lanes that take part"],
    ),
    in_global(
        "the host waits after each launch",
        {
            "    CUDA_CHECK(cudaGetLastError());\n  }": "    CUDA_CHECK(cudaGetLastError());\n"
            "    CUDA_CHECK(cudaDeviceSynchronize());\n  }"
        },
        ["ok      step 01 global", "{at+1}: note: host-wait: the host waits here", "leave it out"],
    ),
    # --- the first stage that goes wrong ---
    in_exchange(
        "one store of two",
        {"  keys[i + 1] = a;\n": ""},
        [
            "{at-1}: error: thread 2 of block 0 loses the key 7 of keys[4]",
            "before: keys[4] = 7 and keys[5] = 1; after: keys[4] = 1 and keys[5] = 1",
            "nothing new is stored in keys[5]",
        ],
        quick=True,
    ),
    in_exchange(
        "the next neighbour but one",
        {"b = keys[i + 1];": "b = keys[i + 2 < n ? i + 2 : i + 1];"},
        [
            "{at}: error: thread 0 of block 0 compares keys[0] and keys[2]",
            "the partner of keys[0] is keys[1]",
            "error: race: ",
        ],
    ),
    in_exchange(
        "a thread that returns without a reason",
        {"if (!lab::before": "if (t == 0) return;\n  if (!lab::before"},
        [
            "compares keys[0] = 9 and keys[1] = 0, but does not exchange them",
            "does something keep this thread from it?",
        ],
    ),
    in_global(
        "half of the phases",
        {"phase < keys.n; ++phase": "phase < keys.n / 2; ++phase"},
        ["{at+1}: error: run_phase is launched 4 times, but 8 keys need 8 phases", "is missing"],
    ),
    in_global(
        "a parity that is forgotten",
        {"i = 2 * t + parity;": "i = 2 * t;"},
        [
            "{at+1}: error: launch 2 (run_phase, n = 8) compares the pairs of an even phase: (0, 1)",
            "the launch passes parity = 1, as it must: how does the kernel use that?",
            "it must be phase 1 (odd: the pairs that begin at odd positions): (1, 2)",
            "wrong key at index",
        ],
        quick=True,
    ),
    in_global(
        "no factor 2",
        {"i = 2 * t + parity;": "i = t + parity;"},
        ["{at+1}: error: thread 1 of block 0 compares keys[1] and keys[2]", "no pair begins with keys[1]"],
    ),
    in_global(
        "a comparison that is turned round where nothing changes",
        {
            "      keys[i] = b;\n      keys[i + 1] = a;\n": "",
            "if (lab::before(b, a, order)) {": "if (!lab::before(b, a, "
            "order) && (lab::before(a, b, order))) {\n      keys[i] = b, keys[i + 1] = a;",
        },
        ["error: thread 0 of block 0 exchanges keys[0] = 3 and keys[1] = 9, which are in order", "ascending"],
    ),
    in_global(
        "the first pair skipped",
        {"blockDim.x + threadIdx.x; t < pairs": "blockDim.x + threadIdx.x + 1; t < pairs"},
        ["error: no thread compares keys[0] and keys[1]", "in launch 1 (run_phase, n = "],
    ),
    in_halo(
        "a phase too few in each launch",
        {"phase < end_phase; ++phase": "phase < end_phase - 1; ++phase"},
        ["error: in all launches together, only 6 phases are executed, but 8 keys need 8", "phases of each launch: "],
    ),
    in_halo(
        "phases that begin with 0 in each launch",
        {"phase = first_phase; phase < end_phase;": "phase = 0; phase < end_phase - first_phase;"},
        [
            "{at+3}: error: launch 2 (run_phases), block 0 compares the pairs of an even phase in phase 3",
            "take the parity of the phase itself, not of its number in the launch",
        ],
        quick=True,
    ),
    in_halo(
        "a tile from the beginning of its window",
        {"to[i] = window[i - left];": "to[i] = window[i - first];"},
        [
            "{at}: error: thread 0 stores window[0] to position 512 of the array, but window[256] belongs there",
            "in this block, window[i] holds position 256 + i of the array",
            "fails for every n above 512",
        ],
    ),
    in_halo(
        "ascending in either order",
        {"run_all_phases<lab::Order::descending>": "run_all_phases<lab::Order::ascending>"},
        [
            "exchanges window[4] = 7 and window[5] = 1, which are in order",
            "descending",
        ],
    ),
    in_rows(
        "the wrong key of a lane",
        {"__shfl_up_sync(all_lanes, own[3], 1)": "__shfl_up_sync(all_lanes, own[0], 1)"},
        ["{at}: error: row 0: each lane sends own[0]; the next lane needs own[3]"],
    ),
    in_rows(
        "the directions of the two shuffles exchanged",
        {
            "__shfl_up_sync(all_lanes, own[3], 1)": "__shfl_down_sync(all_lanes, own[3], 1)",
            "__shfl_down_sync(all_lanes, own[0], 1)": "__shfl_up_sync(all_lanes, own[0], 1)",
        },
        ["error: row 0: each lane sends its last key down and its first key up, instead of the reverse"],
    ),
    in_rows(
        "half of the phases of a row",
        {"phase < row_keys; phase += 2": "phase < row_keys / 2; phase += 2"},
        ["error: row 0: only 64 phases are executed, but 128 keys need 128"],
    ),
    in_rows(
        "no comparison in the middle of a lane",
        {"    compare_exchange<order>(own[1], own[2]);\n": ""},
        ["error: row 0: the keys 1 and 2 of each lane are never compared"],
        quick=True,
    ),
    in_rows(
        "two shuffles in one direction",
        {"__shfl_up_sync(all_lanes, own[3], 1)": "__shfl_down_sync(all_lanes, own[3], 1)"},
        ["error: row 0: no lane fetches a key from the previous lane, with __shfl_up_sync()"],
    ),
    in_rows(
        "zeros after the last key",
        {": lab::last_key<Key>(order);": ": Key(0);"},
        ["error: row 0: lane 2 has 0 at the positions from n on", "fill the positions from n on"],
    ),
    # --- the cause comes before what follows from it ---
    in_exchange(
        "equal keys exchanged, too",
        {"if (!lab::before(b, a, order)) return;": "if (lab::before(a, b, order)) return;"},
        ["{at+1}: error: thread ", " exchanges keys[", "which are equal", "equal keys keep their order"],
    ),
    in_exchange(
        "keys in variables of another type",
        {"const Key a = keys[i], b = keys[i + 1];": "const int a = keys[i], b = keys[i + 1];"},
        ["{at}: error: a has the type int, and is given a key", "declare it as Key"],
        quick=True,
    ),
    in_global(
        "as many pairs in both parities",
        {"pairs = (n - parity) / 2;": "pairs = n / 2;"},
        [
            "{at+4}: error: thread 3 of block 0 compares keys[7] and keys[8], but there is no keys[8]: there are 8",
            "this phase has 3 pairs, but the kernel compares 4",
            "pairs comes from line",
            "error: out-of-bounds: ",
        ],
        quick=True,
    ),
    in_global(
        "a pair too few in even phases",
        {"pairs = (n - parity) / 2;": "pairs = (n - 1) / 2;"},
        ["{at+4}: error: no thread compares keys[6] and keys[7], the last of the 4 pairs", "pairs comes from line"],
    ),
    in_global(
        "blocks and threads exchanged",
        {"<<<blocks, threads_per_block,": "<<<threads_per_block, blocks,"},
        ["{at}: error: the launch has 2,000 threads per block", "are the two exchanged?"],
    ),
    in_global(
        "one block with a thread for each pair",
        {"<<<blocks, threads_per_block,": "<<<1, keys.n / 2,"},
        ["{at}: error: launch-shape: kernel run_phase: is launched with <<<1, ", "but the user has chosen <<<"],
    ),
    in_global(
        "a block for each pair",
        {"<<<blocks, threads_per_block,": "<<<keys.n / 2, 1,"},
        ["{at}: error: launch-shape: kernel run_phase: is launched with <<<", "but the user has chosen <<<"],
    ),
    in_global(
        "a step that leaves out the threads of a block",
        {"stride = std::int64_t(gridDim.x) * blockDim.x;": "stride = gridDim.x;"},
        [
            "{at+3}: error: thread 0 of block 0 and thread 1 of block 0 both compare keys[2] and keys[3]",
            "its loop advances by 1 pair (2 positions)",
        ],
    ),
    in_halo(
        "a window that is stored whole",
        {
            "for (std::int64_t i = first + threadIdx.x; i < end; i += blockDim.x) to[i] = window[i - left];": "for ("
            "int i = threadIdx.x; i < count; i += blockDim.x) to[left + i] = window[i];"
        },
        [
            "{at}: error: block 0 stores position 512 of the array, which is not in its tile: that has the positions 0 "
            "to 511",
            "its halo",
        ],
    ),
    in_halo(
        "one load per thread",
        {LOAD: "if (int(threadIdx.x) < count) window[threadIdx.x] = from[left + threadIdx.x];"},
        [
            "{at}: error: the load leaves out ",
            "each of the 512 threads loads one key: a loop must load the others, too",
        ],
        quick=True,
    ),
    in_halo(
        "a pair beyond the window",
        {"i + 1 < count;": "i < count;"},
        ["{at+1}: error: thread ", "but window[", " holds no key", ", but the kernel compares "],
    ),
    in_halo(
        "no barrier before the next tile",
        {"__syncthreads();  // the next load": ";  // the next load"},
        [
            "{at-1}: error: no barrier follows this line before line ",
            "put __syncthreads() after line",
            "at the end of the",
        ],
        alone=True,
    ),
    in_halo(
        "no barrier between the phases",
        {"__syncthreads();  // the next phase, or the store": ";  // the next phase, or the store"},
        [
            "{at-2}: error: no barrier comes between one iteration of the loop in line ",
            "put __syncthreads() after line",
        ],
        alone=True,
    ),
    in_halo(
        "a barrier that some threads reach more often",
        {COMPARE: COMPARE.replace("\n      }\n      ", "\n        ").replace(";  //", ";\n      }  //")},
        ["{at+1}: error: not all threads of the block reach this __syncthreads(): it is inside the loop of line"],
    ),
    in_rows(
        "the last key of ascending order in either order",
        {": lab::last_key<Key>(order);": ": lab::last_key<Key>(lab::Order::ascending);"},
        ["{at}: error: row 0: lane ", "at the positions from n on", "but the order here is descending"],
    ),
    in_rows(
        "the kernel of the other order",
        {"sort_rows_kernel<lab::Order::descending><<<": "sort_rows_kernel<lab::Order::ascending><<<"},
        ["{at}: error: sort_rows_kernel<lab::Order::ascending> is launched here, but the order ", "descending"],
        quick=True,
    ),
    # Right, and no more expensive than the solution: nvcc reads each key once, too.
    in_exchange(
        "keys that are read in both branches, and again for the exchange",
        {
            """const Key a = keys[i], b = keys[i + 1];
  if (!lab::before(b, a, order)) return;
  keys[i] = b;
  keys[i + 1] = a;""": """bool wrong;
  if (order == lab::Order::ascending) {
    wrong = lab::before(keys[i + 1], keys[i], lab::Order::ascending);
  } else {
    wrong = lab::before(keys[i + 1], keys[i], lab::Order::descending);
  }
  if (wrong) {
    const Key a = keys[i];
    keys[i] = keys[i + 1];
    keys[i + 1] = a;
  }"""
        },
        ["ok      step 00 exchange: ", "cases on the check build, no finding", "bytes moved"],
        quick=True,
    ),
    in_exchange(
        "a key that is compared with itself",
        {"b = keys[i + 1];": "b = keys[i];"},
        [
            "exchange_pairs stores nothing in global memory",
            "or are the two keys of a comparison",
            "line 26: `const Key a = keys[i], b = keys[i]`",
        ],
    ),
    in_global(
        "a number of the thread that is too large",
        {"(blockIdx.x) * blockDim.x + threadIdx.x; t": "(blockIdx.x) + blockDim.x + threadIdx.x; t"},
        ["run_phase stores nothing in global memory, and reads nothing", "line 31: `for (std::int64_t t ="],
    ),
    in_global(
        "both keys stored in one place",
        {"keys[i + 1] = a;": "keys[i] = a;"},
        ["{at}: error: this line and line 35 both store in keys[i]", "line 35: `keys"],
    ),
    in_halo(
        "a loop that begins beyond its limit",
        {"i < count; i += blockDim.x) window": "i > count; i += blockDim.x) window"},
        ["{at}: error: out-of-bounds: ", "line 45: `for (int i = threadIdx.x; i > count"],
    ),
    in_halo(
        "first phases that are too late",
        {"keys.n * launch / launches;": "keys.n * launch * launches;"},
        [
            "passes first_phase = 16, but launch 1 has passed end_phase = 4",
            "line 76: `const std::int64_t first_phase = keys.n * launch * launches`",
        ],
    ),
    in_halo(
        "one launch too many",
        {"launch < launches;": "launch <= launches;"},
        ["OVER", "{at+3}: error: 3 launches for 16 keys, but 2 are enough", "launch <= launches"],
    ),
    in_rows(
        "the first key of a lane not loaded",
        {"int j = 0; j < items_per_thread; ++j) {\n      own": "int j = 1; j < items_per_thread; ++j) {\n      own"},
        ["row 0: no lane loads keys[0]", "line 64: `for (int j = 1; j < items_per_thread; ++j)`"],
    ),
)
