#!/usr/bin/python3
"""Images a second and core of image folders: hewn, bare libjpeg-turbo, torchvision's ImageFolder (./dev bench images).

Unpack the samples first: ../shared/data/unpack.py FOLDER tiny imagenet. hewn's and libjpeg's figures are thread CPU time and
take turns round by round; torchvision runs in a process of its own, before and after, and its better run counts."""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
# Name, folder of classes, size, resize, smallest area, rounds, images that torchvision reads.
SETS = [("60 photographs", "imagenet/train", 224, 256, 0.08, 24, 60),
        ("Tiny-ImageNet", "tiny-imagenet/val", 64, 64, 0.25, 24, 2500)]


def answer(words):
    run = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"run.py: {words[0]} ended with {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where unpack.py put the samples")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--out", type=pathlib.Path, help="JSON file for the results")
    options = parser.parse_args()
    rows = []
    for name, folder, size, resize, area, rounds, images in SETS:
        settings = [options.folder / folder, size, resize, area]
        python = ["/usr/bin/python3", HERE / "torchvision_folder.py", *settings, images]
        first = answer(python)
        hewn = answer([options.build / "bench/image_decode", *settings, rounds])
        second = answer(python)
        best = first | {key: max(first[key], second[key]) for key in ("train", "test")}
        rows.append({"set": name, "hewn": hewn, "torchvision": best,
                     "train_over_torchvision": hewn["train"] / best["train"],
                     "test_over_torchvision": hewn["test"] / best["test"]})
    print("| images/s on one core | bare decoding | hewn train | hewn test | train, from files | test, from files "
          "| torchvision train | torchvision test |\n|---|---|---|---|---|---|---|---|")
    for row in rows:
        hewn, python = row["hewn"], row["torchvision"]
        print(f"| {row['set']} | {hewn['bare']:.0f} | {hewn['train_in_memory']:.0f} ({hewn['train_over_bare']:.2f}x bare) "
              f"| {hewn['test_in_memory']:.0f} ({hewn['test_over_bare']:.2f}x bare) "
              f"| {hewn['train']:.0f} ({row['train_over_torchvision']:.1f}x torchvision) "
              f"| {hewn['test']:.0f} ({row['test_over_torchvision']:.1f}x torchvision) "
              f"| {python['train']:.0f} | {python['test']:.0f} |")
    if options.out:
        model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
        options.out.write_text(json.dumps(
            {"date": str(datetime.date.today()), "commit": commit.strip(), "processor": f"{len(model)} x {model[0]}",
             "command": "bench/images/run.py", "sets": rows}) + "\n")


main()
