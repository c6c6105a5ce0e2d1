#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: no_tests.sh PROGRAM MPIEXEC
# A test program under mpiexec that finds none of its tests must fail.
if "$2" -n 2 "$1" --gtest_filter=No.SuchTest; then
  echo "expected an exit code that is not 0"
  exit 1
fi
