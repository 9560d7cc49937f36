"""What every command has in common: an example that parses, -q and -v, quick help, streams, and how Ctrl-C ends it."""

import gzip
import io
import logging
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import warnings
from types import SimpleNamespace

import click
import numpy as np
import pytest
from click.testing import CliRunner

from medianmap import MedianKMeans, save
from medianmap.app import output
from medianmap.app.main import COMMANDS, LazyGroup, cli, main
from medianmap.app.output import STOPPED
from medianmap.readers import read, write_lsmat
from medianmap.utils.files import write_text

WORDS = ["heron", "herons", "hero", "quark", "quarks", "quart"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    save(MedianKMeans(2, metric="edit", random_state=0).fit(WORDS), tmp_path / "model.mmap")
    return tmp_path


def command(name):
    with click.Context(cli) as context:
        found = cli.get_command(context, name)
    assert found is not None
    return found


def run(*args):
    with pytest.raises(SystemExit) as end:
        main([*map(str, args)])
    return end.value.code


def started(*args, **how):
    return subprocess.Popen(
        [sys.executable, "-m", "medianmap", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how
    )


# --- every command ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_parses(name):
    """Example lines are split as a shell splits them, and given to the parser of the command."""
    found = command(name)
    text = found.help or ""
    examples = re.findall(r"medianmap [^;\n]+", text[text.index("Example") :])
    assert examples
    for example in examples:
        program, verb, *args = shlex.split(example)
        assert (program, verb) == ("medianmap", name)
        found.make_context(name, args, parent=click.Context(cli, help_option_names=["-h", "--help"]))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_answered_under_both_names(name):
    outputs = [CliRunner().invoke(cli, [name, option]) for option in ("-h", "--help")]
    assert [done.exit_code for done in outputs] == [0, 0]
    assert outputs[0].output == outputs[1].output
    assert "Example" in outputs[0].output
    assert outputs[0].output.isascii()


@pytest.mark.parametrize("name", COMMANDS)
def test_quiet_and_verbose(name):
    flags = {flag: option for option in command(name).params for flag in option.opts}
    assert {"-q", "--quiet", "-v", "--verbose"} <= flags.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_one_name_are_alike(name):
    for option in command(name).params:
        if "--threads" in option.opts:
            assert (option.type, option.metavar, option.required) == (click.INT, "N", False)
        if "--seed" in option.opts:
            assert isinstance(option.type, click.IntRange)
            assert (option.type.min, option.type.max) == (0, 2**32 - 1)
        if isinstance(option, click.Option):
            assert option.help, f"{name} {option.opts} says nothing of itself"


def test_the_list_of_commands_tells_of_each_and_imports_none(tmp_path):
    for name, (where, about) in COMMANDS.items():
        assert command(name).name == name
        assert about.endswith(".")
        assert where.endswith(f":{name}")
    code = (
        "import sys; from click.testing import CliRunner; from medianmap.app.main import cli\n"
        "done = CliRunner().invoke(cli, ['--help'])\n"
        "print(*[m for m in sys.modules if m.startswith('medianmap.app.commands.')], 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
    listed = CliRunner().invoke(cli, ["--help"]).output
    assert [line.split()[0] for line in listed.split("Commands:\n")[1].splitlines() if line[2] != " "] == [*COMMANDS]


def test_a_misspelt_command_is_recognised(capsys):
    assert run("distance") == 2
    assert "Did you mean" in capsys.readouterr().err or click.__version__ < "8.2"


@pytest.mark.parametrize("args", [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)], ids=" ".join)
def test_help_and_version_import_nothing_heavy(args, tmp_path):
    code = (
        f"import sys; from click.testing import CliRunner; from medianmap.app.main import cli\n"
        f"CliRunner().invoke(cli, {args!r})\n"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'numba', 'sklearn', 'scipy', 'rich', 'jinja2')))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0


# --- speaking --------------------------------------------------------------------------------------------------------


@click.command()
@output.speaking
def said():
    logging.getLogger("medianmap").info("of the log")
    logging.getLogger("medianmap.sources").debug("of its depths")
    output.note("a note")
    output.close("the end")


@pytest.mark.parametrize(
    ("args", "out", "err"),
    [
        ([], "the end\n", "medianmap: a note\n"),
        (["-q"], "", ""),
        (["-v"], "the end\n", "of the log\nmedianmap: a note\n"),
        (["-vv"], "the end\n", "of the log\nof its depths\nmedianmap: a note\n"),
    ],
)
def test_who_speaks(args, out, err, capsys):
    logger = logging.getLogger("medianmap")
    before = logger.level, list(logger.handlers)
    said.main(args, standalone_mode=False)
    assert capsys.readouterr() == (out, err)
    assert (logger.level, logger.handlers) == before


def test_quiet_and_verbose_exclude_each_other(capsys):
    before = list(logging.getLogger("medianmap").handlers)
    for args in (["-q", "-v"], ["-v", "-q"]):
        with pytest.raises(click.UsageError, match="exclude each other"):
            said.main(args, standalone_mode=False)
    assert logging.getLogger("medianmap").handlers == before


def test_bars_are_for_terminals_and_not_for_quiet(monkeypatch):
    seen = []
    probe = click.command()(output.speaking(lambda: seen.append(output.shows_progress())))
    for shown in (False, True):
        monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda shown=shown: shown))
        for args in ([], ["-q"]):
            probe.main(args, standalone_mode=False)
    assert seen == [False, False, True, False]


def test_quiet_leaves_data_and_errors(here, capsys):
    assert run("predict", "model.mmap", "words.txt", "-o", "a.tsv", "-q") == 0
    assert run("distances", "words.txt", "--metric", "edit", "-o", "D.npy", "-q") == 0
    assert capsys.readouterr() == ("", "")
    assert run("info", "model.mmap", "-q") == run("check", "D.npy", "-q") == run("metrics", "edit", "--json", "-q") == 0
    told = capsys.readouterr()
    assert "MedianKMeans, 2 neurons" in told.out
    assert told.err == ""
    assert run("info", "none.mmap", "-q") == 2
    assert capsys.readouterr().err == "medianmap: There is no file none.mmap; give the path of a medianmap model.\n"


def test_verbose_lets_the_library_speak(here, capsys):
    args = ("fit", "words.txt", "--metric", "edit", "--map", "gas", "-k", "2", "--patch", "3", "-o")
    assert run(*args, "silent") == 0
    assert "quantization error" not in capsys.readouterr().err
    assert run(*args, "speaking", "-v") == 0
    assert "epochs" in capsys.readouterr().err


def test_a_warning_is_a_sentence(capsys, monkeypatch):
    group = LazyGroup(lazy={})

    @group.command()
    @output.speaking
    def warned():
        warnings.warn("Mind the gap.", stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        group.main(["warned"], standalone_mode=False)
        assert capsys.readouterr().err == "medianmap: Mind the gap.\n"
        group.main(["warned", "-q"], standalone_mode=False)
    assert capsys.readouterr().err == ""


# --- streams and compression -----------------------------------------------------------------------------------------


def test_dissimilarities_and_assignments_on_standard_output(here, capfdbinary, monkeypatch):
    assert run("distances", "words.txt", "--metric", "edit", "-o", "-") == 0
    printed = capfdbinary.readouterr()
    assert printed.err == b""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(printed.out)))
    assert read("-").D[0].tolist() == [0, 1, 1, 5, 5, 5]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(printed.out)))
    assert run("check", "-") == 0
    assert capfdbinary.readouterr().out.startswith(b"6 x 6 float64 is usable")
    assert run("predict", "model.mmap", "words.txt", "-o", "a.tsv", "-q") == 0
    for to in ((), ("-o", "-")):
        assert run("predict", "model.mmap", "words.txt", *to) == 0
        assert capfdbinary.readouterr() == ((here / "a.tsv").read_bytes(), b"")
    assert sorted(path.name for path in here.iterdir()) == ["a.tsv", "model.mmap", "words.txt"]


def test_an_interrupted_print_prints_nothing(here, capsys, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt("40 objects are kept")

    monkeypatch.setattr("medianmap.sources.all_pairs.all_pairs", interrupted)
    assert run("distances", "words.txt", "--metric", "edit", "-o", "-") == 130
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "medianmap: stopped, and nothing was printed; with -o FILE the same command could go on where it was.\n"
    )


def test_text_is_compressed_by_its_name_and_repeats_its_bytes(tmp_path):
    for name in ("a.tsv", "a.tsv.gz", "b.tsv.GZ"):
        write_text(tmp_path / name, "näht\n")
    assert gzip.decompress((tmp_path / "a.tsv.gz").read_bytes()) == (tmp_path / "a.tsv").read_bytes()
    assert (tmp_path / "a.tsv.gz").read_bytes() == (tmp_path / "b.tsv.GZ").read_bytes()
    assert (tmp_path / "a.tsv.gz").read_bytes()[4:8] == bytes(4)  # no time of day
    D = np.array([[0.0, 1.5], [2.5, 0.0]])
    write_lsmat(tmp_path / "D.lsmat.gz", D, ["a", "b"])
    assert (tmp_path / "D.lsmat.gz").read_bytes()[:2] == b"\x1f\x8b"
    np.testing.assert_array_equal(read(tmp_path / "D.lsmat.gz").D, D)


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "told"), [("", STOPPED), ("half is kept; go on.", "half is kept; go on.")])
def test_an_interrupt_is_one_sentence_and_130(said, told, capsys):
    group = LazyGroup(lazy={})

    @group.command()
    def work():
        raise KeyboardInterrupt(said)

    with pytest.raises(SystemExit) as end:
        group.main(["work"])
    assert end.value.code == 130
    assert capsys.readouterr() == ("", f"medianmap: {told}\n")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_while_dissimilarities_are_computed(number, code, tmp_path, rng):
    """A process as a user starts it, a signal as the terminal sends it."""
    letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
    (tmp_path / "long.txt").write_text("\n".join("".join(rng.choice(letters, 400)) for _ in range(1500)) + "\n")
    args = ("distances", "long.txt", "--metric", "alignment", "-o", "D.npy", "--threads", "1")
    process = started(*args, "--yes", cwd=tmp_path)  # a busy machine takes it for the work of hours
    deadline = time.monotonic() + 300
    while not (tmp_path / "D.npy.journal").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, err
    assert out == ""
    assert re.fullmatch(r"medianmap: \d+% of .*D\.npy is computed and kept; .*\n", err)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_inside_of_exec_ends_with_130_too(tmp_path):
    """Imports run code through exec; CPython remembers an interrupt there and would die by the signal itself."""
    code = (
        "from medianmap.app.main import LazyGroup\n"
        "group = LazyGroup(lazy={})\n"
        "@group.command()\n"
        "def work():\n"
        "    exec('raise KeyboardInterrupt')\n"
        "for _ in range(2):\n"  # the first leaves nothing to import, which would hide what the second is to show
        "    try:\n"
        "        group.main(['work'])\n"
        "    except SystemExit as end:\n"
        "        code = end.code\n"
        "raise SystemExit(code)"
    )
    (tmp_path / "verb.py").write_text(code)
    done = subprocess.run([sys.executable, "-m", "verb"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, 2 * f"medianmap: {STOPPED}\n")
