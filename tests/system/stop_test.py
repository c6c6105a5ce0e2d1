#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals to a run: it finishes the step, saves, says how to go on, and does so as if it had never stopped.

stop_test.py PROGRAM MPIEXEC DATA_FOLDER
"""
import os
import re
import signal
import sys
import tempfile
import time

from kill_test import Job
from resume_test import LIMIT_SECONDS, OPTIONS, require_close, require_identical, require_whole, resume, start

STEPS = 80
DATA = ["--data", "synthetic", "--batch", "5", "--steps", str(STEPS), "--save-every", "10", "--sample-every", "100"]


def stop(root, ranks, number, meets):
    """A run that gets a signal after its first checkpoint; returns its folder and the step it stopped at."""
    folder = f"{root}/{signal.Signals(number).name}-{ranks}-{meets}"
    job = Job(f"{root}/said", ranks, ["dcgan", *OPTIONS, *DATA, "--out", folder])
    try:
        end = time.monotonic() + LIMIT_SECONDS
        while not os.path.exists(f"{folder}/step-00000010"):
            assert not job.is_over() and time.monotonic() < end, job.said()
            time.sleep(0.002)
        os.kill(job.process.pid if meets == "mpiexec" else job.ranks()[-1], number)
        code = job.wait()
    finally:
        job.end()
    said = job.said()
    print(said)
    assert code == 0, code
    found = re.findall(r"stopped at step (\d+); go on with: renga train dcgan --resume (\S+)\n", said)
    assert len(found) == 1 and found[0][1] == folder, found
    step = int(found[0][0])
    assert 10 <= step < STEPS, step
    require_whole(f"{folder}/step-{step:08d}")
    return folder, step


def main():
    with tempfile.TemporaryDirectory() as root:
        reference = start(f"{root}/reference", 2, "--data", "synthetic", *DATA[2:])
        for ranks, number, meets in ((1, signal.SIGINT, "rank"), (2, signal.SIGTERM, "rank"),
                                     (2, signal.SIGUSR1, "mpiexec"), (3, signal.SIGTERM, "rank")):
            folder, step = stop(root, ranks, number, meets)
            resume(folder, 2)
            require_close(f"stopped at step {step} of {ranks} ranks", folder, reference, STEPS)
            if ranks == 2:
                require_identical(folder, reference, STEPS)
    print("1 passed, 0 failed")


if __name__ == "__main__":
    sys.exit(main())
