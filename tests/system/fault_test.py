#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What becomes of a job when one of its processes is killed, stopped, throws, or gets a signal.

fault_test.py RENGA FAULTY_PROGRAM MPIEXEC CASE

Every case looks at how long it took until no process of the job was left, at mpiexec's exit code, at who says what,
and at what lies in the run folder. Times are printed; their bounds leave room for a machine with other work.
"""
import contextlib
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

RENGA, FAULTY, MPIEXEC = sys.argv[1:4]
ENDS_SECONDS = 5.0  # what is promised on a machine of one's own
SLACK_SECONDS = 5.0
START_SECONDS = 180.0
DCGAN = ["train", "dcgan", "--data", "synthetic", "--ch", "16", "--batch", "13", "--steps", "100000"]


def processes(mark):
    """Rank → process number of what has `mark` in its command line; the launcher is rank None."""
    found = {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{number}/cmdline", "rb") as file:
                words = file.read().decode().split("\0")
            with open(f"/proc/{number}/stat") as file:
                state = file.read().rpartition(")")[2].split()[0]
            with open(f"/proc/{number}/environ", "rb") as file:
                rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", file.read())
            if any(mark in word for word in words) and state != "Z" and int(number) != os.getpid():
                found[int(rank.group(1)) if rank else None] = int(number)
    return found


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for: {what}"
        time.sleep(0.02)


class Job:
    """A job of some ranks that has come to its steps."""

    def __init__(self, root, ranks, program, *arguments, **settings):
        self.folder = tempfile.mkdtemp(dir=root)
        self.run_folder = f"{self.folder}/run"
        self.ranks = ranks
        self.output_path = f"{self.folder}/output"
        self.output = ""
        if program == RENGA:
            arguments = [*arguments, "--out", self.run_folder]
        else:
            os.mkdir(self.run_folder)
            arguments = [*arguments, self.run_folder]
        with open(self.output_path, "w") as output:
            # Not a background job of some shell, for which SIGINT is ignored.
            self.launcher = subprocess.Popen(
                [MPIEXEC, "-n", str(ranks), program, *arguments], stdout=output, stderr=output,
                env={**os.environ, "RENGA_TIMEOUT": "60", **settings},
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.wait_until(self.is_running, START_SECONDS, "the job's first steps")
        self.processes = processes(self.run_folder)

    def wait_until(self, condition, seconds, what):
        """As above; leaves no process behind when it is in vain."""
        try:
            wait_until(condition, seconds, what)
        except AssertionError:
            self.clean_up()
            raise

    def is_running(self):
        if self.launcher.poll() is not None:
            return True  # it was quick to fail
        if os.path.exists(f"{self.run_folder}/log.jsonl"):
            with open(f"{self.run_folder}/log.jsonl") as log:
                return len(log.readlines()) >= 2
        with open(self.output_path) as output:
            return output.read().count("running") == self.ranks

    def signal_rank(self, rank, number):
        assert rank in self.processes, ("the job has not come to its steps", open(self.output_path).read())
        os.kill(self.processes[rank], number)
        self.begin = time.monotonic()

    def signal_launcher(self, number):
        self.launcher.send_signal(number)
        self.begin = time.monotonic()

    def wait(self, what, limit=ENDS_SECONDS):
        """Waits for the end of all processes, then of mpiexec, and looks at what they leave."""
        bound = limit + SLACK_SECONDS
        alive = lambda: [rank for rank in processes(self.run_folder) if rank is not None]
        self.wait_until(lambda: not alive(), bound, f"{what}: the end of ranks")
        ranks_ended = time.monotonic() - self.begin
        self.exit_code = self.launcher.wait(timeout=60)
        with open(self.output_path) as output:
            self.output = output.read()
        print(f"{what}, {self.ranks} ranks: ranks ended after {ranks_ended:.2f} s, mpiexec after "
              f"{time.monotonic() - self.begin:.2f} s with code {self.exit_code}", flush=True)
        assert not processes(self.run_folder), (what, "left behind", processes(self.run_folder))
        check_files(what, self.run_folder)
        return self

    def clean_up(self):
        with open(self.output_path) as output:
            print(output.read())
        for process in processes(self.run_folder).values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def lines_with(self, words):
        return [line for line in self.output.splitlines() if words in line]

    def failed(self, *ways_to_say):
        """One message, in one of these ways, and an exit code that is not 0."""
        said = [line for words in ways_to_say for line in self.lines_with(words)]
        print(f"    {said[0] if said else self.output}", flush=True)
        ours = [line for line in said if line.startswith("[rank ")]
        assert said and len(ours) <= 1, ("expected one message", ways_to_say, self.output)
        assert self.exit_code != 0, self.output
        return self

    def saved(self, name):
        return os.path.exists(f"{self.run_folder}/{name}")


def check_files(what, folder):
    """No temporary files, and all others whole."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = f"{place}/{name}"
            assert ".tmp" not in name, (what, "a temporary file", path)
            with open(path, "rb") as file:
                content = file.read()
            if name.endswith(".safetensors"):
                (length,) = struct.unpack("<Q", content[:8])
                entries = json.loads(content[8:8 + length])
                ends = [entry["data_offsets"][1] for key, entry in entries.items() if key != "__metadata__"]
                assert len(content) == 8 + length + max(ends, default=0), (what, "cut off", path)
            elif name.endswith(".json"):
                json.loads(content)
            elif name.endswith(".png"):
                assert content.endswith(b"IEND\xaeB`\x82"), (what, "cut off", path)


def gone(job, rank):
    """Ways to name a rank that was ended: a survivor's and mpiexec's."""
    return f"rank {rank} (pid {job.processes[rank]}) has ended", f"mpiexec noticed that process rank {rank}"


def case_killed(root):
    """SIGKILL at any moment of a step, computing or waiting, with and without signals being noted."""
    for ranks in (2, 3):
        for rank in (0, ranks - 1):
            for program, arguments in ((RENGA, DCGAN), (FAULTY, ["endless"])):
                job = Job(root, ranks, program, *arguments)
                time.sleep(random.uniform(0, 0.5))
                job.signal_rank(rank, signal.SIGKILL)
                job.wait(f"{os.path.basename(program)}: SIGKILL of rank {rank}").failed(*gone(job, rank))


def case_killed_saving(root):
    job = Job(root, 2, FAULTY, "killed-saving")
    job.begin = time.monotonic()
    job.wait("SIGKILL while saving").failed(*gone(job, 0) if 0 in job.processes else ["rank 0"])
    assert job.saved("before.safetensors") and not job.saved("killed.safetensors"), os.listdir(job.run_folder)


def case_stopped(root):
    """SIGSTOP: the others give up after RENGA_TIMEOUT, and the one that is stopped does not stay."""
    for ranks in (2, 3):
        for rank in (0, ranks - 1):
            job = Job(root, ranks, RENGA, *DCGAN, RENGA_TIMEOUT="3")
            time.sleep(random.uniform(0, 0.5))
            job.signal_rank(rank, signal.SIGSTOP)
            job.wait(f"SIGSTOP of rank {rank}", limit=3 + ENDS_SECONDS)
            job.failed(f"rank {rank} (pid {job.processes[rank]}) is stopped")


def case_suspended(root):
    """SIGSTOP of all, for longer than RENGA_TIMEOUT, and SIGCONT: nobody is late, the job goes on."""
    job = Job(root, 2, RENGA, *DCGAN, RENGA_TIMEOUT="3")
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for rank in range(2):
            job.signal_rank(rank, number)
        time.sleep(4)
    with open(f"{job.run_folder}/log.jsonl") as log:
        before = len(log.readlines())
    job.wait_until(lambda: open(f"{job.run_folder}/log.jsonl").read().count("\n") > before + 2, 20, "steps after SIGCONT")
    job.signal_rank(0, signal.SIGKILL)
    job.wait("SIGKILL after SIGCONT").failed(*gone(job, 0))


def case_thrown(root):
    """One rank throws in each place; the others, which wait for it, end as well."""
    for ranks in (2, 3):
        for mode, words in (("forward", "forward: thrown by the model"),
                            ("backward", "backward: thrown by the autograd engine"),
                            ("loader", "loader: thrown in a worker thread"),
                            ("saving", "full.safetensors: cannot write: File too large"),
                            ("saving-alone", "saving: thrown on one rank")):
            job = Job(root, ranks, FAULTY, mode)
            job.begin = time.monotonic()
            job.wait(f"thrown in {mode}").failed(words)
            assert not job.lines_with("has ended"), ("the error says it all", job.output)
            assert not job.saved("full.safetensors")


def case_asked_to_stop(root):
    """Signals to a program that asks for them: the step is ended, the state saved, and all leave together."""
    for ranks, number in ((2, signal.SIGTERM), (3, signal.SIGINT), (2, signal.SIGUSR1)):
        job = Job(root, ranks, FAULTY, "endless")
        job.signal_rank(ranks - 1, number)
        job.wait(f"{number.name} to the last rank")
        said = set(job.lines_with("stopped after step"))
        assert job.exit_code == 0 and len(said) == 1 and job.output.count("stopped after") == ranks, job.output
        assert job.saved("stopped.safetensors")
    job = Job(root, 2, FAULTY, "endless")
    job.signal_launcher(signal.SIGUSR1)
    job.wait("SIGUSR1 to mpiexec")
    assert job.exit_code == 0 and job.saved("stopped.safetensors"), job.output
    # mpiexec passes these on after the sigkill timeout, and takes as long again to return. Eight seconds, for a busy machine.
    for ranks, number in ((2, signal.SIGTERM), (3, signal.SIGINT)):
        job = Job(root, ranks, FAULTY, "endless", OMPI_MCA_odls_base_sigkill_timeout="8")
        job.signal_launcher(number)
        job.wait(f"{number.name} to mpiexec", limit=16 + ENDS_SECONDS)
        assert job.saved("stopped.safetensors"), job.output


def case_not_asked(root):
    """A program that never asks ends on a signal as any other does."""
    job = Job(root, 2, FAULTY, "deaf")
    job.signal_rank(1, signal.SIGTERM)
    job.wait("SIGTERM to a rank that does not ask").failed(*gone(job, 1))
    job = Job(root, 2, FAULTY, "deaf")
    job.signal_launcher(signal.SIGINT)
    job.wait("SIGINT to mpiexec of ranks that do not ask")
    assert job.exit_code != 0, job.output


def case_dead_peer_cancels_saving(root):
    job = Job(root, 3, FAULTY, "endless")
    os.kill(job.processes[0], signal.SIGSTOP)  # it sees both at once
    os.kill(job.processes[2], signal.SIGKILL)
    job.wait_until(lambda: 2 not in processes(job.run_folder), 10, "the end of rank 2")
    os.kill(job.processes[0], signal.SIGTERM)
    os.kill(job.processes[1], signal.SIGTERM)
    job.signal_rank(0, signal.SIGCONT)
    job.wait("SIGTERM and a dead rank").failed(*gone(job, 2))
    assert not job.saved("stopped.safetensors"), os.listdir(job.run_folder)


def case_launcher_gone(root):
    """mpiexec is killed, or told twice to stop: it then leaves its ranks behind, which must not stay."""
    job = Job(root, 2, FAULTY, "endless")
    job.signal_launcher(signal.SIGKILL)
    job.wait("SIGKILL of mpiexec")
    job = Job(root, 3, RENGA, *DCGAN, OMPI_MCA_odls_base_sigkill_timeout="30")
    job.signal_launcher(signal.SIGINT)
    time.sleep(0.5)
    job.signal_launcher(signal.SIGINT)
    job.wait("SIGINT twice to mpiexec")
    assert job.exit_code != 0, job.output


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        globals()["case_" + sys.argv[4]](scratch)
    print("1 passed, 0 failed")
