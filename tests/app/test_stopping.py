"""Commands that are stopped: signals, what is said, deliveries that are cut off; a sample of `benchmarks/kills.py`."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from support.extras import optional
from support.fits import contents, fit, run, write_words

from medianmap.app import output
from medianmap.app.main import LazyGroup
from medianmap.app.output import workshop
from medianmap.utils.signals import stoppable, uninterrupted

POSIX = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with words.fasta in it."""
    monkeypatch.chdir(tmp_path)
    write_words()
    return tmp_path


@POSIX
def test_killed_and_stopped_anywhere_the_same_bytes_and_nothing_left(tmp_path):
    """In a process that forks, which one that has run fits should not."""
    optional("matplotlib")
    optional("pyarrow")
    command = Path(__file__).parents[2] / "benchmarks" / "kills.py"
    verbs = ["fit --force --gzip", "predict parquet", "distances -o -", "representatives"]
    done = subprocess.run(
        [sys.executable, command, "--kills", "8", "--terms", "4", "--seed", "3", "--verbs", *verbs],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    row = [cell.strip() for cell in done.stdout.splitlines()[-3].split("|")]
    assert row[1] == "all"
    assert int(row[3]) >= 8
    assert int(row[4]) >= 4
    assert row[5:9] == ["0"] * 4


@POSIX
def test_sigterm_is_an_interrupt_and_its_handler_is_restored(capsys):
    group = LazyGroup(lazy={})

    @group.command()
    def work():
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("SIGTERM did not interrupt")

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with pytest.raises(SystemExit) as end:
        group.main(["work"])
    assert end.value.code == 143
    assert capsys.readouterr().err.startswith("medianmap: stopped; ")
    assert {number: signal.getsignal(number) for number in before} == before


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_signal_is_lost_where_python_ignores_exceptions(number, capsys):
    """As in callbacks of the compiler, and in destructors."""
    callback = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), number))
    hook = sys.unraisablehook
    for lost in (callback, Destroyed):
        with pytest.raises(KeyboardInterrupt), stoppable() as exit_code:  # noqa: PT012
            lost() if lost is callback else lost(number)
            time.sleep(60)
        assert exit_code() == 128 + number
    assert sys.unraisablehook is hook
    assert capsys.readouterr().err == ""


class Destroyed:
    """Sends a signal when it is no longer used."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        os.kill(os.getpid(), self.number)


@POSIX
def test_a_handler_of_the_caller_stays(capsys):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *which: heard.append(which[0]))
    try:
        with stoppable() as exit_code:
            os.kill(os.getpid(), signal.SIGTERM)
        assert (heard, exit_code()) == ([signal.SIGTERM], 130)
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGTERM)
            assert len(heard) == 1
        assert len(heard) == 2  # it was only put off
        with pytest.raises(KeyboardInterrupt), uninterrupted():  # noqa: PT012
            os.kill(os.getpid(), signal.SIGINT)
            heard.append("ended")
        assert heard[2:] == ["ended"]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_stopped_after_the_last_step_all_is_done(here, capsys, monkeypatch):
    """The files are in their place: the command says so, and so does the same command again."""

    def stopped(*said):
        raise KeyboardInterrupt

    monkeypatch.setattr("medianmap.app.commands.fit.told", stopped)
    assert fit("--grid", "2x2", "-o", "deep/map") == 130
    assert "all was done already: the files in deep/map are complete" in capsys.readouterr().err
    assert sorted(os.listdir("deep")) == ["map"]
    assert fit("--grid", "2x2", "-o", "deep/map") == 2
    assert "deep/map exists already and holds the complete files of an earlier run" in capsys.readouterr().err


def test_stopped_right_after_the_delivery_the_folder_stays(here):
    with pytest.raises(KeyboardInterrupt), workshop(Path("new/deep/out"), force=False) as shop:  # noqa: PT012
        (shop.files / "config.toml").write_text("a = 1")
        shop.deliver()
        raise KeyboardInterrupt
    assert [str(path) for path in sorted(Path("new").rglob("*"))] == [
        "new/deep", "new/deep/out", "new/deep/out/config.toml",
    ]  # fmt: skip


@pytest.mark.parametrize("step", range(1, 9))
def test_a_delivery_that_was_cut_off_is_finished_by_the_next_run(step, here, monkeypatch):
    """Cut before each of its steps, the folder is that of the earlier run or, after the next one, the new one."""
    fit("--grid", "2x2", "-o", "map", "--gzip")
    before = contents("map", sorted(os.listdir("map")))
    fit("--grid", "2x2", "--seed", "1", "-o", "whole")
    after = contents("whole", sorted(os.listdir("whole")))
    steps = 0

    class Cut(BaseException):
        """A process that was killed takes no further step: nothing catches this."""

    def cut(act):
        def until(*args, **how):
            nonlocal steps
            steps += 1
            if steps == step:
                raise Cut
            return act(*args, **how)

        return until

    with monkeypatch.context() as patch:
        for owner, name in [(output.os, "replace"), (output.shutil, "rmtree"), (Path, "unlink"), (Path, "rmdir")]:
            patch.setattr(owner, name, cut(getattr(owner, name)))
        steps = -1000
        with pytest.raises(Cut), workshop(Path("map"), force=True) as shop:  # noqa: PT012
            for name, content in after.items():
                (shop.files / name).write_bytes(content)
            steps = 0
            shop.deliver()
        steps = 1000
    folder, journal = Path("map.partial"), Path("map.partial/journal")
    if journal.exists():
        assert json.loads(journal.read_text())["about"] == "delivery"
    assert fit("--grid", "2x2", "-o", "map") == 2  # refuses a folder that is full, but first completes it
    assert not folder.exists()
    assert contents("map", sorted(os.listdir("map"))) == after
    assert before != after


def test_a_delivery_by_a_process_at_work_is_left_alone(here, capsys):
    Path("map").mkdir()
    Path("map/notes.txt").write_text("mine")
    with workshop(Path("map"), force=True) as shop:
        shop.journal.begin({"about": "delivery", "from": shop.files.name, "new": [], "old": ["notes.txt"]})
        assert run("fit", "words.fasta", "-o", "map") == 2
        assert Path("map/notes.txt").exists()
    assert click.get_current_context(silent=True) is None
