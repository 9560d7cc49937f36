"""How a fitted model shows itself: its summary below scikit-learn's diagram in a notebook."""

from __future__ import annotations

from typing import Any

from ..utils.providers import provided


class ShownInNotebooks:
    """Before scikit-learn's BaseEstimator: a fitted estimator shows its summary below the diagram of its parameters."""

    def _repr_html_inner(self) -> str:
        return str(provided("notebook_view")(self, super()._repr_html_inner()))  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = provided("notebook_view")(self, bundle["text/html"])
        return bundle
