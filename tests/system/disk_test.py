#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A disk that is full, or gone, while a run is saved.

disk_test.py PROGRAM MPIEXEC DATA_FOLDER CASE

The full disk is a small file system of its own (tmpfs), seen by this test alone; where one may not make such a thing
the test is skipped (exit code 77).
"""
import json
import os
import subprocess
import sys
import tempfile
import time

from kill_test import Job
from resume_test import LIMIT_SECONDS, OPTIONS, require_whole, run

SKIPPED = 77


class Training(Job):
    """A run in the background."""

    def wait_for(self, what, condition):
        end = time.monotonic() + LIMIT_SECONDS
        while not condition():
            assert not self.is_over(), f"ended before: {what}\n{self.said()}"
            assert time.monotonic() < end, f"waited too long for: {what}\n{self.said()}"
            time.sleep(0.01)


def fill(path):
    """Leaves no byte."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


def steps_in(log):
    try:
        with open(log) as file:
            return [json.loads(line)["step"] for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []


def options(folder, steps, every):
    return ["dcgan", *OPTIONS, "--data", "synthetic", "--batch", "2", "--out", folder, "--steps", str(steps),
            "--save-every", str(every), "--sample-every", str(every)]


def case_full_for_a_while(root):
    """A periodic checkpoint, log lines and samples may fail; all that can be made up for is."""
    folder = f"{root}/disk/run"
    training = Training(f"{root}/said", 2, options(folder, 260, 20))
    training.wait_for("the first checkpoint", lambda: os.path.exists(f"{folder}/step-00000020"))
    fill(f"{root}/disk/filler")
    training.wait_for("a checkpoint that fails", lambda: "there is no checkpoint of step" in training.said())
    training.wait_for("a log that fails", lambda: "log.jsonl: cannot write: No space left" in training.said())
    os.remove(f"{root}/disk/filler")
    code = training.wait()
    said = training.said()
    print(said)
    assert code == 0, code
    assert said.count("log.jsonl: can be written again") == 1
    assert "training goes on and saves again 20 steps later" in said
    assert steps_in(f"{folder}/log.jsonl") == list(range(1, 261))
    saved = sorted(name for name in os.listdir(folder) if "step-" in name)
    assert {"step-00000020", "step-00000260"} <= set(saved) and all(name.startswith("step-") for name in saved), saved
    for name in saved:
        require_whole(f"{folder}/{name}")


def case_full_at_the_end(root):
    """The last checkpoint must be saved; what was there before stays whole, and the run goes on from it later."""
    folder = f"{root}/disk/run"
    for ranks in (1, 2):
        training = Training(f"{root}/said", ranks, options(folder, 60, 40))
        training.wait_for("the first checkpoint", lambda: os.path.exists(f"{folder}/step-00000040"))
        fill(f"{root}/disk/filler")
        code = training.wait()
        said = training.said()
        print(said)
        assert code != 0 and (ranks > 1 or code == 1), code
        assert said.count("No space left on device\n") >= 1 and said.count("saving-step-00000060") == 1, said
        os.remove(f"{root}/disk/filler")
        assert sorted(name for name in os.listdir(folder) if "step-" in name) == ["step-00000040"]
        require_whole(f"{folder}/step-00000040")
        code, _, errors, _ = run(ranks, "train", "--resume", folder)
        assert code == 0, errors
        require_whole(f"{folder}/step-00000060")
        assert steps_in(f"{folder}/log.jsonl") == list(range(1, 61))
        subprocess.run(["rm", "-r", folder], check=True)


def case_vanished(root):
    """The run's folder is gone for a while, or for good."""
    folder = f"{root}/run"
    training = Training(f"{root}/said", 2, options(folder, 200, 20))
    training.wait_for("the first checkpoint", lambda: os.path.exists(f"{folder}/step-00000020"))
    os.rename(folder, f"{root}/away")
    training.wait_for("a checkpoint that fails", lambda: "there is no checkpoint of step" in training.said())
    os.rename(f"{root}/away", folder)
    code = training.wait()
    print(training.said())
    assert code == 0, code
    assert steps_in(f"{folder}/log.jsonl") == list(range(1, 201))
    require_whole(f"{folder}/step-00000020")
    require_whole(f"{folder}/step-00000200")
    for ranks in (1, 2):
        folder = f"{root}/for-good-{ranks}"
        training = Training(f"{root}/said", ranks, options(folder, 60, 40))
        training.wait_for("the first checkpoint", lambda: os.path.exists(f"{folder}/step-00000040"))
        os.rename(folder, f"{root}/aside-{ranks}")
        code = training.wait()
        print(training.said())
        assert code != 0 and (ranks > 1 or code == 1), code
        assert training.said().count("saving-step-00000060: cannot make the folder: No such file") == 1
        assert not os.path.exists(folder)
        require_whole(f"{root}/aside-{ranks}/step-00000040")


def with_small_disk(case):
    """Runs the case again where it may mount, with 2 MB at root/disk."""
    unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*unshare, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode != 0:
        print("no file system can be mounted here: skipped")
        return SKIPPED
    return subprocess.run([*unshare, sys.executable, *sys.argv[:4], f"{case}-inside"]).returncode


def main():
    case = sys.argv[4]
    if case.startswith("full") and not case.endswith("-inside"):
        return with_small_disk(case)
    with tempfile.TemporaryDirectory() as root:
        is_mounted = case.endswith("-inside")
        if is_mounted:
            os.mkdir(f"{root}/disk")
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", f"{root}/disk"], check=True)
        try:
            globals()["case_" + case.removesuffix("-inside")](root)
        finally:
            if is_mounted:
                subprocess.run(["umount", "--lazy", f"{root}/disk"], check=True)
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
