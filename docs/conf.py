"""How the documentation is built: `make docs`.

The source is the whole checkout, of which only documents are read, so that links between them hold
on the site as they do in the repository.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from sphinx.application import Sphinx

from zorro.version import __version__

sys.path.append(str(Path(__file__).parent))
import house

project = "zorro"
author = "the zorro developers"
copyright = "the zorro developers, MIT licence"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "benchmarks/results/*.md",
    "results/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "REPRODUCTION.md",
    "SECURITY.md",
]
exclude_patterns = [
    "docs/_templates",
    "docs/_static",
    "benchmarks/results/quality_discussion.md",  # part of quality.md
]
nitpicky = False

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]

# In docstrings `name` is code, as in Markdown.
default_role = "literal"
# Absolute, since autosummary looks for its templates from the checkout's root.
templates_path = [str(Path(__file__).parent / "_templates")]
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
maximum_signature_line_length = 80
warnings.filterwarnings("ignore", category=DeprecationWarning)

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"zorro {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_additional_pages = {"index": "to_docs.html"}
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1f5f8b",
        "color-brand-content": "#1f5f8b",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7fc4f0",
        "color-brand-content": "#7fc4f0",
    },
}
copybutton_exclude = ".linenos, .gp, .go"


def _with_house(app: Sphinx, page: str, source: list[str]) -> None:
    if page == "docs/design":
        before, after = source[0].split(house.MARKER)
        source[0] = f"{before}{house.house()}{after}"


def setup(app: Sphinx) -> None:
    """Have the page about the design completed when it is read."""
    app.connect("source-read", _with_house)
