// Sorts tiles of 1024 keys with tile.cl and verifies them: ./host N. Prints the milliseconds from the launch to its end.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) / 1024 * 1024 : 16384, threads = 512, all = n / 2;
  char text[4096] = {0};
  const char* source = text;
  FILE* file = fopen("tile.cl", "r");
  if (!file || !fread(text, 1, sizeof text - 1, file)) return perror("tile.cl"), 1;
  cl_uint* keys = malloc(n * sizeof *keys);
  unsigned long long state = 1, before = 0, after = 0;
  for (size_t i = 0; i < n; ++i) before += keys[i] = (state = state * 6364136223846793005u + 1442695040888963407u) >> 32;
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 1;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL)) return fprintf(stderr, "tile.cl does not compile\n"), 1;
  cl_kernel kernel = clCreateKernel(program, "sort_tiles", NULL);
  cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, n * sizeof *keys, keys, NULL);
  clSetKernelArg(kernel, 0, sizeof memory, &memory);
  struct timespec begin, end;
  timespec_get(&begin, TIME_UTC);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, &threads, 0, NULL, NULL);
  clFinish(queue);
  timespec_get(&end, TIME_UTC);
  clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, n * sizeof *keys, keys, 0, NULL, NULL);
  for (size_t i = 0; i < n; after += keys[i++]) {
    if (i % 1024 && keys[i] < keys[i - 1]) return fprintf(stderr, "not sorted at %zu\n", i), 1;
  }
  if (after != before) return fprintf(stderr, "the keys have changed\n"), 1;
  printf("%zu keys, %.1f ms\n", n, (end.tv_sec - begin.tv_sec) * 1e3 + (end.tv_nsec - begin.tv_nsec) * 1e-6);
}
