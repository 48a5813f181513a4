#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""expand.py TREE FOLDER: makes the folder of a host out of a few lines.

  include NAME                     another tree of the same folder, first
  PATH = TEXT                      a file; \\n and \\t as in C, a line break is added
  PATH # HEX                       a file of bytes; "x12" behind two digits repeats them
  PATH -> TARGET                   a link
  PATH ! EBUSY                     a read that fails so
  PATH /                           an empty folder
  ethtool NAME DEVICE 2:u32=5 ...  an answer of ethtool netlink, appended to /netlink/ethtool.NAME

{0-3} and {a,b} in a path repeat the line; %1, %2 stand for what was put in. A later line replaces an
earlier one of the same path; "PATH -" takes it away.
"""
import itertools
import os
import re
import shutil
import struct
import sys


def attribute(number, payload, nested=False):
    length = 4 + len(payload)
    return struct.pack("=HH", length, number | (0x8000 if nested else 0)) + payload + b"\0" * (-length % 4)


def bitset(names):
    """Names, "+name" for those that are set."""
    bits = b""
    for index, name in enumerate(names.split(",")):
        bit = attribute(1, struct.pack("=I", index)) + attribute(2, name.lstrip("+").encode() + b"\0")
        if name.startswith("+"):
            bit += attribute(3, b"")
        bits += attribute(1, bit, True)
    return attribute(2, struct.pack("=I", 64)) + attribute(3, bits, True)


def ethtool_answer(device, fields):
    payload = attribute(1, attribute(2, device.encode() + b"\0"), True)
    for field in fields:
        number, kind, value = re.fullmatch(r"(\d+):(\w+)=(.*)", field).groups()
        pack = {"u8": "=B", "u16": "=H", "u32": "=I", "u64": "=Q"}
        if kind in pack:
            payload += attribute(int(number), struct.pack(pack[kind], int(value)))
        elif kind == "bits":
            payload += attribute(int(number), bitset(value), True)
        elif kind == "hex":
            payload += attribute(int(number), bytes.fromhex(value))
        else:
            raise SystemExit(f"{field}: what is {kind}?")
    body = struct.pack("=BBH", 1, 1, 0) + payload
    message = struct.pack("=IHHII", 16 + len(body), 30, 2, 1, 0) + body
    return message + b"\0" * (-len(message) % 4)


def choices(text):
    span = re.fullmatch(r"(\d+)-(\d+)", text)
    if span:
        return [str(i) for i in range(int(span[1]), int(span[2]) + 1)]
    return text.split(",")


def repeat(path, rest):
    parts = re.split(r"\{([^}]*)\}", path)
    for picked in itertools.product(*(choices(p) for p in parts[1::2])):
        filled = "".join(a + b for a, b in itertools.zip_longest(parts[0::2], picked, fillvalue=""))
        text = rest
        for i, value in enumerate(picked, 1):
            text = text.replace(f"%{i}", value)
        yield filled, text


def read(folder, name, entries, answers):
    with open(os.path.join(folder, name + ".tree"), encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            if line.startswith("include "):
                read(folder, line.split()[1], entries, answers)
            elif line.startswith("ethtool "):
                _, message, device, *fields = line.split(" ")
                answers.setdefault(message, b"")
                answers[message] += ethtool_answer(device, fields)
            else:
                path, sign, rest = re.fullmatch(r"(/\S*) (=|->|!|/|-|#)(?: (.*))?", line).groups()
                for one, text in repeat(path, rest or ""):
                    entries[one] = (sign, text)


def make(root, path, sign, text):
    full = root + path
    if sign == "-":
        return
    os.makedirs(full if sign == "/" else os.path.dirname(full), exist_ok=True)
    if sign == "=":
        text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\0", "\0")
        with open(full, "w", encoding="latin-1") as file:
            file.write(text + "\n")
    elif sign == "#":
        with open(full, "wb") as file:
            file.write(bytes.fromhex(re.sub(r"(..)x(\d+)", lambda m: m[1] * int(m[2]), text)))
    elif sign == "->":
        os.symlink(text, full)
    elif sign == "!":
        os.symlink("!" + text, full)


def main():
    tree, root = sys.argv[1:3]
    entries, answers = {}, {}
    read(os.path.dirname(tree), os.path.basename(tree)[: -len(".tree")], entries, answers)
    shutil.rmtree(root, ignore_errors=True)
    for path, (sign, text) in entries.items():
        make(root, path, sign, text)
    for message, content in answers.items():
        os.makedirs(root + "/netlink", exist_ok=True)
        with open(root + "/netlink/ethtool." + message, "wb") as file:
            file.write(content)


main()
