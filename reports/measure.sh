#!/bin/sh
# Builds, tests and measures everything on the GPU of this machine, and leaves the results in a folder.
#   reports/measure.sh [FOLDER]        (default: build-measure/results)
# Needs nvcc, Meson, Ninja and the header-only libraries that ./workbook installs; where those lie elsewhere, set CPATH.
# MEASURE_COMMIT names the commit where git cannot tell.
set -eu
cd "$(dirname "$0")/.."
build=build-measure
out=${1:-$build/results}
mkdir -p "$out"
commit=${MEASURE_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}

meson setup "$build" -Dcuda=enabled -Dcpu=disabled >"$out/setup.log" 2>&1 || { tail -n 30 "$out/setup.log"; exit 1; }
meson compile -C "$build" solutions >"$out/compile.log" 2>&1 || { grep -m 20 -E 'error|FAILED' "$out/compile.log"; exit 1; }

failed=0
{
  echo "commit: $commit"
  echo "command: reports/measure.sh"
  echo "date: $(date -u +%Y-%m-%dT%H:%MZ)"
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | sed 's/^/gpu: /'
  nvcc --version | sed -n 's/^Build /nvcc: /p'
} >"$out/machine.txt"
cat "$out/machine.txt"

for runner in "$build"/solutions/*-cuda; do
  lab=$(basename "$runner" -cuda)
  echo "== $lab: graded tests on the GPU"
  "$build/tests/graded" --lab "$lab" --runner "$runner" >"$out/$lab-graded.log" 2>&1 || failed=1
  tail -n 4 "$out/$lab-graded.log"
done

sizes=$(awk 'BEGIN { for (e = 10; e <= 28; e += 2) printf "%d ", 2 ^ e }')
for runner in "$build"/solutions/*-cuda; do
  lab=$(basename "$runner" -cuda)
  echo "== $lab: steps by n, u32 keys, against CUB"
  # shellcheck disable=SC2086  # the sizes are words
  "$build/common/judge" bench --lab "$lab" --runner "$runner" --build cuda --gold "$build/common/gold-cuda" \
    --n $sizes --type u32 --time-limit 4 --csv "$out/$lab.csv" >/dev/null 2>"$out/$lab-bench.log" || failed=1
  "$build/common/judge" bench --lab "$lab" --runner "$runner" --build cuda --gold "$build/common/gold-cuda" \
    --n 1048576 67108864 --type i32 u64 f32 pairs --time-limit 4 --csv "$out/$lab.csv" >/dev/null \
    2>>"$out/$lab-bench.log" || failed=1
done
tail -n 3 "$out"/*-bench.log
exit $failed
