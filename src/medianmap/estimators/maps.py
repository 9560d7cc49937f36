"""The maps whose prototypes are data points (median) or means (batch). Relational maps: relational_estimators.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.engine import OnEpoch
from .families import BatchMap, MedianMap
from .rules import KMeansRule, NeuralGasRule, SOMRule


class MedianKMeans(KMeansRule, MedianMap):
    """K-means whose prototypes are data points (K-centers; alternating k-medoids).

    Minimises sum_i m_i min_j d(x_i, w_j) over data points w_j, by turns: every point to its nearest prototype, then
    every prototype to the data point of least summed dissimilarity to its points. Sensitive to the start: use n_init.

    Parameters
    ----------
    n_clusters : number of prototypes K.
    metric : "precomputed" (X is a dissimilarity matrix or any source of one), a registered, SciPy or scikit-learn
        metric name, or a function of two objects (compiled loops if numba compiled it and it takes no metric_params).
    metric_params : keyword arguments of the metric.
    max_iter : most epochs, of each kind where annealing="relational"; training stops earlier when nothing moves.
    n_epochs : the same cap under the name that the other maps use; overrides max_iter when given.
    init : "random", "k-medoids++" (spread by dissimilarity) or K indices of data points.
    n_init : how many starts; the result of least quantization error is kept.
    warm_start : fit goes on from the prototypes of the fit before, whatever init and n_init say; neural gas and SOM are
        warmed up a little and cooled in a tenth of the epochs. The points behind the prototypes must be where they were
        and count; others may have changed or been added. PrototypeClassifier and PatchClusterer take no heed of it.
    annealing : "median" (prototypes are data points all the way: the chapter's method), "relational" (they are
        combinations of the data until sigma_end, then the nearest data points, of which at most K are exchanged for
        better ones, not on a lattice nor beside labels; better maps, more time), or "auto": relational,
        and for K-means with refine="swap" and no max_swaps neither: swaps come to the same end sooner by themselves.
    collisions : "distinct" (no two prototypes share a point), "noise" (small random perturbation of the dissimilarities
        each epoch) or "allow".
    search : how prototypes are searched, "auto", "standard", "gemm", "certified" or one of the chapter's strategies
        that fits the map (docs/searches.md); they differ in speed, never in the result.
    refine : None, or "swap": after training, exemplars are exchanged for other data points while that lowers the
        quantization error, beside labels in d_beta, or for a SOM (without labels) its own cost with the lattice's order
        kept (docs/mathematics.md).
    max_swaps : most exchanges; None for as many as it takes.
    random_state : seed, RandomState, Generator or None.
    n_jobs : number of threads; None uses what BLAS is allowed, -1 all cores. Results do not depend on it.
    verbose : 1 logs every tenth epoch, 2 every epoch, through the logger "medianmap".
    on_epoch : called after each epoch with an `engine.Epoch` record.

    Attributes
    ----------
    labels_ : (N,) nearest prototype of each point.
    medoid_indices_ : (K,) data points that are prototypes.
    cluster_centers_ : the exemplars: (K, M) vectors or a list of K objects; None for a precomputed matrix.
    prototype_ids_ : ids of the exemplars, if the data carried ids.
    inertia_ : sum_i m_i min_j d(x_i, w_j).
    quantization_error_ : half of that, as the chapter reports it.
    hits_ : (K,) weight of the points at each prototype; 0 is legal.
    n_iter_, converged_ : epochs run, and whether they ended at a fixed point rather than at the cap.
    history_ : record array, one entry an epoch: sigma, cost, quantization_error, terms, moved.
    n_features_in_ : columns of X, where X has columns.
    n_evaluations_ : how often the metric was evaluated, where there is one.
    n_swaps_ : exchanges made, with refine="swap".

    Examples
    --------
    >>> from medianmap import MedianKMeans
    >>> words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    >>> km = MedianKMeans(2, metric="edit", n_init=5, random_state=0).fit(words)
    >>> sorted(km.cluster_centers_)
    ['heron', 'quark']
    >>> bool(km.predict(["quarts"])[0] == km.labels_[3])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        max_iter: int = 300,
        n_epochs: int | None = None,
        init: Any = "random",
        n_init: int = 1,
        warm_start: bool = False,
        annealing: str = "auto",
        collisions: str = "distinct",
        search: str = "auto",
        refine: str | None = None,
        max_swaps: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.max_iter = max_iter
        self.n_epochs = n_epochs
        self.init = init
        self.n_init = n_init
        self.warm_start = warm_start
        self.annealing = annealing
        self.collisions = collisions
        self.search = search
        self.refine = refine
        self.max_swaps = max_swaps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_epoch = on_epoch


class MedianNeuralGas(NeuralGasRule, MedianMap):
    """Neural gas whose prototypes are data points: robust to the start, no lattice imposed.

    Minimises sum_ij m_i h(rank_ij) d(x_i, w_j), h(t) = exp(-t / sigma), where rank_ij counts the prototypes nearer to
    point i than j; sigma falls geometrically, so that all prototypes first move together and then part.

    Parameters
    ----------
    n_clusters : number of prototypes K.
    n_epochs : epochs of annealing; training then goes on at sigma_end until nothing moves (at most 300 more).
    sigma_start, sigma_end : the neighbourhood range and where it ends; K / 2 by default and 0.01.
    neighborhood : "exponential", h(t) = exp(-t / sigma), or "gaussian", h(t) = exp(-t^2 / (2 sigma^2)).

    The other parameters and the attributes are those of `MedianKMeans`.

    Examples
    --------
    >>> import numpy as np
    >>> from medianmap import MedianNeuralGas
    >>> D = np.abs(np.subtract.outer([1.0, 2, 3, 11, 12, 13], [1.0, 2, 3, 11, 12, 13]))
    >>> gas = MedianNeuralGas(2, metric="precomputed", random_state=0).fit(D)
    >>> sorted(gas.medoid_indices_.tolist()), gas.inertia_, gas.converged_
    ([1, 4], 4.0, True)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        n_epochs: int = 100,
        sigma_start: float | None = None,
        sigma_end: float = 0.01,
        neighborhood: str = "exponential",
        init: Any = "random",
        n_init: int = 1,
        warm_start: bool = False,
        annealing: str = "auto",
        collisions: str = "distinct",
        search: str = "auto",
        refine: str | None = None,
        max_swaps: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.n_epochs = n_epochs
        self.sigma_start = sigma_start
        self.sigma_end = sigma_end
        self.neighborhood = neighborhood
        self.init = init
        self.n_init = n_init
        self.warm_start = warm_start
        self.annealing = annealing
        self.collisions = collisions
        self.search = search
        self.refine = refine
        self.max_swaps = max_swaps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_epoch = on_epoch


class MedianSOM(SOMRule, MedianMap):
    """Self-organizing map whose prototypes are data points, in Heskes' version, which has a cost function.

    Minimises sum_i m_i sum_l h(nd(I*(i), l)) d(x_i, w_l), where nd is the distance on the lattice and I*(i) the neuron
    for which the inner sum is least.

    Parameters
    ----------
    grid : (rows, columns) of neurons; neuron j sits in row j // columns, column j % columns.
    lattice : "hexagonal" or "rectangular".
    periodic : True joins opposite edges to a torus (a hexagonal one needs an even number of rows).
    n_epochs : epochs of annealing; training then goes on at sigma_end until nothing moves (at most 300 more).
    sigma_start, sigma_end : the neighbourhood range and where it ends; half the lattice's diameter by default and 0.01.
    neighborhood : "exponential", h(t) = exp(-t / sigma), or "gaussian", h(t) = exp(-t^2 / (2 sigma^2)).
    init : as for `MedianKMeans`, or "embedding": the points' plane by landmark classical scaling, spread over the
        lattice. Annealing from the default sigma_start undoes it; whether a smaller one gains depends on the data.

    The other parameters and the attributes are those of `MedianKMeans`, and

    lattice_ : with `positions` (K, 2), `distances` (K, K) and `neighbors` (K, K).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from medianmap import MedianSOM
    >>> som = MedianSOM(grid=(3, 4), random_state=0).fit(load_iris().data)
    >>> som.lattice_.positions.shape, som.labels_.shape, som.cluster_centers_.shape
    ((12, 2), (150,), (12, 4))
    """

    def __init__(
        self,
        grid: tuple[int, int] = (10, 10),
        *,
        lattice: str = "hexagonal",
        periodic: bool = False,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        n_epochs: int = 100,
        sigma_start: float | None = None,
        sigma_end: float = 0.01,
        neighborhood: str = "exponential",
        init: Any = "random",
        n_init: int = 1,
        warm_start: bool = False,
        annealing: str = "auto",
        collisions: str = "distinct",
        search: str = "auto",
        refine: str | None = None,
        max_swaps: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        self.grid = grid
        self.lattice = lattice
        self.periodic = periodic
        self.metric = metric
        self.metric_params = metric_params
        self.n_epochs = n_epochs
        self.sigma_start = sigma_start
        self.sigma_end = sigma_end
        self.neighborhood = neighborhood
        self.init = init
        self.n_init = n_init
        self.warm_start = warm_start
        self.annealing = annealing
        self.collisions = collisions
        self.search = search
        self.refine = refine
        self.max_swaps = max_swaps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_epoch = on_epoch


class BatchKMeans(KMeansRule, BatchMap):
    """K-means of vectors (Lloyd), on the same engine as the median maps. Squared Euclidean distance.

    Parameters are those of `MedianKMeans` without metric, collisions, search and refine; `init` may also be (K, M)
    start vectors. `cluster_centers_` are the means; a cluster that becomes empty keeps its centre.

    Examples
    --------
    >>> from medianmap import BatchKMeans
    >>> BatchKMeans(2, init=[0, 2]).fit([[0.0], [1.0], [10.0]]).cluster_centers_.tolist()
    [[0.5], [10.0]]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        max_iter: int = 300,
        n_epochs: int | None = None,
        init: Any = "random",
        n_init: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.n_epochs = n_epochs
        self.init = init
        self.n_init = n_init
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_epoch = on_epoch


class BatchNeuralGas(NeuralGasRule, BatchMap):
    """Batch neural gas of vectors: prototypes are means weighted by h(rank). Squared Euclidean distance.

    Parameters are those of `MedianNeuralGas` without metric, collisions, search and refine; `init` may also be (K, M)
    start vectors.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_epochs: int = 100,
        sigma_start: float | None = None,
        sigma_end: float = 0.01,
        neighborhood: str = "exponential",
        init: Any = "random",
        n_init: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_epochs = n_epochs
        self.sigma_start = sigma_start
        self.sigma_end = sigma_end
        self.neighborhood = neighborhood
        self.init = init
        self.n_init = n_init
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_epoch = on_epoch


class BatchSOM(SOMRule, BatchMap):
    """Batch SOM of vectors in Heskes' version. Squared Euclidean distance.

    Parameters are those of `MedianSOM` without metric, collisions, search and refine; `init` may also be (K, M) start
    vectors.
    """

    def __init__(
        self,
        grid: tuple[int, int] = (10, 10),
        *,
        lattice: str = "hexagonal",
        periodic: bool = False,
        n_epochs: int = 100,
        sigma_start: float | None = None,
        sigma_end: float = 0.01,
        neighborhood: str = "exponential",
        init: Any = "random",
        n_init: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        self.grid = grid
        self.lattice = lattice
        self.periodic = periodic
        self.n_epochs = n_epochs
        self.sigma_start = sigma_start
        self.sigma_end = sigma_end
        self.neighborhood = neighborhood
        self.init = init
        self.n_init = n_init
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_epoch = on_epoch
