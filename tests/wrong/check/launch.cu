__global__ void nothing() {}

int main() {
  nothing<<<1, 1025>>>();  // expect: invalid-launch
  nothing<<<0, 32>>>();    // expect: invalid-launch
  nothing<<<1, 32, 300000>>>();  // expect: invalid-launch
}
