"""sklearn_path.py X.npy Y.npy FAMILY LAMBDAS MIN_RATIO TOL: one JSON line with CPU seconds and KKT violation.

sklearn_path.py DATA.csv OUTPUTS FAMILY LAMBDAS MIN_RATIO TOL: reads the table, whose last columns are the responses,
and fits.
"""
import json
import sys
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression, MultiTaskLasso, lasso_path

warnings.filterwarnings("ignore")
family, count, ratio, tol = sys.argv[3], int(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6])
cold = sys.argv[1].endswith("csv")
if cold:
    import pandas

    data = pandas.read_csv(sys.argv[1]).to_numpy()
    x, y = data[:, : -int(sys.argv[2])], data[:, -int(sys.argv[2]) :]
else:
    x, y = np.load(sys.argv[1]), np.load(sys.argv[2])


def gaussian():
    if y.shape[1] > 1:  # the elastic net's path; its default is not the lasso
        return MultiTaskLasso.path(x, np.asfortranarray(y), l1_ratio=1.0, eps=ratio, n_alphas=count, tol=tol, max_iter=100000)[:2]
    lambdas, coef, _ = lasso_path(x, y[:, 0], eps=ratio, n_alphas=count, tol=tol, max_iter=100000)
    return lambdas, coef[None]


def binomial():  # one fit after the other, each from where the last one ended
    largest = np.abs(x.T @ (y[:, 0] - y.mean())).max() / len(x)
    lambdas = largest * ratio ** (np.arange(count) / (count - 1))
    model = LogisticRegression(penalty="l1", solver="saga", warm_start=True, tol=tol, max_iter=100000, random_state=0)
    coef = []
    for lam in lambdas:
        model.set_params(C=1 / (lam * len(x))).fit(x, y[:, 0])
        coef.append(np.append(model.coef_[0], model.intercept_))
    return lambdas, np.array(coef).T[None]


if family == "gaussian" or family == "mgaussian":
    x, y = np.asfortranarray(x - x.mean(0)), y - y.mean(0)
start = time.process_time()
lambdas, coef = binomial() if family == "binomial" else gaussian()
cpu = time.process_time() - start
if cold:
    sys.exit()
worst = 0
for i, lam in enumerate(lambdas):
    b = coef[:, :, i].T
    if family == "binomial":
        eta = x @ b[:-1] + b[-1:]
        b, rest = b[:-1], y - 1 / (1 + np.exp(-eta))
    else:
        rest = y - x @ b
    g = x.T @ rest / len(x)
    norm = np.linalg.norm(b, axis=1)
    on = norm > 0
    v = np.maximum(0, np.linalg.norm(g, axis=1) - lam)
    v[on] = np.linalg.norm(g[on] - lam * b[on] / norm[on, None], axis=1)
    worst = max(worst, v.max() / lam)
loss = (np.logaddexp(0, eta) - y * eta).sum() if family == "binomial" else (rest**2).sum() / 2
print(json.dumps({"cpu": cpu, "kkt": worst, "objective": loss / len(x) + lam * norm.sum()}))
