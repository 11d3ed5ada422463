// A tile of 1024 keys in local memory, sorted by the mirrored bitonic network of solutions/03-bitonic/02_shared.cu.
void compare_exchange(__local uint* keys, int i, int partner) {
  const uint a = keys[i], b = keys[partner];
  if (b < a) keys[i] = b, keys[partner] = a;
}
int lower_place(int t, int stride) { return t / stride * 2 * stride + t % stride; }

__kernel void sort_tiles(__global uint* keys) {
  __local uint tile[1024];
  const int t = get_local_id(0), threads = get_local_size(0);
  const size_t first = get_group_id(0) * 1024;
  for (int i = t; i < 1024; i += threads) tile[i] = keys[first + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int run = 2; run <= 1024; run *= 2)
    for (int stride = run / 2; stride > 0; stride /= 2) {
      const int i = lower_place(t, stride);
      compare_exchange(tile, i, stride == run / 2 ? i ^ (run - 1) : i + stride);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  for (int i = t; i < 1024; i += threads) keys[first + i] = tile[i];
}
