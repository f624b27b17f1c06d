"""What is made for scikit-learn: its own checks, model selection without labels, adaptation, crowds, models both ways."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import (
    check_estimator_cloneable,
    check_estimator_repr,
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
    estimator_checks_generator,
    parametrize_with_checks,
)

import triview as tv
from triview.sklearn import AdaptedClassifier, CrowdAggregator, RiskScorer, ViewsClassifier

FEATURES = 4
#: The test of independence is at the level 0.05: of views that are independent one draw in twenty is not trusted.
BY_CHANCE = pytest.mark.filterwarnings("ignore::triview.UntrustedWarning")
GROUPS = {view: slice(at * FEATURES, (at + 1) * FEATURES) for at, view in enumerate("abc")}


def gaussians(rows, *, classes=3, prior=None, stretch=0.0, seed=0):
    """Three views of four columns each, independent given the class, and the class; `stretch` makes another domain."""
    means = np.random.default_rng(7).normal(size=(classes, 3 * FEATURES)) * 0.8
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, size=rows, p=prior)
    X = means[y] + rng.normal(size=(rows, 3 * FEATURES))
    return X * (1 + stretch * (np.arange(3 * FEATURES) % FEATURES)), y


def dependent(rows):
    """Three views that are the same but for a little noise."""
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=rows)
    X = np.tile(y[:, None] + rng.normal(size=(rows, 1)), 3) + 0.3 * rng.normal(size=(rows, 3))
    return X, y


# ---- scikit-learn's own checks

TWO_COLUMNS = "the check's table has two columns, of which no three views can be made"
#: The checks that AdaptedClassifier cannot pass, and why.
ADAPTED = dict.fromkeys(
    [
        "check_classifier_data_not_an_array",
        "check_classifiers_classes",
        "check_classifiers_train",
        "check_decision_proba_consistency",
        "check_estimators_fit_returns_self",
        "check_estimators_overwrite_params",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_n_features_in",
        "check_readonly_memmap_input",
    ],
    TWO_COLUMNS,
)


def expected_failures(estimator):
    return ADAPTED if isinstance(estimator, AdaptedClassifier) else {}


@parametrize_with_checks(
    [
        ViewsClassifier(LogisticRegression()),
        ViewsClassifier(DecisionTreeClassifier(random_state=0)),
        AdaptedClassifier(),
        AdaptedClassifier(method="lbfgs"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


#: More columns than the checks' tables have.
WIDENED = make_pipeline(PolynomialFeatures(2), AdaptedClassifier())
#: A pipeline changes its steps as it is fitted.
NOT_OF_PIPELINES = "check_estimators_overwrite_params"


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=check.func.__name__)
        for _, check in estimator_checks_generator(WIDENED)
        if check.func.__name__ in ADAPTED.keys() - {NOT_OF_PIPELINES}
    ],
)
def test_the_checks_of_two_columns_pass_with_more(check):
    check(clone(WIDENED))


@pytest.mark.parametrize(
    "check",
    [
        check_estimator_cloneable,
        check_estimator_repr,
        check_get_params_invariance,
        check_no_attributes_set_in_init,
        check_parameters_default_constructible,
        check_set_params,
    ],
)
def test_a_crowd_has_parameters_as_estimators_do(check):
    # The other checks fit tables of real numbers, which are no votes.
    check("CrowdAggregator", CrowdAggregator())


def test_the_package_does_not_import_scikit_learn():
    code = "import sys, triview; assert 'sklearn' not in sys.modules and 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- ViewsClassifier


def test_the_prior_is_counted_once():
    # Naive Bayes of all columns is the product of naive Bayes of groups of them, with one prior.
    X, y = gaussians(2_000, prior=[0.8, 0.15, 0.05])
    whole = GaussianNB(var_smoothing=0).fit(X, y)
    parts = ViewsClassifier(GaussianNB(var_smoothing=0)).fit(X, y)
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    equal = clone(parts).set_params(prior=[1, 1, 1]).fit(X, y)
    assert log_loss(y, parts.predict_proba(X)) < log_loss(y, equal.predict_proba(X))


def test_scores_of_views_add_up_to_the_prediction():
    X, y = gaussians(500)
    classifier = ViewsClassifier(LogisticRegression(), GROUPS).fit(X, y)
    scores = classifier.view_scores(X)
    assert scores.shape == (500, 3, 3)
    np.testing.assert_array_equal(classifier.decision_function(X), scores.sum(axis=1))
    np.testing.assert_array_equal(classifier.predict(X), classifier.predict_proba(X).argmax(axis=1))
    two = ViewsClassifier(LogisticRegression(), GROUPS).fit(X, np.where(y == 0, "no", "yes"))
    np.testing.assert_array_equal(two.predict(X), np.where(two.decision_function(X) > 0, "yes", "no"))


def test_groups_of_columns_may_be_numbers_names_slices_or_masks():
    pandas = pytest.importorskip("pandas")
    X, y = gaussians(300)
    frame = pandas.DataFrame(X, columns=[f"x{at}" for at in range(X.shape[1])])
    expected = ViewsClassifier(LogisticRegression()).fit(X, y).view_scores(X)
    numbers = [list(range(4)), np.arange(4, 8), range(-4, 0)]
    masks = [np.arange(12) // 4 == at for at in range(3)]
    for groups in (numbers, list(GROUPS.values()), masks):
        np.testing.assert_array_equal(
            ViewsClassifier(LogisticRegression(), groups).fit(X, y).view_scores(X), expected
        )
    names = {view: list(frame.columns[group]) for view, group in GROUPS.items()}
    named = ViewsClassifier(LogisticRegression(), names).fit(frame, y)
    np.testing.assert_array_equal(named.view_scores(frame), expected)
    assert list(named.estimators_[1].feature_names_in_) == names["b"]
    assert list(named._scores(frame)) == ["a", "b", "c"]


def test_each_view_may_have_an_estimator_of_its_own():
    X, y = gaussians(300)
    estimators = [LogisticRegression(), GaussianNB(), DecisionTreeClassifier(max_depth=3, random_state=0)]
    classifier = ViewsClassifier(estimators, list(GROUPS.values())).fit(X, y)
    assert [type(each) for each in classifier.estimators_] == [type(each) for each in estimators]
    # Leaves of a tree say that classes are impossible, and no score is infinite.
    assert np.isfinite(classifier.view_scores(X)).all()


@BY_CHANCE
def test_fitted_estimators_are_joined_as_they_are():
    X, y = gaussians(2_000, prior=[0.7, 0.2, 0.1])
    names = np.array(["x", "y", "z"])[y]
    fitted = [LogisticRegression().fit(X[:, group], names) for group in GROUPS.values()]
    shares = np.bincount(y) / len(y)
    joined = ViewsClassifier.from_estimators(fitted, prior=shares)
    assert joined.estimators_[0] is fitted[0]
    expected = ViewsClassifier(LogisticRegression()).fit(X, names)
    np.testing.assert_allclose(joined.predict_proba(X), expected.predict_proba(X))
    assert joined.risk(X).classes == ["x", "y", "z"]

    # The same classes in another order are the same classes.
    class Reversed(BaseEstimator):
        def __init__(self, estimator):
            self.estimator, self.classes_ = estimator, estimator.classes_[::-1]

        def fit(self, X, y):
            raise AssertionError("fitted again")

        def predict_proba(self, X):
            return self.estimator.predict_proba(X)[:, ::-1]

    mixed = ViewsClassifier.from_estimators([fitted[0], Reversed(fitted[1]), fitted[2]], GROUPS, prior=shares)
    np.testing.assert_allclose(mixed.predict_proba(X), expected.predict_proba(X))


@BY_CHANCE
def test_the_risk_is_that_of_the_labels():
    classifier = ViewsClassifier(LogisticRegression(), GROUPS).fit(*gaussians(600))
    answers = []
    for seed in range(1, 6):
        X, y = gaussians(20_000, seed=seed)
        answer = classifier.risk(X)
        assert answer.views == ["a", "b", "c"]
        assert abs(answer.risk - log_loss(y, classifier.predict_proba(X))) < 4 * answer.standard_error
        # An interval of 95%, made twice as wide: four standard errors.
        low, high, _ = answer.error_rate_interval
        assert abs((classifier.predict(X) != y).mean() - (low + high) / 2) < high - low
        answers.append(answer)
    # Three of five by chance: once in a thousand.
    assert sum(not answer.trusted for answer in answers) < 3


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_tables_are_taken(form):
    X, y = gaussians(400)
    X = np.where(X > 0.5, X, 0.0)
    for classifier in (ViewsClassifier(LogisticRegression()), AdaptedClassifier()):
        dense = clone(classifier).fit(X, y)
        thin = clone(classifier).fit(form(X), y)
        np.testing.assert_allclose(thin.predict_proba(form(X)), dense.predict_proba(X), atol=1e-4)
    assert not hasattr(thin.model_.weights["1"], "toarray")


def test_bad_groups_are_told_in_words():
    pandas = pytest.importorskip("pandas")
    X, y = gaussians(100)
    frame = pandas.DataFrame(X, columns=[f"column{at}" for at in range(12)])
    words = {
        "column `3` is in view `1` and again in view `2`": [[0, 3], [3, 4], [5]],
        "view `2` has none of the 12 columns": [[0], [], [1]],
        "view `3` has column 12, and the table has 12": [[0], [1], [12]],
        r"view `1` has column 0\.5: a column is a number or a name": [[0.5], [1], [2]],
        "names column `column1`, and the columns of an array have no names": [["column1"], [1], [2]],
        r"the mask of view `1` has the shape \(2,\)": [[True, False], [1], [2]],
        "there are no views": [],
    }
    for message, groups in words.items():
        with pytest.raises(tv.TriviewError, match=message):
            ViewsClassifier(LogisticRegression(), groups).fit(X, y)
    with pytest.raises(tv.TriviewError, match="did you mean `column1`"):
        ViewsClassifier(LogisticRegression(), [["colum1"], [2], [3]]).fit(frame, y)


def test_bad_estimators_are_told_in_words():
    X, y = gaussians(300)
    with pytest.raises(tv.TriviewError, match="a LinearSVC has no predict_proba"):
        ViewsClassifier(LinearSVC()).fit(X, y)
    with pytest.raises(tv.TriviewError, match="2 estimators and 3 views"):
        ViewsClassifier([LogisticRegression()] * 2).fit(X, y)
    with pytest.raises(tv.TriviewError, match="3 shares above 0 are needed"):
        ViewsClassifier(LogisticRegression(), prior=[0.5, 0.5]).fit(X, y)
    with pytest.raises(NotFittedError):
        ViewsClassifier.from_estimators([LogisticRegression()] * 3)
    with pytest.raises(tv.TriviewError, match="there are no estimators"):
        ViewsClassifier.from_estimators([])
    fitted = [LogisticRegression().fit(X[:, :4], y), LogisticRegression().fit(X[:, 4:8], y % 2)]
    with pytest.raises(tv.TriviewError, match="estimator 2 has the classes"):
        ViewsClassifier.from_estimators(fitted)
    with pytest.raises(tv.TriviewError, match="1 estimators and 2 views"):
        ViewsClassifier.from_estimators(fitted[:1], [[0], [1]])
    with pytest.raises(tv.TriviewError, match="three are needed"):
        ViewsClassifier(LogisticRegression(), [[0, 1], [2, 3]]).fit(X, y).risk(X)


# ---- RiskScorer


def half_labelled(labelled, unlabelled):
    """Rows of which only the first have a label, the split that says so, and the labels that nobody sees."""
    X, y = gaussians(labelled + unlabelled, seed=2)
    hidden = np.where(np.arange(len(y)) < labelled, y, -1)
    return X, y, hidden, [(np.arange(labelled), np.arange(labelled, len(y)))]


@BY_CHANCE
@pytest.mark.parametrize(
    ("estimator", "parameter", "scorer"),
    [
        (ViewsClassifier(LogisticRegression(), GROUPS), "estimator__C", RiskScorer()),
        (
            make_pipeline(StandardScaler(), LogisticRegression()),
            "logisticregression__C",
            RiskScorer(views=GROUPS),
        ),
    ],
)
def test_a_search_finds_a_good_parameter_without_labels(estimator, parameter, scorer):
    X, y, hidden, split = half_labelled(45, 8_000)
    ((train, test),) = split
    values = [0.001, 0.03, 1.0, 1000.0]
    search = GridSearchCV(
        estimator, {parameter: values}, scoring=scorer, cv=split, refit=False, error_score="raise"
    )
    search.fit(X, hidden)
    truth = []
    for value in values:
        fitted = clone(estimator).set_params(**{parameter: value}).fit(X[train], y[train])
        truth.append(log_loss(y[test], fitted.predict_proba(X[test])))
    # The parameter matters, and the one that is chosen is the best by the labels.
    assert max(truth) > 1.5 * min(truth)
    assert search.best_params_[parameter] == values[int(np.argmin(truth))]
    # Where the risk is small its standard error is below 0.03: a fifth is beyond four of them.
    np.testing.assert_allclose(-search.cv_results_["mean_test_score"][1:3], truth[1:3], rtol=0.2)


@BY_CHANCE
def test_folds_are_scored_without_labels():
    X, y, _, _ = half_labelled(0, 6_000)
    scores = cross_validate(
        ViewsClassifier(GaussianNB()), X, y, cv=3, scoring={"risk": RiskScorer(sign=1), "minus": RiskScorer()}
    )
    np.testing.assert_array_equal(scores["test_risk"], -scores["test_minus"])
    assert ((scores["test_risk"] > 0) & (scores["test_risk"] < 1)).all()


@BY_CHANCE
def test_scores_come_from_wherever_they_are():
    X, y = gaussians(5_000)
    classifier = ViewsClassifier(LogisticRegression(), GROUPS).fit(X, y)
    expected = -classifier.risk(X).risk
    assert RiskScorer()(classifier, X) == expected
    assert RiskScorer()(make_pipeline(MaxAbsScaler(), clone(classifier)).fit(X, y), X) == pytest.approx(
        expected, rel=0.2
    )
    assert RiskScorer(views=lambda fitted, rows: fitted.view_scores(rows))(classifier, X, y) == expected
    adapted = AdaptedClassifier(GROUPS).fit(X, y)
    assert RiskScorer()(adapted, X) == -adapted.risk(X).risk
    assert RiskScorer(loss="error")(classifier, X) == pytest.approx(-classifier.risk(X).error_rate, rel=0.05)
    linear = LogisticRegression().fit(X, y)
    answer = tv.estimate(
        tv.Model.from_sklearn(linear, {view: range(12)[group] for view, group in GROUPS.items()}).scores(
            {view: X[:, group] for view, group in GROUPS.items()}
        )
    )
    assert RiskScorer(GROUPS)(linear, X) == -answer.risk
    # Scores that differ by their rounding move the risk by a hundredth of its standard error.
    moved = RiskScorer(GROUPS)(linear, sparse.csr_array(X)) + answer.risk
    assert abs(moved) < 0.2 * answer.standard_error


def test_what_is_not_to_be_trusted_is_warned_of_dropped_or_refused():
    X, y = dependent(5_000)
    classifier = ViewsClassifier(LogisticRegression()).fit(X, y)
    with pytest.warns(tv.UntrustedWarning):
        assert np.isfinite(RiskScorer()(classifier, X))
    assert np.isnan(RiskScorer(untrusted="nan")(classifier, X))
    with pytest.raises(tv.UntrustedError):
        RiskScorer(untrusted="raise")(classifier, X)


def test_bad_scorers_are_told_in_words():
    X, y = gaussians(300)
    linear = LogisticRegression().fit(X, y)
    with pytest.raises(tv.TriviewError, match='"warn", "nan" or "raise"'):
        RiskScorer(untrusted="ignore")
    with pytest.raises(tv.TriviewError, match="`sign` is 0"):
        RiskScorer(sign=0)
    with pytest.raises(tv.TriviewError, match="a LogisticRegression has no view_scores"):
        RiskScorer()(linear, X)
    with pytest.raises(tv.TriviewError, match="a GaussianNB has no coef_"):
        RiskScorer(GROUPS)(GaussianNB().fit(X, y), X)
    with pytest.raises(tv.TriviewError, match="each of the classifier's 12 belongs to one view"):
        RiskScorer([[0], [1], [2]])(linear, X)
    with pytest.raises(tv.TriviewError, match="loss"):
        RiskScorer(GROUPS, loss="none such")(linear, X)
    assert repr(RiskScorer()) == "RiskScorer(loss='log', sign=-1, untrusted='warn')"


# ---- AdaptedClassifier


@pytest.fixture(scope="module")
def domains():
    return gaussians(400), gaussians(6_000, stretch=1.5, seed=1), gaussians(6_000, stretch=1.5, seed=2)


def test_a_model_is_adapted_to_a_domain_without_labels(domains):
    (X, y), (new, _), (fresh, truth) = domains
    names = np.array(["z", "b", "10"])
    classifier = AdaptedClassifier(GROUPS).fit(X, names[y])
    assert list(classifier.classes_) == classifier.model_.classes == ["10", "b", "z"]
    assert classifier.adaptation_ is None
    before, seed = (classifier.predict(fresh) != names[truth]).mean(), classifier.model_
    classifier.adapt(new)
    after = (classifier.predict(fresh) != names[truth]).mean()
    assert classifier.adaptation_.verdict == "improved"
    assert classifier.model_ is not seed
    assert after < 0.8 * before
    np.testing.assert_allclose(classifier.predict_proba(fresh).sum(axis=1), 1)
    assert classifier.fit(X, y).adaptation_ is None


def test_a_few_labels_are_taken(domains):
    (X, y), (new, truth), _ = domains
    few = np.arange(len(truth)) < 100
    forms = [
        np.where(few, truth, np.nan),
        np.where(few, truth, -1),
        [int(c) if f else None for c, f in zip(truth, few, strict=True)],
    ]
    adapted = [AdaptedClassifier(GROUPS).fit(X, y).adapt(new, labels).model_.to_bytes() for labels in forms]
    assert adapted[0] == adapted[1] == adapted[2]
    assert adapted[0] != AdaptedClassifier(GROUPS).fit(X, y).adapt(new).model_.to_bytes()
    # A class that is -1 is a class.
    signs = AdaptedClassifier(GROUPS).fit(X, np.where(y == 0, -1, 1))
    assert signs._few(np.array([-1.0, np.nan, 1.0]), 3) == ["-1", None, "1"]


def test_what_is_not_better_is_not_taken():
    X, y = gaussians(10_000)
    classifier = AdaptedClassifier(GROUPS, method="lbfgs").fit(X, y)
    seed = classifier.model_
    with pytest.warns(tv.UntrustedWarning):
        classifier.adapt(gaussians(3_000, seed=5)[0])
    assert classifier.adaptation_.verdict == "failed"
    assert classifier.model_ is seed


def test_bad_adaptations_are_told_in_words(domains):
    (X, y), (new, truth), _ = domains
    with pytest.raises(NotFittedError):
        AdaptedClassifier().adapt(X)
    with pytest.raises(tv.TriviewError, match="one class"):
        AdaptedClassifier().fit(X, np.zeros(len(X)))
    with pytest.raises(tv.TriviewError, match="there are 2 views"):
        AdaptedClassifier([[0], [1]]).fit(X, y)
    with pytest.raises(tv.TriviewError, match="a class without a name"):
        AdaptedClassifier().fit(X, np.where(y == 0, "", "b"))
    classifier = AdaptedClassifier().fit(X, y)
    with pytest.raises(tv.TriviewError, match="`y` has 5 values and `X` 6000 rows"):
        classifier.adapt(new, truth[:5])
    with pytest.raises(tv.TriviewError, match="no class of the model"):
        classifier.adapt(new, np.full(len(new), 9))
    with pytest.raises(ValueError, match="expecting 12 features"):
        classifier.adapt(new[:, :9])
    with pytest.raises(tv.TriviewError, match="are needed for 3 classes"):
        classifier.adapt(new[:50])


# ---- CrowdAggregator


@pytest.fixture(scope="module")
def crowd():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=900)
    right = rng.random((900, 7)) < np.linspace(0.5, 0.9, 7)
    votes = np.where(right, truth[:, None], rng.integers(3, size=(900, 7)))
    votes[rng.random(votes.shape) < 0.3] = -1
    votes[5] = -1
    return votes, truth


def test_a_crowd_is_better_than_its_majority(crowd):
    votes, truth = crowd
    aggregator = CrowdAggregator()
    labels = aggregator.fit_predict(votes)
    counts = (votes[:, :, None] == np.arange(3)).sum(axis=1)
    assert (labels != truth).mean() < (counts.argmax(axis=1) != truth).mean()
    assert labels is aggregator.labels_
    assert aggregator.posterior_.shape == (900, 3)
    np.testing.assert_allclose(aggregator.posterior_.sum(axis=1), 1)
    assert len(aggregator.annotators_) == 7
    assert aggregator.error_rate_ == aggregator.answer_.error_rate
    assert abs(aggregator.error_rate_ - (labels != truth).mean()) < 0.03
    # Nobody voted on it.
    np.testing.assert_allclose(aggregator.posterior_[5], list(aggregator.answer_.class_prior.values()))


def test_votes_may_be_floats_or_a_frame(crowd):
    pandas = pytest.importorskip("pandas")
    votes, _ = crowd
    expected = CrowdAggregator().fit(votes)
    floats = CrowdAggregator().fit(np.where(votes < 0, np.nan, votes))
    np.testing.assert_array_equal(floats.posterior_, expected.posterior_)
    rows, columns = np.nonzero(votes >= 0)
    frame = pandas.DataFrame({"text": rows, "who": columns, "says": votes[rows, columns]})
    tabled = CrowdAggregator(item="text", annotator="who", vote="says").fit(frame)
    there = tabled.items_.astype(int)
    assert 5 not in there
    np.testing.assert_array_equal(tabled.labels_.astype(int), expected.labels_[there])
    np.testing.assert_array_equal(tabled.posterior_, expected.posterior_[there])


def test_known_classes_are_kept(crowd):
    votes, truth = crowd
    known = np.where(np.arange(len(truth)) % 10 == 1, truth, -1)
    aggregator = CrowdAggregator().fit(votes, known)
    np.testing.assert_array_equal(aggregator.labels_[known >= 0], known[known >= 0])
    assert aggregator.answer_.bound is None


def test_bad_votes_are_told_in_words(crowd):
    votes, truth = crowd
    words = {
        "holds a number that is no class": [[0.5, 1], [1, 0]],
        "votes that are texts come as a frame": [["a", "b"], ["b", "a"]],
        r"the votes has 1 axes: \(items, annotators\) is needed": [0, 1, 1],
        "2 annotator.* voted, and three are needed": votes[:, :2],
    }
    for message, bad in words.items():
        with pytest.raises(tv.TriviewError, match=message):
            CrowdAggregator().fit(bad)
    with pytest.raises(tv.TriviewError, match="`y` has 3 values for 900 items"):
        CrowdAggregator().fit(votes, truth[:3])


# ---- models both ways


@pytest.mark.parametrize("classes", [2, 3])
def test_a_linear_model_goes_there_and_back(classes):
    X, y = gaussians(500, classes=classes)
    linear = LogisticRegression().fit(X, y)
    model = tv.Model.from_sklearn(linear, {view: range(12)[group] for view, group in GROUPS.items()})
    total = sum(model.scores({view: X[:, group] for view, group in GROUPS.items()}).values())
    odds = np.exp(total - total.max(axis=1, keepdims=True))
    np.testing.assert_allclose(odds / odds.sum(axis=1, keepdims=True), linear.predict_proba(X))
    back = model.to_sklearn()
    np.testing.assert_allclose(back.predict_proba(X), linear.predict_proba(X))
    np.testing.assert_array_equal(back.predict(X), linear.predict(X).astype(str))
    again = tv.Model.from_sklearn(back, {view: range(12)[group] for view, group in GROUPS.items()})
    np.testing.assert_allclose(again.to_sklearn().predict_proba(X), linear.predict_proba(X))


def test_names_of_features_go_there_and_back():
    pandas = pytest.importorskip("pandas")
    X, y = gaussians(500)
    frame = pandas.DataFrame(X, columns=[f"x{at}" for at in range(12)])
    linear = LogisticRegression().fit(frame, y)
    groups = {
        "even": [f"x{at}" for at in range(0, 12, 2)],
        "odd": ["x1", "x3", "x5"],
        "rest": ["x7", "x9", "x11"],
    }
    model = tv.Model.from_sklearn(linear, groups)
    assert model.features == groups
    back = model.to_sklearn()
    ordered = frame[[name for group in groups.values() for name in group]]
    np.testing.assert_allclose(back.predict_proba(ordered), linear.predict_proba(frame))
    with pytest.raises(ValueError, match="same order"):
        back.predict(frame)


@pytest.mark.parametrize(
    "linear",
    [
        LogisticRegression(fit_intercept=False),
        LinearSVC(fit_intercept=False),
        RidgeClassifier(fit_intercept=False),
        Perceptron(),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_other_linear_models_come_too(linear, classes):
    X, y = gaussians(300, classes=classes)
    fitted = clone(linear).fit(X, y)
    model = tv.Model.from_sklearn(fitted, {view: range(12)[group] for view, group in GROUPS.items()})
    total = sum(model.scores({view: X[:, group] for view, group in GROUPS.items()}).values())
    decision = fitted.decision_function(X)
    np.testing.assert_allclose(total[:, 1] - total[:, 0] if classes == 2 else total, decision, atol=1e-12)


def test_sparsified_models_come_too():
    X, y = gaussians(300)
    fitted = LogisticRegression(C=0.1).fit(X, y)
    groups = {view: range(12)[group] for view, group in GROUPS.items()}
    dense = tv.Model.from_sklearn(fitted, groups)
    assert tv.Model.from_sklearn(fitted.sparsify(), groups).to_bytes() == dense.to_bytes()


def test_trained_models_go_to_scikit_learn():
    X, y = gaussians(500)
    parts = {view: X[:, group] for view, group in GROUPS.items()}
    model = tv.train(parts, label=y)
    total = sum(model.scores(parts).values())
    np.testing.assert_allclose(model.to_sklearn().decision_function(X), total)
