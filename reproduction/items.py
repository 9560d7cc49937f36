"""The chapter's items (methods, experiments, figures, tables, claims, alternatives) and where each is here."""

from __future__ import annotations

from .tables import markdown

METHODS = (
    ("K-means, and with data points as prototypes (K-centers)", "`BatchKMeans`, `MedianKMeans`"),
    (
        "neural gas: cost, ranks, batch and median",
        "`BatchNeuralGas`, `MedianNeuralGas`; [two steps](mathematics.md#two-steps)",
    ),
    (
        "SOM by Heskes' cost, batch and median",
        "`BatchSOM`, `MedianSOM`; the chapter's to the letter with `normalized=False`",
    ),
    ("quantization error", "[indices](mathematics.md#indices), and what the chapter's formula has in addition"),
    ("no two prototypes on one point, by prevention or by noise", '`collisions="distinct"`, `"noise"`'),
    (
        "convergence in finitely many epochs",
        "[mathematics](mathematics.md#two-steps); tested on random matrices, asymmetric ones included",
    ),
    (
        "asymmetric and non-metric dissimilarities",
        "everywhere: [conventions](mathematics.md#the-chapters-errata-and-what-it-leaves-open)",
    ),
    (
        "supervision by beta, fuzzy and missing labels, posterior labels",
        "`PrototypeClassifier`; [labels](supervision.md)",
    ),
    ("choosing beta", "`beta_path`, `GridSearchCV`; [labels](supervision.md#how-much-should-labels-count)"),
    ("topology of neural gas", "[the topology graph](plots.md#neural-gas-the-topology-graph)"),
    (
        "block summing, branch and bound, early stopping in four orders",
        "[searches](searches.md), one name each; all give the same prototypes",
    ),
    (
        "patches: multiplicities, leftover points, labels, SOM too",
        "`PatchClusterer`; [huge data](scale.md), [formulas](mathematics.md#patches)",
    ),
    ("entries of D from a database, or computed when asked for", "[stores](stores.md), [inputs](inputs.md)"),
    ("complexities of all of these", "[complexities](mathematics.md#complexities)"),
)

EXPERIMENTS = (
    ("iris, and its figure of two dimensions", "[Iris](#iris)"),
    (
        "Wisconsin breast cancer, and the linear classifier's 0.97",
        "[Wisconsin breast cancer](#wisconsin-breast-cancer)",
    ),
    (
        "chromosomes, and 12-NN",
        "[Chromosomes](#chromosomes); 21 classes of 22: [one class left out?](#4200-strings-one-class-left-out)",
    ),
    (
        "proteins, its figure of accuracy against beta, and 1-NN",
        "[Proteins](#proteins); the same on the library's own data: [Globins](#globins)",
    ),
    ("table of the median SOM's seconds", "[Speed](#speed)"),
    ("table of median neural gas's seconds", "[Speed](#speed)"),
    ("breast cancer in five patches", "[Breast cancer in patches](#breast-cancer-in-patches)"),
    (
        "feedforward networks and hidden Markov models on chromosomes, support vector machines on proteins",
        "not here: figures of other papers, on other error measures",
    ),
)

CLAIMS = (
    (
        "labels help; neighbours help; means beat data points a little",
        "[claims](#what-the-chapter-claims) of breast cancer and proteins",
    ),
    (
        "supervised neural gas comes near nearest neighbours with all points",
        "[Chromosomes](#chromosomes), [Proteins](#proteins)",
    ),
    ("K-means and SOM depend on the start, neural gas hardly", "[Sensitivity to the start](#sensitivity-to-the-start)"),
    (
        "an epoch of the SOM is 6 times as fast as one of neural gas; early stopping saves 24% at K=484",
        "[claims](#what-the-chapter-claims) of speed",
    ),
    (
        "variants of neural gas differ by ties, below 1% of the error",
        "ours never do: [ties and rounding](mathematics.md#ties-and-rounding), tested for every search",
    ),
    ("patches lose little, and use all points where samples do not", "[claims](#what-the-chapter-claims) of patches"),
    ("patches cost O(N), in dissimilarities and in time", "[what it costs](scale.md#what-it-costs)"),
)

ALTERNATIVES = (
    (
        "dropping small weights of the neighbourhood",
        "`truncate` of the maps; [Truncated neighbourhoods](#truncated-neighbourhoods)",
    ),
    ("the SOM's winner by the nearest prototype alone", '`winner="nearest"` of the SOMs'),
    (
        "other lattices than regular ones of two dimensions",
        "`grid=(1, K)`, three numbers for layers; any distances as `lattice`",
    ),
    ("kernels and other similarities", '`as_dissimilarity(S, similarity="kernel")` and its other rules'),
    (
        "relational and kernel versions: mixtures of points as prototypes",
        "`RelationalKMeans`, `RelationalNeuralGas`, `RelationalSOM`; rows of their own on this page",
    ),
    ("mean field (deterministic) annealing", "`temperature` of K-means and SOMs"),
    (
        "other solvers of the K-median problem (vertex substitution)",
        '`refine="swap"`; FasterPAM stands beside it on this page',
    ),
    ("affinity propagation", "scikit-learn's, on this page"),
    ("random samples, all data in the last run", "[Breast cancer in patches](#breast-cancer-in-patches)"),
    ("many starts", "`n_init`"),
    (
        "ties broken at random",
        '`ties="random"`, the same for all searches ([decision 21](decisions/0021-alternatives.md)); '
        "else the lowest index",
    ),
    ("stochastic gradient descent; CURE, STING, BIRCH", "not here"),
)

GROUPS = (("method", METHODS), ("experiment", EXPERIMENTS), ("claim", CLAIMS), ("alternative", ALTERNATIVES))


def items() -> list[str]:
    """Lines of the table."""
    return markdown(("", "in the chapter", "where"), [(kind, *row) for kind, rows in GROUPS for row in rows])
