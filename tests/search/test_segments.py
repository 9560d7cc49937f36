"""Sums over runs of rows of a tensor: against sums written out, in parts, and as Triton's kernels."""

import os
import subprocess
import sys

import numpy as np
import pytest
from support.extras import optional

from medianmap.search import segments
from medianmap.search.segments import Place, Runs, add_after, add_changes, add_rows, add_tears

torch = optional("torch")


class Drawn:
    """Rows of a matrix in four of six fields, with two exemplars of each row and weights; some are tied."""

    def __init__(self, rng, dtype=torch.float64, n=19, L=31, T=23):
        self.D = torch.from_numpy(rng.integers(0, 5, (n, L)) / 4).to(dtype)
        self.field = np.sort(rng.choice([0, 2, 3, 5], T))
        self.index = rng.choice(n, T)
        self.runs = Runs(torch.from_numpy(self.index), torch.from_numpy(self.field), 6)
        self.m = torch.from_numpy(rng.integers(1, 4, T).astype(float))
        self.a = torch.from_numpy(rng.integers(0, 3, T) / 4)
        self.b = self.a + torch.from_numpy(rng.integers(0, 3, T) / 4)
        self.w = torch.from_numpy(rng.integers(0, L, T))

    def place(self, far, weight):
        return Place(self.w, far.to(self.D.dtype), weight)

    def summed(self, value):
        """sums[f, l] of value(t, d, l), in plain loops."""
        sums = np.zeros((6, self.D.shape[1]))
        for t, (f, i) in enumerate(zip(self.field, self.index, strict=True)):
            for l in range(self.D.shape[1]):
                sums[f, l] += value(t, float(self.D[i, l]), l)
        return sums


@pytest.fixture(params=["all at once", "few at a time"])
def drawn(request, rng, monkeypatch):
    if request.param == "few at a time":
        monkeypatch.setattr(segments, "ENTRIES", {"cpu": 70})
    return Drawn(rng)


def zeros(*shape):
    return torch.zeros(shape, dtype=torch.float64)


def test_rows_are_added_to_their_fields(drawn):
    S = torch.ones((6, 31), dtype=torch.float64)
    add_rows(S, drawn.D, drawn.runs, drawn.m)
    np.testing.assert_allclose(S, 1 + drawn.summed(lambda t, d, l: float(drawn.m[t]) * d))
    across = zeros(6, 19)
    other = Runs(drawn.runs.index, drawn.runs.field, 6)  # the rows of D.T are its columns
    add_rows(across, drawn.D.T, other, drawn.m)
    want = np.zeros((6, 19))
    np.add.at(want, drawn.field, drawn.m.numpy()[:, None] * drawn.D.numpy().T[drawn.index])
    np.testing.assert_allclose(across, want)


def test_changes_of_the_loss(drawn):
    nearer, share = zeros(6, 31), zeros(6, 31)
    add_changes(nearer, share, drawn.D, drawn.runs, drawn.m, drawn.a, drawn.b)
    m, a, b = drawn.m.numpy(), drawn.a.numpy(), drawn.b.numpy()
    np.testing.assert_allclose(nearer, drawn.summed(lambda t, d, l: m[t] * (min(d, a[t]) - a[t])))
    np.testing.assert_allclose(share, drawn.summed(lambda t, d, l: m[t] * (min(max(d, a[t]), b[t]) - a[t])))


def test_tears_of_a_map_with_ties_to_the_lower_point(drawn):
    second, third = drawn.place(drawn.a, drawn.m * 2), drawn.place(drawn.b, -drawn.m)
    both, later, changes = zeros(5, 6, 31), zeros(6, 31), zeros(2, 6, 31)
    add_tears(both, drawn.D, drawn.runs, drawn.m, drawn.a / 2, second, third)
    add_changes(*changes, drawn.D, drawn.runs, drawn.m, drawn.a / 2, drawn.a)
    np.testing.assert_array_equal(both[:2], changes)
    sums = both[2:]
    add_after(later, drawn.D, drawn.runs, third)
    m, w = drawn.m.numpy(), drawn.w.numpy()

    def before(far, t, d, l):
        return d < far[t] or (d == far[t] and l < w[t])

    a, b = drawn.a.numpy(), drawn.b.numpy()
    np.testing.assert_allclose(sums[0], drawn.summed(lambda t, d, l: m[t] * before(a, t, d, l)))
    np.testing.assert_allclose(sums[1], drawn.summed(lambda t, d, l: 2 * m[t] * before(a, t, d, l)))
    np.testing.assert_allclose(sums[2], drawn.summed(lambda t, d, l: -m[t] * (not before(b, t, d, l))))
    np.testing.assert_array_equal(later, sums[2])


def test_runs_in_a_panel_are_numbered_from_its_first_row(rng):
    field = torch.from_numpy(rng.integers(0, 4, 20))
    runs = Runs.by_field(field, 4)
    some, here = runs.among(slice(5, 12))
    assert sorted((some.index + 5).tolist()) == list(range(5, 12))
    assert (field[some.index + 5] == some.field).all()
    assert (runs.index[here] == some.index + 5).all()
    assert runs.among(slice(0, 20))[0] is runs
    assert runs.starts.tolist() == [0, *np.cumsum(np.bincount(field, minlength=4))]


def test_a_part_holds_so_many_entries(monkeypatch):
    monkeypatch.setattr(segments, "ENTRIES", {"cpu": 60})
    D, runs = torch.ones((9, 20)), Runs.by_field(torch.zeros(9, dtype=int), 1)
    assert [len(rows) for _, rows, _ in segments._parts(D, runs)] == [3, 3, 3]


IN_THE_INTERPRETER = """
import sys
sys.path.insert(0, "tests")
import numpy as np, torch
from search.test_segments import Drawn
from medianmap.search import segments

rng = np.random.default_rng(0)
for dtype in (torch.float64, torch.float32, torch.float16):
    for kind in (torch.float64, torch.float32):
        x = Drawn(rng, dtype, L=1100 if dtype == torch.float32 else 31)
        near = x.m.to(kind), x.a.to(kind), x.b.to(kind)
        places = [segments.Place(x.w, far.float() if dtype == torch.float16 else far.to(dtype), m.to(kind))
                  for far, m in ((x.a, x.m), (x.b, -x.m))]
        S = torch.ones((2, 6, x.D.shape[1]), dtype=torch.float64)
        across = torch.ones((2, 6, 40), dtype=torch.float64)[:, :, :19]
        sums = torch.ones((2, 8, *S.shape[1:]), dtype=kind)
        for k, compiled in enumerate((False, True)):
            segments._compiled = lambda D: compiled
            segments.add_rows(S[k], x.D, x.runs, x.m)
            segments.add_rows(across[k], x.D.T, x.runs, x.m)
            segments.add_changes(*sums[k, :2], x.D, x.runs, *near)
            segments.add_tears(sums[k, 2:7], x.D, x.runs, *near[:2], *places)
            segments.add_after(sums[k, 7], x.D, x.runs, places[1])
        for one, other in (S, across, sums):
            assert torch.equal(one, other) and (one != 1).any()
print("equal")
"""


def test_the_kernels_give_the_same_to_the_last_bit_in_tritons_interpreter():
    optional("triton")
    program = [sys.executable, "-c", IN_THE_INTERPRETER]
    env = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(program, capture_output=True, text=True, env=env)
    assert done.stdout == "equal\n", done.stderr


def test_the_kernels_compile_for_a_card():
    triton = optional("triton")
    compiler, backends = optional("triton.compiler"), optional("triton.backends.compiler")
    from medianmap.search import tensor_kernels as compiled

    D, ints, sums = "*fp32", "*i64", "*fp32"
    first, last = [D, "i64", "i64", ints, ints, ints], ["i64", "i32", "i32", "constexpr"]
    given = {
        "_add_rows": ["*fp64", "*fp64", "i64"],
        "_add_changes": [sums] * 5,
        "_add_tears": [sums, sums, ints, D, sums, ints, D, sums, sums, "i64"],
        "_add_after": [ints, D, sums, sums],
    }
    for name, own in given.items():
        kernel = getattr(compiled, name)
        signature = dict(zip(kernel.arg_names, [*first, *own, *last], strict=True))
        source = compiler.ASTSource(fn=kernel, signature=signature, constexprs={"COLUMNS": compiled.COLUMNS})
        options = {"num_warps": compiled.WARPS, "enable_fp_fusion": False}
        built = triton.compile(source, target=backends.GPUTarget("cuda", 90, 32), options=options)
        assert len(built.asm["cubin"]) > 0
