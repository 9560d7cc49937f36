"""Temporary files and folders: what killed processes left is removed, what is in use or somebody else's is not."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from medianmap.utils.files import SCRATCH, atomic, scratch_folder, write_text

KILLED = """
import os, signal, sys
from medianmap.utils.files import atomic, scratch_folder
with atomic(sys.argv[1]) as file, scratch_folder() as folder:
    file.write(b"half")
    (folder / "large.npy").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """A folder for temporary files that the process here and those it starts use."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def names(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def test_what_killed_processes_left_is_removed_by_the_next_run(tmp_path, scratch):
    out = tmp_path / "out.tsv"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, out], check=False)
    left = [name for name in names(tmp_path) if name != "tmp"]
    assert len(left) == 1  # the second process removed what the first had left
    assert left[0].endswith(".part")
    assert len(names(scratch)) == 1
    write_text(tmp_path / "other.tsv", "x")
    assert left[0] in names(tmp_path)  # of another file
    write_text(out, "whole")
    assert names(tmp_path) == ["other.tsv", "out.tsv", "tmp"]
    with scratch_folder() as folder:
        assert names(scratch) == [folder.name]
    assert names(scratch) == []


def test_what_is_in_use_stays_and_so_do_files_of_others(tmp_path, scratch):
    out = tmp_path / "out.tsv"
    others = [".out.tsv.part", ".out.tsv.notours.part", ".out.tsv.12345678.part.txt"]
    for name in others:
        (tmp_path / name).write_text("mine")
    (scratch / f"{SCRATCH}mine").mkdir()
    (scratch / f"{SCRATCH}mine" / "notes.txt").write_text("no lock here")
    (scratch / f"{SCRATCH}link").symlink_to(tmp_path)
    with atomic(out) as first, scratch_folder() as folder:
        first.write(b"slow")
        with scratch_folder():
            write_text(out, "quick")
        assert folder.exists()
    assert out.read_text() == "slow"
    assert names(tmp_path) == sorted([*others, "out.tsv", "tmp"])
    assert names(scratch) == [f"{SCRATCH}link", f"{SCRATCH}mine"]


def test_the_folder_for_temporary_files_is_not_tried_by_a_file(scratch, monkeypatch):
    """Which a kill would leave under a name that nobody can recognise."""
    monkeypatch.setattr(tempfile, "_get_default_tempdir", lambda *given: pytest.fail("it was tried"))
    with scratch_folder() as folder:
        assert folder.parent == scratch
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(scratch / "nowhere"))
    with scratch_folder() as folder:
        assert folder.parent.is_dir()
