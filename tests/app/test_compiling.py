"""What a command says while loops are compiled: once, on stderr, unless -q."""

import sys
import threading

import click
import pytest

from medianmap.app.output import speaking, watched
from medianmap.utils.kernels import kernel


@pytest.fixture
def loop(tmp_path, monkeypatch):
    """A loop that nobody has compiled, and that no other test will find on disk."""
    (tmp_path / "loop_of_a_command.py").write_text("def trebled(a):\n    return a * 3.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "loop_of_a_command", raising=False)
    monkeypatch.setattr("medianmap.utils.kernels.KERNELS", [])
    monkeypatch.setattr("medianmap.utils.kernels._begun", [])
    from loop_of_a_command import trebled

    return kernel(trebled)


@pytest.mark.parametrize("options", [[], ["-q"]])
def test_the_user_hears_once_that_loops_are_compiled(loop, options, capsys):
    @click.command()
    @speaking
    def work():
        with watched():
            other = threading.Thread(target=loop, args=(1.0,))  # which knows of no command
            other.start()
            other.join()
            loop(1)

    work.main(options, standalone_mode=False)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("compiling") == (0 if options else 1)
    assert "once" in said.err or options
