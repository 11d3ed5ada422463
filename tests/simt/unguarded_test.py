"""Tests of the notes on indices that nothing keeps within bounds."""

import unittest

from rewriting import Rewriting

KERNEL = """\
__global__ void add(const float* a, float* b, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  {body}
}}
void host(const float* a, float* b, int n, int threads, cudaStream_t s) {{
  {launch}
}}
"""
PLAIN, ROUNDED = "b[i] = a[i] + 1;", "add<<<(n + 255) / 256, 256>>>(a, b, n);"


class UnguardedTest(Rewriting):
    """Each test gives a kernel's body and a launch."""

    def notes(self, body: str = PLAIN, launch: str = ROUNDED, more: str = "") -> list[str]:
        """The lines that the rewriter prints."""
        done = self.run_on(KERNEL.format(body=body, launch=launch) + more, "--notes")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.splitlines()

    def test_a_launch_that_rounds_up_needs_a_test_of_the_index(self) -> None:
        (note,) = self.notes()
        self.assertEqual(
            note,
            "k.cu:3: note: unguarded-index: nothing in kernel add compares the index of b with a size, but its launch "
            "rounds the number of blocks up (k.cu:6): if the size is not a multiple of the block, the last threads "
            "leave the array; put the access into an if",
        )

    def test_without_notes_nothing_is_printed(self) -> None:
        done = self.run_on(KERNEL.format(body=PLAIN, launch=ROUNDED))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_ways_to_round_up(self) -> None:
        for launch in (
            "int blocks = (n + threads - 1) / threads; add<<<blocks, threads, 0, s>>>(a, b, n);",
            "dim3 grid((n + threads - 1) / threads); add<<<grid, threads>>>(a, b, n);",
            "dim3 grid; grid = dim3((n - 1 + threads) / threads); add<<<grid, threads>>>(a, b, n);",
            "add<<<(n + 127) / 128, 128>>>(a, b, n);",
            "add<<<div_up(n, threads), threads>>>(a, b, n);",
            "add<<<ceil(n / 256.0), 256>>>(a, b, n);",
        ):
            with self.subTest(launch):
                self.assertEqual(len(self.notes(launch=launch)), 1)

    def test_a_launch_of_as_many_threads_as_elements_needs_none(self) -> None:
        for launch in (
            "add<<<n / 256, 256>>>(a, b, n);",
            "add<<<1, n>>>(a, b, n);",
            "int blocks = n / threads; add<<<blocks, threads>>>(a, b, n);",
            f"{ROUNDED} add<<<n / 256, 256>>>(a, b, n);",  # which of them is wrong cannot be known
        ):
            with self.subTest(launch):
                self.assertEqual(self.notes(launch=launch), [])

    def test_what_may_limit_an_index(self) -> None:
        for body in (
            "if (i < n) b[i] = a[i] + 1;",
            "if (i >= n) return; b[i] = a[i] + 1;",
            "for (; i < n; i += blockDim.x * gridDim.x) b[i] = a[i] + 1;",
            "b[i % n] = a[0];",
            "i = min(i, n - 1); b[i] = a[i];",
            "b[i & 1023] = a[0];",
            "const bool is_inside = i < n; if (is_inside) b[i] = a[i];",
            "b[0] = a[0];",  # no place of a thread
            "b[blockIdx.x] = a[0];",  # one element per block
        ):
            with self.subTest(body):
                self.assertEqual(self.notes(body), [])

    def test_a_loop_over_something_else_limits_nothing(self) -> None:
        self.assertEqual(len(self.notes("for (int k = 0; k < 4; ++k) b[i] = a[i] + k;")), 1)

    def test_an_index_in_several_steps(self) -> None:
        self.assertEqual(len(self.notes("int j = i * 2; b[j] = a[j + 1];")), 1)
        self.assertEqual(len(self.notes("b[blockIdx.x * blockDim.x + threadIdx.x] = a[0];")), 1)

    def test_of_two_kernels_with_a_name_nothing_is_known(self) -> None:
        self.assertEqual(self.notes(more="__global__ void add(float* b) {\n  b[0] = 1;\n}\n"), [])


if __name__ == "__main__":
    unittest.main()
