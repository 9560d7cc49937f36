"""`medianmap info`: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import speaking


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@speaking
def info(model: Path) -> None:
    """Say what is in a MODEL file.

    Example: medianmap info medianmap-demo/model.mmap
    """
    from ...estimators.model_file import load

    layer = load(model)
    while layer is not None:  # a classifier holds a map, or patches that hold one
        click.echo(_about(layer))
        for name, value in layer.get_params(deep=False).items():
            if name != "estimator":
                click.echo(f"  {name} = {value!r}")
        layer = getattr(layer, "estimator_", None) or getattr(layer, "map_", None)


def _about(layer: Any) -> str:
    """One line on a classifier, a pass over patches, or a map."""
    name = type(layer).__name__
    if hasattr(layer, "classes_"):
        return f"{name}, classes {', '.join(map(str, layer.classes_))}"
    if hasattr(layer, "map_"):
        return (
            f"{name}, {layer.n_samples_seen_} points in {layer.n_patches_} patches, "
            f"{layer.n_evaluations_} dissimilarities"
        )
    text = f"{name}, {len(layer.hits_)} prototypes, {layer.n_iter_} epochs"
    if hasattr(layer, "quantization_error_"):
        ended = "converged" if layer.converged_ else "not converged"
        text += f", {ended}, quantization error {layer.quantization_error_:.6g}"
    return text
