#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `renga train dcgan` against PyTorch's DistributedDataParallel, side by side in one run.

    benchmarks/against_ddp.py [--renga build/bin/renga] [--ranks 2] [--ch 512] [--batch 64] [--rounds 7]

In turn, each with one compute thread a process: DDP on contiguous and on channels_last memory (ddp_dcgan.py, which needs
Debian's python3-torch), and renga. A round in which other programs used the cores is thrown away. Prints medians,
and the ratios of each round's rates, of which the median is taken.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 600
TRIES = 3  # rounds in all for each round asked for

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


class Failed(Exception):
    pass


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def last_json(text):
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise Failed(f"no line of JSON in:\n{text}")


def run_all(commands, environments):
    """Runs programs together; the output of the first. None is left behind."""
    started = []
    try:
        for command, extra in zip(commands, environments):
            output = subprocess.PIPE if not started else subprocess.DEVNULL
            started.append(subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True,
                                            env={**os.environ, **ENVIRONMENT, **extra}))
        out, errors = started[0].communicate(timeout=TIMEOUT)
        for process in started[1:]:
            process.communicate(timeout=TIMEOUT)
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
    if any(process.returncode != 0 for process in started):
        raise Failed(f"{' '.join(map(str, commands[0]))}: exit code {started[0].returncode}\n{errors}")
    return out


def run_ddp(options, channels_last):
    command = ["/usr/bin/python3", HERE / "ddp_dcgan.py", "--ch", str(options.ch), "--batch", str(options.batch),
               "--steps", str(options.steps)] + (["--channels-last"] if channels_last else [])
    port = str(free_port())
    environments = [{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(options.ranks), "RANK": str(rank)}
                    for rank in range(options.ranks)]
    return last_json(run_all([command] * options.ranks, environments))


def run_renga(options, folder):
    out = pathlib.Path(folder) / "run"
    command = ["mpiexec", "--oversubscribe", "--bind-to", "none", "-n", str(options.ranks), options.renga, "train", "dcgan", "--ch", str(options.ch), "--batch",
               str(options.batch), "--steps", str(options.steps), "--out", str(out), "--json"]
    try:
        return last_json(run_all([command], [{}]))
    finally:
        shutil.rmtree(out, ignore_errors=True)


def busy_seconds():
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = list(map(int, stat.readline().split()[1:9]))
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def measured(action):
    """The result, and which part of a core others used meanwhile."""
    busy, own, begin = busy_seconds(), own_seconds(), time.monotonic()
    result = action()
    others = (busy_seconds() - busy) - (own_seconds() - own)
    return result, others / (time.monotonic() - begin)


def take_rounds(options, contestants):
    rounds, rejected = [], 0
    for number in range(TRIES * options.rounds):
        if len(rounds) == options.rounds:
            break
        results = {}
        names = list(contestants)
        shift = number % len(names)
        loudest = 0.0
        for name in names[shift:] + names[:shift]:
            results[name], others = measured(contestants[name])
            loudest = max(loudest, others)
        if loudest > options.quiet:
            rejected += 1
            print(f"round {number}: rejected, others used {loudest:.3f} of a core", file=sys.stderr)
            continue
        rounds.append(results)
    return rounds, rejected


def report(options, rounds, rejected, contestants):
    print(f"DCGAN ch {options.ch}, batch {options.batch}, {options.ranks} processes of one thread;"
          f" {len(rounds)} rounds, {rejected} rejected\n")
    if not rounds:
        raise Failed("no round was quiet enough; see --quiet")
    print(f"{'':32}{'images/s':>10}{'renga / it':>12}{'peak memory':>14}{'renga / it':>12}")
    own_memory = statistics.median(max(r["renga"]["peak_memory_bytes"]) for r in rounds)
    for name in contestants:
        rate = statistics.median(r[name]["images_per_second"] for r in rounds)
        ratio = statistics.median(r["renga"]["images_per_second"] / r[name]["images_per_second"] for r in rounds)
        memory = statistics.median(max(r[name]["peak_memory_bytes"]) for r in rounds)
        print(f"{name:32}{rate:10.1f}{ratio:12.3f}{memory / 2**20:11.0f} MB{own_memory / memory:12.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--renga", default="build/bin/renga")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--ch", type=int, default=512)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=9, help="of each sample; the first two do not count")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quiet", type=float, default=0.03, help="part of a core that others may use")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        contestants = {
            "DDP, contiguous": lambda: run_ddp(options, False),
            "DDP, channels_last": lambda: run_ddp(options, True),
            "renga": lambda: run_renga(options, folder),
        }
        try:
            rounds, rejected = take_rounds(options, contestants)
            report(options, rounds, rejected, contestants)
        except Failed as failure:
            sys.exit(f"against_ddp: {failure}")


if __name__ == "__main__":
    main()
