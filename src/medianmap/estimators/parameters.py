"""The parameters of the maps, each declared once: name, type, default and description.

A map's constructor is made from the classes here that it inherits from, and so is its documentation (`documented`); the
command line reads its options from the same fields. Nothing here needs NumPy, so `--help` does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from math import isqrt, sqrt
from textwrap import fill, indent
from typing import Any, ClassVar, TypeVar, dataclass_transform

ANNEALINGS = ("auto", "median", "relational", "none")
COLLISIONS = ("distinct", "noise", "allow")
INITS = ("random", "k-medoids++", "embedding")
LATTICES = ("hexagonal", "rectangular")
NEIGHBORHOODS = ("exponential", "gaussian")
REFINEMENTS = (None, "swap")
TIES = ("first", "random")
WINNERS = ("neighborhood", "nearest")

SHAPE = "Shape of the neighbourhood, h(t) = exp(-t / sigma) or exp(-t^2 / (2 sigma^2))."

T = TypeVar("T")


def about(kind: str, text: str) -> dict[str, str]:
    """The metadata of a parameter: its type in words, and what it does."""
    return {"type": kind, "about": text}


def _choice(*words: str) -> str:
    return "{" + ", ".join(f'"{word}"' for word in words) + "}"


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def parameters(cls: type[T]) -> type[T]:
    """Make a dataclass whose fields are the keyword arguments of the constructor, which stores them as they are."""
    return dataclass(kw_only=True, eq=False, repr=False)(cls)


@parameters
class MapParameters:
    """What all maps have."""

    init: Any = field(default="random", metadata=about(
        'array-like or {"random", "k-medoids++"}',
        "Where training starts: random data points, points spread by their dissimilarity (k-medoids++), or the indices "
        "of K data points."))  # fmt: skip
    n_init: int = field(default=1, metadata=about(
        "int", "Number of starts; the result of least quantization error is kept. With `init` an array, there is one."
    ))  # fmt: skip
    warm_start: bool = field(default=False, metadata=about(
        "bool",
        "Whether `fit` continues from the prototypes of the previous fit and ignores `init` and `n_init`. Neural gas "
        "and SOM are warmed up a little and cooled in a tenth of the epochs. The points behind the prototypes must "
        "still be there with a positive weight; other points may have changed. PrototypeClassifier and PatchClusterer "
        "ignore it."))  # fmt: skip
    random_state: Any = field(default=None, metadata=about(
        "int, RandomState, Generator or None", "Seed of everything that is drawn at random."))  # fmt: skip
    n_jobs: int | None = field(default=None, metadata=about(
        "int or None", "Number of threads; None uses what BLAS may use, -1 all cores. Results do not depend on it."
    ))  # fmt: skip
    verbose: int = field(default=0, metadata=about(
        "int", 'With 1 every tenth epoch is logged, with 2 every epoch, by the logger "medianmap".'))  # fmt: skip
    on_epoch: Callable[..., Any] | None = field(default=None, metadata=about(
        "callable or None", "Called after each epoch with a `medianmap.core.engine.Epoch`."))  # fmt: skip

    _attributes: ClassVar[Mapping[str, tuple[str, str]]] = {
        "labels_": ("ndarray of shape (N,)", "Nearest prototype of each point; the lowest index on ties."),
        "inertia_": ("float", "sum_i m_i min_j d(x_i, w_j)."),
        "quantization_error_": ("float", "Half of `inertia_`, as the chapter reports it."),
        "hits_": ("ndarray of shape (K,)", "Weight of the points at each prototype. It may be 0."),
        "n_iter_": ("int", "Epochs that were run."),
        "converged_": (
            "bool",
            "Whether training ended because nothing moved any more. False where epochs or exchanges ran out, and where "
            "the cost fell no longer although prototypes moved (see `history_`): more epochs would not help there.",
        ),
        "history_": (
            "record array of shape (n_iter_,)",
            "sigma, cost, quantization_error, terms (evaluated), moved (prototypes), compression and went_back of each "
            "epoch. compression: 0 where cost and error are computed from D, else the rank of the approximation that "
            "they are computed from. went_back: 0, or, where combinations of the data went round, how many epochs back "
            "the prototypes of least cost are, which this record is about and which were taken.",
        ),
        "n_features_in_": ("int", "Number of columns of X, where X has columns."),
    }


@parameters
class DissimilarityParameters(MapParameters):
    """What maps of dissimilarities have: the metric."""

    metric: Any = field(default="euclidean", metadata=about(
        "str or callable",
        '"precomputed" (X is a dissimilarity matrix or any source of one), the name of a metric of medianmap, SciPy or '
        "scikit-learn, or a function of two objects. A function compiled by numba runs in compiled loops unless it has "
        "metric_params."))  # fmt: skip
    metric_params: Mapping[str, Any] | None = field(default=None, metadata=about(
        "dict or None", "Keyword arguments of the metric."))  # fmt: skip
    device: str | None = field(default=None, metadata=about(
        "str or None",
        'Where the map is fitted. None or "cpu": by this computer\'s cores. "cuda", or "cuda:1" for the second: on a '
        'card, with the extra `gpu`. "auto": on a card if there is one, its memory holds the matrix and there are '
        'enough points for it to gain; the log says which. "torch:cpu": the code of a card on tensors in main memory, '
        "to try it without one. A matrix that lies on a card already is mapped there. Results repeat on the same "
        "device, but another may find other prototypes (docs/gpu.md)."))  # fmt: skip

    _attributes: ClassVar[Mapping[str, tuple[str, str]]] = {
        "prototype_ids_": ("list of str", "Ids of the exemplars, where the data have ids."),
        "metric_params_": ("dict", "Parameters of the metric, those estimated from the data included."),
        "n_evaluations_": ("int", "How often the metric was evaluated, where there is one."),
    }


@parameters
class MedianParameters(DissimilarityParameters):
    """What maps have whose prototypes are data points."""

    annealing: str = field(default="auto", metadata=about(
        _choice(*ANNEALINGS),
        '"median": prototypes are data points all the way, as in the chapter. "relational": they are combinations of '
        "the data until sigma_end, then the nearest data points, which are exchanged for others as long as that lowers "
        "the quantization error (not with labels; of a SOM at most 8 K, and they are arranged on the lattice); this "
        'gives better maps. "none": the data points that `init` gives are taken as they are, or refined. "auto": '
        'relational, except for K-means with refine="swap" and neither max_swaps nor temperature: swaps alone get to '
        "the same end sooner."
    ))  # fmt: skip
    collisions: str = field(default="distinct", metadata=about(
        _choice(*COLLISIONS),
        '"distinct": no two prototypes share a point. "noise": the dissimilarities that the assignment sees are '
        'perturbed a little in every epoch. "allow": nothing is done.'))  # fmt: skip
    ties: str = field(default="first", metadata=about(
        _choice(*TIES),
        'Which of several data points that would do equally well becomes a prototype. "first": the one with the lowest '
        'index. "random": the first in an order of the points that is drawn from `random_state` for every fit; no '
        "point is preferred because of where it stands in the data. The same for every search."))  # fmt: skip
    search: str = field(default="auto", metadata=about(
        "str",
        'How the next prototypes are searched: "auto", "standard", "gemm", "certified" or a strategy of the chapter '
        "that fits the map (docs/searches.md). They differ in speed, never in the result."))  # fmt: skip
    refine: str | None = field(default=None, metadata=about(
        '{"swap"} or None',
        '"swap": after training, exemplars are exchanged for other data points as long as that lowers the quantization '
        "error (with labels: that of d_beta), and after annealing again from several maps near the best. Of a SOM it "
        "lowers a cost in which the order on the lattice counts, too (see `order`), and neurons exchange exemplars as "
        "well."))  # fmt: skip
    max_swaps: int | None = field(default=None, metadata=about(
        "int or None", "Largest number of exchanges; None sets no limit."))  # fmt: skip

    _attributes: ClassVar[Mapping[str, tuple[str, str]]] = {
        "medoid_indices_": ("ndarray of shape (K,)", "Indices of the data points that are the prototypes."),
        "cluster_centers_": (
            "ndarray of shape (K, M), list of K objects, or None",
            "The exemplars themselves; None for a precomputed matrix.",
        ),
        "n_swaps_": ("int", 'Number of exchanges, with refine="swap".'),
    }


@parameters
class PlaneStart:
    """SOMs that start in the plane of the data unless they are told otherwise."""

    init: Any = field(default="embedding", metadata=MapParameters.__dataclass_fields__["init"].metadata)


@parameters
class MedianSOMParameters(PlaneStart):
    """What a SOM has whose prototypes are data points."""

    order: float = field(default=0.12, metadata=about(
        "float",
        "What order on the lattice may cost, as a share of the quantization error: exemplars are exchanged to lower "
        "Q (1 + order (t + 1 - r)), where Q is the summed dissimilarity of the points to their exemplars, t the "
        "topographic error and r how well dissimilarities between exemplars go with distances on the lattice. With 0 "
        'they are the best exemplars that swaps find, and laid out as well as those can be. Without effect if '
        'refine=None and arrange=False, or annealing="median" or "none".'))  # fmt: skip


@parameters
class RelationalParameters(DissimilarityParameters):
    """What maps have whose prototypes are combinations of the data."""

    _attributes: ClassVar[Mapping[str, tuple[str, str]]] = {
        "coefficients_": ("csr_array of shape (K, S)", "Coefficients of the S points in `support_`; rows sum to 1."),
        "support_": ("ndarray of shape (S,)", "The points that count for some prototype, ascending."),
        "self_terms_": ("ndarray of shape (K,)", "alpha_j' D alpha_j / 2."),
        "exemplar_indices_": ("ndarray of shape (K,)", "The data point nearest to each prototype, to look at."),
        "prototype_dissimilarities_": ("ndarray of shape (K, K)", "Dissimilarities between the prototypes."),
        "support_objects_": ("ndarray or list", "The objects of the support, which `predict` compares with."),
        "support_ids_": ("list of str", "Ids of the support, where the data have ids."),
        "cluster_centers_": ("None", "A combination of objects is no object."),
    }


@parameters
class BatchParameters(MapParameters):
    """What maps of vectors have, whose prototypes are means."""

    init: Any = field(default="random", metadata=about(
        'array-like or {"random", "k-medoids++"}',
        "Where training starts: random data points, points spread by their distance (k-medoids++), the indices of K "
        "data points, or K start vectors."))  # fmt: skip

    _attributes: ClassVar[Mapping[str, tuple[str, str]]] = {
        "cluster_centers_": ("ndarray of shape (K, M)", "The means. One without points stays where it was."),
        "feature_names_in_": ("ndarray of shape (M,)", "Names of the columns, where X has names."),
    }


@parameters
class KMeansParameters:
    """K-means: the number of prototypes and the largest number of epochs."""

    n_clusters: int = field(default=8, kw_only=False, metadata=about("int", "Number of prototypes K."))
    max_iter: int = field(default=300, metadata=about(
        "int", "Largest number of epochs; training stops earlier when nothing moves. Relational annealing and the "
        "settling after it have so many each."))  # fmt: skip
    temperature: float | str | None = field(default=None, metadata=about(
        'float, "auto" or None',
        "Deterministic annealing: point i counts for prototype j by exp(-d(x_i, w_j) / T) over the sum of that, and T "
        "falls from this value to a hundredth in 40 epochs; in those of `max_iter`, which follow, points are assigned "
        'to their nearest prototype. "auto" starts where prototypes part first, at twice the largest variance of the '
        "data in any direction; far above that all end in the mean. None: hard assignments from the start. `history_` "
        "has T as sigma, and its cost is the free energy."))  # fmt: skip


@parameters
class AnnealedParameters:
    """Neural gas and SOM: how the neighbourhood shrinks."""

    n_epochs: int = field(default=30, metadata=about(
        "int", "Epochs of annealing. Training then continues at sigma_end until nothing moves, for at most 300 epochs."
    ))  # fmt: skip
    sigma_start: float | None = field(default=None, metadata=about(
        "float or None",
        'Width of the neighbourhood in the first epoch; None takes K / 2, and 2 at most with annealing="median": data '
        "points that start wider freeze where they are, far from the best."))  # fmt: skip
    sigma_end: float = field(default=0.01, metadata=about("float", "Width in the last epoch, 1e-100 to 1e100."))
    neighborhood: str = field(default="exponential", metadata=about(_choice(*NEIGHBORHOODS), SHAPE))


@parameters
class NeuralGasParameters(AnnealedParameters):
    """Neural gas: the number of prototypes, and annealing."""

    n_clusters: int = field(default=8, kw_only=False, metadata=about("int", "Number of prototypes K."))
    truncate: int | None = field(default=None, metadata=about(
        "int or None",
        "The largest rank that counts: h = 0 beyond it. None lets all count; 0 leaves K-means."))  # fmt: skip


@parameters
class CompressedParameters(NeuralGasParameters):
    """Neural gas of combinations of the data, which may be compressed."""

    compression: int | str | None = field(default=None, metadata=about(
        'int, "auto" or None',
        "How combinations of the data are annealed. None: by all of D. A number r: each point is replaced by r numbers "
        "made from 4 r columns of D, which is many times as fast; training ends with D itself, and what comes out is "
        'computed from D alone. "auto": 64 numbers from 500 points on. All of D is taken where it is not symmetric, '
        "where the numbers reproduce it too coarsely, and of 4 r points or fewer; `history_` says what was done."
    ))  # fmt: skip


@parameters
class CompressedAnnealing:
    """Maps that compress the data while they anneal unless they are told otherwise."""

    compression: int | str | None = field(
        default="auto", metadata=CompressedParameters.__dataclass_fields__["compression"].metadata
    )


@parameters
class SOMParameters(AnnealedParameters):
    """SOM: the lattice, and annealing."""

    grid: tuple[int, ...] = field(default=(10, 10), kw_only=False, metadata=about(
        "tuple of two or three ints",
        "Rows and columns of neurons; neuron j is in row j // columns, column j % columns. (1, K) is a chain. Three "
        "numbers are layers, each of so many rows and columns, one step above each other. Where `lattice` holds "
        "distances there is no grid, and this is ignored."))  # fmt: skip
    n_epochs: int = field(default=30, metadata=about(
        "int",
        "Epochs of annealing. Training then continues at sigma_end until nothing moves, for at most 300 epochs; but a "
        "MedianSOM whose exemplars are exchanged goes on with that."))  # fmt: skip
    lattice: Any = field(default="hexagonal", metadata=about(
        _choice(*LATTICES) + " or array-like of shape (K, K)",
        "How neurons are arranged; or the distances between them, symmetric and with a zero diagonal, for example the "
        "lengths of the shortest ways in a graph. They are divided by their mean over neurons that touch, so that "
        "widths are in steps as on a grid; two neurons touch where no third one is nearer to both than they are to "
        "each other."))  # fmt: skip
    periodic: bool = field(default=False, metadata=about(
        "bool", "Whether opposite edges are joined to a torus. A hexagonal one needs an even number of rows."
    ))  # fmt: skip
    sigma_start: float | None = field(default=None, metadata=about(
        "float or None", "Width of the neighbourhood in the first epoch; None takes half the diameter of the lattice."
    ))  # fmt: skip
    sigma_end: float = field(default=0.6, metadata=about(
        "float",
        "Width in the last epoch. With the default an adjacent neuron has a quarter of the winner's weight, so that "
        "neighbours stay alike to the end; with 0.01 they count nothing, which quantizes better and tears the map."
    ))  # fmt: skip
    neighborhood: str = field(default="gaussian", metadata=about(_choice(*NEIGHBORHOODS), SHAPE))
    normalized: bool = field(default=True, metadata=about(
        "bool",
        "Whether the weights of all neurons for one winner sum to 1. False is the chapter's formula, with which "
        "neurons at the border win because they have fewer neighbours; on a torus there is no difference."
    ))  # fmt: skip
    winner: str = field(default="neighborhood", metadata=about(
        _choice(*WINNERS),
        '"neighborhood": a point counts for the neuron with which all neurons around it suit the point best, and for '
        'those (Heskes); the cost then falls in every epoch at one width. "nearest": for the neuron nearest to it, and '
        "those around that (Kohonen). Nothing says then that the cost falls or that training settles; where it goes "
        "round it ends at the least cost (see `converged_`)."))  # fmt: skip
    temperature: float | str | None = field(default=None, metadata=about(
        'float, "auto" or None',
        "Deterministic annealing: the neighbourhood has the width sigma_end from the start, the winner of a point is "
        "soft, by exp(-e / T) where e is what the winner minimises, and T falls from this value to a hundredth in 40 "
        'epochs; then winners are as ever. sigma_start and n_epochs are without effect. "auto" starts where '
        "prototypes part first. None: the width falls instead. `history_` has T as sigma."))  # fmt: skip
    truncate: float | None = field(default=None, metadata=about(
        "float or None",
        "The largest distance on the lattice that counts, in steps: h = 0 beyond it. None lets all count; 0 leaves "
        "K-means."))  # fmt: skip

    arrange: bool = field(default=True, metadata=about(
        "bool",
        "Whether neurons exchange their prototypes after training where that mends the order on the lattice: "
        "prototypes that are next to each other for many points become neighbours. Which prototypes there are stays, "
        "except of a MedianSOM: with False its exemplars settle in epochs at sigma_end instead of being exchanged. "
        'refine="swap" always arranges it; without that annealing="median" and "none" never do.'
    ))  # fmt: skip

    _attributes: ClassVar[Mapping[str, tuple[str, str]]] = {
        "lattice_": (
            "Lattice",
            "With `distances` (K, K), `neighbors` (K, K), and `positions` (K, 2) in which it is drawn.",
        ),
    }


EMBEDDING = (
    ' A SOM also takes "embedding": the plane of the points by landmark classical scaling (with layers, three '
    "coordinates) spread over the lattice, or over its picture where distances are given; so any seed gives the same "
    "map, or nearly so for more than 200 points. With n_init, the other starts are random."
)


def documented(cls: type[T]) -> type[T]:
    """Write the Parameters and Attributes of a map into its docstring, before the sections that it has itself."""
    text = cls.__doc__ or ""
    head, mark, tail = text.partition("\n    See Also\n")
    on_lattice = issubclass(cls, SOMParameters)
    sections = ["Parameters\n----------"]
    own = {each.name: each for each in fields(cls)}  # type: ignore[arg-type]
    named = [name for base in cls.__mro__ for name in vars(base).get("__annotations__", {}) if name in own]
    for each in [own[name] for name in dict.fromkeys(named)]:  # what is special to the map comes first
        said = each.metadata["about"] + (EMBEDDING if each.name == "init" and on_lattice else "")
        sections.append(_entry(each.name, f"{each.metadata['type']}, default={each.default!r}", said))
    sections.append("\nAttributes\n----------")
    attributes: dict[str, tuple[str, str]] = {}
    for base in reversed(cls.__mro__):
        attributes |= vars(base).get("_attributes", {})
    sections += [_entry(name, *entry) for name, entry in attributes.items()]
    cls.__doc__ = head.rstrip() + "\n\n" + indent("\n".join(sections), "    ") + "\n" + mark + tail
    return cls


def _entry(name: str, kind: str, text: str) -> str:
    return f"{name} : {kind}\n" + fill(text, 110, initial_indent="    ", subsequent_indent="    ")


# Points that a neuron should have, at least, for its exemplar to stand for others than itself.
POINTS_EACH = 4
# Sides of a usual grid, rows over columns; a tenth of the neurons is worth twice as much of this ratio.
USUAL_SIDES, WORTH = 0.8, 2.0


def usual_size(n: int, different: int) -> int:
    """Prototypes for n points, where nobody says how many: round(5 sqrt(n)), at most one for four different points.

    different : how many of the points are not the same as an earlier one. Of the same points one exemplar takes all, so
    more would be left empty.
    """
    return max(1, min(round(5 * sqrt(n)), different // POINTS_EACH))


def usual_grid(K: int) -> tuple[int, int]:
    """(r, c), rows r <= columns c <= 2 r, of K neurons or somewhat fewer: least |r / c - 0.8| + 2 (1 - r c / K)."""
    shapes = [(r, min(c, K // r)) for r in range(1, isqrt(K) + 1) for c in range(r, 2 * r + 1)]
    return min(shapes, key=lambda s: (abs(s[0] / s[1] - USUAL_SIDES) + WORTH * (1 - s[0] * s[1] / K), s))
