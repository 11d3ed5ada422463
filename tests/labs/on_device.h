// Arrays on the device and back, and what a sort must make of them.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "step/device_array.h"
#include "step/keys.h"

template <class T>
lab::DeviceArray<T> on_device(const std::vector<T>& host) {
  lab::DeviceArray<T> device(std::ssize(host), nullptr);
  CUDA_CHECK(cudaMemcpy(device.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <class T>
std::vector<T> on_host(const lab::DeviceArray<T>& device) {
  std::vector<T> host(device.size());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemcpy(host.data(), device.data(), host.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

inline auto comparison(lab::Order order) {
  return [order](auto a, auto b) { return lab::before(a, b, order); };
}
template <class Before>
Before comparison(Before before) {
  return before;
}

/// The keys as std::stable_sort orders them, by a lab::Order or any comparison.
template <class Key, class Order>
std::vector<Key> in_order(std::vector<Key> keys, Order order) {
  std::stable_sort(keys.begin(), keys.end(), comparison(order));
  return keys;
}

/// Where each of those keys was before: what the values 0, 1, 2 ... of the keys become.
template <class Key, class Order>
std::vector<std::uint32_t> places_in_order(const std::vector<Key>& keys, Order order) {
  std::vector<std::uint32_t> places(keys.size());
  std::iota(places.begin(), places.end(), 0u);
  std::stable_sort(places.begin(), places.end(),
                   [&, before = comparison(order)](auto a, auto b) { return before(keys[a], keys[b]); });
  return places;
}
