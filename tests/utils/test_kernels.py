"""Compiled loops: who hears of a compilation, code that comes with the package, and folders that cannot be written."""

import json
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import NullCache

from medianmap.utils import kernels, shipped
from medianmap.utils.kernels import compiling_told, kernel
from medianmap.utils.shipped import Pack, ShippedFirst, this_process, write_pack

SOURCE = Path(shipped.__file__).parents[1]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A module of one loop, which nobody has compiled, and the loop as @kernel makes it."""
    (tmp_path / "loops.py").write_text("def doubled(a):\n    return a * 2.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(kernels, "KERNELS", [])
    monkeypatch.delitem(sys.modules, "loops", raising=False)
    import loops

    return loops.doubled, kernel(loops.doubled)


def repacked(path, **changed):
    """The pack with other words in about.json."""
    with zipfile.ZipFile(path) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    entries["about.json"] = json.dumps(json.loads(entries["about.json"]) | changed).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, data in entries.items():
            file.writestr(name, data)


def test_a_compilation_is_told_once_for_each_combination_of_types(made):
    told = []
    with compiling_told(lambda name, k: told.append(name)):
        assert made[1](1.0) == 2.0
        assert made[1](2.0) == 4.0
        assert told == ["loops.doubled"]
        made[1](np.float32(3))
    assert told == ["loops.doubled"] * 2
    made[1](np.int8(3))
    assert len(told) == 2


def test_a_pack_gives_the_code_back_and_nothing_is_compiled(made, tmp_path):
    function, loop = made
    loop(1.5)
    path = tmp_path / "pack.zip"
    assert write_pack(path, [loop]) == 1
    pack = Pack(path)
    assert pack.fits()
    again = kernel(function)
    again._cache = ShippedFirst(function, pack, NullCache())
    told = []
    with compiling_told(lambda name, k: told.append(name)):
        assert again(2.5) == 5.0
        assert told == []
        assert again(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]  # types that are not in the pack
    assert told == ["loops.doubled"]


def test_a_pack_is_read_once(made, tmp_path):
    """Later reads would meet those of other processes, forked from this one, or a file that was replaced."""
    function, loop = made
    loop(1.5)
    path = tmp_path / "pack.zip"
    write_pack(path, [loop])
    pack = Pack(path)
    path.write_bytes(b"")
    (types,) = loop.overloads
    assert pack.found(function, types) is not None


def test_a_pack_is_for_the_source_that_it_was_made_of(made, tmp_path):
    function, loop = made
    loop(1.5)
    write_pack(tmp_path / "pack.zip", [loop])
    (types,) = loop.overloads
    pack = Pack(tmp_path / "pack.zip")
    assert pack.found(function, types) is not None
    (tmp_path / "loops.py").write_text("def doubled(a):\n    return a * 3.0\n")
    shipped._source.cache_clear()
    assert pack.found(function, types) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"numba": "0.1"},
        {"llvmlite": "0.1"},
        {"python": [3, 99]},
        {"triple": "other"},
        {"svml": None},
        {"features": ["of-2099"]},
    ],
    ids=str,
)
def test_a_pack_for_something_else_is_not_used(tmp_path, changed):
    path = tmp_path / "pack.zip"
    write_pack(path, [])
    assert Pack(path).fits()
    repacked(path, **changed)
    assert not Pack(path).fits()


def test_half_a_pack_and_settings_of_numba_leave_the_pack_out(tmp_path, monkeypatch):
    path = tmp_path / "pack.zip"
    write_pack(path, [])
    monkeypatch.setattr(shipped, "PACK", path)
    found = shipped.shipped.__wrapped__
    assert found() is not None
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert found() is None
    monkeypatch.delenv("NUMBA_CPU_NAME")
    path.write_bytes(path.read_bytes()[:100])
    assert found() is None


def test_the_features_of_a_pack_are_those_it_was_compiled_for(tmp_path):
    code = f"from medianmap.utils.shipped import *; write_pack(Path({str(tmp_path)!r}) / 'p', [])"
    env = {"PYTHONPATH": str(SOURCE.parent), "NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2,-avx"}
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
    about = Pack(tmp_path / "p").about
    assert about["features"] == ["sse2"]
    assert about["numba"] == this_process()["numba"]


def test_where_no_folder_can_be_written_loops_still_run(monkeypatch, tmp_path, made):
    from numba.core.caching import CacheImpl

    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    assert kernel(made[0])(2.0) == 4.0


def test_every_loop_of_the_package_is_declared_in_one_way():
    """Only then it is told, and comes with the wheel; a user's own function has a type of its own, and is not kept."""
    found = [path for path in SOURCE.rglob("*.py") if "cache=True" in path.read_text(encoding="utf-8")]
    assert [path.name for path in found] == ["kernels.py"]


def test_compile_leaves_nothing_to_compile_for_the_usual_fits():
    """Neither to compile nor to read from disk; in a process of its own, where no other test has used a loop.

    The command is the example of its own help, which no other test runs.
    """
    code = """
        import contextlib, sys
        import click
        import numpy as np
        from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, RelationalNeuralGas
        from medianmap.app.main import cli, main
        from medianmap.app.warm import clouds
        from medianmap.utils.kernels import KERNELS

        with click.Context(cli) as context:
            assert cli.get_command(context, "compile").help.split("Example: ")[1].strip() == "medianmap compile"
        with contextlib.redirect_stdout(sys.stderr):
            try:
                main(["compile"])
            except SystemExit as end:
                assert not end.code, end.code
        known = {loop: set(loop.overloads) for loop in KERNELS}
        for n, K in ((30, 12), (60, 3), (200, 10), (500, 40), (630, 120), (1200, 30)):
            D = clouds(n)[1]
            for data in (D, D.astype(np.float32)):
                given = {"metric": "precomputed", "random_state": 1}
                for more in ({}, {"refine": "swap"}, {"annealing": "median"}):
                    for map_ in (MedianKMeans(K, **given, **more), MedianNeuralGas(K, **given, **more),
                                 MedianSOM((2, K // 2), **given, **more)):
                        map_.fit(data)
                RelationalNeuralGas(K, **given).fit(data)
                MedianKMeans(K, refine="swap", n_init=3, **given).fit(data)
        for loop in KERNELS:
            for types in set(loop.overloads) - known.get(loop, set()):
                print(loop.py_func.__name__, types)
        """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
