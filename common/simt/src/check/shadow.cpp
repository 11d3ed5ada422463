// Who owns an address, what was written, and who wrote and read it last: the compiler's instrumentation calls here
// before every access of the program.
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"

namespace simt::check {
namespace {

/// An access, as later ones see it. Intervals number what lies between two barriers of a block, for all blocks and
/// launches of the program: smaller is earlier.
struct Event {
  std::uint32_t interval = 0;  ///< 0: none
  std::uint32_t code = 0;      ///< from the program's first address; 1 bit: see kept_write
  std::uint32_t who = 0;       ///< thread, 10 bits; bytes of the word, 4; synchronised (atomic or volatile), 1; clock, 17
};

/// What is known of four bytes of memory, or of one.
struct Cell {
  Event write, read, other_read;  ///< two readers, of different threads where there were two
  std::uint8_t initialized;       ///< a bit a byte
  bool split;                     ///< its bytes have been accessed by themselves, and have cells of their own
};

/// An `other_read` that is a plain write, over which an atomic one has gone: it may still race with what follows.
constexpr std::uint32_t kept_write = 1u << 31;

/// A __threadfence: what the thread did before, and whatever all did before the last barrier, is seen by those who see
/// what the thread writes later.
struct Fence {
  std::uint32_t interval;
  std::uint16_t thread;
  bool joined;  ///< lanes of its warp have met in this interval: it may stand for them as well
  std::uint32_t clock;
};

struct Region {
  const char* begin;
  std::size_t bytes;
  Cell* cells;
  int number;
  bool freed;
};

/// A __shared__ array (by its offset in the program's thread-local memory) or a __device__ variable.
struct Symbol {
  std::string name;
  std::size_t offset, bytes;
  std::uint32_t used_in = 0;  ///< first_of_launch of the last launch that touched it
};

constexpr std::size_t chunk = 65536, guard = 65536;
Region** regions;  // by address / chunk; two allocations are farther apart than a chunk
int region_count;

std::uintptr_t program;  // where it is loaded
std::vector<Symbol> arrays, gaps, variables;  // gaps: between arrays, for what runs over the end of one
Region program_data{nullptr, 0, nullptr, 0, false};  // the __device__ variables
std::size_t shared_first, shared_last;  // offsets of the first array, and of what an overflow of the last may reach
std::size_t tls_bytes;
char* tls;
Cell* static_cells;
char* dynamic_begin;
std::size_t dynamic_bytes;
Cell* dynamic_cells;
constexpr std::size_t most_dynamic_bytes = 232448;

Code code_of_last;  // of what the observers or the C library do for the program
const Launch* launch;  // null outside a kernel: accesses of host code are not looked at
/// The same, and whether accesses are traced: one comparison tells the usual case.
enum class Watched : std::uint8_t { never, plainly, traced } watched = Watched::never;
std::uint32_t interval = 1, first_of_block = 1, first_of_launch = 1;
std::vector<std::uint32_t> block_of_interval;  // of the running launch
std::uint64_t block;
bool untracked_fences;  // of the launch: blocks are taken to be in order
constexpr std::uint64_t most_tracked_blocks = 8192;
constexpr std::size_t most_fences = 65536;  // of a block
std::vector<std::vector<Fence>> fences;  // by block, in order
std::vector<std::vector<std::uint32_t>> acquired;  // by block: how many of another one's fences it relies on
/// By warp: what lane a knows of lane b. Not among the program's variables: what is done to those is looked at, if a
/// compiler makes a call of memset of it, whoever does it.
using Clocks = std::uint32_t[lanes_per_warp][lanes_per_warp];
Clocks* const clocks = new Clocks[max_warps];

bool clocks_used[max_warps], lanes_joined[max_warps];

void reset_clocks(unsigned warp) {
  std::memset(clocks[warp], 0, sizeof(Clocks));
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) clocks[warp][lane][lane] = 1;  // what 0 does not know
}

/// Cells of words, and behind them four for the bytes of each: untouched, they take no memory.
std::size_t words_of(std::size_t bytes) { return bytes / 4 + 2; }
std::size_t cell_bytes(std::size_t bytes) { return words_of(bytes) * 5 * sizeof(Cell); }

Cell* map_cells(std::size_t bytes) {
  void* memory = mmap(nullptr, cell_bytes(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Cell*>(memory);
}

void read_symbols() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        program = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type == PT_TLS) tls_bytes = segment.p_memsz;
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
          program_data.begin = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
          program_data.bytes = segment.p_memsz;
          program_data.cells = map_cells(segment.p_memsz);
          for (std::size_t word = 0; word <= segment.p_memsz / 4; ++word) program_data.cells[word].initialized = 15;
        }
        return 1;
      },
      nullptr);
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const off_t size = lseek(file, 0, SEEK_END);
  const char* image = static_cast<const char*>(mmap(nullptr, std::size_t(size), PROT_READ, MAP_PRIVATE, file, 0));
  close(file);
  if (image == MAP_FAILED) return;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image);
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(image + header->e_shoff);
  for (int s = 0; s < header->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(image + sections[s].sh_offset);
    const char* names = image + sections[sections[s].sh_link].sh_offset;
    for (std::size_t i = 0; i < sections[s].sh_size / sizeof *symbols; ++i) {
      const int type = symbols[i].st_info & 15;
      if ((type != STT_TLS && type != STT_OBJECT) || symbols[i].st_shndx == SHN_UNDEF) continue;
      if (symbols[i].st_shndx >= header->e_shnum || symbols[i].st_size == 0) continue;
      int status = 0;
      char* demangled = abi::__cxa_demangle(names + symbols[i].st_name, nullptr, nullptr, &status);
      std::string name = demangled != nullptr ? demangled : names + symbols[i].st_name;
      std::free(demangled);
      if (type == STT_OBJECT) {
        variables.push_back({name, symbols[i].st_value, symbols[i].st_size});
        continue;
      }
      const ElfW(Shdr)& home = sections[symbols[i].st_shndx];
      if (name.find("simt_shared_gap") != std::string::npos || name.find("past_shared") != std::string::npos) {
        gaps.push_back({name, symbols[i].st_value, symbols[i].st_size});
        continue;
      }
      if (home.sh_type != SHT_NOBITS || name.compare(0, 6, "simt::") == 0 ||
          name.find("guard variable") != std::string::npos) {
        continue;
      }
      if (const std::size_t colon = name.rfind("::"); colon != std::string::npos) name = name.substr(colon + 2);
      arrays.push_back({name, symbols[i].st_value, symbols[i].st_size});
    }
  }
  munmap(const_cast<char*>(image), std::size_t(size));
  for (auto* all : {&arrays, &gaps, &variables}) {
    std::sort(all->begin(), all->end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  }
  if (arrays.empty()) {
    shared_first = shared_last = tls_bytes;
    return;
  }
  shared_first = arrays.front().offset;
  shared_last = tls_bytes + 16384;
  static_cells = map_cells(shared_last - shared_first);
}

Region** table() {
  if (regions == nullptr) {
    regions = static_cast<Region**>(mmap(nullptr, (std::size_t(1) << 31) * sizeof(Region*), PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  return regions;
}

std::size_t chunk_of(std::uintptr_t address) { return (address & ((std::uintptr_t(1) << 47) - 1)) / chunk; }

/// The symbol in which, or behind which, an offset lies; the first if it is before all.
Symbol* symbol_at(std::vector<Symbol>& symbols, std::size_t offset) {
  auto after = std::upper_bound(symbols.begin(), symbols.end(), offset,
                                [](std::size_t o, const Symbol& symbol) { return o < symbol.offset; });
  return after == symbols.begin() ? &*after : &*std::prev(after);
}

/// Is it in a gap, or in the padding before one?
bool between_arrays(std::size_t offset, unsigned bytes) {
  return std::any_of(gaps.begin(), gaps.end(), [&](const Symbol& gap) {
    return offset + 64 > gap.offset && offset + bytes <= gap.offset + gap.bytes;
  });
}

std::string coordinates(unsigned x, unsigned y, unsigned z) {
  return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

std::string thread_name(unsigned linear) {
  const dim3 b = launch->config.block;
  return coordinates(linear % b.x, linear / b.x % b.y, linear / (b.x * b.y));
}

std::string block_name(std::uint64_t linear) {
  const dim3 g = launch->config.grid;
  return coordinates(unsigned(linear % g.x), unsigned(linear / g.x % g.y), unsigned(linear / g.x / g.y));
}

std::string who(unsigned thread) {
  return std::string("kernel ") + launch->kernel.name + ", block " + block_name(block) + ", thread " +
         thread_name(thread) + ": ";
}

std::string describe(std::uintptr_t address, unsigned bytes) {
  const std::size_t offset = address - std::uintptr_t(tls);
  std::string name = "memory";
  std::size_t at = 0, size = 0;
  if (offset >= shared_first && offset < shared_last) {
    const Symbol* array = symbol_at(arrays, offset);
    name = "__shared__ " + array->name, at = offset - array->offset, size = array->bytes;
  } else if (address - std::uintptr_t(dynamic_begin) < dynamic_bytes + past_dynamic_shared) {
    name = "dynamic __shared__ memory", at = address - std::uintptr_t(dynamic_begin), size = dynamic_bytes;
  } else if (address - std::uintptr_t(program_data.begin) < program_data.bytes) {
    if (variables.empty()) return "a variable";
    const Symbol* variable = symbol_at(variables, address - program);
    name = "__device__ " + variable->name, at = address - program - variable->offset, size = variable->bytes;
  } else if (const Region* region = table()[chunk_of(address)]) {
    name = "allocation " + std::to_string(region->number), size = region->bytes;
    if (address < std::uintptr_t(region->begin)) {
      return name + " of " + std::to_string(size) + " bytes, " +
             std::to_string(std::uintptr_t(region->begin) - address) + " bytes before its start";
    }
    at = address - std::uintptr_t(region->begin);
  }
  return name + "[" + std::to_string(at / bytes) + "] (byte " + std::to_string(at) + " of " + std::to_string(size) +
         ", " + std::to_string(bytes) + " bytes an access)";
}

unsigned thread_of(const Event& e) { return e.who & 1023; }
unsigned bytes_of(const Event& e) { return e.who >> 10 & 15; }
bool synchronized(const Event& e) { return (e.who >> 14 & 1) != 0; }
unsigned clock_of(const Event& e) { return e.who >> 15; }

/// Does an access stand before one of the first n fences of its block?
bool published(const std::vector<Fence>& of_block, std::uint32_t n, const Event& access) {
  for (; n > 0 && of_block[n - 1].interval >= access.interval; --n) {
    const Fence& fence = of_block[n - 1];
    if (fence.interval > access.interval || (fence.thread == thread_of(access) && fence.clock > clock_of(access)) ||
        (fence.joined && fence.thread / 32 == thread_of(access) / 32)) {
      return true;
    }
  }
  return false;
}

/// How many of its block's fences stand before a write.
std::uint32_t fences_before(const std::vector<Fence>& of_block, const Event& write) {
  std::uint32_t n = std::uint32_t(of_block.size());
  for (; n > 0; --n) {
    const Fence& fence = of_block[n - 1];
    if (fence.interval < write.interval || (fence.thread == thread_of(write) && fence.clock <= clock_of(write)) ||
        (fence.joined && fence.thread / 32 == thread_of(write) / 32)) {
      break;
    }
  }
  return n;
}

/// May `before` and the access `now` have happened in the other order?
[[gnu::noinline]] bool unordered_in_launch(const Event& before, const Event& now, bool shared) {
  if ((bytes_of(before) & bytes_of(now)) == 0) return false;
  if (synchronized(before) && synchronized(now)) return false;
  if (before.interval >= first_of_block) {
    if (before.interval != now.interval || thread_of(before) == thread_of(now)) return false;
    const unsigned a = thread_of(before), b = thread_of(now);
    return a / 32 != b / 32 || clocks[b / 32][b % 32][a % 32] < clock_of(before);
  }
  if (shared || untracked_fences) return false;
  const std::uint32_t other = block_of_interval[before.interval - first_of_launch];
  return acquired.size() <= block || acquired[block].size() <= other ||
         !published(fences[other], acquired[block][other], before);
}

/// Most accesses follow one of an earlier barrier interval, launch or block, or of the same thread.
[[gnu::always_inline]] inline bool unordered(const Event& before, const Event& now, bool shared) {
  if (before.interval < (shared ? first_of_block : first_of_launch)) return false;
  if (before.interval == now.interval ? thread_of(before) == thread_of(now) : before.interval >= first_of_block) {
    return false;
  }
  return unordered_in_launch(before, now, shared);
}

[[gnu::cold, gnu::noinline]] void race(const Event& before, const Event& now, bool before_writes, bool now_writes,
                                       std::uintptr_t address, unsigned bytes) {
  const Code code = program + now.code, other = program + (before.code & ~kept_write);
  if (!before_writes) drop_finding("uninitialized", other);  // it read too early: that is the race
  const std::uint64_t other_block =
      before.interval >= first_of_block ? block : block_of_interval[before.interval - first_of_launch];
  if (tracing) trace_race(other_block, thread_of(before), other);
  if (is_known("race", code, other)) return add_finding("race", code, other, "");
  add_finding("race", code, other,
              who(thread_of(now)) + (now_writes ? "writes " : "reads ") + describe(address, bytes) + "; block " +
                  block_name(other_block) + ", thread " + thread_name(thread_of(before)) +
                  (before_writes ? " writes" : " reads") + " it at {other} with no barrier or fence between");
}

[[gnu::cold, gnu::noinline]] void wrong(const char* kind, Code code, unsigned thread, const char* what,
                                        std::uintptr_t address, unsigned bytes) {
  add_finding(kind, code, 0, is_known(kind, code, 0) ? "" : who(thread) + what + describe(address, bytes));
}

/// An access as the observers of races and of initialisation see it.
struct Access {
  std::uintptr_t address;
  unsigned bytes;
  bool reads, writes, atomic, sync, shared;
  unsigned thread;
  Code code;
};

/// An atomic or volatile read of what another block wrote so: that block's writes before its fence, and all that it
/// could rely on, come before what follows here.
[[gnu::noinline]] void acquire(const Event& write) {
  const std::uint32_t from = block_of_interval[write.interval - first_of_launch];
  if (fences.size() <= from || fences[from].empty()) return;
  const std::uint32_t n = fences_before(fences[from], write);
  std::vector<std::uint32_t>& own = acquired[block];
  own.resize(launch->blocks);
  if (own[from] >= n) return;
  own[from] = n;
  for (std::size_t b = 0; b < acquired[from].size(); ++b) own[b] = std::max(own[b], acquired[from][b]);
}

[[gnu::cold, gnu::noinline]] void uninitialized(Cell& cell, const Event& now, unsigned mask, const Access& access) {
  wrong("uninitialized", access.code, access.thread, "reads what nothing has written: ", access.address, access.bytes);
  cell.initialized |= mask;  // told once
  if (access.shared && cell.write.interval < first_of_block) {
    cell.write = {first_of_block, now.code, access.thread | 1u << 14};  // of no bytes: races with nothing
  }
}

[[gnu::always_inline]] inline void observe_word(Cell& cell, unsigned mask, std::uint32_t high, const Access& a) {
  const Event now{interval, std::uint32_t(a.code - program), high | mask << 10};
  if (a.shared && cell.write.interval < first_of_block) cell.initialized = 0;
  if (a.reads && (cell.initialized & mask) != mask) [[unlikely]] uninitialized(cell, now, mask, a);
  if (a.sync && !a.shared && a.reads && synchronized(cell.write) && cell.write.interval >= first_of_launch &&
      cell.write.interval < first_of_block) [[unlikely]] {
    acquire(cell.write);
  }
  const bool kept = (cell.other_read.code & kept_write) != 0;
  if (unordered(cell.write, now, a.shared)) [[unlikely]] {
    race(cell.write, now, true, a.writes, a.address, a.bytes);
  } else if (kept && unordered(cell.other_read, now, a.shared)) [[unlikely]] {
    race(cell.other_read, now, true, a.writes, a.address, a.bytes);
  }
  if (a.writes) {
    if (unordered(cell.read, now, a.shared)) [[unlikely]] {
      race(cell.read, now, false, true, a.address, a.bytes);
    } else if (!kept && unordered(cell.other_read, now, a.shared)) [[unlikely]] {
      race(cell.other_read, now, false, true, a.address, a.bytes);
    }
    if (a.sync && !synchronized(cell.write) && cell.write.interval >= (a.shared ? interval : first_of_launch)) {
      cell.other_read = cell.write;
      cell.other_read.code |= kept_write;
    }
    cell.write = now;
    cell.initialized |= mask;
  }
  if (a.reads && !a.atomic) {
    // Kept: two readers of different threads, as long as a later writer may race with them.
    if (cell.read.interval >= (a.shared ? interval : first_of_launch) &&
        (thread_of(cell.read) != a.thread || cell.read.interval < first_of_block)) {
      cell.other_read = cell.read;
    }
    cell.read = now;
  }
}

[[gnu::cold, gnu::noinline]] void split(Cell& cell, Cell* pieces) {
  std::fill(pieces, pieces + 4, cell);
  cell.split = true;
}

[[gnu::always_inline]] inline void observe(Cell* cells, std::size_t words, std::size_t offset,
                                           std::uintptr_t address, unsigned bytes, Way way, bool reads,
                                           bool writes, bool sync, bool shared, unsigned thread, Code code) {
  const unsigned clock = clocks_used[thread / 32] ? clocks[thread / 32][thread % 32][thread % 32] : 1;
  const std::uint32_t high = thread | unsigned(sync) << 14 | clock << 15;
  const Access access{address, bytes, reads, writes, way == Way::atomic, sync, shared, thread, code};
  if (bytes == 4 && offset % 4 == 0 && !cells[offset / 4].split) [[likely]] {
    return observe_word(cells[offset / 4], 15, high, access);
  }
  for (std::size_t at = offset, end = offset + bytes; at < end;) {
    const unsigned first = at % 4, last = unsigned(std::min<std::size_t>(4, end - (at - first)));
    Cell& cell = cells[at / 4];
    if (last - first == 4 && !cell.split) {
      observe_word(cell, 15, high, access);
    } else {
      Cell* const pieces = cells + words + at / 4 * 4;
      if (!cell.split) [[unlikely]] split(cell, pieces);
      for (unsigned b = first; b < last; ++b) observe_word(pieces[b], 1u << b, high, access);
    }
    at += last - first;
  }
}

[[noreturn]] void stop(cudaError_t error) {
  set_sticky(error);
  Worker::running()->abandon();
}

/// True: the program cannot go on after this access.
[[gnu::cold, gnu::noinline]] bool misaligned(std::uintptr_t address, unsigned bytes, Way way, unsigned thread, Code code) {
  wrong("misaligned", code, thread, way == Way::load ? "reads " : "writes ", address, bytes);
  return bytes == 16;
}

bool flat;  // the launch's blocks have threads in one dimension only
unsigned linear_thread() {
  return flat ? threadIdx.x : threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/// Traces an access, of what has a name; those past the end of it are findings.
[[gnu::cold, gnu::noinline]] void trace(const void* pointer, unsigned bytes, Way way, Code code) {
  const std::uintptr_t address = std::uintptr_t(pointer);
  const auto inside = [&](std::size_t offset, const Owner& owner, Space space) {
    if (offset >= owner.bytes || bytes > owner.bytes - offset) return;
    trace_access(owner, code, linear_thread(), pointer, offset, bytes, space, way);
  };
  const std::size_t in_tls = address - std::uintptr_t(tls);
  if (in_tls < shared_last) {
    if (in_tls < shared_first) return;
    const Symbol* const array = symbol_at(arrays, in_tls);
    return inside(in_tls - array->offset, {array, array->name.c_str(), 0, array->bytes}, Space::shared);
  }
  const std::size_t in_dynamic = address - std::uintptr_t(dynamic_begin);
  if (in_dynamic < dynamic_bytes + past_dynamic_shared) {
    return inside(in_dynamic, {&dynamic_cells, "dynamic", 0, dynamic_bytes}, Space::shared);
  }
  if (address - std::uintptr_t(program_data.begin) < program_data.bytes) {
    if (variables.empty()) return;
    const Symbol* const variable = symbol_at(variables, address - program);
    return inside(address - program - variable->offset, {variable, variable->name.c_str(), 0, variable->bytes},
                  Space::global);
  }
  const Region* const region = table()[chunk_of(address)];
  if (region == nullptr || region->freed) return;
  inside(address - std::uintptr_t(region->begin), {region, "allocation", region->number, region->bytes}, Space::global);
}

[[noreturn, gnu::cold, gnu::noinline]] void end_of_time(Code code, unsigned thread) {
  out_of_time = Time::told;
  add_finding("time-limit", code, 0, who(thread) + time_limit_text());
  stop(cudaErrorLaunchTimeout);
}

Symbol* last_array;  // most often that of the next access as well

/// A plain access of a word in a __shared__ array that is in order with the last ones, which nearly all are. False: not
/// known to be; nothing has been done then.
template <bool writes>
[[gnu::always_inline]] inline bool is_plainly_ordered(const void* pointer, Code code) {
  if (watched != Watched::plainly || out_of_time.load(std::memory_order_relaxed) == Time::up) return false;
  const std::uintptr_t address = std::uintptr_t(pointer);
  const std::size_t in_tls = address - std::uintptr_t(tls);
  if (in_tls < shared_first) return true;  // threadIdx and the like
  const Symbol* const array = last_array;
  if (array == nullptr || in_tls - array->offset >= (array->bytes & ~std::size_t(3)) || address % 4 != 0) return false;
  const unsigned thread = linear_thread();
  Cell& cell = static_cells[(in_tls - shared_first) / 4];
  if (cell.split || clocks_used[thread / 32] || (cell.other_read.code & kept_write) != 0) return false;
  const auto other_now = [&](const Event& event) { return event.interval == interval && thread_of(event) != thread; };
  if (other_now(cell.write)) return false;
  const Event now{interval, std::uint32_t(code - program), thread | 15u << 10 | 1u << 15};
  if constexpr (writes) {
    if (other_now(cell.read) || other_now(cell.other_read)) return false;
    cell.write = now;
    cell.initialized = 15;
  } else {
    if (cell.write.interval < first_of_block || cell.initialized != 15) return false;
    if (other_now(cell.read)) cell.other_read = cell.read;
    cell.read = now;
  }
  add_to_request(code, thread, address, 4, Space::shared, writes ? Way::store : Way::load);
  return true;
}

/// `sync`: atomic or volatile, which by themselves do not race with each other.
[[gnu::always_inline]] inline void access(const void* pointer, unsigned bytes, Way way, bool reads, bool writes,
                                          bool sync, Code code, bool aligned = true) {
  if (watched != Watched::plainly) [[unlikely]] {
    if (watched == Watched::never) return;
    trace(pointer, bytes, way, code);
  }
  if (way == Way::atomic) code_of_last = code;
  const std::uintptr_t address = std::uintptr_t(pointer);
  const unsigned thread = linear_thread();
  if (out_of_time.load(std::memory_order_relaxed) == Time::up) [[unlikely]] end_of_time(code, thread);
  const char* const what = way == Way::load ? "reads " : "writes ";
  const std::size_t in_tls = address - std::uintptr_t(tls);
  if (in_tls < shared_last) {
    if (in_tls < shared_first) return;  // threadIdx and the like
    if (last_array == nullptr || in_tls - last_array->offset >= last_array->bytes) last_array = symbol_at(arrays, in_tls);
    Symbol* const array = last_array;
    if (array->used_in != first_of_launch) [[unlikely]] {
      array->used_in = first_of_launch;
      totals().static_shared += array->bytes;
    }
    if (in_tls + bytes > array->offset + array->bytes) [[unlikely]] {
      wrong("out-of-bounds", code, thread, what, address, bytes);
      // Between arrays nobody is hurt; elsewhere lies what the emulation and the C library need.
      if (!between_arrays(in_tls, bytes)) stop(cudaErrorIllegalAddress);
      return;
    }
    if (address % bytes != 0 && aligned) [[unlikely]] {
      if (misaligned(address, bytes, way, thread, code)) stop(cudaErrorMisalignedAddress);
    }
    observe(static_cells, words_of(shared_last - shared_first), in_tls - shared_first, address, bytes, way, reads,
            writes, sync, true, thread, code);
    add_to_request(code, thread, address, bytes, Space::shared, way);
    return;
  }
  const std::size_t in_dynamic = address - std::uintptr_t(dynamic_begin);
  if (in_dynamic < dynamic_bytes + past_dynamic_shared) {
    if (in_dynamic + bytes > dynamic_bytes) [[unlikely]] {
      return wrong("out-of-bounds", code, thread, what, address, bytes);
    }
    if (address % bytes != 0 && aligned) [[unlikely]] {
      if (misaligned(address, bytes, way, thread, code)) stop(cudaErrorMisalignedAddress);
    }
    observe(dynamic_cells, words_of(most_dynamic_bytes), in_dynamic, address, bytes, way, reads, writes, sync, true,
            thread, code);
    add_to_request(code, thread, address, bytes, Space::shared, way);
    return;
  }
  const std::size_t in_data = address - std::uintptr_t(program_data.begin);
  if (in_data < program_data.bytes) {  // constants as well as variables: requests are not counted
    return observe(program_data.cells, words_of(program_data.bytes), in_data, address, bytes, way, reads, writes, sync,
                   false, thread, code);
  }
  const Region* const region = table()[chunk_of(address)];
  if (region == nullptr) return;
  const std::size_t offset = address - std::uintptr_t(region->begin);
  if (region->freed && offset + guard < region->bytes + 2 * guard) [[unlikely]] {
    wrong("use-after-free", code, thread, what, address, bytes);
    stop(cudaErrorIllegalAddress);
  }
  if (offset >= region->bytes || bytes > region->bytes - offset) [[unlikely]] {
    const std::size_t rounded = (region->bytes + 255) & ~std::size_t(255), pages = (rounded + 4095) & ~std::size_t(4095);
    const std::size_t in_body = offset + (pages - rounded);
    if (in_body + guard >= pages + 2 * guard) return;  // not ours: something else shares the guard's chunk
    wrong("out-of-bounds", code, thread, what, address, bytes);
    // What lies beside the allocation in its pages is nobody's; beyond them, the processor would stop.
    if (in_body < pages && bytes <= pages - in_body) return;
    stop(cudaErrorIllegalAddress);
  }
  if (address % bytes != 0 && aligned) [[unlikely]] {
    if (misaligned(address, bytes, way, thread, code)) stop(cudaErrorMisalignedAddress);
  }
  observe(region->cells, words_of(region->bytes), offset, address, bytes, way, reads, writes, sync, false, thread, code);
  add_to_request(code, thread, address, bytes, Space::global, way);
}

[[gnu::noinline]] void load(const void* p, unsigned n, Code code) { access(p, n, Way::load, true, false, false, code); }
[[gnu::noinline]] void store(const void* p, unsigned n, Code code) { access(p, n, Way::store, false, true, false, code); }

/// A copy of many bytes, of a type that is not aligned to them: of 8 bytes at once at most, as a GPU makes it.
void access_range(const void* pointer, std::size_t bytes, Way way, Code code) {
  if (launch == nullptr) return;
  code_of_last = code;
  for (const char* at = static_cast<const char*>(pointer); bytes != 0;) {
    std::size_t piece = 8;
    while (std::uintptr_t(at) % piece != 0 || piece > bytes) piece /= 2;
    access(at, unsigned(piece), way, way == Way::load, way == Way::store, false, code, false);
    at += piece;
    bytes -= piece;
  }
}

void access_halves(const void* pointer, unsigned bytes, Way way, bool sync, Code code) {
  const bool load = way == Way::load;
  access(pointer, bytes / 2, way, load, !load, sync, code, false);
  access(static_cast<const char*>(pointer) + bytes / 2, bytes / 2, way, load, !load, sync, code, false);
}

void next_interval() {
  finish_requests();
  ++interval;
  block_of_interval.push_back(std::uint32_t(block));
  for (unsigned warp = 0; warp < max_warps; ++warp) {
    if (!clocks_used[warp]) continue;
    clocks_used[warp] = lanes_joined[warp] = false;
    reset_clocks(warp);
  }
}

}  // namespace

// --- events ---

void begin_launch(const Launch& started) {
  static const bool once = [] {
    read_symbols();
    for (unsigned warp = 0; warp < max_warps; ++warp) reset_clocks(warp);
    return true;
  }();
  (void)once;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        tls = static_cast<char*>(info->dlpi_tls_data);
        return 1;
      },
      nullptr);
  begin_time();
  first_of_launch = interval + 1;
  flat = started.config.block.y * started.config.block.z == 1;
  last_array = nullptr;  // the next access of each counts it as one that this launch uses
  block_of_interval.clear();
  fences.clear();
  acquired.clear();
  untracked_fences = false;
  dynamic_bytes = started.config.dynamic_shared;
  if (tracing) trace_launch(started);
  if (dynamic_cells == nullptr) dynamic_cells = map_cells(most_dynamic_bytes);
  if (dynamic_bytes != 0) std::memset(static_cast<void*>(dynamic_cells), 0, words_of(dynamic_bytes) * sizeof(Cell));
}

void begin_block(const Launch& started, std::uint64_t number, void* dynamic_shared) {
  launch = &started;
  watched = tracing ? Watched::traced : Watched::plainly;
  block = number;
  first_of_block = interval + 1;
  dynamic_begin = static_cast<char*>(dynamic_shared);
  next_interval();
  if (tracing) trace_block(number);
}

void barrier_opened(Site site, int arrived) {
  totals().barriers += unsigned(arrived + lanes_per_warp - 1) / lanes_per_warp;
  if (out_of_time.load(std::memory_order_relaxed) == Time::up) [[unlikely]] {
    out_of_time = Time::told;
    add_finding("time-limit", site, std::string("kernel ") + launch->kernel.name + ", block " + block_name(block) + ": " +
                                        time_limit_text());
    stop(cudaErrorLaunchTimeout);
  }
  if (arrived != launch->threads) [[unlikely]] {
    add_finding("divergent-barrier", site,
                std::string("kernel ") + launch->kernel.name + ", block " + block_name(block) + ": " +
                    std::to_string(launch->threads - arrived) + " of " + std::to_string(launch->threads) +
                    " threads have returned and never come to this __syncthreads()");
  }
  next_interval();
  if (tracing) trace_barrier();
}

Code done_for() { return code_of_last; }

void stop_observing() {
  if (tracing) trace_block_end();
  launch = nullptr;
  watched = Watched::never;
}

void end_block() {
  finish_requests();
  if (tracing) trace_block_end();
  launch = nullptr;
  watched = Watched::never;
}

void lanes_synchronized(unsigned warp, unsigned lanes) {
  clocks_used[warp] = lanes_joined[warp] = true;
  std::uint32_t known[lanes_per_warp] = {};
  for (unsigned a = 0; a < lanes_per_warp; ++a) {
    if ((lanes >> a & 1) == 0) continue;
    for (unsigned b = 0; b < lanes_per_warp; ++b) known[b] = std::max(known[b], clocks[warp][a][b]);
  }
  for (unsigned a = 0; a < lanes_per_warp; ++a) {
    if ((lanes >> a & 1) == 0) continue;
    std::memcpy(clocks[warp][a], known, sizeof known);
    ++clocks[warp][a][a];
  }
}

void allocated(const void* begin, std::size_t bytes, bool is_written) {
  const std::uintptr_t first = std::uintptr_t(begin);
  Region*& old = table()[chunk_of(first)];
  if (old != nullptr && old->begin == begin && old->cells != nullptr) {
    munmap(old->cells, cell_bytes(old->bytes));
  }
  auto* const region = new Region{static_cast<const char*>(begin), bytes, map_cells(bytes), ++region_count, false};
  for (std::size_t c = chunk_of(first - guard); c <= chunk_of(first + bytes + guard); ++c) {
    Region*& slot = table()[c];
    const bool body = (c + 1) * chunk > first && c * chunk < first + bytes;
    if (body || slot == nullptr || slot->freed) slot = region;
  }
  if (is_written) written(begin, bytes);
}

void freed(const void* begin, std::size_t) {
  Region* const region = table()[chunk_of(std::uintptr_t(begin))];
  if (region != nullptr && region->begin == begin) region->freed = true;
}

void written(const void* begin, std::size_t bytes) {
  Region* const region = table()[chunk_of(std::uintptr_t(begin))];
  if (region == nullptr || region->cells == nullptr) return;
  const std::size_t offset = std::uintptr_t(begin) - std::uintptr_t(region->begin);
  if (offset >= region->bytes) return;
  const std::size_t end = std::min(offset + bytes, region->bytes);
  for (std::size_t at = offset; at < end;) {
    const unsigned first = at % 4, last = unsigned(std::min<std::size_t>(4, end - (at - first)));
    Cell& cell = region->cells[at / 4];
    cell.initialized |= ((1u << last) - 1) & ~((1u << first) - 1);
    if (cell.split) {
      for (unsigned b = first; b < last; ++b) region->cells[words_of(region->bytes) + at / 4 * 4 + b].initialized |= 1u << b;
    }
    at += last - first;
  }
}

void fence() {
  if (launch == nullptr) return;
  if (launch->blocks > most_tracked_blocks || (block < fences.size() && fences[block].size() >= most_fences)) {
    untracked_fences = true;
    return;
  }
  fences.resize(launch->blocks);
  acquired.resize(launch->blocks);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned warp = thread / lanes_per_warp, lane = thread % lanes_per_warp;
  clocks_used[warp] = true;
  fences[block].push_back({interval, std::uint16_t(thread), lanes_joined[warp], ++clocks[warp][lane][lane]});
}

}  // namespace simt::check

// --- what the instrumented program calls ---

using simt::check::Code;
using simt::check::Way;

#define CODE (Code(__builtin_return_address(0)) - 1)
// "unaligned": of a type that need not be aligned to its size, as a struct of two halves: a GPU makes two accesses.
#define ACCESSES(N)                                                                                              \
  void __tsan_read##N(void* p) {                                                                                 \
    if (N == 4 && simt::check::is_plainly_ordered<false>(p, CODE)) [[likely]] return;                            \
    simt::check::load(p, N, CODE);                                                                               \
  }                                                                                                              \
  void __tsan_write##N(void* p) {                                                                                \
    if (N == 4 && simt::check::is_plainly_ordered<true>(p, CODE)) [[likely]] return;                             \
    simt::check::store(p, N, CODE);                                                                              \
  }                                                                                                              \
  void __tsan_read_write##N(void* p) {                                                                           \
    simt::check::access(p, N, Way::load, true, false, false, CODE);                                              \
    simt::check::access(p, N, Way::store, false, true, false, CODE);                                             \
  }                                                                                                              \
  void __tsan_volatile_read##N(void* p) {                                                                        \
    simt::check::access(p, N, Way::load, true, false, true, CODE);                                               \
    simt::atomic_yield();                                                                                        \
  }                                                                                                              \
  void __tsan_volatile_write##N(void* p) { simt::check::access(p, N, Way::store, false, true, true, CODE); }
#define UNALIGNED(N)                                                                                             \
  void __tsan_unaligned_read##N(void* p) { simt::check::access_halves(p, N, Way::load, false, CODE); }           \
  void __tsan_unaligned_write##N(void* p) { simt::check::access_halves(p, N, Way::store, false, CODE); }         \
  void __tsan_unaligned_read_write##N(void* p) {                                                                 \
    simt::check::access_halves(p, N, Way::load, false, CODE);                                                    \
    simt::check::access_halves(p, N, Way::store, false, CODE);                                                   \
  }                                                                                                              \
  void __tsan_unaligned_volatile_read##N(void* p) { simt::check::access_halves(p, N, Way::load, true, CODE); }   \
  void __tsan_unaligned_volatile_write##N(void* p) { simt::check::access_halves(p, N, Way::store, true, CODE); }

#define CHANGE(BITS, NAME)                                                                       \
  T##BITS __tsan_atomic##BITS##_##NAME(volatile T##BITS* p, T##BITS v, int) {                     \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::atomic, true, true, true, CODE);  \
    return __atomic_##NAME(p, v, __ATOMIC_SEQ_CST);                                               \
  }
#define ATOMICS(BITS)                                                                                                \
  using T##BITS = std::uint##BITS##_t;                                                                               \
  T##BITS __tsan_atomic##BITS##_load(const volatile T##BITS* p, int) {                                               \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::load, true, false, true, CODE);                      \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                                     \
  }                                                                                                                  \
  void __tsan_atomic##BITS##_store(volatile T##BITS* p, T##BITS v, int) {                                            \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::store, false, true, true, CODE);                     \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                                        \
  }                                                                                                                  \
  T##BITS __tsan_atomic##BITS##_exchange(volatile T##BITS* p, T##BITS v, int) {                                      \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::atomic, true, true, true, CODE);                     \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                              \
  }                                                                                                                  \
  CHANGE(BITS, fetch_add) CHANGE(BITS, fetch_sub) CHANGE(BITS, fetch_and) CHANGE(BITS, fetch_or)                     \
  CHANGE(BITS, fetch_xor) CHANGE(BITS, fetch_nand)                                                                   \
  int __tsan_atomic##BITS##_compare_exchange_strong(volatile T##BITS* p, T##BITS* e, T##BITS v, int, int) {          \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::atomic, true, true, true, CODE);                     \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                          \
  }                                                                                                                  \
  int __tsan_atomic##BITS##_compare_exchange_weak(volatile T##BITS* p, T##BITS* e, T##BITS v, int, int) {            \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::atomic, true, true, true, CODE);                     \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                          \
  }                                                                                                                  \
  T##BITS __tsan_atomic##BITS##_compare_exchange_val(volatile T##BITS* p, T##BITS e, T##BITS v, int, int) {          \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::atomic, true, true, true, CODE);                     \
    __atomic_compare_exchange_n(p, &e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                \
    return e;                                                                                                        \
  }

extern "C" {
ACCESSES(1) ACCESSES(2) ACCESSES(4) ACCESSES(8) ACCESSES(16)
UNALIGNED(2) UNALIGNED(4) UNALIGNED(8) UNALIGNED(16)
ATOMICS(8) ATOMICS(16) ATOMICS(32) ATOMICS(64)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}
void __tsan_atomic_signal_fence(int) {}
void __tsan_atomic_thread_fence(int order) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (order == __ATOMIC_SEQ_CST) simt::check::fence();  // less: of the block only
}

void __tsan_read_range(void* p, std::size_t n) { simt::check::access_range(p, n, Way::load, CODE); }
void __tsan_write_range(void* p, std::size_t n) { simt::check::access_range(p, n, Way::store, CODE); }

// Compilers make calls of these from copies of larger types, without instrumenting them. A program is linked with
// --wrap for each, which leads here.
void* __real_memcpy(void* to, const void* from, std::size_t n);
void* __real_memmove(void* to, const void* from, std::size_t n);
void* __real_memset(void* to, int value, std::size_t n);

void* __wrap_memcpy(void* to, const void* from, std::size_t n) {
  simt::check::access_range(from, n, Way::load, CODE);
  simt::check::access_range(to, n, Way::store, CODE);
  return __real_memcpy(to, from, n);
}
void* __wrap_memmove(void* to, const void* from, std::size_t n) {
  simt::check::access_range(from, n, Way::load, CODE);
  simt::check::access_range(to, n, Way::store, CODE);
  return __real_memmove(to, from, n);
}
void* __wrap_memset(void* to, int value, std::size_t n) {
  simt::check::access_range(to, n, Way::store, CODE);
  return __real_memset(to, value, n);
}
}
