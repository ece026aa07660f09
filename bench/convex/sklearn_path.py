"""sklearn_path.py X.npy Y.npy LAMBDAS MIN_RATIO TOL: one JSON line with CPU seconds and KKT violation."""
import json
import sys
import time
import warnings

import numpy as np
from sklearn.linear_model import MultiTaskLasso, lasso_path

warnings.filterwarnings("ignore")
x, y = np.load(sys.argv[1]), np.load(sys.argv[2])
count, ratio, tol = int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])
x, y = np.asfortranarray(x - x.mean(0)), y - y.mean(0)
many = y.shape[1] > 1
start = time.process_time()
if many:  # the elastic net's path; its default is not the lasso
    lambdas, coef, _ = MultiTaskLasso.path(x, np.asfortranarray(y), l1_ratio=1.0, eps=ratio, n_alphas=count, tol=tol,
                                           max_iter=100000)
else:
    lambdas, coef, _ = lasso_path(x, y[:, 0], eps=ratio, n_alphas=count, tol=tol, max_iter=100000)
cpu = time.process_time() - start
worst = 0
for i, lam in enumerate(lambdas):
    b = coef[:, :, i].T if many else coef[:, i : i + 1]
    rest = y - x @ b
    g = x.T @ rest / len(x)
    norm = np.linalg.norm(b, axis=1)
    on = norm > 0
    v = np.maximum(0, np.linalg.norm(g, axis=1) - lam)
    v[on] = np.linalg.norm(g[on] - lam * b[on] / norm[on, None], axis=1)
    worst = max(worst, v.max() / lam)
print(json.dumps({"cpu": cpu, "kkt": worst, "objective": (rest**2).sum() / 2 / len(x) + lam * norm.sum()}))
