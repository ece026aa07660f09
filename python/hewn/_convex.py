"""Group-sparse models of tables, in the conventions of scikit-learn."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import torch

try:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin
    from sklearn.metrics import accuracy_score, r2_score
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        _check_sample_weight, check_array, check_is_fitted, check_X_y, column_or_1d)
except ImportError as problem:
    raise ImportError("hewn.GroupSelector and hewn.GroupLasso need scikit-learn, which is not installed") from problem

from . import _C

_CLASSES = ("binomial", "multinomial")


def _classifies(model: "_GroupModel") -> bool:
    task = getattr(model, "task_", model.task)
    if task not in (*_CLASSES, "auto"):
        raise AttributeError(f"a model of task {task} has no classes")
    return True


class _GroupModel(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """What both models share: everything but their options."""

    groups: Optional[Sequence[Any]]
    task: str
    ridge: Optional[float]
    fit_intercept: bool
    standardise: bool
    tol: float
    cv: int
    seed: int

    def _options(self, groups: int) -> Dict[str, Any]:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "_GroupModel":
        """Selects groups of columns of X and fits the model on them."""
        numeric = self.task in ("gaussian", "poisson")
        X, y = check_X_y(X, y, dtype=np.float64, multi_output=True, y_numeric=numeric, ensure_min_samples=2)
        self.n_features_in_ = X.shape[1]
        response = self._response(y)
        labels = self._labels()
        weight = None
        if sample_weight is not None:
            weight = torch.as_tensor(_check_sample_weight(sample_weight, X, dtype=np.float64).reshape(-1, 1))
        count = len(dict.fromkeys(labels)) if labels else X.shape[1]
        options = {"method": "group-lasso", "k": 0, "kprime": 0, "lambda": "", "path": 0, "min_ratio": 0.01,
                   "cv": self.cv, "ridge": self.ridge, "intercept": self.fit_intercept,
                   "standardise": self.standardise, "group_weights": "one", "mix": 1.0, "singles": 0.0,
                   "tolerance": self.tol, "seed": self.seed}
        options.update(self._options(count))
        found = _C.select_groups(torch.as_tensor(X), torch.as_tensor(response), self.task_, labels, weight, options)
        self._take(found)
        return self

    def _response(self, y: np.ndarray) -> np.ndarray:
        """Sets `task_` and, for classes, `classes_`; returns samples by outputs as the solvers want them."""
        task = self.task
        if task == "auto":
            task = "gaussian" if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)) else "classes"
        self._one_column = y.ndim == 1
        if task in ("gaussian", "poisson"):
            self.task_ = task
            return np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
            self._one_column = True
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__}: expected at least two classes, got 1 class")
        two = len(self.classes_) == 2 and task != "multinomial"
        if task == "binomial" and not two:
            raise ValueError(f"task: binomial expects two classes, got {len(self.classes_)}")
        self.task_ = "binomial" if two else "multinomial"
        if two:
            return numbers.reshape(-1, 1).astype(np.float64)
        return np.eye(len(self.classes_))[numbers]

    def _labels(self) -> List[str]:
        if self.groups is None:
            return []
        labels = [str(label) for label in self.groups]
        if len(labels) != self.n_features_in_:
            raise ValueError(f"groups: expected a label for each of {self.n_features_in_} columns, got {len(labels)}")
        return labels

    def _take(self, found: Dict[str, Any]) -> None:
        self.coef_ = self._coefficients(found)
        intercept = found["intercept"].numpy().ravel()
        self.intercept_ = float(intercept[0]) if self.coef_.ndim == 1 else intercept
        self.groups_ = [found["names"][i] for i in found["selected"]]
        labels = self._labels()
        self._in_groups = (np.isin(labels, self.groups_) if labels else
                           np.isin(np.arange(self.n_features_in_), found["selected"]))
        self.losses_ = np.asarray(found["losses"])
        self.tau_ = found["tau"]
        self.lambda_ = found["lambda"]
        self.certificate_ = found["certificate"]
        self.n_iter_ = max(1, len(found["path"]), len(found["selected"]))
        self.path_ = {
            "lambda": np.asarray([row["lambda"] for row in found["path"]]),
            "loss": np.asarray([row["loss"] for row in found["path"]]),
            "gap": np.asarray([row["gap"] for row in found["path"]]),
            "groups": [[found["names"][i] for i in row["groups"]] for row in found["path"]],
            "coef": [self._coefficients(row) for row in found["path"]],
        }
        if "cv" in found:
            self.cv_loss_, self.cv_error_ = np.asarray(found["cv"][0]), np.asarray(found["cv"][1])

    def _coefficients(self, row: Dict[str, Any]) -> np.ndarray:
        coef = row["coefficients"].numpy()
        return coef[:, 0].copy() if coef.shape[1] == 1 else coef.T.copy()

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        if not getattr(self, "singles", 0):
            return self._in_groups  # all columns of a group, though one of its coefficients may happen to be zero
        return self.coef_ != 0 if self.coef_.ndim == 1 else (self.coef_ != 0).any(0)

    @available_if(_classifies)  # type: ignore[misc]
    def decision_function(self, X: Any) -> np.ndarray:
        """The linear predictor of each class; of the second alone where there are two."""
        eta = self._predictor(X)
        return eta[:, 1] - eta[:, 0] if eta.ndim == 2 and eta.shape[1] == 2 else eta

    def _predictor(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = check_array(X, dtype=np.float64)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input")
        return X @ self.coef_.T + self.intercept_

    def predict(self, X: Any) -> np.ndarray:
        """The mean response, or the most probable class."""
        eta = self._predictor(X)
        if self.task_ == "binomial":
            return self.classes_[(eta > 0).astype(int)]
        if self.task_ == "multinomial":
            return self.classes_[eta.argmax(1)]
        out = np.exp(eta) if self.task_ == "poisson" else eta
        return out if self._one_column or out.ndim == 2 else out.reshape(-1, 1)

    @available_if(_classifies)  # type: ignore[misc]
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class."""
        eta = self._predictor(X)
        if self.task_ == "binomial":
            yes = 1 / (1 + np.exp(-np.clip(eta, -700, 700)))
            return np.stack([1 - yes, yes], 1)
        shifted = np.exp(eta - eta.max(1, keepdims=True))
        return shifted / shifted.sum(1, keepdims=True)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of right classes, or of the variance that is explained."""
        rule = accuracy_score if hasattr(self, "classes_") else r2_score
        return float(rule(y, self.predict(X), sample_weight=sample_weight))

    @property
    def _estimator_type(self) -> str:
        if self.task == "auto":
            raise AttributeError("_estimator_type")  # what y is decides it
        return "classifier" if self.task in _CLASSES else "regressor"

    def _more_tags(self) -> Dict[str, Any]:
        return {"requires_y": True, "poor_score": True, "multioutput": self.task not in _CLASSES}


class GroupSelector(_GroupModel):
    """Selects groups of columns by a method of ``hewn select``, and fits a linear model on them.

    Args:
        method: omp, ompr, iht, seq-lasso, or one that follows a path (``hewn select --help``).
        k: groups to select.
        groups: a label for every column; none: each is a group of its own.
        task: gaussian, binomial, multinomial or poisson; auto: classes where y are labels or whole numbers.
        cv: folds of cross-validation, which then chooses how many groups up to k; 0: none.

    >>> import numpy as np, hewn
    >>> X = np.random.default_rng(0).normal(size=(200, 12))
    >>> y = X[:, 2] - X[:, 3] + 0.5 * X[:, 9] + 0.01 * X[:, 0]
    >>> model = hewn.GroupSelector(k=2, groups=list("aabbccddeeff")).fit(X, y)
    >>> model.groups_, model.get_support(indices=True).tolist()
    (['b', 'e'], [2, 3, 8, 9])
    """

    def __init__(self, method: str = "omp", k: int = 10, *, groups: Optional[Sequence[Any]] = None, task: str = "auto",
                 ridge: Optional[float] = None, fit_intercept: bool = True, standardise: bool = False, cv: int = 0,
                 tol: float = 1e-6, seed: int = 0):
        self.method = method
        self.k = k
        self.groups = groups
        self.task = task
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.standardise = standardise
        self.cv = cv
        self.tol = tol
        self.seed = seed

    def _options(self, groups: int) -> Dict[str, Any]:
        return {"method": self.method, "k": min(self.k, groups)}


class GroupLasso(_GroupModel):
    """The group LASSO: mean loss plus alpha times the sum of the groups' norms.

    `path_` has the solutions at falling alphas, `certificate_` how far the result is from the optimum at most.

    Args:
        alpha: a number, a share of the one at which all is zero, such as "0.1tau", or none: the whole path, of which
            cross-validation (`cv` folds) takes one, or else the last is taken.
        weights: of the groups: one, or sqrt of their sizes.
        mix: elastic net: share of alpha that goes to the norms; the rest to half the squared norm.
        singles: sparse groups: share of the norms' part that goes to the absolute values of single coefficients.

    >>> import numpy as np, hewn
    >>> X = np.random.default_rng(0).normal(size=(200, 12))
    >>> y = X[:, 2] - X[:, 3] + 0.01 * X[:, 0]
    >>> model = hewn.GroupLasso("0.1tau", groups=list("aabbccddeeff")).fit(X, y)
    >>> model.groups_, model.certificate_["verdict"]
    (['b'], 'certified')
    """

    def __init__(self, alpha: Any = "0.1tau", *, groups: Optional[Sequence[Any]] = None, weights: str = "one",
                 mix: float = 1.0, singles: float = 0.0, task: str = "auto", ridge: Optional[float] = None,
                 fit_intercept: bool = True, standardise: bool = False, cv: int = 0, path: int = 100,
                 tol: float = 1e-6, seed: int = 0):
        self.alpha = alpha
        self.groups = groups
        self.weights = weights
        self.mix = mix
        self.singles = singles
        self.task = task
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.standardise = standardise
        self.cv = cv
        self.path = path
        self.tol = tol
        self.seed = seed

    def _options(self, groups: int) -> Dict[str, Any]:
        out: Dict[str, Any] = {"group_weights": self.weights, "mix": float(self.mix), "singles": float(self.singles)}
        if self.alpha is None or self.cv > 0:
            out["path"] = self.path
        else:
            out["lambda"] = str(self.alpha)
        return out
