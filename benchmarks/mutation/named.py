"""Breaks that once went through all tests unnoticed. `mutants.py --named` shows that each is noticed now."""

from __future__ import annotations

from pathlib import Path

from .changes import Mutant

# (what is broken, file, text, text in its place, the test that notices it)
NAMED = (
    ("weights left out of the first look at a start: label vectors", "core/engine.py",
     "problem.assignment(problem.space.distances(start), sigma, problem.m)",
     "problem.assignment(problem.space.distances(start), sigma, np.ones_like(problem.m))",
     "tests/core/test_starts.py"),
    ("weights left out of the first look at a start: k-medoids++", "core/engine.py",
     "p = m * np.maximum(nearest, 0.0) * free",
     "p = np.maximum(nearest, 0.0) * free",
     "tests/core/test_starts.py"),
    ("weights left out of the choice among starts", "estimators/fit.py",
     "return inertia(G, own.m), state",
     "return inertia(G, np.ones_like(own.m)), state",
     "tests/estimators/test_restarts.py::test_the_best_run_is_that_of_the_weighted_error"),
    ("the last sigma not exactly the end", "core/neighborhood.py",
     "sigmas[-1] = end  # to the last bit",
     "pass",
     "tests/core/test_neighborhood.py::test_the_schedule_is_geometric_and_meets_both_ends"),
    ("lattice distances not rounded", "core/neighborhood.py",
     "np.sqrt(np.round((offset**2).sum(axis=2) * 4) / 4)",
     "np.sqrt((offset**2).sum(axis=2))",
     "tests/core/test_neighborhood.py::test_equal_distances_are_equal_numbers"),
    ("the slack of the bound of all fields removed", "search/bounds.py",
     "limit = min(limit, c * (1 + 3 * slack) + 3 * tiny)",
     "limit = min(limit, c)",
     "tests/search/test_search.py::test_a_field_is_not_passed_over_for_what_rounding_adds_to_its_bound"),
    ("the slack of all costs at once removed", "search/frame.py",
     "close = self.C <= (least * (1 + 2 * self.slack) + 2 * self.tiny)[:, None]",
     "close = self.C <= least[:, None]",
     "tests/search/test_search.py::test_near_ties_are_told_apart_for_all_prototypes_at_once"),
    ("the slack of a row of bounds removed", "search/frame.py",
     "survivors = np.flatnonzero(row * (1 - self.slack) - self.tiny <= upper)",
     "survivors = np.flatnonzero(row <= upper)",
     "tests/search/test_search.py::test_near_ties_inside_the_rounding_error_are_told_apart_canonically"),
    ("the swap's tolerance removed", "refine/swap_kernels.py",
     "found = acc + least < -2.0 * uncertainty(N, loss, removal[go]) or (even and acc + least <= 0.0)",
     "found = acc + least < 0.0 or (even and acc + least <= 0.0)",
     "tests/refine/test_swaps.py::test_no_swap_is_made_for_what_rounding_adds"),
    ("the tolerance of swaps of one medoid removed", "refine/swap_kernels.py",
     "if change < -off or (change <= off and after < before):",
     "if change < 0.0:",
     "tests/refine/test_swaps.py::test_no_swap_is_made_for_what_rounding_adds"),
    ("swaps of kicks not counted", "refine/medoid_swaps.py",
     "best = replace(other, n_swaps=best.n_swaps + other.n_swaps)",
     "best = replace(other, n_swaps=other.n_swaps)",
     "tests/refine/test_swaps.py::test_kicks_go_on_as_from_a_new_start"),
    ("swaps before a kick not counted", "refine/medoid_swaps.py",
     "best = replace(other, n_swaps=best.n_swaps + other.n_swaps)",
     "best = replace(other, n_swaps=best.n_swaps)",
     "tests/refine/test_swaps.py::test_kicks_go_on_as_from_a_new_start"),
    ("swaps along ties not counted", "refine/medoid_swaps.py",
     "n_swaps=best.n_swaps + swaps + other.n_swaps)",
     "n_swaps=best.n_swaps + other.n_swaps)",
     "tests/refine/test_swaps.py::test_one_walk_along_ties_as_the_plain_definition_has_it"),
    ("swaps of kicks on a lattice not counted", "refine/som_swaps.py",
     "best, swaps, converged = other, swaps + more, ended",
     "best, swaps, converged = other, swaps, ended",
     "tests/refine/test_som_swaps.py::test_the_swaps_of_kicks_that_paid_are_counted"),
    ("the host of a dead prototype in patches", "patches/one_patch.py",
     "host = int(before.D[np.ix_(own, standing)].mean(axis=0).argmin())",
     "host = 0",
     "tests/patches/test_patches_edges.py::test_a_new_point_near_a_dead_prototype_takes_its_place"),
    ("one seed for all tasks of a level of the tree", "patches/one_patch.py",
     "np.random.SeedSequence([seed, level, number])",
     "np.random.SeedSequence([seed, level])",
     "tests/patches/test_patches_edges.py::test_every_task_of_a_tree_has_a_seed_of_its_own"),
    ("self terms in float32", "core/spaces.py",
     "own[js] = 0.5 * (P[js] * products[js]).sum(axis=1, dtype=np.float64)",
     "own[js] = 0.5 * (P[js] * products[js]).astype(np.float32).sum(axis=1)",
     "tests/core/test_relational_edges.py::test_self_terms_are_summed_in_float64"),
    ("self terms of fields in float32", "core/field_combinations.py",
     "total += w[j, field[i]] * m[i] * np.float64(Q[j, i])",
     "total = np.float64(np.float32(total + w[j, field[i]] * m[i] * np.float64(Q[j, i])))",
     "tests/core/test_relational_edges.py::test_self_terms_are_summed_in_float64"),
    ("border > against >=", "predict/verdicts.py",
     "border=between >= border_cut(between),",
     "border=between > border_cut(between),",
     "tests/predict/test_verdicts.py::test_no_more_than_one_in_twenty_is_flagged"),
    ("border > against >=, listed", "predict/verdicts.py",
     "score, score >= least)",
     "score, score > least)",
     "tests/predict/test_verdicts.py::test_no_more_than_one_in_twenty_is_flagged"),
    ("no flush before the journal's line: blocks of a text", "utils/resumable.py",
     "            os.fsync(self._file.fileno())\n            self.journal.vouch(",
     "            self.journal.vouch(",
     "tests/utils/test_resumable.py::test_bytes_are_on_the_disk_before_the_journal_vouches_for_them"),
    ("no flush before the journal's line: a matrix", "sources/all_pairs.py",
     "self.D.flush()  # type: ignore[attr-defined]",
     "pass",
     "tests/sources/test_allpairs.py::test_dissimilarities_are_on_the_disk_before_the_journal_vouches_for_them"),
    ("the journal's line not made safe", "utils/resumable.py",
     "        self._file.flush()\n        os.fsync(self._file.fileno())",
     "        self._file.flush()\n        pass",
     "tests/utils/test_resumable.py::test_bytes_are_on_the_disk_before_the_journal_vouches_for_them"),
    ("sparse indices of a model unchecked", "estimators/model_file.py",
     "matrix.check_format(full_check=True)",
     "pass",
     "tests/core/test_relational_edges.py::test_a_model_file_whose_coefficients_point_nowhere_is_damaged"),
    ("second nearest's strictness", "refine/swap_kernels.py",
     "nearest, nearer = v < a_i, v < b_i",
     "nearest, nearer = v < a_i, v <= b_i",
     "tests/refine/test_swaps.py::test_the_two_nearest_are_the_lowest_on_ties"),
    ("nearest's strictness", "refine/swap_kernels.py",
     "nearest, nearer = v < a_i, v < b_i",
     "nearest, nearer = v <= a_i, v < b_i",
     "tests/refine/test_swaps.py::test_the_two_nearest_are_the_lowest_on_ties"),
)  # fmt: skip


def named_mutants(package: Path) -> list[tuple[str, Mutant]]:
    """(the test that notices it, mutant); ValueError where the text is no longer there once."""
    found = []
    for what, path, before, after, test in NAMED:
        source = (package / path).read_text()
        if source.count(before) != 1:
            raise ValueError(f"{path} has the text of {what!r} {source.count(before)} times: {before}")
        start = len(source[: source.index(before)].encode())
        first = source[: source.index(before)].count("\n") + 1
        stop = start + len(before.encode())
        found.append((test, Mutant(path, what, first, first + before.count("\n"), start, stop, before, after)))
    return found
