#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The step of `renga train dcgan` in PyTorch with DistributedDataParallel over Gloo, on CPU: what renga is measured against.

Needs Debian's python3-torch. One process for each rank, started by against_ddp.py with the env:// variables. Batch norm is
not synchronized: PyTorch has no such thing on CPU, so this program does less than renga does.

The last line is JSON: images_per_second of the global batch (median over the steps after the first two) and
peak_memory_bytes, one for each rank.
"""
import argparse
import json
import os
import statistics
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WARM_UP = 2


def twice_as_large(x):
    return F.interpolate(x, scale_factor=2, mode="nearest")


def convolution(inputs, outputs):
    return nn.Conv2d(inputs, outputs, 3, padding=1)


class Generator(nn.Module):
    """As models/dcgan.hpp, with the biases PyTorch's users leave in."""

    def __init__(self, ch, latent, memory_format):
        super().__init__()
        self.ch, self.memory_format = ch, memory_format
        self.linear = nn.Linear(latent, 16 * ch)
        self.norm0 = nn.BatchNorm1d(16 * ch)
        widths = [ch, ch // 2, ch // 4, ch // 8]
        self.convolutions = nn.ModuleList(convolution(a, b) for a, b in zip(widths, widths[1:]))
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for width in widths[1:])
        self.last = convolution(ch // 8, 3)

    def forward(self, z):
        h = F.relu(self.norm0(self.linear(z))).view(len(z), self.ch, 4, 4)
        h = h.contiguous(memory_format=self.memory_format)
        for layer, norm in zip(self.convolutions, self.norms):
            h = F.relu(norm(layer(twice_as_large(h))))
        return torch.tanh(self.last(h))


class Discriminator(nn.Module):
    def __init__(self, ch):
        super().__init__()
        widths = [ch // 8, ch // 4, ch // 4, ch // 2, ch // 2, ch, ch]
        self.first = convolution(3, widths[0])
        self.convolutions = nn.ModuleList(convolution(a, b) for a, b in zip(widths, widths[1:]))
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for width in widths[1:])
        self.linear = nn.Linear(16 * ch, 1)

    def forward(self, images):
        h = F.leaky_relu(self.first(images), 0.2)
        for number, (layer, norm) in enumerate(zip(self.convolutions, self.norms)):
            h = F.leaky_relu(norm(layer(h)), 0.2)
            if number in (0, 2, 4):
                h = F.avg_pool2d(h, 2)
        return self.linear(h.flatten(1))


def freeze(module, frozen):
    for parameter in module.parameters():
        parameter.requires_grad_(not frozen)


class Trainer:
    def __init__(self, options, ranks):
        memory_format = torch.channels_last if options.channels_last else torch.contiguous_format
        self.batch = options.batch // ranks
        self.generator = Generator(options.ch, 128, memory_format).to(memory_format=memory_format)
        self.discriminator = Discriminator(options.ch // 2).to(memory_format=memory_format)
        self.plain_discriminator = self.discriminator
        if ranks > 1:
            self.generator = DistributedDataParallel(self.generator, broadcast_buffers=False)
            self.discriminator = DistributedDataParallel(self.discriminator, broadcast_buffers=False)
        adam = {"lr": 2e-4, "betas": (0.0, 0.9)}
        self.generator_optimizer = torch.optim.Adam(self.generator.parameters(), **adam)
        self.discriminator_optimizer = torch.optim.Adam(self.discriminator.parameters(), **adam)
        self.images = (torch.rand(self.batch, 3, 32, 32) * 2 - 1).contiguous(memory_format=memory_format)

    def step(self):
        z = torch.randn(self.batch, 128)
        with torch.no_grad():
            made = self.generator(z)
        logits = self.discriminator(torch.cat([self.images, made]))
        loss = F.softplus(-logits[: self.batch]).mean() + F.softplus(logits[self.batch :]).mean()
        self.discriminator_optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.discriminator_optimizer.step()
        freeze(self.discriminator, True)
        loss = F.softplus(-self.plain_discriminator(self.generator(torch.randn(self.batch, 128)))).mean()
        self.generator_optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.generator_optimizer.step()
        freeze(self.discriminator, False)


def peak_memory():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ch", type=int, default=512)
    parser.add_argument("--batch", type=int, default=64, help="of all processes together")
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--channels-last", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        dist.init_process_group("gloo")
    trainer = Trainer(options, ranks)
    seconds = []
    for _ in range(options.steps):
        begin = time.perf_counter()
        trainer.step()
        seconds.append(time.perf_counter() - begin)
    peaks = [peak_memory()]
    if ranks > 1:
        peaks = [None] * ranks
        dist.all_gather_object(peaks, peak_memory())
    if int(os.environ.get("RANK", 0)) == 0:
        rate = options.batch / statistics.median(seconds[WARM_UP:] or seconds)
        print(json.dumps({"images_per_second": rate, "peak_memory_bytes": peaks}))


if __name__ == "__main__":
    main()
