"""On a card, tensors in main memory do not mix with those there. Without one, they are told apart by a mark."""

import numpy as np
import pytest
from support.extras import optional

from medianmap import (
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PrototypeClassifier,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
    as_dissimilarity,
)
from medianmap.core import compression

torch = optional("torch")
dispatch = optional("torch.utils._python_dispatch")
pytree = optional("torch.utils._pytree")
GIVEN = {"metric": "precomputed", "random_state": 0}


class Marks(dispatch.TorchDispatchMode):
    """What is computed from marked tensors, or made for a device by name, is marked; mixed operations are listed."""

    def __init__(self):
        super().__init__()
        self.mixed = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        marked = [hasattr(x, "there") for x in tensors]
        if any(marked) and any(not there and x.dim() for there, x in zip(marked, tensors, strict=True)):
            self.mixed.append(str(func))
        out = func(*args, **kwargs)
        if any(marked) or (not tensors and kwargs.get("device") is not None):
            for x in pytree.tree_leaves(out):
                if isinstance(x, torch.Tensor):
                    x.there = True
        return out


@pytest.fixture
def marks(monkeypatch):
    made = torch.as_tensor

    def marked(x, *given, device=None, **more):
        tensor = made(x, *given, device=device, **more)
        if device is not None:
            tensor.there = True
        return tensor

    monkeypatch.setattr(torch, "as_tensor", marked)
    monkeypatch.setattr(compression, "SMALLEST", 50)
    monkeypatch.setattr(compression, "RANK", 16)
    return Marks()


def maps():
    yield MedianNeuralGas(6, **GIVEN)
    yield MedianNeuralGas(6, compression=None, refine="swap", **GIVEN)
    yield MedianNeuralGas(6, truncate=2, neighborhood="gaussian", annealing="median", collisions="noise", **GIVEN)
    yield MedianKMeans(6, init="k-medoids++", n_init=2, **GIVEN)
    yield MedianSOM((2, 3), **GIVEN)
    yield MedianSOM((2, 3), annealing="median", init="embedding", refine="swap", order=0.0, **GIVEN)
    yield RelationalNeuralGas(6, **GIVEN)
    yield RelationalKMeans(6, temperature="auto", **GIVEN)
    yield RelationalSOM((2, 3), winner="nearest", truncate=1, **GIVEN)
    yield PrototypeClassifier(MedianNeuralGas(6, **GIVEN), beta=0.5)
    yield PrototypeClassifier(MedianSOM((2, 3), **GIVEN), beta=0.5)


@pytest.mark.parametrize("model", list(maps()), ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_fit_mixes_no_devices(rng, marks, model, symmetric):
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 2, 90)
    D = ((X[:, None] - X) ** 2).sum(axis=2).astype(np.float32)
    source = as_dissimilarity(D if symmetric else D * rng.uniform(0.9, 1, D.shape), device="torch:cpu")
    source.tensor.there = True
    with marks:
        model.fit(source, y)
    assert marks.mixed == []


def test_a_mixed_operation_is_found(marks):
    here, there = torch.zeros(3), torch.as_tensor([1.0, 2.0, 3.0], device="cpu")
    with marks:
        assert hasattr(there * 2 + torch.ones((), dtype=torch.float64), "there")
        _ = there + here
    assert marks.mixed == ["aten.add.Tensor"]
