"""Build hook: with MEDIANMAP_COMPILED=1 in the environment a wheel brings the machine code of its loops along.

Such a wheel is for one version of Python and one kind of machine; see src/medianmap/utils/shipped.py for when its code
is used. Without the variable the wheel is plain Python, as an editable installation is, and loops are compiled when
they are first used.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# What the code of a wheel is compiled for: x86-64-v3, which is any server or desktop since about 2015, or else the
# plain processor of the architecture. The features are spelled out, since numba would add those of this machine.
X86_64_V3 = ("+avx,+avx2,+bmi,+bmi2,+cmov,+cx16,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,"
             "+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+xsave")  # fmt: skip
TARGETS = {"x86_64": ("x86-64-v3", X86_64_V3), "AMD64": ("x86-64-v3", X86_64_V3)}


class CompiledLoops(BuildHookInterface):  # type: ignore[type-arg, misc]
    """Compiles the loops of the usual fits for many machines and puts them into the wheel."""

    def wanted(self) -> bool:
        """Whether this is a wheel that was asked to bring its code."""
        return self.target_name == "wheel" and os.environ.get("MEDIANMAP_COMPILED") == "1"

    def dependencies(self) -> list[str]:
        """What the fits need that call the loops."""
        core = self.metadata.core
        return [*core.dependencies, *core.optional_dependencies["bio"]] if self.wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name the file and the machine."""
        if version == "editable" or not self.wanted():
            return
        self.folder = tempfile.TemporaryDirectory()
        pack = Path(self.folder.name) / "compiled.zip"
        name, features = TARGETS.get(platform.machine(), ("generic", ""))
        source = os.pathsep.join(filter(None, [str(Path(self.root) / "src"), os.environ.get("PYTHONPATH")]))
        env = os.environ | {"PYTHONPATH": source, "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features,
                            "NUMBA_CACHE_DIR": self.folder.name}  # fmt: skip
        command = "import sys; from medianmap.app.warm import pack; pack(sys.argv[1])"
        subprocess.run([sys.executable, "-c", command, str(pack)], check=True, env=env)
        build_data["force_include"][str(pack)] = "medianmap/compiled.zip"
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the file, which is in the wheel now."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
