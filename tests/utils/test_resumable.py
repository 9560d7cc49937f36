"""The journal under every file that survives being killed, and the text that grows."""

import json
import os
from functools import partial

import pytest

from medianmap.utils import resumable
from medianmap.utils.resumable import difference, growing_text, journal, journal_path

ABOUT = {"kind": "counts", "data": "abc", "size": 3}
same = partial(difference, words={"data": "other data"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out.txt"


def opened(path):
    return journal(journal_path(path), path)


def test_lines_of_an_earlier_run_come_back_without_a_torn_end(path):
    with opened(path) as lines:
        assert not lines.resumes(ABOUT, same)
        lines.begin(ABOUT)
        lines.vouch("1", "2 two")
    with journal_path(path).open("ab") as file:
        file.write(b"3 tor")
    with opened(path) as lines:
        assert lines.resumes(ABOUT | {"size": 4}, same)  # only what has words is compared
        assert lines.began == ABOUT
        assert lines.lines == ["1", "2 two"]
        lines.vouch("3")
    assert journal_path(path).read_text().splitlines() == [json.dumps(ABOUT), "1", "2 two", "3"]


@pytest.mark.parametrize("data", ["abd", ""])
def test_other_work_is_refused_and_left_as_it_was(data, path):
    with opened(path) as lines:
        lines.begin(ABOUT)
    before = journal_path(path).read_bytes()
    with opened(path) as lines, pytest.raises(ValueError, match=r"out\.txt was begun with other data.*resume=False"):
        lines.resumes(ABOUT | {"data": data}, same)
    assert journal_path(path).read_bytes() == before


@pytest.mark.parametrize("content", ["words\n", "[1]\n", '{"n": 1}\n', '{"kind": "others"}\n', "words", '{"n": '])
def test_files_of_others_are_left_alone(content, path):
    journal_path(path).write_text(content)
    with opened(path) as lines:
        for call in (lambda: lines.resumes(ABOUT, same), lambda: lines.begin(ABOUT)):
            with pytest.raises(ValueError, match=r"out\.txt\.journal is not the journal"):
                call()
    assert journal_path(path).read_text() == content


@pytest.mark.parametrize("length", range(9))
def test_killed_in_the_first_line(length, path):
    journal_path(path).write_text(json.dumps(ABOUT)[:length])
    with opened(path) as lines:
        assert not lines.resumes(ABOUT, same)
        lines.begin(ABOUT)
    assert json.loads(journal_path(path).read_text()) == ABOUT


def test_one_process_at_a_time_and_nothing_begun_leaves_nothing(path):
    with opened(path), pytest.raises(ValueError, match=r"Another process is writing .*out\.txt"), opened(path):
        pass
    assert not journal_path(path).exists()


def test_a_text_counts_what_is_vouched_for(path):
    for stopped in (True, False):
        with growing_text(path) as text:
            text.open(ABOUT, b"head\n", True, same)
            for k in range(len(text.marks), 3):
                text.append(b"%d\n" % k if k == 0 or not stopped else b"cut off, and longer than all\n", k + 1, f"s{k}")
                if k == 0:
                    text.vouch()
                elif stopped:
                    break  # written, but nobody vouches for it
            if not stopped:
                assert [mark.signature for mark in text.marks] == ["s0"]
                assert text.block(0) == b"0\n"
                text.finish()
        assert path.exists() != stopped
    assert path.read_text() == "head\n0\n1\n2\n"
    assert [each.name for each in path.parent.iterdir()] == ["out.txt"]


def test_bytes_are_on_the_disk_before_the_journal_vouches_for_them(path, monkeypatch):
    """What is made safe, in order: the text while the journal says nothing of it, then the journal with its line."""
    safe, own = [], os.fsync

    def fsync(handle):
        name = next(p.suffix for p in path.parent.iterdir() if p.stat().st_ino == os.fstat(handle).st_ino)
        safe.append((name, journal_path(path).read_text().count("s0")))
        own(handle)

    monkeypatch.setattr(resumable.os, "fsync", fsync)
    with growing_text(path) as text:
        text.open(ABOUT, b"head\n", True, same)
        safe.clear()
        text.append(b"0\n", 1, "s0")
        text.vouch()
        assert safe == [(".part", 0), (".journal", 1)]
        text.finish()
