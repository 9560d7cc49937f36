"""Draw the terminal output of `medianmap demo` as an SVG picture for the README.

python docs/picture.py docs/demo.svg
"""

import io
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from medianmap.app.run import run_demo
from medianmap.report.text import render
from medianmap.utils.files import write_text

# The frame without rich's web fonts: a picture in a README fetches nothing.
FRAME = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: {char_height}px;
line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
<rect width="100%" height="100%" rx="8" fill="#fbfbf8"/>
<g transform="translate(12, 8)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""
PAPER = TerminalTheme(
    (251, 251, 248), (40, 40, 40), [(0, 0, 0)] * 8, [(90, 90, 90)] * 8
)  # fmt: skip


def main(path: str) -> None:
    console = Console(record=True, width=114, file=io.StringIO(), force_terminal=True, highlight=False)
    with tempfile.TemporaryDirectory() as folder:
        summary = run_demo(Path(folder), (8, 10), seed=0).summary
    console.print(render(summary))
    write_text(path, console.export_svg(theme=PAPER, code_format=FRAME, unique_id="demo"))


if __name__ == "__main__":
    main(sys.argv[1])
