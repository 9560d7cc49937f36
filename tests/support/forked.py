"""Commands in processes of their own that begin with the libraries loaded, which takes longer than most commands.

A process that has made one small map, so that all is loaded, forks for each of them. Where there is no fork, each
starts anew. What is about the start itself is tested with processes from scratch.
"""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

SERVER = """
import atexit, gc, json, os, sys, tempfile
from importlib import import_module
from io import StringIO
from contextlib import redirect_stderr, redirect_stdout
from medianmap.app.main import MODULES, main

def ended(work):
    code = 0
    try:
        work()
    except SystemExit as end:
        code = 0 if end.code is None else end.code
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    return code

def child_of(ask):
    ways = (os.devnull, os.O_RDONLY), (ask["out"], os.O_WRONLY), (ask["err"], os.O_WRONLY)
    for k, (path, how) in enumerate(ways):
        os.dup2(os.open(path, how), k)
    os.chdir(ask["cwd"])
    os.environ.clear()
    os.environ.update(ask["env"])
    sys.argv = ["medianmap", *ask["args"]]
    if "code" in ask:
        code = ended(lambda: exec(compile(ask["code"], "forked", "exec"), {"__name__": "__main__"}))
    else:
        code = ended(lambda: main(ask["args"]))
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)  # without taking down, page by page, what is shared with the parent

for name in (*(f"medianmap.app.commands.{each}" for each in MODULES), "medianmap.app.run", "medianmap.app.estimates",
             "medianmap.explore", "medianmap.refine"):
    import_module(name)
with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()) as said:
    # One small map, so that what is loaded on first use is, too; it starts no threads.
    with open(f"{folder}/words.txt", "w") as file:
        file.write("".join(f"w{k:b}w\\n" for k in range(1, 40)))
    fit = ["fit", f"{folder}/words.txt", "--metric", "edit", "--grid", "2x2", "--epochs", "3", "--threads", "1"]
    assert ended(lambda: main([*fit, "-o", f"{folder}/map"])) == 0, said.getvalue()
gc.collect()
gc.freeze()
asked, told = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
for line in asked:
    child = os.fork()
    if child == 0:
        child_of(json.loads(line))
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), file=told, flush=True)
"""


@cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    return server


def medianmap(*args: object, cwd: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command; its exit code and what it wrote."""
    given, around = [str(arg) for arg in args], {**os.environ, **env}
    command = [sys.executable, "-m", "medianmap", *given]
    if not hasattr(os, "fork"):
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=around)
    return _forked({"args": given, "cwd": str(cwd), "env": around}, command)


def forkserver(module: str) -> Any:
    """multiprocessing whose processes begin with the libraries loaded, and the test module of that name.

    There is one such server in a process of tests, so that all tests name the same libraries.
    """
    context = multiprocessing.get_context("forkserver")
    libraries = ["medianmap.predict.assign_all", "medianmap.metrics.edit", "medianmap.sources.all_pairs",
                 "medianmap.patches.clusterer", "medianmap.refine", "distributed"]  # fmt: skip
    context.set_forkserver_preload([*libraries, module])
    return context


def python(code: str, *args: object, cwd: str | Path = ".") -> subprocess.CompletedProcess[str]:
    """Run a program that uses medianmap."""
    given = [str(arg) for arg in args]
    command = [sys.executable, "-c", code, *given]
    if not hasattr(os, "fork"):
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return _forked({"args": given, "cwd": str(cwd), "env": dict(os.environ), "code": code}, command)


def _forked(ask: dict[str, object], command: list[str]) -> subprocess.CompletedProcess[str]:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
        server.stdin.write(json.dumps({**ask, "out": out.name, "err": err.name}) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(command, code, *(Path(file.name).read_text() for file in (out, err)))
