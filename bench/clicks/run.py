#!/usr/bin/python3
"""Times hewn prepare on a click log like Criteo's, beside pandas.read_csv on the same file (./dev bench clicks).

Makes the file, reads it once so that it lies in the page cache, then runs each program in a process of its own and
takes wall time, CPU time and peak resident memory from the kernel. Prints a table and writes JSON with --out."""

import argparse
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"
PANDAS = "import pandas, sys; print(len(pandas.read_csv(sys.argv[1], sep='\\t', header=None, low_memory=False)))"


def measure(words):
    """Runs a program; its output with wall seconds, CPU seconds and peak memory."""
    begin = os.times().elapsed
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"run.py: {' '.join(map(str, words))} ended with {child.returncode}")
    return {"seconds": os.times().elapsed - begin, "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_mb": usage.ru_maxrss * 1024 / 1e6, "output": output}


def warm(path):
    with open(path, "rb") as file:
        while file.read(1 << 24):
            pass


def prepare(path, cache, threads):
    shutil.rmtree(cache, ignore_errors=True)
    run = measure([BUILD / "hewn", "prepare", "--data", f"criteo:{path}", "--cache", cache, "--threads", str(threads),
                   "--json"])
    report = json.loads(run.pop("output"))
    size = os.path.getsize(path)
    return run | {"program": f"hewn prepare, {threads} thread{'s' * (threads > 1)}", "rows": report["rows"],
                  "megabytes": size / 1e6, "cache_megabytes": report["cache_bytes"] / 1e6,
                  "mb_per_second": size / 1e6 / run["seconds"], "mb_per_cpu_second": size / 1e6 / run["cpu_seconds"]}


def pandas(path):
    run = measure(["/usr/bin/python3", "-c", PANDAS, path])
    size = os.path.getsize(path)
    return run | {"program": "pandas.read_csv", "rows": int(run.pop("output")), "megabytes": size / 1e6,
                  "mb_per_second": size / 1e6 / run["seconds"], "mb_per_cpu_second": size / 1e6 / run["cpu_seconds"]}


def generate(path, gigabytes):
    subprocess.run([BUILD / "bench/generate_clicks", path, str(gigabytes * 1e9)], check=True)
    warm(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2, help="size of the file both programs read")
    parser.add_argument("--large", type=float, default=0, help="size of a file that only hewn reads, for its memory")
    parser.add_argument("--rounds", type=int, default=2, help="the programs take turns so often")
    parser.add_argument("--folder", type=pathlib.Path, default="/tmp/hewn-bench-clicks", help="for the files")
    parser.add_argument("--out", type=pathlib.Path, help="JSON file for the results")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    log = options.folder / "log.tsv"
    cache = options.folder / "cache"
    runs = []
    try:
        generate(log, options.gigabytes)
        for _ in range(options.rounds):
            runs.append(prepare(log, cache, 1))
            runs.append(prepare(log, cache, 2))
            runs.append(pandas(log))
        again = measure([BUILD / "hewn", "prepare", "--data", f"criteo:{log}", "--cache", cache, "--json"])
        batches = json.loads(subprocess.run([BUILD / "bench/click_batches", log, cache], check=True,
                                            capture_output=True, text=True).stdout)
        if options.large > 0:
            generate(log, options.large)
            runs.append(prepare(log, cache, 2))
    finally:
        shutil.rmtree(options.folder)
    print("| program | MB | seconds | MB/s | MB per CPU second | peak MB |\n|---|---|---|---|---|---|")
    for run in runs:
        print(f"| {run['program']} | {run['megabytes']:.0f} | {run['seconds']:.1f} | {run['mb_per_second']:.1f} "
              f"| {run['mb_per_cpu_second']:.1f} | {run['peak_mb']:.0f} |")
    print(f"\nhewn prepare on a cache that is there: {again['seconds']:.2f} s, with the start of the program; "
          f"opening it: {1000 * batches['open_seconds']:.1f} ms; "
          f"batches of {batches['batch']}: {batches['rows_per_second'] / 1e6:.2f} million rows/s on one core, "
          f"{batches['rows_per_second_first_epoch'] / 1e6:.2f} while checksums are compared")
    if options.out:
        model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
        options.out.write_text(json.dumps(
            {"date": str(datetime.date.today()), "commit": commit.strip(), "processor": f"{len(model)} x {model[0]}",
             "command": f"bench/clicks/run.py --gigabytes {options.gigabytes} --large {options.large}", "runs": runs,
             "cache_there_seconds": again["seconds"], "batches": batches}, indent=1) + "\n")


main()
