#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program as a user runs it: weights that do not depend on the processes, and errors that are clear.

cli_test.py PROGRAM MPIEXEC DATA_FOLDER CASE
"""
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import numpy

PROGRAM, MPIEXEC, DATA = sys.argv[1:4]
LIMIT_SECONDS = 5.0


def run(ranks, *arguments, limit=120):
    """Exit code, standard output, standard error, seconds."""
    command = [PROGRAM, *arguments]
    if ranks > 1:
        command = [MPIEXEC, "-n", str(ranks), *command]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - start


def read_safetensors(path):
    """An independent reader: nothing but numpy and the format's description."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8"}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = numpy.frombuffer(data[begin:end], kinds[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def weights(run_folder, step):
    found = {}
    for model in ("generator", "discriminator"):
        path = f"{run_folder}/step-{step:08d}/{model}.safetensors"
        for name, value in read_safetensors(path).items():
            found[f"{model}.{name}"] = value
    return found


def worst_difference(a, b):
    assert a.keys() == b.keys(), (sorted(a), sorted(b))
    worst = 0.0
    for name in a:
        error = numpy.abs(a[name].astype("f8") - b[name]).max()
        scale = numpy.abs(b[name]).max()
        worst = max(worst, 0.0 if error == 0 else error / scale if scale else error)
    return worst


def train(folder, ranks, *options, steps=20):
    arguments = ["train", "dcgan", "--ch", "32", "--dtype", "float64", "--seed", "3", "--steps", str(steps),
                 "--threads", "1", "--out", folder, *options]
    code, _, errors, _ = run(ranks, *arguments)
    assert code == 0, errors
    return weights(folder, steps)


def case_same_weights(root):
    """1, 2 and 3 ranks, batch 13, 20 steps of Fashion-MNIST in float64."""
    data = ["--data", "fashion-mnist", "--batch", "13"]
    reference = train(f"{root}/one", 1, *data)
    for ranks in (2, 3):
        error = worst_difference(train(f"{root}/{ranks}", ranks, *data), reference)
        print(f"{ranks} ranks against 1: {error:.1e}")
        assert error <= 1e-10, error


def case_scaling(root):
    """--batch-per-process 32 on 2 ranks is --batch 64."""
    data = ["--data", "synthetic"]
    strong = train(f"{root}/strong", 2, *data, "--batch", "64", steps=5)
    weak = train(f"{root}/weak", 2, *data, "--batch-per-process", "32", steps=5)
    error = worst_difference(weak, strong)
    print(f"weak against strong scaling: {error:.1e}")
    assert error == 0, error


def case_run_folder(root):
    """What a run leaves, its JSON line, and samples made from it."""
    code, out, errors, _ = run(2, "train", "dcgan", "--ch", "16", "--data", "synthetic", "--batch", "8", "--steps", "4",
                               "--sample-every", "2", "--out", f"{root}/run", "--json")
    assert code == 0, errors
    summary = json.loads(out.strip().splitlines()[-1])
    assert summary["ranks"] == 2 and summary["mesh"] == "data=2" and len(summary["peak_memory_bytes"]) == 2, summary
    assert summary["images_per_second"] > 0 and set(summary["losses"]) == {"discriminator", "generator"}, summary
    expected = ["config.json", "log.jsonl", "samples/step-00000002.png", "samples/step-00000004.png",
                "step-00000004/generator.safetensors", "step-00000004/discriminator.safetensors"]
    for name in expected:
        assert os.path.exists(f"{root}/run/{name}"), name
    with open(f"{root}/run/log.jsonl") as log:
        assert [json.loads(line)["step"] for line in log] == [1, 2, 3, 4]
    code, _, errors, _ = run(1, "sample", f"{root}/run", "--count", "10", "--out", f"{root}/s.png")
    assert code == 0, errors
    with open(f"{root}/s.png", "rb") as image:
        assert image.read(8) == b"\x89PNG\r\n\x1a\n"


def check_error(root, what, ranks, expected_code, words, *arguments):
    """One message, in time, with a code that is not 0, and nothing half written."""
    out = f"{root}/out"
    if "--out" not in arguments:
        arguments = [*arguments, "--out", out]
    code, _, errors, seconds = run(ranks, "train", "dcgan", *arguments)
    ours = [line for line in errors.splitlines() if any(word in line for word in words)]
    print(f"{what}, {ranks} ranks: code {code}, {seconds:.1f} s: {ours[0] if ours else errors[:300]}")
    assert code != 0 and (ranks > 1 or code == expected_code), (what, code, errors)
    assert len(ours) == 1, (what, "expected one message", errors)
    assert seconds < LIMIT_SECONDS, (what, seconds)
    left = [name for _, _, names in os.walk(out) for name in names]
    assert not left, (what, "left behind", left)


def case_bench(_):
    """The benchmark's tables: a line for each contestant with ratios to those above, a column in that by operator."""
    for ranks, contestants in ((1, 3), (2, 5)):
        code, out, errors, _ = run(ranks, "bench", "train", "dcgan", "--ch", "16", "--batch", "6", "--rounds", "2",
                                   "--quiet", "100", "--operators", "--json")
        assert code == 0, errors
        lines = out.splitlines()
        rows = [line for line in lines if re.match(r"(plain LibTorch, |renga, |2 without ).* \d+\.\d{4} +\d+\.\d", line)]
        assert len(rows) == contestants, out
        for above, row in enumerate(rows):
            assert len(re.findall(r"\d+\.\d+", row)) == 2 + above, row
        convolution = next(line for line in lines if line.startswith("aten::convolution_backward"))
        assert len(convolution.split()) == 1 + contestants, convolution
        summary = json.loads(next(line for line in lines if line.startswith("{")))
        assert summary["rounds"] == 2 and len(summary["seconds"]) == contestants, summary
    for wrong in (["--rounds", "0"], ["--batch", "x"], ["--quiet", "-1"]):
        code, _, errors, _ = run(1, "bench", "train", "dcgan", *wrong)
        assert code == 2, (wrong, code, errors)


def case_hostfile(root):
    """From each scheduler's variables, and by hand."""
    with open(f"{root}/a line a process", "w") as file:
        file.write("b\na\nb\n")
    with open(f"{root}/sge", "w") as file:
        file.write("a 4 all.q@a UNDEFINED\nb 2 all.q@b UNDEFINED\n")
    jobs = {
        "slurm": ({"SLURM_JOB_NODELIST": "n[01-02],login", "SLURM_TASKS_PER_NODE": "2(x2),1"}, "n01 2 n02 2 login 1"),
        "pbs": ({"PBS_NODEFILE": f"{root}/a line a process"}, "b 2 a 1"),
        "lsf": ({"LSB_MCPU_HOSTS": "a 4 b 2"}, "a 4 b 2"),
        "sge": ({"PE_HOSTFILE": f"{root}/sge"}, "a 4 b 2"),
    }
    for scheduler, (variables, expected) in jobs.items():
        pairs = list(zip(expected.split()[::2], expected.split()[1::2]))
        os.environ.update(variables)
        for arguments, form in (([], "{} slots={}"), (["--format", "mpich", "--from", scheduler], "{}:{}")):
            code, out, errors, _ = run(1, "hostfile", *arguments)
            assert (code, out.splitlines()) == (0, [form.format(*pair) for pair in pairs]), (scheduler, out, errors)
        for name in variables:
            del os.environ[name]
    code, out, errors, _ = run(1, "hostfile")
    assert code == 1 and "slurm, pbs, lsf or sge" in errors and not out, (code, out, errors)
    code, out, errors, _ = run(2, "hostfile", "--hosts", "n[1-2]:3,[::1]", "--out", f"{root}/hosts")
    assert (code, out) == (0, ""), (code, out, errors)
    with open(f"{root}/hosts") as file:
        assert file.read() == "n1 slots=3\nn2 slots=3\n::1 slots=1\n"
    for wrong in (["--hosts", "n[1-"], ["--hosts", "a:0"], ["--slots", "0"], ["--from", "x"], ["--hosts", "a", "--from", "sge"]):
        code, out, errors, _ = run(1, "hostfile", *wrong)
        assert code == 2 and not out, (wrong, code, out, errors)
    # The file is one that mpiexec takes.
    code, out, errors, _ = run(1, "hostfile", "--hosts", "localhost:2", "--out", f"{root}/hosts")
    done = subprocess.run([MPIEXEC, "--hostfile", f"{root}/hosts", "-n", "2", "echo", "here"], capture_output=True, text=True)
    assert done.stdout.split() == ["here", "here"], done


def copy_data(root, name):
    folder = f"{root}/{name}"
    os.makedirs(folder)
    for file in ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"):
        shutil.copy(f"{DATA}/{file}", folder)
    return folder


def spoil(path, change):
    with open(path, "rb") as file:
        content = bytearray(file.read())
    with open(path, "wb") as file:
        file.write(change(content))


def case_bad_data(root):
    small = ["--ch", "16", "--steps", "1"]
    images, labels = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
    folders = {"missing": f"{root}/nowhere"}
    folders["truncated"] = copy_data(root, "truncated")
    spoil(f"{folders['truncated']}/{images}", lambda b: b[: len(b) // 2])
    folders["corrupt gzip"] = copy_data(root, "corrupt")
    spoil(f"{folders['corrupt gzip']}/{labels}", lambda b: b[:2000] + bytes(x ^ 255 for x in b[2000:2100]) + b[2100:])
    folders["magic"] = copy_data(root, "magic")
    plain = gzip.open(f"{DATA}/{labels}").read()
    with open(f"{folders['magic']}/{labels}", "wb") as file:
        file.write(b"\x00\x00\x07" + plain[3:])
    folders["count"] = copy_data(root, "count")
    with open(f"{folders['count']}/{labels}", "wb") as file:
        file.write(plain[:4] + struct.pack(">I", 59999) + plain[8:-1])
    folders["empty"] = copy_data(root, "empty")
    with open(f"{folders['empty']}/{labels}", "wb") as file:
        file.write(plain[:4] + struct.pack(">I", 0))
    for what, folder in folders.items():
        for ranks in (1, 2):
            check_error(root, what, ranks, 1, [folder], "--data", folder, *small)


def case_bad_options(root):
    small = ["--data", "synthetic", "--ch", "16", "--steps", "1"]
    with open(f"{root}/file", "w") as file:
        file.write("in the way")
    for ranks in (1, 2):
        check_error(root, "batch 0", ranks, 2, ["--batch"], *small, "--batch", "0")
        check_error(root, "batch -3", ranks, 2, ["--batch"], *small, "--batch=-3")
        check_error(root, "unknown option", ranks, 2, ["--nonsense"], *small, "--nonsense")
        check_error(root, "mesh", ranks, 1, [f"data(3) = 3, but there {'is' if ranks == 1 else 'are'}", "data(3) = 3"],
                    *small, "--mesh", "data=3")
        check_error(root, "run folder", ranks, 1, [f"{root}/file"], *small, "--out", f"{root}/file/run")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        globals()["case_" + sys.argv[4]](scratch)
    print("1 passed, 0 failed")
