// CUDA's vector types and dim3, with CUDA's sizes and alignments (CUDA C++ Programming Guide, "Built-in Vector Types").
#pragma once

#include "simt/error.h"

struct char1 {
  signed char x;
};
struct alignas(2) char2 {
  signed char x, y;
};
struct char3 {
  signed char x, y, z;
};
struct alignas(4) char4 {
  signed char x, y, z, w;
};

struct uchar1 {
  unsigned char x;
};
struct alignas(2) uchar2 {
  unsigned char x, y;
};
struct uchar3 {
  unsigned char x, y, z;
};
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};

struct short1 {
  short x;
};
struct alignas(4) short2 {
  short x, y;
};
struct short3 {
  short x, y, z;
};
struct alignas(8) short4 {
  short x, y, z, w;
};

struct ushort1 {
  unsigned short x;
};
struct alignas(4) ushort2 {
  unsigned short x, y;
};
struct ushort3 {
  unsigned short x, y, z;
};
struct alignas(8) ushort4 {
  unsigned short x, y, z, w;
};

struct int1 {
  int x;
};
struct alignas(8) int2 {
  int x, y;
};
struct int3 {
  int x, y, z;
};
struct alignas(16) int4 {
  int x, y, z, w;
};

struct uint1 {
  unsigned int x;
};
struct alignas(8) uint2 {
  unsigned int x, y;
};
struct uint3 {
  unsigned int x, y, z;
};
struct alignas(16) uint4 {
  unsigned int x, y, z, w;
};

struct long1 {
  long x;
};
struct alignas(16) long2 {
  long x, y;
};
struct long3 {
  long x, y, z;
};
struct alignas(16) long4 {
  long x, y, z, w;
};

struct ulong1 {
  unsigned long x;
};
struct alignas(16) ulong2 {
  unsigned long x, y;
};
struct ulong3 {
  unsigned long x, y, z;
};
struct alignas(16) ulong4 {
  unsigned long x, y, z, w;
};

struct longlong1 {
  long long x;
};
struct alignas(16) longlong2 {
  long long x, y;
};
struct longlong3 {
  long long x, y, z;
};
struct alignas(16) longlong4 {
  long long x, y, z, w;
};

struct ulonglong1 {
  unsigned long long x;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
struct ulonglong3 {
  unsigned long long x, y, z;
};
struct alignas(16) ulonglong4 {
  unsigned long long x, y, z, w;
};

struct float1 {
  float x;
};
struct alignas(8) float2 {
  float x, y;
};
struct float3 {
  float x, y, z;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

struct double1 {
  double x;
};
struct alignas(16) double2 {
  double x, y;
};
struct double3 {
  double x, y, z;
};
struct alignas(16) double4 {
  double x, y, z, w;
};

// The 32-byte types by their alignment (CUDA 13 prefers these names).
struct alignas(16) long4_16a {
  long x, y, z, w;
};
struct alignas(32) long4_32a {
  long x, y, z, w;
};
struct alignas(16) ulong4_16a {
  unsigned long x, y, z, w;
};
struct alignas(32) ulong4_32a {
  unsigned long x, y, z, w;
};
struct alignas(16) longlong4_16a {
  long long x, y, z, w;
};
struct alignas(32) longlong4_32a {
  long long x, y, z, w;
};
struct alignas(16) ulonglong4_16a {
  unsigned long long x, y, z, w;
};
struct alignas(32) ulonglong4_32a {
  unsigned long long x, y, z, w;
};
struct alignas(16) double4_16a {
  double x, y, z, w;
};
struct alignas(32) double4_32a {
  double x, y, z, w;
};

/// A shape in blocks or threads; what is left out is 1.
struct dim3 {
  unsigned int x, y, z;

  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 shape) : x(shape.x), y(shape.y), z(shape.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

inline char1 make_char1(signed char x) { return {x}; }
inline char2 make_char2(signed char x, signed char y) { return {x, y}; }
inline char3 make_char3(signed char x, signed char y, signed char z) { return {x, y, z}; }
inline char4 make_char4(signed char x, signed char y, signed char z, signed char w) { return {x, y, z, w}; }

inline uchar1 make_uchar1(unsigned char x) { return {x}; }
inline uchar2 make_uchar2(unsigned char x, unsigned char y) { return {x, y}; }
inline uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z) { return {x, y, z}; }
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return {x, y, z, w}; }

inline short1 make_short1(short x) { return {x}; }
inline short2 make_short2(short x, short y) { return {x, y}; }
inline short3 make_short3(short x, short y, short z) { return {x, y, z}; }
inline short4 make_short4(short x, short y, short z, short w) { return {x, y, z, w}; }

inline ushort1 make_ushort1(unsigned short x) { return {x}; }
inline ushort2 make_ushort2(unsigned short x, unsigned short y) { return {x, y}; }
inline ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z) { return {x, y, z}; }
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) {
  return {x, y, z, w};
}

inline int1 make_int1(int x) { return {x}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

inline uint1 make_uint1(unsigned int x) { return {x}; }
inline uint2 make_uint2(unsigned int x, unsigned int y) { return {x, y}; }
inline uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return {x, y, z, w}; }

inline long1 make_long1(long x) { return {x}; }
inline long2 make_long2(long x, long y) { return {x, y}; }
inline long3 make_long3(long x, long y, long z) { return {x, y, z}; }
inline long4 make_long4(long x, long y, long z, long w) { return {x, y, z, w}; }

inline ulong1 make_ulong1(unsigned long x) { return {x}; }
inline ulong2 make_ulong2(unsigned long x, unsigned long y) { return {x, y}; }
inline ulong3 make_ulong3(unsigned long x, unsigned long y, unsigned long z) { return {x, y, z}; }
inline ulong4 make_ulong4(unsigned long x, unsigned long y, unsigned long z, unsigned long w) { return {x, y, z, w}; }

inline longlong1 make_longlong1(long long x) { return {x}; }
inline longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
inline longlong3 make_longlong3(long long x, long long y, long long z) { return {x, y, z}; }
inline longlong4 make_longlong4(long long x, long long y, long long z, long long w) { return {x, y, z, w}; }

inline ulonglong1 make_ulonglong1(unsigned long long x) { return {x}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }
inline ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y, unsigned long long z) {
  return {x, y, z};
}
inline ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y, unsigned long long z,
                                  unsigned long long w) {
  return {x, y, z, w};
}

inline float1 make_float1(float x) { return {x}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline double1 make_double1(double x) { return {x}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline double3 make_double3(double x, double y, double z) { return {x, y, z}; }
inline double4 make_double4(double x, double y, double z, double w) { return {x, y, z, w}; }

inline long4_16a make_long4_16a(long x, long y, long z, long w) { return {x, y, z, w}; }
inline long4_32a make_long4_32a(long x, long y, long z, long w) { return {x, y, z, w}; }
inline ulong4_16a make_ulong4_16a(unsigned long x, unsigned long y, unsigned long z, unsigned long w) {
  return {x, y, z, w};
}
inline ulong4_32a make_ulong4_32a(unsigned long x, unsigned long y, unsigned long z, unsigned long w) {
  return {x, y, z, w};
}
inline longlong4_16a make_longlong4_16a(long long x, long long y, long long z, long long w) { return {x, y, z, w}; }
inline longlong4_32a make_longlong4_32a(long long x, long long y, long long z, long long w) { return {x, y, z, w}; }
inline ulonglong4_16a make_ulonglong4_16a(unsigned long long x, unsigned long long y, unsigned long long z,
                                          unsigned long long w) {
  return {x, y, z, w};
}
inline ulonglong4_32a make_ulonglong4_32a(unsigned long long x, unsigned long long y, unsigned long long z,
                                          unsigned long long w) {
  return {x, y, z, w};
}
inline double4_16a make_double4_16a(double x, double y, double z, double w) { return {x, y, z, w}; }
inline double4_32a make_double4_32a(double x, double y, double z, double w) { return {x, y, z, w}; }
