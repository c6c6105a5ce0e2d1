#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs that are interrupted and resumed: the same result, whatever was damaged meanwhile.

resume_test.py PROGRAM MPIEXEC DATA_FOLDER CASE
"""
import json
import os
import shutil
import struct
import sys
import tempfile
import zlib

import numpy

import cli_test
from cli_test import read_safetensors, spoil, worst_difference

BOUND = 1e-10
LIMIT_SECONDS = 280  # of one run, on a machine that has much else to do
OPTIONS = ["--ch", "16", "--dtype", "float64", "--seed", "3", "--threads", "1"]


def run(ranks, *arguments):
    return cli_test.run(ranks, *arguments, limit=LIMIT_SECONDS)


def small_data(root):
    """41 images: with batches of 13, three whole ones an epoch and one of two images."""
    folder = f"{root}/data"
    os.makedirs(folder)
    random = numpy.random.default_rng(5)
    with open(f"{folder}/train-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">IIII", 0x803, 41, 28, 28) + random.integers(0, 256, 41 * 784, "u1").tobytes())
    with open(f"{folder}/train-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">II", 0x801, 41) + bytes(i % 10 for i in range(41)))
    return folder


def start(folder, ranks, *options):
    code, _, errors, _ = run(ranks, "train", "dcgan", *OPTIONS, "--out", folder, *options)
    assert code == 0, errors
    return folder


def resume(folder, ranks, *options):
    """What it says on standard error."""
    code, _, errors, _ = run(ranks, "train", "--resume", folder, *options)
    assert code == 0, errors
    return errors


def copy(folder, name):
    target = f"{os.path.dirname(folder)}/{name}"
    shutil.copytree(folder, target)
    return target


def checkpoint(folder, step):
    return f"{folder}/step-{step:08d}"


def files_of(step_folder):
    found = []
    for folder, _, names in os.walk(step_folder):
        found += [os.path.relpath(f"{folder}/{name}", step_folder) for name in names]
    return sorted(found)


def tensors_of(folder, step):
    """Weights and optimizers; numbers of steps and random numbers are compared as files."""
    found = {}
    for name in files_of(checkpoint(folder, step)):
        if name.endswith(".safetensors") and "random" not in name:
            for key, value in read_safetensors(f"{checkpoint(folder, step)}/{name}").items():
                found[f"{name}:{key}"] = value
    return found


def log_of(folder):
    with open(f"{folder}/log.jsonl") as file:
        lines = [json.loads(line) for line in file]
    for line in lines:
        del line["images_per_second"]
    return lines


def read(path):
    with open(path, "rb") as file:
        return file.read()


def require_identical(folder, reference, step):
    names = files_of(checkpoint(reference, step))
    assert files_of(checkpoint(folder, step)) == names, files_of(checkpoint(folder, step))
    for name in names:
        same = read(f"{checkpoint(folder, step)}/{name}") == read(f"{checkpoint(reference, step)}/{name}")
        assert same, f"{name} of step {step} differs"
    assert log_of(folder) == log_of(reference)
    for name in os.listdir(f"{reference}/samples"):
        assert read(f"{folder}/samples/{name}") == read(f"{reference}/samples/{name}"), name


def require_close(what, folder, reference, step):
    error = worst_difference(tensors_of(folder, step), tensors_of(reference, step))
    print(f"{what}: {error:.1e}")
    assert error <= BOUND, (what, error)
    for name in ("state/random.safetensors",):
        assert read(f"{checkpoint(folder, step)}/{name}") == read(f"{checkpoint(reference, step)}/{name}"), name
    assert [line["step"] for line in log_of(folder)] == list(range(1, step + 1))


def require_whole(step_folder):
    """By zlib here, independently of the program."""
    with open(f"{step_folder}/manifest.json") as file:
        manifest = json.load(file)
    assert sorted([*manifest["files"], "manifest.json"]) == files_of(step_folder), step_folder
    for name, expected in manifest["files"].items():
        content = read(f"{step_folder}/{name}")
        assert expected == {"bytes": len(content), "crc32": zlib.crc32(content)}, (step_folder, name)


def case_same_result(root):
    """Interrupted within an epoch and at its end; gone on with on 1 to 4 ranks."""
    data = ["--data", small_data(root), "--batch", "13", "--sample-every", "4"]
    reference = start(f"{root}/reference", 2, *data, "--steps", "11")
    assert files_of(checkpoint(reference, 11)) == [
        "discriminator.safetensors", "generator.safetensors", "manifest.json",
        "state/discriminator_optimizer.safetensors", "state/generator_optimizer.safetensors",
        "state/random.safetensors", "state/run.json"], files_of(checkpoint(reference, 11))
    require_whole(checkpoint(reference, 11))
    for first in (6, 8):
        begun = start(f"{root}/begun-{first}", 2, *data, "--steps", str(first))
        for ranks in (1, 2, 3, 4):
            folder = copy(begun, f"on-{ranks}-from-{first}")
            resume(folder, ranks, "--steps", "11")
            assert read(f"{folder}/config.json") == read(f"{begun}/config.json")
            if ranks == 2:
                require_identical(folder, reference, 11)
            require_close(f"from step {first} on {ranks} ranks", folder, reference, 11)


def case_batch_of_the_run(root):
    """--batch-per-process of the start stays the global batch that it was; epochs count in total."""
    data = ["--data", small_data(root), "--batch-per-process", "7", "--sample-every", "100"]
    reference = start(f"{root}/reference", 2, *data, "--epochs", "3")  # batches of 14, 14 and 13
    folder = start(f"{root}/run", 2, *data, "--epochs", "1")
    resume(folder, 3, "--epochs", "3", "--batch-per-process", "7", "--out", folder)
    require_close("--batch-per-process of 2 ranks, on 3", folder, reference, 9)
    errors = resume(folder, 1)
    assert "is at step 9 already, of 3; nothing is left to do" in errors, errors


def case_killed_between(root):
    """What was logged after the checkpoint is done again; what a killed job left half written is removed."""
    data = ["--data", "synthetic", "--batch", "6", "--save-every", "2", "--steps", "7"]
    reference = start(f"{root}/reference", 2, *data)
    folder = copy(reference, "run")
    shutil.rmtree(checkpoint(folder, 7))
    shutil.move(checkpoint(folder, 6), f"{folder}/saving-step-00000006")  # killed before it got its name
    with open(f"{folder}/log.jsonl", "a") as file:
        file.write('{"step":8,"ep')
    for stray in ("config.json.tmp-1", "samples/step-00000007.png.tmp-22", "step-00000004/x.tmp-3"):
        spoil_free(f"{folder}/{stray}")
    os.makedirs(f"{checkpoint(folder, 8)}/state")  # half a checkpoint under a whole one's name
    spoil_free(f"{checkpoint(folder, 8)}/generator.safetensors.tmp-7")
    errors = resume(folder, 2)
    assert errors.count("step-00000008: manifest.json: missing; step-00000004 is used instead") == 1, errors
    require_identical(folder, reference, 7)
    require_identical(folder, reference, 6)
    left = [name for _, folders, names in os.walk(folder) for name in folders + names if "tmp-" in name or
            "saving" in name]
    assert not left, left
    resume(folder, 1, "--steps", "8")
    require_whole(checkpoint(folder, 8))


def spoil_free(path):
    with open(path, "w") as file:
        file.write("left behind")


def flip(content):
    content[len(content) // 2] ^= 0x41
    return content


def damages(step_folder):
    """Names and actions: every file missing, cut, and with one byte flipped."""
    for name in files_of(step_folder):
        yield f"{name} missing", lambda path: os.remove(path), name
        yield f"{name} cut", lambda path: spoil(path, lambda content: content[:-1]), name
        yield f"{name} flipped", lambda path: spoil(path, flip), name


def case_damage(root):
    data = ["--data", "synthetic", "--batch", "5", "--save-every", "2", "--steps", "5"]
    reference = start(f"{root}/reference", 2, *data)
    for number, (what, action, name) in enumerate(damages(checkpoint(reference, 5))):
        folder = copy(reference, "run")
        action(f"{checkpoint(folder, 5)}/{name}")
        if number % 3 == 0:
            errors = resume(folder, 2)
            require_identical(folder, reference, 5)
        else:  # the same choice, in less time
            code, _, errors, _ = run(1, "sample", folder, "--count", "1")
            assert code == 0, errors
        said = [line for line in errors.splitlines() if f"step-00000005: {name}: " in line]
        print(f"{what}: {said}")
        assert len(said) == 1 and "step-00000004 is used instead" in said[0], (what, errors)
        shutil.rmtree(folder)
    for ranks in (1, 2):
        folder = copy(reference, "run")
        for step in (2, 4, 5):
            spoil(f"{checkpoint(folder, step)}/state/run.json", flip)
        code, _, errors, seconds = run(ranks, "train", "--resume", folder, "--steps", "9")
        print(f"none whole, {ranks} ranks: code {code}, {seconds:.1f} s: {errors[:400]}")
        assert code != 0 and (ranks > 1 or code == 1), (code, errors)
        assert errors.count("expected a whole checkpoint, got 3 that are damaged") == 1, errors
        code, _, errors, _ = run(1, "sample", folder)
        assert code == 1 and "expected a whole checkpoint" in errors, errors
        shutil.rmtree(folder)


def refused(ranks, expected_code, words, *arguments):
    code, _, errors, seconds = run(ranks, "train", *arguments)
    lines = [line for line in errors.splitlines() if words in line]
    print(f"{ranks} ranks: code {code}, {seconds:.1f} s: {lines[0] if lines else errors[:400]}")
    assert code != 0 and (ranks > 1 or code == expected_code), (words, code, errors)
    assert len(lines) == 1, (words, errors)


def case_options(root):
    """What belongs to the run cannot be changed; the rest can."""
    folder = start(f"{root}/run", 1, "--data", "synthetic", "--batch", "4", "--steps", "2")
    before = {name: read(f"{folder}/{name}") for name in files_of(folder)}
    for option, run_has, got in (("--batch", "4", "5"), ("--ch", "16", "32"), ("--seed", "3", "4"),
                                 ("--dtype", '"float64"', "float32"), ("--lr", "0.0002", "0.001"),
                                 ("--z", '"normal"', "uniform"), ("--loss", '"softplus"', "hinge"),
                                 ("--batch-per-process", "none", "4"), ("--data", '"synthetic"', "fashion-mnist")):
        refused(1, 2, f"--resume: {option}: the run has {run_has}, got ", "dcgan", "--resume", folder, option, got)
    refused(2, 2, "--resume: --seed: the run has 3, got 4", "--resume", folder, "--seed", "4")
    refused(1, 2, f"--resume: --out: the run has {folder}, got {root}/other", "--resume", folder, "--out",
            f"{root}/other")
    refused(1, 2, "MODEL is required", "--steps", "3")
    for ranks in (1, 2):
        refused(ranks, 1, "is this a run folder?", "--resume", f"{root}/nowhere")
    assert {name: read(f"{folder}/{name}") for name in files_of(folder)} == before
    os.remove(f"{checkpoint(folder, 2)}/manifest.json")
    refused(1, 1, "expected a whole checkpoint, got 1 that are damaged", "--resume", folder)
    shutil.rmtree(checkpoint(folder, 2))
    refused(2, 1, "expected a whole checkpoint, got none at all", "--resume", folder)
    folder = start(f"{root}/again", 1, "--data", "synthetic", "--batch", "4", "--steps", "2")
    errors = resume(folder, 2, "--steps", "4", "--batch", "4", "--seed", "3", "--ch", "16", "--dtype", "float64",
                    "--threads", "1", "--save-every", "1", "--sample-every", "1", "--mesh", "data=2", "--workers", "0")
    assert "warning" not in errors, errors
    assert os.path.exists(checkpoint(folder, 3)) and os.path.exists(f"{folder}/samples/step-00000003.png")
    code, out, errors, _ = run(1, "train", "--resume", folder, "--steps", "4", "--json")
    assert code == 0 and "is at step 4 already, of 4" in errors, errors
    assert json.loads(out.splitlines()[-1])["losses"]["generator"] == log_of(folder)[-1]["generator_loss"], out


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        globals()["case_" + sys.argv[4]](scratch)
    print("1 passed, 0 failed")
