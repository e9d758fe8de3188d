#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a large Chrome trace out of a small real one: its events again and again, each time later and with new correlations.

usage: big_trace.py TRACE.json[.gz] MEGABYTES >big.json"""
import gzip
import re
import sys


def main():
    path, wanted = sys.argv[1], int(float(sys.argv[2]) * 1e6)
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    text = opened.read()
    start = text.index("[", text.index('"traceEvents"')) + 1
    marker = text.rindex("Record Window End") if "Record Window End" in text else len(text)
    end = text.index("]", marker) if "]" in text[marker:] else text.rindex("]")
    head, body, tail = text[:start], text[start:end].strip().rstrip(","), text[end:]
    times = [float(t) for t in re.findall(r'"ts": ?([0-9.]+)', body)]
    period = int(max(times) - min(times)) + 1000000
    pieces = re.split(r'("(?:ts|correlation|id)": ?)([0-9]+)', body)
    out = sys.stdout
    out.write(head)
    written, copy = 0, 0
    while written < wanted:
        # the integer part alone is shifted: no digit of the fraction is lost
        shifted = pieces[:]
        for i in range(2, len(pieces), 3):
            by = period if pieces[i - 1].startswith('"ts"') else 1000000
            shifted[i] = str(int(pieces[i]) + by * copy)
        part = "".join(shifted)
        out.write((",\n" if copy else "") + part)
        written += len(part)
        copy += 1
    out.write(tail)
    print(copy, "copies", file=sys.stderr)


main()
