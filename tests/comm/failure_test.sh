#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: failure_test.sh PROGRAM MPIEXEC
# How whole jobs end: their exit code, how long they take, and what they print.
set -u
program=$1
mpiexec=$2
failures=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

complain() {
  echo "FAILED $1: $2"
  sed 's/^/    /' "$output"
  failures=$((failures + 1))
}

# What starting a job takes on this machine, in milliseconds; set by the first run.
start=0

# run NAME SECONDS CODE COMMAND...: CODE is a number, or "bad" for any that is not 0; the time is
# counted from the start of the job.
run() {
  local name=$1 seconds=$2 code=$3 begin took got
  shift 3
  begin=$(date +%s%N)
  timeout 60 "$@" >"$output" 2>&1
  got=$?
  took=$((($(date +%s%N) - begin) / 1000000))
  if [[ $code == bad && $got -eq 0 ]] || [[ $code != bad && $got -ne $code ]]; then
    complain "$name" "exit code: expected $code, got $got"
  fi
  if ((took > seconds * 1000 + 2 * start)); then
    complain "$name" "expected at most $seconds s after the start of $start ms, got $took ms in all"
  fi
  echo "$name: $took ms, exit code $got"
  took_last=$took
}

# prints NAME TIMES TEXT: lines of the last run's output that contain TEXT.
prints() {
  local got
  got=$(grep -c -F -- "$3" "$output")
  if [[ $got -ne $2 ]]; then
    complain "$1" "expected $2 lines with \"$3\", got $got"
  fi
}

run good 30 0 "$mpiexec" -n 4 "$program" good
prints good 4 "started"
start=$took_last

run one 5 bad "$mpiexec" -n 4 "$program" one
prints one 1 "[rank 3/4] one: this rank alone"
prints one 1 "one: this rank alone"
prints one 0 "has ended"

run all 5 bad "$mpiexec" -n 4 "$program" all
prints all 1 "[rank 0/4] all: every rank alike"
prints all 1 "all: every rank alike"

run each 5 bad "$mpiexec" -n 3 "$program" each
for rank in 0 1 2; do
  prints each 1 "[rank $rank/3] each: number $rank"
done

run end 5 bad "$mpiexec" -n 3 "$program" end
prints end 1 "[rank 1/3] end: after the last collective"

RENGA_TIMEOUT=2 run late 5 bad "$mpiexec" -n 3 "$program" late
prints late 1 "[rank 0/3] all_reduce #4: expected all 3 ranks within 2 s, got no completion"
prints late 1 "got no completion: rank 2 (pid "
prints late 1 ") has not come, it was last in broadcast #3 (RENGA_TIMEOUT sets the limit)"

run drop 6 0 "$mpiexec" -n 2 "$program" drop

RENGA_CHECK=1 run mismatch 5 bad "$mpiexec" -n 3 "$program" mismatch
prints mismatch 1 "rank 0 calls all_reduce float32 [1] sum, rank 1 calls all_reduce float32 [2] sum"

run usage_on_all 5 2 "$mpiexec" -n 2 "$program" usage
prints usage_on_all 1 "[rank 0/2] usage: expected something else"

RENGA_TIMEOUT=soon run setting_on_all 5 bad "$mpiexec" -n 3 "$program" good
prints setting_on_all 1 "[rank 0/3] RENGA_TIMEOUT: expected seconds above 0, got \"soon\""
prints setting_on_all 1 "RENGA_TIMEOUT"

run alone 3 0 "$program" good
run usage 3 2 "$program" usage
prints usage 1 "usage: expected something else"
prints usage 0 "[rank"
run torch 3 1 "$program" torch
prints torch 1 "torch: has a backtrace"
prints torch 0 "frame #"
RENGA_TIMEOUT=-1 run setting 3 1 "$program" good
prints setting 1 "RENGA_TIMEOUT: expected seconds above 0, got \"-1\""
WORLD_SIZE=2 run lost 3 1 "$program" good
prints lost 1 "start the program with mpiexec"

exit $((failures > 0))
