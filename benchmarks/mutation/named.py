"""Breaks that once went through all tests unnoticed. Every one has a test that notices it; `mutants.py --named` shows that."""

from __future__ import annotations

from pathlib import Path

from .changes import Mutant

# (what is broken, file, text, text in its place)
NAMED = (
    ("weights left out of the first look at a start: label vectors", "core/engine.py",
     "problem.assignment(problem.space.distances(start), sigma, problem.m)",
     "problem.assignment(problem.space.distances(start), sigma, np.ones_like(problem.m))"),
    ("weights left out of the first look at a start: k-medoids++", "core/engine.py",
     "p = m * np.maximum(nearest, 0.0) * free", "p = np.maximum(nearest, 0.0) * free"),
    ("weights left out of the choice among starts", "estimators/fit.py",
     "return inertia(G, own.m), state", "return inertia(G, np.ones_like(own.m)), state"),
    ("the last sigma not exactly the end", "core/neighborhood.py", "sigmas[-1] = end  # to the last bit", "pass"),
    ("lattice distances not rounded", "core/neighborhood.py",
     "np.sqrt(np.round((offset**2).sum(axis=2) * 4) / 4)", "np.sqrt((offset**2).sum(axis=2))"),
    ("the slack of the bound of all fields removed", "search/bounds.py",
     "limit = min(limit, c * (1 + 3 * slack) + 3 * tiny)", "limit = min(limit, c)"),
    ("the slack of all costs at once removed", "search/frame.py",
     "close = self.C <= (least * (1 + 2 * self.slack) + 2 * self.tiny)[:, None]", "close = self.C <= least[:, None]"),
    ("the slack of a row of bounds removed", "search/frame.py",
     "survivors = np.flatnonzero(row * (1 - self.slack) - self.tiny <= upper)",
     "survivors = np.flatnonzero(row <= upper)"),
    ("the swap's tolerance removed", "refine/medoid_swaps.py",
     "found = acc + least < -2.0 * _uncertainty(N, loss, removal[go]) or (even and acc + least <= 0.0)",
     "found = acc + least < 0.0 or (even and acc + least <= 0.0)"),
    ("the tolerance of swaps of one medoid removed", "refine/medoid_swaps.py",
     "if change < -off or (change <= off and after < before):", "if change < 0.0:"),
    ("the tolerance of swaps on a lattice removed", "refine/som_swaps.py",
     "off = 2.0 * (N + 4.0 * K) * EPS * cost", "off = 0.0"),
    ("swaps on a lattice kept though the cost is not lower", "refine/som_swaps.py",
     "if not s.cost < before:", "if False:"),
    ("swaps of kicks not counted", "refine/medoid_swaps.py",
     "best = replace(other, n_swaps=best.n_swaps + other.n_swaps)", "best = replace(other, n_swaps=other.n_swaps)"),
    ("swaps before a kick not counted", "refine/medoid_swaps.py",
     "best = replace(other, n_swaps=best.n_swaps + other.n_swaps)", "best = replace(other, n_swaps=best.n_swaps)"),
    ("swaps along ties not counted", "refine/medoid_swaps.py",
     "n_swaps=best.n_swaps + swaps + other.n_swaps)", "n_swaps=best.n_swaps + other.n_swaps)"),
    ("swaps of kicks on a lattice not counted", "refine/som_swaps.py",
     "best, swaps, converged = other, swaps + more, ended", "best, swaps, converged = other, swaps, ended"),
    ("the host of a dead prototype in patches", "patches/one_patch.py",
     "host = int(before.D[np.ix_(own, standing)].mean(axis=0).argmin())", "host = 0"),
    ("one seed for all tasks of a level of the tree", "patches/one_patch.py",
     "np.random.SeedSequence([seed, level, number])", "np.random.SeedSequence([seed, level])"),
    ("self terms in float32", "core/spaces.py",
     "own[js] = 0.5 * (P[js] * products[js]).sum(axis=1, dtype=np.float64)",
     "own[js] = 0.5 * (P[js] * products[js]).astype(np.float32).sum(axis=1)"),
    ("self terms of fields in float32", "core/field_combinations.py",
     "total += w[j, field[i]] * m[i] * np.float64(Q[j, i])",
     "total = np.float64(np.float32(total + w[j, field[i]] * m[i] * np.float64(Q[j, i])))"),
    ("self terms of compressed prototypes in float32", "core/compression.py",
     "own = 0.5 * (scaled * P.p).sum(axis=1, dtype=np.float64).astype(np.float32)[:, None]",
     "own = 0.5 * (scaled * P.p).sum(axis=1)[:, None]"),
    ("border > against >=", "predict/verdicts.py",
     "border=between >= border_cut(between),", "border=between > border_cut(between),"),
    ("border > against >=, listed", "predict/verdicts.py", "score, score >= least)", "score, score > least)"),
    ("no flush before the journal's line: blocks of a text", "utils/resumable.py",
     "            os.fsync(self._file.fileno())\n            self.journal.vouch(",
     "            self.journal.vouch("),
    ("no flush before the journal's line: a matrix", "sources/all_pairs.py",
     "self.D.flush()  # type: ignore[attr-defined]", "pass"),
    ("the journal's line not made safe", "utils/resumable.py",
     "        self._file.flush()\n        os.fsync(self._file.fileno())", "        self._file.flush()\n        pass"),
    ("sparse indices of a model unchecked", "estimators/model_file.py",
     "matrix.check_format(full_check=True)", "pass"),
    ("second nearest's strictness", "refine/medoid_swaps.py",
     "nearest, nearer = v < a_i, v < b_i", "nearest, nearer = v < a_i, v <= b_i"),
    ("nearest's strictness", "refine/medoid_swaps.py",
     "nearest, nearer = v < a_i, v < b_i", "nearest, nearer = v <= a_i, v < b_i"),
)  # fmt: skip


def named_mutants(package: Path) -> list[tuple[str, Mutant]]:
    """(what is broken, mutant); ValueError where the text is no longer there once."""
    found = []
    for what, path, before, after in NAMED:
        source = (package / path).read_text()
        if source.count(before) != 1:
            raise ValueError(f"{path} has the text of {what!r} {source.count(before)} times: {before}")
        start = len(source[: source.index(before)].encode())
        first = source[: source.index(before)].count("\n") + 1
        stop = start + len(before.encode())
        found.append((what, Mutant(path, what, first, first + before.count("\n"), start, stop, before, after)))
    return found
