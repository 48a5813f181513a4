#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of tare inspect --facts --json, a line each, but for those a host does not have."""
import json
import sys

for row in json.load(sys.stdin)["rows"]:
    if row["status"] != "absent" and not row["key"].startswith("service["):
        value = row["value"] if row["value"] is not None else "-"
        print(row["kind"], row["status"], row["key"], "=", value)
