#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a safetensors file with numpy alone.

    read_safetensors.py FILE                lists its tensors
    read_safetensors.py FILE EXPECTED.json  compares them with {"name": {"shape", "values"}}

Exits with 3 if the file is damaged or differs. As a module: read(path) returns {name: array}. Written from the format's description, not from the
C++ code, so that it can judge it.
"""
import json
import struct
import sys

import numpy

DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
    "I8": "|i1", "U8": "|u1", "BOOL": "|b1", "C64": "<c8",
    "BF16": "<u2",  # numpy has none: the upper half of a float32
}


def decode(dtype, shape, raw):
    array = numpy.frombuffer(raw, DTYPES[dtype])
    if dtype == "BF16":
        array = (array.astype("<u4") << 16).view("<f4")
    return array.reshape(shape)


def read_header(data):
    (length,) = struct.unpack("<Q", data[:8])
    assert length % 8 == 0, "the data is not aligned"
    assert data[8:9] == b"{", "the header must begin with {"
    header = json.loads(data[8:8 + length].decode("utf-8"))
    header.pop("__metadata__", None)
    return header, data[8 + length:]


def read(path):
    with open(path, "rb") as file:
        header, data = read_header(file.read())
    tensors = {}
    position = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        assert begin == position, f"{name}: begins at {begin}, expected {position}"
        tensors[name] = decode(entry["dtype"], entry["shape"], data[begin:end])
        position = end
    assert position == len(data), f"{len(data) - position} bytes of no tensor"
    return tensors


def compare(path, expected_path):
    tensors = read(path)
    with open(expected_path, encoding="utf-8") as file:
        expected = json.load(file)
    assert sorted(tensors) == sorted(expected), f"{sorted(tensors)} != {sorted(expected)}"
    for name, entry in expected.items():
        got = tensors[name]
        assert list(got.shape) == entry["shape"], f"{name}: shape {got.shape}"
        values = got.view("<f4") if got.dtype.kind == "c" else got
        wanted = numpy.array(entry["values"], "f8")
        assert numpy.array_equal(values.ravel().astype("f8"), wanted), f"{name}: {got} != {wanted}"


def main():
    try:
        if len(sys.argv) == 3:
            compare(sys.argv[1], sys.argv[2])
            return
        for name, array in read(sys.argv[1]).items():
            print(f"{name}\t{array.dtype}\t{list(array.shape)}")
    except AssertionError as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
