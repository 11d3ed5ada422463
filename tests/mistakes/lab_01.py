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
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_exchange(
        "a pair in the wrong direction",
        {"!lab::before(b, a, order)": "!lab::before(a, b, order)"},
    ),
    in_exchange(
        "a key that is overwritten before it is moved",
        {"keys[i + 1] = a;": "keys[i + 1] = keys[i];"},
    ),
    in_global(
        "one pair too many",
        {"t < pairs;": "t <= pairs;"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_global(
        "a comparison in the wrong direction",
        {"lab::before(b, a, order)": "lab::before(a, b, order)"},
    ),
    in_global(
        "a phase too few",
        {"phase < keys.n; ++phase": "phase < keys.n - 1; ++phase"},
    ),
    in_global(
        "always the same parity",
        {"int(phase % 2), order": "0, order"},
    ),
    in_global(
        "a launch with no blocks",
        {"= lab::blocks_or(shape, keys.n / 2, threads_per_block);": "= (void(shape), keys.n / 2 / threads_per_block);"},
        ["FAILED", "error: invalid-launch: "],
    ),
    in_global(
        "no loop over the pairs",
        {"t < pairs; t += stride": "t < pairs; t += pairs + 0 * stride"},
    ),
    in_global(
        "the phase in place of its parity",
        {"int(phase % 2), order": "int(phase), order"},
    ),
    in_global(
        "a launch on the default stream",
        {"threads_per_block, 0, stream>>>": "threads_per_block>>>"},
        ["FAILED", "error: default-stream: "],
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
    ),
    in_halo(
        "a window that begins one key late",
        {"window[i] = from[left + i];": "window[i] = from[left + i + 1];"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_halo(
        "a window that begins with the tile",
        {"window[i] = from[left + i];": "window[i] = from[first + i];"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_halo(
        "buffers that are never exchanged",
        {"std::swap(from, to);\n  }": "\n  }"},
    ),
    in_halo(
        "an odd number of exchanges",
        {"(keys.n + 2 * halo_keys - 1) / (2 * halo_keys) * 2;": "(keys.n + halo_keys - 1) / halo_keys;"},
    ),
    in_halo(
        "scratch memory that is freed before its use",
        {"Key* to = scratch.data();": "Key* to = lab::DeviceArray<Key>(keys.n, stream).data();"},
        ["FAILED", "error: use-after-free: "],
    ),
    in_rows(
        "the right lane of a pair keeps the earlier key",
        {"own[0] = lab::later<order>(previous, own[0]);": "own[0] = lab::earlier<order>(previous, own[0]);"},
    ),
    in_rows(
        "a shuffle inside an if on a variable that follows from the lane",
        {
            "    const Key previous = __shfl_up_sync(all_lanes, own[3], 1);": "    const bool has_left = lane != 0;\n"
            "    Key previous{};\n    if (has_left) previous = __shfl_up_sync(all_lanes, own[3], 1);"
        },
    ),
    in_rows(
        "lane 0 has no neighbour",
        {"if (lane > 0) own[0]": "if (lane >= 0) own[0]"},
    ),
    in_rows(
        "a key that is changed before it is sent",
        {
            "    const Key next = __shfl_down_sync(all_lanes, own[0], 1);    // key 0 of lane + 1\n"
            "    if (lane > 0) own[0] = lab::later<order>(previous, own[0]);\n": "    if (lane > 0) own[0] = "
            "lab::later<order>(previous, own[0]);\n    const Key next = __shfl_down_sync(all_lanes, own[0], 1);\n"
        },
    ),
    in_rows(
        "a shuffle that lane 31 skips",
        {"= __shfl_down_sync(all_lanes, own[0], 1);": "= lane < 31 ? __shfl_down_sync(all_lanes, own[0], 1) : own[0];"},
    ),
    in_rows(
        "a short last row that is loaded whole",
        {"position + j < keys.n ? keys.data[position + j] : lab::last_key<Key>(order);": "keys.data[position + j];"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    # --- two threads for one key ---
    in_global(
        "no block in the index of a pair",
        {"t = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; t < pairs": "t = threadIdx.x; t < pairs"},
        ["FAILED", "error: race: "],
    ),
    in_global(
        "a thread for each key",
        {"pairs = (n - parity) / 2;": "pairs = n - parity - 1;", "i = 2 * t + parity;": "i = t + parity;"},
        ["FAILED", "error: race: "],
    ),
    in_global(
        "a pair too few in odd phases",
        {"pairs = (n - parity) / 2;": "pairs = n / 2 - parity;"},
    ),
    # --- barriers ---
    in_halo(
        "no barrier after the load",
        {"__syncthreads();  // the first phase": ";  // the first phase"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    # --- threads that leave early ---
    in_halo(
        "threads without a pair return before the load",
        {LOAD: "if (2 * threadIdx.x >= count) return;\n    " + LOAD},
    ),
    in_halo(
        "threads without a pair return from the phases",
        {
            "for (int i = 2 * threadIdx.x + parity;": "if (2 * threadIdx.x + 2 > count) return;\n      "
            "for (int i = 2 * threadIdx.x + parity;"
        },
        ["FAILED", "error: early-exit: "],
    ),
    in_rows(
        "lanes without keys return before the shuffles",
        {"Key own[items_per_thread];\n": "if (position >= keys.n) return;\n    Key own[items_per_thread];\n"},
    ),
    # --- nothing changes ---
    in_global(
        "a loop without a round",
        {"phase < keys.n; ++phase": "phase < keys.n / 512; ++phase"},
    ),
    in_global(
        "no store",
        {"      keys[i] = b;\n      keys[i + 1] = a;\n": ""},
    ),
    in_halo(
        "no store of the tile",
        {"for (std::int64_t i = first + threadIdx.x; i < end; i += blockDim.x) to[i] = window[i - left];": ""},
        ["FAILED", "error: uninitialized: "],
    ),
    in_halo(
        "no __shared__",
        {"__shared__ Key window": "Key window"},
        ["FAILED", "error: uninitialized: "],
        needs_gcc=True,
    ),
    # --- kernel parameters ---
    in_exchange(
        "the order by reference",
        {"std::int64_t n, lab::Order order) {": "std::int64_t n, const lab::Order& order) {"},
        ["FAILED", "error: host-pointer: "],
    ),
    in_rows(
        "the span by reference",
        {"sort_rows_kernel(lab::Span<Key> keys)": "sort_rows_kernel(const lab::Span<Key>& keys)"},
        ["FAILED", "error: host-pointer: "],
    ),
    in_global(
        "the address of the pointer",
        {
            "run_phase(Key* keys,": "run_phase(Key** of_keys,",
            "{\n  // begin solution\n  //~ // Your code: how": "{\n"
            "  Key* const keys = *of_keys;\n  // begin solution\n  //~ // Your code: how",
            "(keys.data, keys.n, int(": "(&keys.data, keys.n, int(",
        },
        ["FAILED", "error: host-pointer: "],
    ),
    # --- indices ---
    in_halo(
        "pairs of neighbours that overlap",
        {"int i = 2 * threadIdx.x + parity;": "int i = threadIdx.x + parity;"},
        ["FAILED", "error: race: "],
    ),
    in_halo(
        "the left neighbour in the window",
        {"(window[i], window[i + 1]);": "(window[i - 1], window[i]);"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_global(
        "the step of a block in place of the grid's",
        {"std::int64_t(gridDim.x) * blockDim.x;": "blockDim.x;"},
    ),
    # --- host code ---
    in_halo(
        "a stream of its own",
        {
            "blocks, threads_per_block, 0, stream>>>": "blocks, threads_per_block, 0, own>>>",
            "  const std::int64_t launches =": "  cudaStream_t own;\n  CUDA_CHECK(cudaStreamCreateWithFlags(&own, "
            "cudaStreamNonBlocking));\n  const std::int64_t launches =",
        },
        ["FAILED", "error: stream-race: "],
    ),
    in_global(
        "an exception that nothing catches",
        {
            "  for (std::int64_t phase = 0;": '  [&]() noexcept { if (keys.n > 2) throw lab::Unsupported("n"); }();\n'
            "  for (std::int64_t phase = 0;"
        },
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
        ["FAILED", "error: race: "],
    ),
    in_global(
        "a grid of one column",
        {"<<<blocks, threads_per_block,": "<<<dim3(1, blocks), threads_per_block,"},
        alone=True,
    ),
    in_global(
        "a block of one column",
        {"<<<blocks, threads_per_block,": "<<<blocks, dim3(1, threads_per_block),"},
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
        ["FAILED", "error: race: "],
    ),
    in_halo(
        "one array for both",
        {"(from, to, keys.n, first_phase": "(from, from, keys.n, first_phase", "    std::swap(from, to);\n": ""},
        ["FAILED", "error: race: "],
    ),
    in_halo(
        "a step that counts threads, not pairs",
        {"i += 2 * blockDim.x": "i += blockDim.x"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    # --- what has been written ---
    in_halo(
        "one key per thread is stored",
        {
            "for (std::int64_t i = first + threadIdx.x; i < end; i += blockDim.x) to[i]": "if (const std::int64_t i = "
            "first + threadIdx.x; i < end) to[i]"
        },
    ),
    in_halo(
        "a pointer in place of a shared array",
        {"__shared__ Key window[window_keys];": "__shared__ Key* window;"},
        ["FAILED", "error: uninitialized: "],
    ),
    in_halo(
        "scratch memory of n bytes",
        {
            "  lab::DeviceArray<Key> scratch(keys.n, stream);\n": "",
            "Key* to = scratch.data();": "Key* to = nullptr;\n  CUDA_CHECK(cudaMallocAsync(&to, keys.n, stream));",
        },
        ["FAILED", "error: out-of-bounds: "],
    ),
    # --- wrong keys ---
    in_exchange(
        "the greater key behind, in either order",
        {"!lab::before(b, a, order)": "a <= b"},
    ),
    in_global(
        "keys that are stored where they were read",
        {"      keys[i] = b;\n      keys[i + 1] = a;\n": "      keys[i] = a;\n      keys[i + 1] = b;\n"},
    ),
    in_global(
        "one phase of each parity",
        {"phase < keys.n; ++phase": "phase < 2; ++phase"},
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
        ["ok      step 01 global", "{at+1}: note: host-wait: the host waits here", "remove this wait"],
    ),
    # --- the first stage that goes wrong ---
    in_exchange(
        "one store of two",
        {"  keys[i + 1] = a;\n": ""},
    ),
    in_exchange(
        "the next neighbour but one",
        {"b = keys[i + 1];": "b = keys[i + 2 < n ? i + 2 : i + 1];"},
    ),
    in_exchange(
        "a thread that returns without a reason",
        {"if (!lab::before": "if (t == 0) return;\n  if (!lab::before"},
    ),
    in_global(
        "half of the phases",
        {"phase < keys.n; ++phase": "phase < keys.n / 2; ++phase"},
    ),
    in_global(
        "a parity that is forgotten",
        {"i = 2 * t + parity;": "i = 2 * t;"},
    ),
    in_global(
        "no factor 2",
        {"i = 2 * t + parity;": "i = t + parity;"},
    ),
    in_global(
        "a comparison that is turned round where nothing changes",
        {
            "      keys[i] = b;\n      keys[i + 1] = a;\n": "",
            "if (lab::before(b, a, order)) {": "if (!lab::before(b, a, "
            "order) && (lab::before(a, b, order))) {\n      keys[i] = b, keys[i + 1] = a;",
        },
    ),
    in_global(
        "the first pair skipped",
        {"blockDim.x + threadIdx.x; t < pairs": "blockDim.x + threadIdx.x + 1; t < pairs"},
    ),
    in_halo(
        "a phase too few in each launch",
        {"phase < end_phase; ++phase": "phase < end_phase - 1; ++phase"},
    ),
    in_halo(
        "phases that begin with 0 in each launch",
        {"phase = first_phase; phase < end_phase;": "phase = 0; phase < end_phase - first_phase;"},
    ),
    in_halo(
        "a tile from the beginning of its window",
        {"to[i] = window[i - left];": "to[i] = window[i - first];"},
    ),
    in_halo(
        "ascending in either order",
        {"run_all_phases<lab::Order::descending>": "run_all_phases<lab::Order::ascending>"},
    ),
    in_rows(
        "the wrong key of a lane",
        {"__shfl_up_sync(all_lanes, own[3], 1)": "__shfl_up_sync(all_lanes, own[0], 1)"},
    ),
    in_rows(
        "the directions of the two shuffles exchanged",
        {
            "__shfl_up_sync(all_lanes, own[3], 1)": "__shfl_down_sync(all_lanes, own[3], 1)",
            "__shfl_down_sync(all_lanes, own[0], 1)": "__shfl_up_sync(all_lanes, own[0], 1)",
        },
    ),
    in_rows(
        "half of the phases of a row",
        {"phase < row_keys; phase += 2": "phase < row_keys / 2; phase += 2"},
    ),
    in_rows(
        "no comparison in the middle of a lane",
        {"    compare_exchange<order>(own[1], own[2]);\n": ""},
    ),
    in_rows(
        "two shuffles in one direction",
        {"__shfl_up_sync(all_lanes, own[3], 1)": "__shfl_down_sync(all_lanes, own[3], 1)"},
    ),
    in_rows(
        "zeros after the last key",
        {": lab::last_key<Key>(order);": ": Key(0);"},
    ),
    # --- the cause comes before what follows from it ---
    in_exchange(
        "equal keys exchanged, too",
        {"if (!lab::before(b, a, order)) return;": "if (lab::before(a, b, order)) return;"},
    ),
    in_exchange(
        "keys in variables of another type",
        {"const Key a = keys[i], b = keys[i + 1];": "const int a = keys[i], b = keys[i + 1];"},
    ),
    in_global(
        "as many pairs in both parities",
        {"pairs = (n - parity) / 2;": "pairs = n / 2;"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_global(
        "a pair too few in even phases",
        {"pairs = (n - parity) / 2;": "pairs = (n - 1) / 2;"},
    ),
    in_global(
        "blocks and threads exchanged",
        {"<<<blocks, threads_per_block,": "<<<threads_per_block, blocks,"},
    ),
    in_global(
        "one block with a thread for each pair",
        {"<<<blocks, threads_per_block,": "<<<1, keys.n / 2,"},
        ["FAILED", "error: launch-shape: "],
    ),
    in_global(
        "a block for each pair",
        {"<<<blocks, threads_per_block,": "<<<keys.n / 2, 1,"},
        ["FAILED", "error: launch-shape: "],
    ),
    in_global(
        "a step that leaves out the threads of a block",
        {"stride = std::int64_t(gridDim.x) * blockDim.x;": "stride = gridDim.x;"},
    ),
    in_halo(
        "a window that is stored whole",
        {
            "for (std::int64_t i = first + threadIdx.x; i < end; i += blockDim.x) to[i] = window[i - left];": "for ("
            "int i = threadIdx.x; i < count; i += blockDim.x) to[left + i] = window[i];"
        },
    ),
    in_halo(
        "one load per thread",
        {LOAD: "if (int(threadIdx.x) < count) window[threadIdx.x] = from[left + threadIdx.x];"},
    ),
    in_halo(
        "a pair beyond the window",
        {"i + 1 < count;": "i < count;"},
    ),
    in_halo(
        "no barrier before the next tile",
        {"__syncthreads();  // the next load": ";  // the next load"},
        alone=True,
    ),
    in_halo(
        "no barrier between the phases",
        {"__syncthreads();  // the next phase, or the store": ";  // the next phase, or the store"},
        alone=True,
    ),
    in_halo(
        "a barrier that some threads reach more often",
        {COMPARE: COMPARE.replace("\n      }\n      ", "\n        ").replace(";  //", ";\n      }  //")},
    ),
    in_rows(
        "the last key of ascending order in either order",
        {": lab::last_key<Key>(order);": ": lab::last_key<Key>(lab::Order::ascending);"},
    ),
    in_rows(
        "the kernel of the other order",
        {"sort_rows_kernel<lab::Order::descending><<<": "sort_rows_kernel<lab::Order::ascending><<<"},
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
    ),
    in_exchange(
        "a key that is compared with itself",
        {"b = keys[i + 1];": "b = keys[i];"},
    ),
    in_global(
        "a number of the thread that is too large",
        {"(blockIdx.x) * blockDim.x + threadIdx.x; t": "(blockIdx.x) + blockDim.x + threadIdx.x; t"},
    ),
    in_global(
        "both keys stored in one place",
        {"keys[i + 1] = a;": "keys[i] = a;"},
    ),
    in_halo(
        "a loop that begins beyond its limit",
        {"i < count; i += blockDim.x) window": "i > count; i += blockDim.x) window"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_halo(
        "first phases that are too late",
        {"keys.n * launch / launches;": "keys.n * launch * launches;"},
    ),
    in_halo(
        "one launch too many",
        {"launch < launches;": "launch <= launches;"},
        ["OVER"],
        needs_gcc=True,
    ),
    in_rows(
        "the first key of a lane not loaded",
        {"int j = 0; j < items_per_thread; ++j) {\n      own": "int j = 1; j < items_per_thread; ++j) {\n      own"},
    ),
)
