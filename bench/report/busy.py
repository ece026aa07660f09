#!/usr/bin/env python3
"""Does a report's headline depend on what else the machine does? Makes reports of one run, half of them quiet and
half beside busy loops. Prints a table and JSON; exit code 1 where fewer than nine in ten have a headline, or one
lies more than 10 % from the median of the quiet ones.

    bench/report/busy.py build/release/hewn RUN [--reports 5] [--loops 2] [OPTION OF hewn report...]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def busy_loops(count):
    loops = [subprocess.Popen(["bash", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def report(program, run, options):
    text = subprocess.run([program, "report", run, "--json", *options], check=True, capture_output=True, text=True).stdout
    latency = json.loads(text)["runs"][0]["latency"]
    keys = ("speedup", "speedup_quartiles", "ideal_speedup", "dense_ms", "sparse_ms", "rounds", "calm_rounds", "withheld",
            "beyond_products", "threads", "batch")
    return {"load": os.getloadavg()[0], **{key: latency[key] for key in keys if key in latency},
            "layers": {name: layer["speedup"] for name, layer in latency["layers"].items()}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("run")
    parser.add_argument("--reports", type=int, default=5)
    parser.add_argument("--loops", type=int, default=2)
    given, options = parser.parse_known_args()
    results = []
    for beside in (0, given.loops):
        for _ in range(given.reports):
            with busy_loops(beside):
                results.append({"busy_loops": beside, **report(given.program, given.run, options)})
            one = results[-1]
            said = f"{one['speedup']:6.2f} x" if one["speedup"] is not None else f"withheld: {one['withheld']}"
            print(f"{beside} busy loops, load {one['load']:5.1f}: {said}", flush=True)
    quiet = [one["speedup"] for one in results if one["busy_loops"] == 0 and one["speedup"] is not None]
    shown = [one["speedup"] for one in results if one["speedup"] is not None]
    middle = statistics.median(quiet) if quiet else float("nan")
    furthest = max((abs(value / middle - 1) for value in shown), default=float("nan"))
    passed = len(shown) >= 0.9 * len(results) and furthest <= 0.1
    print(f"{len(shown)} of {len(results)} with a headline, at most {100 * furthest:.1f} % from the quiet median {middle:.2f} x")
    print(json.dumps({"quiet_median": middle, "furthest": furthest, "passed": passed, "reports": results}))
    sys.exit(0 if passed else 1)


main()
