"""Compares hewn predict with glmnet's predictions: predictions.py HEWN (needs r-cran-glmnet)."""

import json
import pathlib
import subprocess
import sys
import tempfile

TASKS = {
    "gaussian": (0.05, "predictions", []),
    "binomial": (0.02, "probabilities", ["--task", "binomial"]),
    "multinomial": (0.02, "probabilities", []),
    "poisson": (0.05, "predictions", ["--task", "poisson"]),
    "cox": (0.02, "linear", ["--task", "cox", "--event", "event"]),
}


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def main(hewn):
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        run("Rscript", str(pathlib.Path(__file__).with_name("predictions.R")), folder)
        for task, (at, key, options) in TASKS.items():
            base = f"{folder}/{task}"
            run(hewn, "select", f"{base}_train.csv", "--target", "y", "--method", "group-lasso", "--lambda", str(at),
                "--tolerance", "1e-9", "--to", f"{base}.json", *options)
            rows = json.loads(run(hewn, "predict", f"{base}.json", f"{base}_new.csv", "--json"))[key]
            ours = [row[1] for row in rows] if task == "binomial" else [value for row in rows for value in row]
            theirs = [float(word) for word in pathlib.Path(f"{base}_glmnet.txt").read_text().split()]
            assert len(ours) == len(theirs), task
            difference = max(abs(a - b) for a, b in zip(ours, theirs))
            worst = max(worst, difference)
            print(f"{task}: {len(ours)} values, largest difference {difference:.2g}")
    sys.exit(worst > 1e-6)


main(sys.argv[1])
