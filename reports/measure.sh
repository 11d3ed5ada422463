#!/bin/sh
# Builds, tests and measures everything on the GPU of this machine, and leaves the results in a folder.
#   reports/measure.sh [FOLDER [LAB ...]]        (default: build-measure/results, all labs)
# Needs nvcc, Meson, Ninja and the header-only libraries that ./workbook installs; where those lie elsewhere, set CPATH.
# MEASURE_COMMIT names the commit where git cannot tell; MEASURE_LARGE=1 tests n above 2^32 as well;
# MEASURE_BRIEF=1 leaves out the sweeps over launch shapes and inputs; MEASURE_UNTESTED=1, the graded tests.
# MEASURE_PROFILED=1 adds Nsight Compute (140 s on an H200) and compute-sanitizer (4 minutes on 16 cores).
set -eu
cd "$(dirname "$0")/.."
build=build-measure
out=${1:-$build/results}
[ $# -eq 0 ] || shift
labs=${*:-$(ls solutions | grep '^[0-9]')}
mkdir -p "$out"
start=$(date +%s)
commit=${MEASURE_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}

heading() { echo "== $* ($(($(date +%s) - start)) s)"; }

[ -f "$build/build.ninja" ] || meson setup "$build" -Dcuda=enabled -Dcpu=disabled >"$out/setup.log" 2>&1 ||
  { tail -n 30 "$out/setup.log"; exit 1; }
meson compile -C "$build" solutions gold-cuda >"$out/compile.log" 2>&1 || { grep -m 20 -E 'error|FAILED' "$out/compile.log"; exit 1; }

failed=0
{
  echo "commit: $commit"
  echo "command: reports/measure.sh"
  echo "date: $(date -u +%Y-%m-%dT%H:%MZ)"
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | sed 's/^/gpu: /'
  nvcc --version | sed -n 's/^Build /nvcc: /p'
} >"$out/machine.txt"
cat "$out/machine.txt"

for lab in $labs; do
  [ -z "${MEASURE_UNTESTED:-}" ] || break
  heading "$lab: graded tests on the GPU"
  "$build/tests/graded" --lab "$lab" --runner "$build/labs/$lab-cuda-solution" ${MEASURE_LARGE:+--large --timeout 120} \
    >"$out/$lab-graded.log" 2>&1 || failed=1
  tail -n 4 "$out/$lab-graded.log"
done

# judge_bench LAB ARGUMENTS: adds rows to the lab's table; a measurement may take $limit seconds
judge_bench() {
  lab=$1
  shift
  "$build/labs/judge" bench --lab "$lab" --runner "$build/labs/$lab-cuda-solution" --build cuda \
    --gold "$build/common/gold/gold-cuda" --time-limit 0.5 --commit "$commit" --csv "$out/$lab.csv" "$@" >/dev/null 2>>"$out/$lab-bench.log" ||
    failed=1
}

sizes=$(awk 'BEGIN { for (e = 10; e <= 28; e += 2) printf "%d ", 2 ^ e }')
for lab in $labs; do
  heading "$lab: steps by n, then by key type, against CUB"
  rm -f "$out/$lab.csv" "$out/$lab-bench.log"
  # Two steps of lab 05 work on the host: seconds for each run of more keys.
  case $lab in 05-radix) fast='--step 2 --step 3 --step 4' ;; *) fast= ;; esac
  # shellcheck disable=SC2086  # the sizes are words
  judge_bench "$lab" $fast --n $sizes
  # shellcheck disable=SC2086
  [ -z "$fast" ] || judge_bench "$lab" --step 0 --step 1 --n ${sizes%% 67108864*}
  # Every other key type of each step, at one large size.
  case $lab in 04-counting) swept=u8 input=range:5000000:5000255 ;; *) swept=u32 input=uniform ;; esac
  "$build/labs/judge" table --lab "$lab" | while IFS="$(printf '\t')" read -r step _ _ _ _ largest types task _; do
    [ "$task" = sort ] || continue
    for type in $(echo "$types" | tr ',' ' '); do
      [ "$type" = "$swept" ] || echo "$step $type $largest"
    done
  done >"$out/$lab-types.txt"
  while read -r step type largest; do
    if [ "$largest" -lt 33554432 ]; then n=16384; else n=33554432; fi
    [ -z "$fast" ] || [ "$step" -gt 1 ] || n=1048576
    # shellcheck disable=SC2086
    judge_bench "$lab" --step "$step" --type "$type" --input "$input" --n $n
  done <"$out/$lab-types.txt"
  rm "$out/$lab-types.txt"

  [ -z "${MEASURE_BRIEF:-}" ] || continue
  heading "$lab: kernels, launch shapes, inputs"
  # The kernels of each step, and the copies, at the sizes of the report's table and at one large one.
  few='1000 10000 100000'
  judge_bench "$lab" --n $few --kernels --transfers
  judge_bench "$lab" --n 4000000 --kernels --transfers --repeats 5
  judge_bench "$lab" --n $few --shapes 1x32,1x256,4x256,16x16,64x64,256x256,1024x1024 --kernels --repeats 5
  shapes=$(for b in 1 4 16 64 256 1024; do for t in 32 64 128 256 512 1024; do printf '%sx%s,' $b $t; done; done)
  judge_bench "$lab" --n 262144 --shapes "${shapes%,}" --repeats 5 --budget 30
  inputs=$("$build/labs/judge" inputs | cut -f1)
  # shellcheck disable=SC2086
  judge_bench "$lab" --n 1048576 --input $inputs --repeats 5
  case $lab in
    04-counting)
      for largest in 15 255 4095 65535 1048575 16777215; do
        judge_bench "$lab" --type u32 --n 1048576 --input range:0:$largest --repeats 5
      done ;;
  esac
done
tail -n 3 "$out"/*-bench.log
if [ -n "${MEASURE_PROFILED:-}" ]; then
  heading 'counts of Nsight Compute, for reports/agreement/README.md'
  BUILD=$PWD/$build MEASURE_COMMIT=$commit python3 reports/agreement/agreement.py --record "$out/agreement.csv" || failed=1
  heading 'compute-sanitizer on the faulty kernels, for reports/sanitizer/README.md'
  python3 reports/sanitizer/sanitizer.py --without-ours -o "$out/sanitizer.csv" || failed=1
fi
exit $failed
