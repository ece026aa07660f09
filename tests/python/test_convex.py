"""Group-sparse models of tables."""

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

import hewn  # noqa: E402


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [
    lambda: hewn.GroupSelector(),
    lambda: hewn.GroupLasso(),
    lambda: hewn.GroupSelector(task="gaussian"),
    lambda: hewn.GroupLasso(task="gaussian"),
    lambda: hewn.GroupSelector(task="multinomial"),
    lambda: hewn.GroupLasso(task="multinomial"),
], ids=["selector", "lasso", "selector-numbers", "lasso-numbers", "selector-classes", "lasso-classes"])
def test_conventions(make):
    check_estimator(make())


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    groups = [f"g{j // 2}" for j in range(20)]
    return X, X[:, 4] - 2 * X[:, 5] + X[:, 13], groups


def test_numbers(table):
    X, y, groups = table
    for model in (hewn.GroupSelector(k=2, groups=groups), hewn.GroupLasso("0.05tau", groups=groups)):
        model.fit(X, y)
        assert set(model.groups_) == {"g2", "g6"}
        assert model.get_support(indices=True).tolist() == [4, 5, 12, 13]
        assert model.score(X, y) > 0.95
        assert model.transform(X).shape == (300, 4)
    assert model.certificate_["verdict"] == "certified" and model.certificate_["gap"] < 1e-4
    assert (np.diff(model.path_["lambda"]) < 0).all()
    with pytest.raises(AttributeError):
        model.predict_proba(X)


def test_classes(table):
    X, y, groups = table
    names = np.array(["low", "middle", "high"])[np.digitize(y, [-1, 1])]
    model = hewn.GroupLasso("0.05tau", groups=groups).fit(X, names)
    assert model.task_ == "multinomial" and model.score(X, names) > 0.85
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(1), 1)
    assert (model.classes_[proba.argmax(1)] == model.predict(X)).all()
    two = hewn.GroupSelector(k=2, groups=groups).fit(X, y > 0)
    assert two.task_ == "binomial" and two.predict_proba(X).shape == (300, 2)


def test_cross_validation_and_pipelines(table):
    X, y, groups = table
    model = hewn.GroupLasso(None, groups=groups, cv=5).fit(X, y)
    assert {"g2", "g6"} <= set(model.groups_) and len(model.cv_loss_) == len(model.path_["lambda"])
    pipeline = make_pipeline(StandardScaler(), hewn.GroupSelector(k=2, task="gaussian"))
    assert cross_val_score(pipeline, X, y).mean() > 0.7


def test_errors(table):
    X, y, _ = table
    with pytest.raises(ValueError, match="a label for each of 20 columns"):
        hewn.GroupLasso(groups=["a"]).fit(X, y)
    with pytest.raises(hewn.Error, match="lambda"):
        hewn.GroupLasso("nonsense").fit(X, y)
