// Included by a header that is itself included: the launch is two files away from the test.
#pragma once

namespace header {

__global__ inline void set(int* to, int value) { *to = value; }

inline void launch_set(int* to, int value) { set<<<1, 1>>>(to, value); }

}  // namespace header
