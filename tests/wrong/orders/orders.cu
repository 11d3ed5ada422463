// Results that depend on the order of atomics, without a data race. With -DRIGHT, the right twin of each kernel.
#include "case.h"

#ifdef RIGHT
constexpr bool right = true;
#else
constexpr bool right = false;
#endif

__device__ int load(int* p) { return atomicAdd(p, 0); }
__device__ int self() { return int(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ void lock(int* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void unlock(int* mutex) {
  __threadfence();
  atomicExch(mutex, 0);
}

// --- depth 1: one thread comes before another ---

/// The last one to write wins.
__global__ void last_wins(int* a) { right ? (void)atomicMax(a, self() + 1) : (void)atomicExch(a, self() + 1); }
ORDER(1, last_wins_in_a_block) {
  int* a = zeros(1);
  last_wins<<<1, 8>>>(a);
  copy_back(a);
}
ORDER(1, last_wins_between_blocks) {
  int* a = zeros(1);
  last_wins<<<6, 1>>>(a);
  copy_back(a);
}

/// The first one to come is the leader.
__global__ void first_is_leader(int* a) { right ? (void)atomicMax(a, self() + 1) : (void)atomicCAS(a, 0, self() + 1); }
ORDER(1, first_is_leader_in_a_block) {
  int* a = zeros(1);
  first_is_leader<<<1, 40>>>(a);
  copy_back(a);
}
ORDER(1, first_is_leader_between_blocks) {
  int* a = zeros(1);
  first_is_leader<<<4, 2>>>(a);
  copy_back(a);
}

/// Positions in a list in the order of arrival.
__global__ void append(int* count, int* list) {
  const int place = right ? (atomicAdd(count, 1), self()) : atomicAdd(count, 1);
  list[place] = self();
}
ORDER(1, append_in_a_block) {
  int *count = zeros(1), *list = zeros(64);
  append<<<1, 64>>>(count, list);
  copy_back(list, 64);
}
ORDER(1, append_between_blocks) {
  int *count = zeros(1), *list = zeros(64);
  append<<<8, 8>>>(count, list);
  copy_back(list, 64);
}

/// A ticket chooses what a block does.
__global__ void ticket(int* next, int* out) {
  const int number = right ? int(blockIdx.x) : atomicAdd(next, 1);
  atomicExch(out + blockIdx.x, number * 10);
}
ORDER(1, ticket) {
  int *next = zeros(1), *out = zeros(8);
  ticket<<<8, 1>>>(next, out);
  copy_back(out, 8);
}

/// A flag is read that another thread may not have set yet.
__global__ void flag_not_awaited(int* flag, int* out) {
  if (self() == 0) {
    atomicExch(flag, 1);
  } else if (self() == 33) {
    if (right) {
      while (load(flag) == 0) {
      }
    }
    *out = load(flag);
  }
}
ORDER(1, flag_not_awaited) {
  int *flag = zeros(1), *out = zeros(1);
  flag_not_awaited<<<1, 64>>>(flag, out);
  copy_back(out);
}

/// A total is read before all have added to it.
__global__ void total_too_soon(int* total, int* out) {
  atomicAdd(total, self());
  if (right) __syncthreads();
  if (threadIdx.x == blockDim.x - 1) *out = load(total);
}
ORDER(1, total_too_soon) {
  int *total = zeros(1), *out = zeros(1);
  total_too_soon<<<1, 48>>>(total, out);
  copy_back(out);
}

/// Operations that do not commute.
__global__ void mixed_operations(int* a) {
  if (blockIdx.x == 0) atomicAdd(a, 5);
  if (blockIdx.x == 1) right ? (void)atomicAdd(a, 7) : (void)atomicMax(a, 7);
}
ORDER(1, mixed_operations) {
  int* a = zeros(1);
  mixed_operations<<<2, 1>>>(a);
  copy_back(a);
}

/// Volatile words, and no atomics.
__global__ void volatile_flag(volatile int* flag, volatile int* out) {
  if (self() == 0) flag[0] = 1;
  if (self() == 1) {
    if (right) {
      while (flag[0] == 0) {
      }
    }
    out[0] = flag[0];
  }
}
ORDER(1, volatile_flag) {
  int *flag = zeros(1), *out = zeros(1);
  volatile_flag<<<1, 2>>>(flag, out);
  copy_back(out);
}

/// A budget that is spent by whoever comes first.
__global__ void budget(int* left, int* won) {
  const int cost = self() + 1;
  if (right ? cost <= 4 : atomicSub(left, cost) >= cost) atomicAdd(won, cost);
}
ORDER(1, budget) {
  int *left = zeros(1), *won = zeros(1);
  const int all = 10;
  cudaMemcpy(left, &all, sizeof all, cudaMemcpyHostToDevice);
  budget<<<1, 8>>>(left, won);
  copy_back(won);
}

// --- depth 2: one thread comes between two accesses of another ---

/// Check, then act.
__global__ void best(int* a) {
  const int mine = (self() * 5 + 3) % 16;
  if (right) {
    atomicMax(a, mine);
  } else if (mine > load(a)) {
    atomicExch(a, mine);
  }
}
ORDER(2, best_in_a_block) {
  int* a = zeros(1);
  best<<<1, 16>>>(a);
  copy_back(a);
}
ORDER(2, best_between_blocks) {
  int* a = zeros(1);
  best<<<4, 4>>>(a);
  copy_back(a);
}

/// Read, then write what was read and one more.
__global__ void lost_update(int* a) { right ? (void)atomicAdd(a, 1) : (void)atomicExch(a, load(a) + 1); }
ORDER(2, lost_update_in_a_block) {
  int* a = zeros(1);
  lost_update<<<1, 8>>>(a);
  copy_back(a);
}
ORDER(2, lost_update_between_blocks) {
  int* a = zeros(1);
  lost_update<<<5, 1>>>(a);
  copy_back(a);
}
ORDER(2, lost_update_of_many) {
  int* a = zeros(1);
  lost_update<<<2, 128>>>(a);
  copy_back(a);
}

/// The same with volatile accesses.
__global__ void volatile_update(volatile int* a, int* mutex) {
  if (right) lock(mutex);
  const int old = a[0];
  a[0] = old + 1;
  if (right) unlock(mutex);
}
ORDER(2, volatile_update) {
  int *a = zeros(1), *mutex = zeros(1);
  volatile_update<<<4, 1>>>(a, mutex);
  copy_back(a);
}

/// In shared memory.
__global__ void shared_update(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  right ? (void)atomicAdd(&sum, 2) : (void)atomicExch(&sum, load(&sum) + 2);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = load(&sum);
}
ORDER(2, shared_update) {
  int* out = zeros(2);
  shared_update<<<2, 32>>>(out);
  copy_back(out, 2);
}

/// Two threads initialize because both see that nobody has.
__global__ void initialize_once(int* is_done, int* times) {
  if (right) {
    if (atomicCAS(is_done, 0, 1) == 0) atomicAdd(times, 1);
  } else if (load(is_done) == 0) {
    atomicAdd(times, 1);
    atomicExch(is_done, 1);
  }
}
ORDER(2, initialize_once) {
  int *is_done = zeros(1), *times = zeros(1);
  initialize_once<<<3, 1>>>(is_done, times);
  copy_back(times);
}

/// A slot is tested, then taken.
__global__ void take_slot(int* slots, int* taken) {
  for (int i = 0; i < 8; ++i) {
    if (right ? atomicCAS(slots + i, 0, 1) == 0 : load(slots + i) == 0) {
      if (!right) atomicExch(slots + i, 1);
      atomicAdd(taken + i, 1);
      return;
    }
  }
}
ORDER(2, take_slot) {
  int *slots = zeros(8), *taken = zeros(8);
  take_slot<<<1, 6>>>(slots, taken);
  copy_back(taken, 8);
}

/// The number of elements is checked, then one is taken.
__global__ void pop(int* count, int* underflows) {
  if (right) {
    int seen = load(count);
    while (seen > 0) {
      const int before = atomicCAS(count, seen, seen - 1);
      if (before == seen) break;
      seen = before;
    }
  } else if (load(count) > 0) {
    if (atomicSub(count, 1) <= 0) atomicAdd(underflows, 1);
  }
}
ORDER(2, pop) {
  int *count = zeros(1), *underflows = zeros(1);
  const int three = 3;
  cudaMemcpy(count, &three, sizeof three, cudaMemcpyHostToDevice);
  pop<<<4, 2>>>(count, underflows);
  copy_back(underflows);
}

/// A pair of counters is read while it is being changed.
__global__ void torn_pair(int* pair, int* out, int* mutex) {
  if (right) lock(mutex);
  if (blockIdx.x == 0) {
    atomicAdd(pair, 1);
    atomicAdd(pair + 1, 1);
  } else {
    *out = load(pair) - load(pair + 1);
  }
  if (right) unlock(mutex);
}
ORDER(2, torn_pair) {
  int *pair = zeros(2), *out = zeros(1), *mutex = zeros(1);
  torn_pair<<<2, 1>>>(pair, out, mutex);
  copy_back(out);
}

/// The last block to come sees a sum that others have not added to yet: they count themselves before they add.
__global__ void counts_too_soon(int* count, int* sum, int* out) {
  if (right) atomicAdd(sum, int(blockIdx.x) + 1);
  __threadfence();
  const bool is_last = atomicAdd(count, 1) == int(gridDim.x) - 1;
  if (!right) atomicAdd(sum, int(blockIdx.x) + 1);
  if (is_last) *out = load(sum);
}
ORDER(2, counts_too_soon) {
  int *count = zeros(1), *sum = zeros(1), *out = zeros(1);
  counts_too_soon<<<5, 1>>>(count, sum, out);
  copy_back(out);
}

/// A bit is tested and set by two accesses.
__global__ void visit(int* bits, int* visits) {
  const int bit = 1 << threadIdx.x % 8;
  if (right) {
    if ((atomicOr(bits, bit) & bit) == 0) atomicAdd(visits, 1);
  } else if ((load(bits) & bit) == 0) {
    atomicOr(bits, bit);
    atomicAdd(visits, 1);
  }
}
ORDER(2, visit) {
  int *bits = zeros(1), *visits = zeros(1);
  visit<<<1, 64>>>(bits, visits);
  copy_back(visits);
}

/// Money is moved in two steps, and a third thread counts it.
__global__ void transfer(int* accounts, int* seen, int* mutex) {
  if (right) lock(mutex);
  if (self() == 0) {
    atomicSub(accounts, 10);
    atomicAdd(accounts + 1, 10);
  } else if (self() == 40) {
    *seen = load(accounts) + load(accounts + 1);
  }
  if (right) unlock(mutex);
}
ORDER(2, transfer) {
  int *accounts = zeros(2), *seen = zeros(1), *mutex = zeros(1);
  transfer<<<1, 41>>>(accounts, seen, mutex);
  copy_back(seen);
}

/// The position of the best is stored by another access than the best.
__global__ void best_and_place(int* value, int* place, int* mutex) {
  const int mine = self() * 7 % 12;
  if (right) lock(mutex);
  if (right ? mine > load(value) : atomicMax(value, mine) < mine) {
    if (right) atomicExch(value, mine);
    atomicExch(place, self());
  }
  if (right) unlock(mutex);
}
ORDER(2, best_and_place) {
  int *value = zeros(1), *place = zeros(1), *mutex = zeros(1);
  best_and_place<<<12, 1>>>(value, place, mutex);
  copy_back(place);
}

// --- depth 3: two threads come between accesses of each other ---

/// A lock that is tested and then taken.
__global__ void broken_lock(int* mutex, volatile int* sum) {
  if (right) {
    lock(mutex);
  } else {
    while (load(mutex) != 0) {
    }
    atomicExch(mutex, 1);
    __threadfence();
  }
  const int old = sum[0];
  sum[0] = old + 1;
  unlock(mutex);
}
ORDER(3, broken_lock) {
  int *mutex = zeros(1), *sum = zeros(1);
  broken_lock<<<4, 1>>>(mutex, sum);
  copy_back(sum);
}

/// A compare-and-swap succeeds although the value has changed in between, and back again.
__global__ void changed_and_back(int* top, int* next, int* out) {
  if (blockIdx.x == 0) {
    const int first = load(top);
    const int second = load(next + (right ? 2 : first));
    if (atomicCAS(top, first, second) == first) *out = second;
  } else if (blockIdx.x == 1 && !right) {
    atomicExch(top, 2);
    atomicExch(next + 1, 0);
    atomicExch(top, 1);
  }
}
ORDER(3, changed_and_back) {
  int *top = zeros(1), *next = zeros(3), *out = zeros(1);
  const int one = 1, links[] = {0, 2, 0};
  cudaMemcpy(top, &one, sizeof one, cudaMemcpyHostToDevice);
  cudaMemcpy(next, links, sizeof links, cudaMemcpyHostToDevice);
  changed_and_back<<<2, 1>>>(top, next, out);
  copy_back(out);
}

/// Each of two sees that the other has not come, and both or none do the work.
__global__ void both_or_none(int* here, int* worked) {
  const int me = int(blockIdx.x);
  if (right) {
    if (atomicAdd(here, 1) == 1) atomicAdd(worked, 1);
    return;
  }
  if (load(here + 1 - me) == 0) {
    if (load(here + 1 - me) == 0) atomicAdd(worked, 1);
  }
  atomicExch(here + me, 1);
}
ORDER(3, both_or_none) {
  int *here = zeros(2), *worked = zeros(1);
  both_or_none<<<2, 1>>>(here, worked);
  copy_back(worked);
}

/// Three stages that each check the one before, and a thread that resets them.
__global__ void stages(int* stage, int* out) {
  if (blockIdx.x == 0) {
    for (int s = 0; s < 3; ++s) {
      if (right) {
        atomicAdd(stage, 1);
      } else if (load(stage) == s) {
        atomicExch(stage, s + 1);
      }
    }
    *out = load(stage);
  } else if (!right) {
    if (load(stage) == 2) atomicExch(stage, 0);
  }
}
ORDER(3, stages) {
  int *stage = zeros(1), *out = zeros(1);
  stages<<<2, 1>>>(stage, out);
  copy_back(out);
}

/// A snapshot that is read twice until both readings agree, and yet is torn.
__global__ void snapshot(int* version, int* data, int* torn) {
  if (blockIdx.x == 0) {
    for (int i = 1; i <= 2; ++i) {
      if (right) atomicAdd(version, 1);
      atomicExch(data, i);
      atomicExch(data + 1, i);
      atomicAdd(version, 1);
    }
  } else {
    const int before = load(version);
    const int a = load(data), b = load(data + 1);
    const bool is_whole = !right || before % 2 == 0;
    if (load(version) == before && is_whole && a != b) atomicAdd(torn, 1);
  }
}
ORDER(3, snapshot) {
  int *version = zeros(1), *data = zeros(2), *torn = zeros(1);
  snapshot<<<2, 1>>>(version, data, torn);
  copy_back(torn);
}

/// A counter of readers that is not part of the lock: a writer comes between the check and the entry of a second reader.
__global__ void readers_and_writer(int* readers, int* writing, int* errors) {
  if (blockIdx.x < 2) {
    if (right) atomicAdd(readers, 1);
    if (load(writing) == 0) {
      if (!right) atomicAdd(readers, 1);
      if (load(writing) == 2) atomicAdd(errors, 1);
      if (!right) atomicSub(readers, 1);
    }
    if (right) atomicSub(readers, 1);
  } else if (right ? false : load(readers) == 0) {
    atomicExch(writing, 2);
    atomicExch(writing, 0);
  }
}
ORDER(3, readers_and_writer) {
  int *readers = zeros(1), *writing = zeros(1), *errors = zeros(1);
  readers_and_writer<<<3, 1>>>(readers, writing, errors);
  copy_back(errors);
}
