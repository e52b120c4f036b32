"""Records what SciPy says about small samples, for test/stats: one JSON file, stats.json, beside this script.

    DIR=$(mktemp -d) && python3 -m venv $DIR && $DIR/bin/pip install scipy==1.16.3 numpy==2.4.6
    $DIR/bin/python test/golden/make-stats-golden.py

mann_whitney: `mannwhitneyu(method="exact")` where no values are equal; with ties every assignment of the values to the two sides is
enumerated (`PermutationMethod`), because SciPy's own exact distribution ignores ties; above 60 values `method="asymptotic"`.
hodges_lehmann: median of all pairwise differences, by its definition. bootstrap: SciPy's percentile interval of the same statistic from
20,000 draws, to be met within a tenth of its width. holm: the definition, in NumPy.
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(20261130)


def shift(base, candidate, axis=-1):
    base, candidate = np.asarray(base), np.asarray(candidate)
    differences = candidate[..., None, :] - base[..., :, None]
    return np.median(differences.reshape(*differences.shape[:-2], -1), axis=-1)


def enumerated(x, y):
    method = stats.PermutationMethod(n_resamples=np.inf)
    return stats.mannwhitneyu(x, y, alternative="two-sided", method=method)


cases = []
for n, m in [(1, 1), (2, 3), (4, 4), (5, 8), (8, 8), (12, 9), (20, 20), (30, 30)]:
    for moved in [0.0, 0.8, 2.5]:
        x = rng.normal(100 + moved, 1, n).round(6)
        y = rng.normal(100, 1, m).round(6)
        result = stats.mannwhitneyu(x, y, alternative="two-sided", method="exact")
        cases.append({"x": x.tolist(), "y": y.tolist(), "u": result.statistic, "p": result.pvalue, "exact": True})
for n, m in [(3, 3), (4, 6), (6, 6), (8, 6)]:
    for high in [2, 4]:
        x = rng.integers(0, high + 1, n)
        y = rng.integers(0, high, m)
        result = enumerated(x, y)
        cases.append({"x": x.tolist(), "y": y.tolist(), "u": result.statistic, "p": float(result.pvalue), "exact": True})
for n, m, moved in [(31, 31, 0.5), (40, 60, 0.3), (50, 45, 1.5)]:
    x = rng.normal(moved, 1, n).round(1)  # rounded: ties
    y = rng.normal(0, 1, m).round(1)
    result = stats.mannwhitneyu(x, y, alternative="two-sided", method="asymptotic")
    cases.append({"x": x.tolist(), "y": y.tolist(), "u": result.statistic, "p": result.pvalue, "exact": False})

intervals = []
for n, m, moved in [(8, 8, 0.0), (8, 8, 3.0), (10, 12, -2.0), (20, 20, 1.0)]:
    base = rng.normal(100, 2, n).round(6)
    candidate = rng.normal(100 + moved, 2, m).round(6)
    interval = stats.bootstrap(
        (base, candidate), shift, n_resamples=20_000, method="percentile", vectorized=True, rng=np.random.default_rng(1)
    ).confidence_interval
    intervals.append(
        {"base": base.tolist(), "candidate": candidate.tolist(), "shift": float(shift(base, candidate)), "low": interval.low, "high": interval.high}
    )

holm = []
for count in [1, 2, 5, 12]:
    ps = (rng.uniform(0, 1, count) ** 3).round(6)
    order = np.argsort(ps, kind="stable")
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(ps[order] * (count - np.arange(count))))
    holm.append({"p": ps.tolist(), "adjusted": adjusted.tolist()})

golden = {
    "made_with": f"scipy {scipy.__version__}, numpy {np.__version__}",
    "mann_whitney": cases,
    "intervals": intervals,
    "holm": holm,
}
(pathlib.Path(__file__).parent / "stats.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
print(len(cases), "tests,", len(intervals), "intervals")
