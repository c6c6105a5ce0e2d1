#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills runs at random moments and resumes them on other numbers of ranks: the result is that of a run left alone.

kill_test.py PROGRAM MPIEXEC DATA_FOLDER KILLS [SEED]

SIGKILL meets all ranks, one of them, or mpiexec; while training, starting, or (watched for) saving. Each run that
reaches its end is compared; then another is begun, until there were KILLS kills.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cli_test import MPIEXEC, PROGRAM, weights, worst_difference
from resume_test import LIMIT_SECONDS, require_whole

BOUND = 1e-10
STEPS = 30
OPTIONS = ["dcgan", "--ch", "16", "--dtype", "float64", "--seed", "3", "--threads", "1", "--data", "synthetic",
           "--batch", "5", "--save-every", "3", "--steps", str(STEPS)]


def processes_of(session):
    """Ids and command lines of the processes of a session that was started here."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
            with open(f"/proc/{entry}/cmdline") as file:
                command = file.read().split("\0")
        except OSError:  # it ended meanwhile
            continue
        if fields[0] != "Z" and int(fields[3]) == session:
            found[int(entry)] = command
    return found


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Job:
    """A run in a session of its own, so that all its processes can be found."""

    def __init__(self, log, ranks, arguments):
        command = [PROGRAM, "train", *arguments]
        if ranks > 1:
            command = [MPIEXEC, "-n", str(ranks), *command]
        self.log = log
        with open(log, "w") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)

    def said(self):
        with open(self.log) as file:
            return file.read()

    def is_over(self):
        return self.process.poll() is not None

    def ranks(self):
        return sorted(id for id, command in processes_of(self.process.pid).items() if command[0] == PROGRAM)

    def wait(self):
        """Exit code, once no process is left. Those that outlive their mpiexec get some seconds."""
        try:
            code = self.process.wait(LIMIT_SECONDS)
            end = time.monotonic() + 10
            while (left := processes_of(self.process.pid)) and time.monotonic() < end:
                time.sleep(0.05)
            if left:
                print(f"  outlived by {left}, killed now")
            return code
        finally:
            self.end()

    def end(self):
        for process in processes_of(self.process.pid):
            kill(process)
        kill(self.process.pid)
        self.process.wait()


def is_saving(folder):
    try:
        return any(name.startswith("saving-") for name in os.listdir(folder))
    except FileNotFoundError:
        return False


def await_moment(job, folder, draw, seconds):
    """Waits for a moment to kill; says which it was, or nothing if the run came to its end first."""
    how = draw.choice(("any time", "any time", "start", "saving", "saving"))
    delay = draw.uniform(0, {"any time": seconds, "start": 0.3 * seconds, "saving": 0.03}[how])
    start = time.monotonic()
    skip = draw.randrange(4) if how == "saving" else 0  # which of the next checkpoints
    while skip >= 0 and how == "saving":
        while not is_saving(folder) and not job.is_over() and time.monotonic() - start < LIMIT_SECONDS:
            time.sleep(0.0005)
        skip -= 1
        while skip >= 0 and is_saving(folder) and not job.is_over():
            time.sleep(0.0005)
    time.sleep(delay)
    return None if job.is_over() else f"{how}, after {time.monotonic() - start:.2f} s"


def kill_some(job, draw):
    ranks = job.ranks()
    victims = draw.choice(("all", "one rank", "mpiexec"))
    if victims == "one rank" and ranks:
        kill(draw.choice(ranks))
    elif victims == "mpiexec":
        kill(job.process.pid)
    else:
        for process in (*ranks, job.process.pid):
            kill(process)
    return victims


def has_checkpoint(folder):
    return os.path.isdir(folder) and any(name.startswith("step-") for name in os.listdir(folder))


def begin_or_resume(root, folder, ranks):
    if has_checkpoint(folder):
        return Job(f"{root}/said", ranks, ["--resume", folder])
    shutil.rmtree(folder, ignore_errors=True)
    return Job(f"{root}/said", ranks, [*OPTIONS, "--out", folder])


def check_finished(folder, reference):
    error = worst_difference(weights(folder, STEPS), reference)
    print(f"finished: {error:.1e} from the run left alone")
    assert error <= BOUND, error
    with open(f"{folder}/log.jsonl") as log:
        assert [json.loads(line)["step"] for line in log] == list(range(1, STEPS + 1))
    saved = sorted(name for name in os.listdir(folder) if "step-" in name)
    assert saved == [f"step-{step:08d}" for step in range(3, STEPS + 1, 3)], saved
    for name in saved:
        require_whole(f"{folder}/{name}")
    left = [name for _, _, names in os.walk(folder) for name in names if ".tmp-" in name]
    assert not left, left


def test(root, kills, draw):
    start = time.monotonic()
    job = Job(f"{root}/said", 2, [*OPTIONS, "--out", f"{root}/reference"])
    assert job.wait() == 0, job.said()
    seconds = time.monotonic() - start
    reference = weights(f"{root}/reference", STEPS)
    check_finished(f"{root}/reference", reference)
    folder, done, finished = f"{root}/run", 0, 0
    while done < kills or finished == 0:
        ranks = draw.randint(1, 4)
        job = begin_or_resume(root, folder, ranks)
        try:
            moment = await_moment(job, folder, draw, seconds) if done < kills else None
            if moment is not None:
                done += 1
                print(f"kill {done} of {ranks} ranks: {moment}: {kill_some(job, draw)}", flush=True)
            code = job.wait()
        finally:
            job.end()
        if moment is None or code == 0:
            print(job.said())
            assert code == 0, f"exit code {code}"
            check_finished(folder, reference)
            finished += 1
            shutil.rmtree(folder)
    print(f"{done} kills, {finished} runs finished")


def main():
    kills = int(sys.argv[4])
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(10**6)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as root:
        try:
            test(root, kills, random.Random(seed))
        except BaseException:
            if os.path.exists(f"{root}/said"):
                with open(f"{root}/said") as said:
                    print(f"the last run said:\n{said.read()}")
            subprocess.run(["find", root])
            raise
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
