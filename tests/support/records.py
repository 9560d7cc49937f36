"""Runs of the reproduction that were never run: records of chosen numbers."""

from reproduction import chromosomes
from reproduction.runs import Runs


def runs_of(**settings):
    """Runs from lists of records by setting."""
    runs = Runs()
    for setting, records in settings.items():
        for run, record in enumerate(records):
            runs.add(setting, run, record)
    return runs


def chromosome_runs(gas, means, folds=10):
    """Runs in which every gas and every K-means has one accuracy, give or take a little."""
    runs = Runs()
    runs.add("data", 0, {"N": 4400, "classes": 22})
    for K in (100, 500):
        maps = dict.fromkeys(chromosomes.gas(K), gas) | dict.fromkeys(chromosomes.means(K), means)
        for k, (setting, accuracy) in enumerate(maps.items()):
            for how, n in ((chromosomes.HALVES, 4), (chromosomes.TENFOLD, folds)):
                for r in range(n):
                    value = accuracy + 0.001 * ((r + k) % 2)
                    record = {"learned": value, "posterior": value, "quantization_error": 9.0}
                    runs.add(how + setting.name, r, record)
    for r in range(folds):
        runs.add(chromosomes.TENFOLD + "12-NN", r, {"posterior": 0.945})
    return runs
