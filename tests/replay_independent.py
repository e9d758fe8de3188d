#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts recorded timelines another way (whole file, json and regular expressions) and compares with `dos replay --format json`.

usage: replay_independent.py DOS FILE..      a line a file; exit 1 when something differs
Bytes and counts exactly, times to 1 us. The definitions are those of traces/FORMATS.md, written here once more."""
import gzip
import json
import re
import statistics
import subprocess
import sys
from decimal import Decimal

FORWARD = {"forward", "## forward ##", "distributeddataparallel.forward", "deepspeedengine.forward"}
BACKWARD = {"backward", "## backward ##", "deepspeedengine.backward"}
UPDATE = {"update", "## optimizer ##", "deepspeedengine.step", "deepspeedengine._take_model_step"}
EXPLICIT = (("forward", FORWARD), ("backward", BACKWARD), ("update", UPDATE))


def load(path):
    opened = gzip.open(path, "rb") if open(path, "rb").read(2) == b"\x1f\x8b" else open(path, "rb")
    return opened.read().decode("utf-8", "replace")


def span(event):
    return event["ts"], event["ts"] + event["dur"]


def split(ranges, start, end):
    """Parts [start, end) by (start, end, phase) ranges; what began first keeps what overlaps."""
    at, out = start, {}
    for begin, stop, phase in sorted(ranges, key=lambda r: (r[0], -r[1])):
        begin, stop = max(begin, at), min(stop, end)
        if stop > begin:
            out[phase] = out.get(phase, 0) + stop - begin
            at = stop
    return out


def phases(inside, start, end):
    named = [e for e in inside if e["cat"] == "user_annotation"]
    found = {name: [span(e) for e in named if e["name"].lower() in words] for name, words in EXPLICIT}
    if not found["update"]:
        found["update"] = [span(e) for e in inside if e["name"].startswith("Optimizer.step#")]
    if not found["backward"]:
        functions = [span(e) for e in inside if e["name"].startswith("autograd::engine::evaluate_function")]
        if functions:
            found["backward"] = [(min(f[0] for f in functions), max(f[1] for f in functions))]
    if not found["forward"] and found["backward"]:
        found["forward"] = [(start, min(b[0] for b in found["backward"]))]
    return split([(s, e, p) for p, list_ in found.items() for s, e in list_], start, end)


def count_trace(text):
    data = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    events = [e for e in (data["traceEvents"] if isinstance(data, dict) else data) if e.get("ph") == "X"]
    gpu = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    host = [e for e in events if e.get("cat") in ("user_annotation", "cpu_op")]
    bytes_ = {"h2d": 0, "d2h": 0}
    for e in gpu:
        for way, word in (("h2d", "HtoD"), ("d2h", "DtoH")):
            if e["cat"] == "gpu_memcpy" and word in e["name"]:
                bytes_[way] += int(e["args"].get("bytes", 0))
    steps = sorted(span(e) for e in host if e["name"].startswith("ProfilerStep#"))
    steps = [s for s in steps if any(s[0] <= e["ts"] < s[1] for e in gpu)]
    if not steps:
        marks = {n: sorted(span(e) for e in host if e["name"].lower() in w) for n, w in EXPLICIT}
        if marks["forward"] and marks["update"]:
            steps = [(marks["forward"][0][0], marks["update"][-1][1])] if len(marks["forward"]) == 1 else []
    result = {"iteration": [], "forward": [], "backward": [], "update": []}
    for start, end in steps:
        got = phases([e for e in host if start <= e["ts"] < end], start, end)
        result["iteration"].append(end - start)
        for name in ("forward", "backward", "update"):
            if name in got:
                result[name].append(got[name])
    medians = {n: float(statistics.median(v)) * 1e-6 if v else None for n, v in result.items()}
    return len(steps) if gpu else 0, medians, bytes_


def count_log(text):
    pattern = r"time \(ms\) \| fwd: ([0-9.]+) \| bwd: ([0-9.]+) .*?\| step: ([0-9.]+)"
    rows = [tuple(float(x) for x in m) for m in re.findall(pattern, text)]
    totals = [float(x) for x in re.findall(r"elapsed time per iteration \(ms\): ([0-9.]+)", text)]
    if not rows:
        return 0, {}, None
    medians = {n: statistics.median(r[i] for r in rows) * 1e-3 for i, n in enumerate(("forward", "backward", "update"))}
    medians["iteration"] = statistics.median(totals) * 1e-3
    return len(rows), medians, None


def compare(path, dos):
    text = load(path)
    is_trace = path.endswith((".json", ".json.gz"))
    n, medians, bytes_ = count_trace(text) if is_trace else count_log(text)
    run = subprocess.run([dos, "replay", path, "--format", "json"], capture_output=True, text=True)
    if n == 0:
        if run.returncode == 3:
            return [], "refused: " + run.stderr.strip().split(": ", 2)[-1]
        return ["read, but nothing can be counted in it"], ""
    if run.returncode != 0:
        return [run.stderr.strip()], ""
    got = json.loads(run.stdout)
    wrong = [] if got["n_iterations"] == n else ["iterations %d, %d expected" % (got["n_iterations"], n)]
    for name, want in medians.items():
        value = got[name + "_s"]
        if (value is None) != (want is None) or (want is not None and abs(value - want) > 1.0000001e-6):
            wrong.append("%s %s, %s expected" % (name, value, want))
    if bytes_:
        for way, want in bytes_.items():
            if got["events"][way]["bytes"] != want:
                wrong.append("%s bytes %d, %d expected" % (way, got["events"][way]["bytes"], want))
    unchanged = got.get("unchanged", {}).get("error_frac")
    return wrong, "%d iterations, unchanged replay %+.2f %%" % (n, 100 * unchanged if unchanged is not None else 0)


def main():
    failed = 0
    for path in sys.argv[2:]:
        wrong, text = compare(path, sys.argv[1])
        failed |= bool(wrong)
        print("%s %s: %s" % ("FAILED" if wrong else "agrees", path.split("/")[-1], "; ".join(wrong) or text))
    return failed


sys.exit(main())
