#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""embed.py OUTPUT NAME=FILE...: files as arrays of C, for pages that carry them.

An empty FILE makes an array of 0 bytes. References to source maps are left out, since a browser's tools
would fetch them; what could end a script element is refused.
"""
import re
import sys


def main():
    lines = ["/* Made by embed.py at build time. */", '#include "report/page_parts.h"', ""]
    for argument in sys.argv[2:]:
        name, _, path = argument.partition("=")
        data = open(path, "rb").read() if path else b""
        data = re.sub(rb"(?m)^\s*(//[#@] sourceMappingURL=.*|/\*# sourceMappingURL=.*\*/)\s*$", b"", data).strip()
        data = data + b"\n" if data else data
        if re.search(rb"</(script|style)|<!--", data, re.I):
            sys.exit(f"embed.py: '{path}' holds what could end its element")
        lines.append(f"const unsigned char {name}[] = {{")
        for at in range(0, len(data), 24):
            lines.append("\t" + ",".join(str(byte) for byte in data[at:at + 24]) + ",")
        lines.append("\t0};")
        lines.append(f"const size_t {name}_bytes = {len(data)};")
        lines.append("")
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("\n".join(lines))


main()
