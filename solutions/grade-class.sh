#!/bin/sh
# Grades a class with Slurm: a job array, each task of which grades every N-th submission, and a job that joins the
# grades into those of a single run. All nodes must see the workbook, the class and the grades under the same paths.
#
#   solutions/grade-class.sh CLASS GRADES N [OPTIONS OF ./workbook grade, such as --labs 03-bitonic]
#
# SBATCH_... variables choose the partition, the time limit and so on (man sbatch). The joined grades are in GRADES/all,
# those of task K in GRADES/shards/K. If a task is ended, or submissions could not be graded, remove GRADES/all and run
# the script again: finished submissions are not graded again.
set -eu
class=$1 grades=$2 shards=$3
shift 3

if [ -z "${WORKBOOK_ROOT-}" ]; then # typed by a person
  WORKBOOK_ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
  export WORKBOOK_ROOT
  if [ -e "$grades/all" ]; then
    echo "$grades/all exists: remove it, and it is made again from $grades/shards" >&2
    exit 1
  fi
  umask 077 # the grades hold the seeds
  mkdir -p "$grades/shards"
  array=$(sbatch --parsable --job-name=grade --array="1-$shards" --cpus-per-task="${CPUS_PER_TASK:-4}" \
    --output="$grades/shards/%a.log" "$0" "$class" "$grades" "$shards" "$@")
  WORKBOOK_MERGE=yes sbatch --job-name=merge --dependency="afterany:$array" --output="$grades/merge.log" \
    "$0" "$class" "$grades" "$shards"
elif [ -n "${WORKBOOK_MERGE-}" ]; then
  exec "$WORKBOOK_ROOT/workbook" grade --merge "$grades"/shards/*/ --out "$grades/all"
else
  task=$SLURM_ARRAY_TASK_ID first=$grades/shards/1
  # The first task builds the workbook and draws the seeds. Slurm starts the tasks of an array in order, so the others
  # do not wait for long, unless the first one has failed.
  if [ "$task" != 1 ]; then
    left=1800
    until [ -f "$first/run.json" ]; do
      left=$((left - 1))
      if [ $left = 0 ]; then
        echo "after an hour, task 1 has not drawn the seeds: see $first.log, then run the script again" >&2
        exit 1
      fi
      sleep 2
    done
    set -- "$@" --seeds-of "$first"
  fi
  exec "$WORKBOOK_ROOT/workbook" grade "$class" --shard "$task/$shards" --out "$grades/shards/$task" \
    --jobs "${SLURM_CPUS_PER_TASK:-1}" "$@"
fi
