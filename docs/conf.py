"""The documentation site: `make docs` builds it from these pages, the docstrings, the commands and the examples.

Nothing in the built pages is fetched from elsewhere: they can be read from a folder, without a network.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS), str(DOCS.parent / "src")]

import docstrings  # noqa: E402
from site_pages import on_the_site, write_pages  # noqa: E402

import medianmap  # noqa: E402

project = "medianmap"
author = "The medianmap developers"
copyright = f"{date.today().year}, {author}"
version = release = medianmap.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["built/gallery/*.ipynb", "built/*/README.*", "figures/*"]
# A link that leads nowhere, or a name that no page documents, ends the build.
nitpicky = True
default_role = "code"
# Quotes are those of the code that the text is about.
smartquotes = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery", "../examples/tutorials"],
    "gallery_dirs": ["built/gallery", "built/tutorials"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "site_pages.GalleryOrder",
    "thumbnail_size": (480, 336),
    "abort_on_example_error": True,
    "backreferences_dir": "built/used",
    "doc_module": ("medianmap",),
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 1,
    "show_signature": False,
    # Its tables would fetch scripts from elsewhere; the seconds are in this file instead.
    "write_computation_times": False,
    "junit": "../gallery.xml",
    "reset_modules": ("matplotlib",),
    "image_scrapers": ("matplotlib",),
    "plot_gallery": os.environ.get("MEDIANMAP_GALLERY", "1") == "1",
}

html_theme = "pydata_sphinx_theme"
html_title = f"medianmap {release}"
html_logo = html_favicon = "static/logo.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "start": [], "built/commands": []}
html_theme_options: dict[str, Any] = {
    "logo": {"text": "medianmap"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_nav_level": 1,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
}


def setup(app: Any) -> None:
    """Generate what is generated before Sphinx looks for pages."""
    write_pages(DOCS / "built")
    os.environ["MPLBACKEND"] = "agg"
    app.connect("builder-inited", with_a_database, priority=100)
    app.connect("source-read", on_the_site)
    # The user guide lists pages that no section names, so it is read again when there are others.
    app.connect("env-get-outdated", lambda app, env, added, changed, gone: ["sections/guide"] if added or gone else [])
    app.connect("autodoc-process-docstring", docstrings.process, priority=400)


def with_a_database(app: Any) -> None:
    """Let the example of PostgreSQL have a server of its own while the site is built, where PostgreSQL is installed."""
    sys.path.append(str(DOCS.parent / "tests"))
    from support.postgres_server import binaries, postgres

    if sphinx_gallery_conf["plot_gallery"] and binaries() is not None:
        running = ExitStack()
        os.environ["MEDIANMAP_POSTGRES"] = running.enter_context(postgres())
        app.connect("build-finished", lambda app, error: running.close())
