// Tiles sorted by CUB's block and warp primitives, for keys of one type: GOLD_KEY, and GOLD_VALUE if they have values
// (meson.build defines both). Of the numbers of threads from 8 to 256 that were tried on an H200 with 2^26 keys of type
// u32, u64, f32 and pairs, these are the fastest for u32; so was BlockRadixSort's default of 4 bits per digit.
#include "gold/cub_tiles.h"

namespace gold {
namespace {

template <TileSort sort, class Key, class Value>
struct GroupOf;
template <class Key, class Value>
struct GroupOf<TileSort::warp_merge_128, Key, Value> : MergeOfWarp<Key, Value, 128, 8> {};
template <class Key, class Value>
struct GroupOf<TileSort::block_merge_1024, Key, Value> : MergeOfBlock<Key, Value, 1024, 64> {};
template <class Key, class Value>
struct GroupOf<TileSort::block_radix_1024, Key, Value> : RadixOfBlock<Key, Value, 1024, 64> {};

}  // namespace

template <TileSort sort, class Key>
void tiles(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  queue_tiles<GroupOf<sort, Key, NoValue>, Key, NoValue>({keys.data}, {keys.data}, keys.n, order, stream);
}

template <TileSort sort, class Key, class Value>
void tiles(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  queue_tiles<GroupOf<sort, Key, Value>, Key, Value>({keys.data, values.data}, {keys.data, values.data}, keys.n, order,
                                                     stream);
}

#ifdef GOLD_VALUE
#define GOLD_TILES(sort) template void tiles<sort>(Span<GOLD_KEY>, Span<GOLD_VALUE>, Order, LaunchShape, cudaStream_t)
#else
#define GOLD_TILES(sort) template void tiles<sort>(Span<GOLD_KEY>, Order, LaunchShape, cudaStream_t)
#endif
GOLD_TILES(TileSort::warp_merge_128);
GOLD_TILES(TileSort::block_merge_1024);
GOLD_TILES(TileSort::block_radix_1024);

#ifdef GOLD_HOST
template <TileSort sort>
void equal_tiles(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, int, LaunchShape shape,
                 cudaStream_t stream) {
  require_default_shape(shape);
  using Key = std::uint32_t;
  queue_tiles<GroupOf<sort, Key, NoValue>, Key, NoValue>({keys.data}, {sorted.data}, keys.n, Order::ascending, stream);
}
#define GOLD_EQUAL_TILES(sort) \
  template void equal_tiles<sort>(Span<const std::uint32_t>, Span<std::uint32_t>, int, LaunchShape, cudaStream_t)
GOLD_EQUAL_TILES(TileSort::warp_merge_128);
GOLD_EQUAL_TILES(TileSort::block_merge_1024);
GOLD_EQUAL_TILES(TileSort::block_radix_1024);
#endif

}  // namespace gold
