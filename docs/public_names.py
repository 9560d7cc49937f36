"""The public names of medianmap, by the sections of the API pages: the site has a page for each, tests count them."""

from __future__ import annotations

from importlib import import_module

# Section -> module -> names. What is importable from `medianmap` itself is named with that.
PUBLIC: dict[str, dict[str, list[str]]] = {
    "Maps with exemplars": {"medianmap": ["MedianSOM", "MedianNeuralGas", "MedianKMeans"]},
    "Maps with combinations of the data": {"medianmap": ["RelationalSOM", "RelationalNeuralGas", "RelationalKMeans"]},
    "Maps of vectors": {"medianmap": ["BatchSOM", "BatchNeuralGas", "BatchKMeans"]},
    "Labels and large data": {
        "medianmap": ["PrototypeClassifier", "PatchClusterer", "label_report", "beta_path"],
        "medianmap.explore.beta_path": ["BetaPath"],
        "medianmap.explore.label_report": ["prototype_labels", "suspected_mislabels", "label_next"],
    },
    "Choosing, checking, arranging": {
        "medianmap": ["k_path", "width_front", "uncertainty", "check_dissimilarity", "arrange"],
        "medianmap.explore.k_path": ["KPath"],
        "medianmap.explore.width_front": ["WidthFront"],
        "medianmap.explore.health": ["Health", "Finding"],
        "medianmap.refine": ["swap_medoids", "refine_som", "Arranged", "Swapped"],
    },
    "Sources of dissimilarities": {
        "medianmap": ["as_dissimilarity", "all_pairs"],
        "medianmap.sources": ["write_store", "open_store", "PairSource", "PostgresSource"],
    },
    "Files": {
        "medianmap": ["read", "save", "load"],
        "medianmap.readers": [
            "iter_records", "from_anndata", "write_phylip", "write_lsmat", "write_pairs", "Record", "Records", "Matrix",
        ],
        "medianmap.readers.clusters": ["read_clusters", "read_ids"],
    },
    "Metrics": {
        "medianmap.metrics": ["register", "registered", "Metric", "Parameter"],
        "medianmap.metrics.alignment": ["alignment_scores"],
    },
    "Reports and pictures": {
        "medianmap": ["report"],
        "medianmap.report": ["Report"],
        "medianmap.report.summary": ["summarize"],
        "medianmap.report.notebook": ["summary_html"],
        "medianmap.report.plots": [
            "MapDisplay", "UMatrixDisplay", "TopologyDisplay", "TrainingDisplay", "KPathDisplay", "BetaPathDisplay",
            "WidthFrontDisplay",
        ],
    },
    "What a map says": {
        "medianmap.explore": [
            "u_matrix", "hit_map", "class_shares", "mean_dissimilarity", "component_planes",
            "prototype_dissimilarities", "symmetrized", "two_best", "border_points", "outliers", "superclusters",
            "topology_graph", "layout", "restart_stability", "UMatrix", "Superclusters", "PlaneLayout", "Stability",
            "Uncertainty",
        ],
        "medianmap.explore.representatives": ["representatives"],
        "medianmap.predict.assign_all": ["assign_all", "assigned_lines"],
    },
    "Quality": {
        "medianmap.core.quality": [
            "indices", "quantization_error", "inertia", "topographic_error", "torn_by_chance", "torn_links",
            "rank_correlation", "neighborhood_preservation", "border_share", "medoid_silhouette", "purity",
        ],
    },
    "Data": {
        "medianmap": [
            "load_globins", "load_chromosomes", "load_iris", "load_breast_cancer", "simulate_chromosomes",
            "simulate_protein_families",
        ],
        "medianmap.datasets": ["newick", "Sequences", "ProteinFamilies", "Chromosomes", "Vectors"],
    },
    "The command line from Python": {
        "medianmap.app.run": ["run_fit", "FitResult"],
        "medianmap.app.settings": ["FitSettings"],
        "medianmap.app.output": ["Watch"],
    },
}  # fmt: skip

# Modules whose public names all have pages: what the table does not name comes under "More".
WHOLE = ("medianmap", "medianmap.explore", "medianmap.report.plots", "medianmap.refine", "medianmap.datasets")


def sections() -> dict[str, dict[str, list[str]]]:
    """The table, and what modules have besides."""
    told = {id(getattr(import_module(module), name)) for module, name in _names(PUBLIC)}
    more: dict[str, list[str]] = {}
    for module in WHOLE:
        for name in import_module(module).__all__:
            it = getattr(import_module(module), name)
            if name != "__version__" and id(it) not in told:
                told.add(id(it))
                more.setdefault(module, []).append(name)
    return PUBLIC | ({"More": more} if more else {})


def public_objects() -> dict[str, object]:
    """Full name -> object, in the order of the table."""
    return {f"{module}.{name}": getattr(import_module(module), name) for module, name in _names(sections())}


def _names(table: dict[str, dict[str, list[str]]]) -> list[tuple[str, str]]:
    """All pairs (module, name) of a table."""
    return [(module, name) for modules in table.values() for module, names in modules.items() for name in names]


def public_methods(cls: type) -> list[str]:
    """The public methods of a class that are written in medianmap; what scikit-learn adds is described there."""
    names = []
    for name in dir(cls):
        method = getattr(cls, name, None)
        function = getattr(method, "__func__", method)
        ours = (getattr(function, "__module__", None) or "").startswith("medianmap")
        if ours and not name.startswith("_") and callable(method) and not isinstance(method, type):
            names.append(name)
    return names
