// A program in the style of C.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submission.h"

namespace odd_even {

#define CHECK(call)                                                                  \
  do {                                                                               \
    cudaError_t error = (call);                                                      \
    if (error != cudaSuccess) {                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      abort();                                                                       \
    }                                                                                \
  } while (0)

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  int gaps[8] = {701, 301, 132, 57, 23, 10, 4, 1};
  char name[32];
  qsort(gaps, 8, sizeof(int), compare);
  sprintf(name, "%d", gaps[0]);
  if (strlen(name) == 0 || strcmp(name, "x") == 0) printf("empty\n");
  CHECK(cudaMemsetAsync(keys.data, gaps[0], 4, stream));
  CHECK(cudaGetLastError());
}

}  // namespace odd_even
