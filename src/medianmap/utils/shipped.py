"""Compiled code that comes with the package: one file beside the source, `compiled.zip`, made when a wheel is built.

It holds what numba would keep on disk: the machine code of each loop for each combination of argument types, and
`about.json`, which says what it is for. It is used by the very numba, llvmlite and Python that made it, on processors
that have all it needs, and for source files that are the same to the byte. In all other cases numba compiles, as it
does without it; nothing else depends on it (docs/decisions/0018).
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

PACK = Path(__file__).resolve().parents[1] / "compiled.zip"
ABOUT = "about.json"

# Settings of numba that change the code it makes.
ASKED = {f"NUMBA_{name}" for name in ("CPU_NAME", "CPU_FEATURES", "ENABLE_AVX", "OPT", "BOUNDSCHECK", "DEBUGINFO",
                                      "LOOP_VECTORIZE", "SLP_VECTORIZE", "DISABLE_INTEL_SVML")}  # fmt: skip


def this_process() -> dict[str, Any]:
    """What compiled code depends on beside its source; `features`: all that this processor has."""
    import llvmlite
    import numba
    from llvmlite import binding
    from numba.core import config

    return {
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "python": list(sys.version_info[:2]),
        "triple": binding.get_process_triple(),
        "svml": bool(vars(config)["USING_SVML"]),  # Intel's vector functions, which numba calls where they are found
        "features": sorted(name for name, has in binding.get_host_cpu_features().items() if has),
    }


class Pack:
    """The file, if it fits this process: `found(function, signature)` is the code, as numba keeps it."""

    def __init__(self, path: Path) -> None:
        # In memory: processes that fork share the place in an open file, and would read in each other's midst.
        self.zip = ZipFile(BytesIO(path.read_bytes()))
        self.about = json.loads(self.zip.read(ABOUT))
        self.names = set(self.zip.namelist())

    def fits(self) -> bool:
        here = this_process()
        has, wants = here.pop("features"), self.about["features"]
        return set(wants) <= set(has) and all(self.about.get(name) == value for name, value in here.items())

    def found(self, function: Callable[..., Any], signature: Any) -> Any:
        """What `CompileResult._rebuild` takes; None if this combination of types is not there."""
        name = _entry(function, signature)
        return pickle.loads(self.zip.read(name)) if name in self.names else None


@cache
def shipped() -> Pack | None:
    """The pack of this installation, if there is one that fits, and the user has not told numba how to compile."""
    if not PACK.exists() or not ASKED.isdisjoint(os.environ):
        return None
    try:
        pack = Pack(PACK)
        return pack if pack.fits() else None
    except (OSError, BadZipFile, KeyError, ValueError):
        return None  # half a file is none


class ShippedFirst:
    """In the place of numba's cache of a function: looks in the pack first, and leaves all else to the cache."""

    def __init__(self, function: Callable[..., Any], pack: Pack, own: Any) -> None:
        self._function, self._pack, self._own = function, pack, own

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled loop for these types, or None."""
        from numba.core.compiler import CompileResult

        data = self._pack.found(self._function, signature)
        if data is None:
            return self._own.load_overload(signature, target_context)
        target_context.refresh()  # starts what compiled loops call, beside the compiler; a crash without it
        return CompileResult._rebuild(target_context, *data)  # type: ignore[no-untyped-call]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


def write_pack(path: Path, kernels: Iterable[Any]) -> int:
    """Write all that these loops have been compiled for into a pack; how many pieces of code that is.

    numba compiles for the processor at hand, or for that of its settings CPU_NAME and CPU_FEATURES ("+avx,+avx2").
    """
    from numba.core import config
    from numba.core.serialize import dumps

    about = this_process()
    asked: str | None = vars(config)["CPU_FEATURES"]
    if asked is not None:
        about["features"] = [name[1:] for name in asked.split(",") if name.startswith("+")]
    count = 0
    with ZipFile(path, "w") as file:
        file.writestr(ABOUT, json.dumps(about, indent=1))
        for kernel in kernels:
            for signature, result in kernel.overloads.items():
                if not result.library.has_dynamic_globals and not result.lifted:
                    code = dumps(result._reduce())  # type: ignore[no-untyped-call]
                    file.writestr(_entry(kernel.py_func, signature), code)
                    count += 1
    return count


def _entry(function: Callable[..., Any], signature: Any) -> str:
    """The name in the pack: the loop, and a digest of its source file and the types."""
    code = sha256(_source(function.__code__.co_filename) + repr(tuple(signature)).encode()).hexdigest()
    return f"{function.__module__}.{function.__qualname__}/{code}"


@cache
def _source(path: str) -> bytes:
    return sha256(Path(path).read_bytes()).digest()
