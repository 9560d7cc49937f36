"""Which compiled loops contain which: numba keeps their code on disk, and notices changes of their own file alone."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

Name = tuple[str, str]  # module file relative to the package, name at its top


class Names:
    """The names at the top of every file of a package, which others they mention, and which of them are loops."""

    def __init__(self, package: Path) -> None:
        self.kernels: set[Name] = set()
        self.lines: dict[Name, tuple[int, int]] = {}
        self.mentions: dict[Name, set[Name]] = defaultdict(set)  # name -> what mentions it
        self.at: dict[Name, set[tuple[str, int]]] = defaultdict(set)  # name -> the lines that mention it
        for file in sorted(package.rglob("*.py")):
            self._read(file, package)

    def _read(self, file: Path, package: Path) -> None:
        path, tree = str(file.relative_to(package)), ast.parse(file.read_bytes())
        known: dict[str, Name] = {}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = file.parents[node.level - 1]
                for alias in node.names:
                    module = folder.joinpath(*(node.module or alias.name).split(".")).with_suffix(".py")
                    if module.is_relative_to(package) and module.exists():
                        known[alias.asname or alias.name] = (str(module.relative_to(package)), alias.name)
            for name in _bound(node):
                known[name] = (path, name)
        for node in tree.body:
            for owner in _bound(node):
                me = path, owner
                self.lines[me] = (node.lineno, node.end_lineno or node.lineno)
                if any("kernel" in ast.unparse(one) for one in getattr(node, "decorator_list", ())):
                    self.kernels.add(me)
                for inner in ast.walk(node):
                    name = inner.id if isinstance(inner, ast.Name) else getattr(inner, "attr", None)
                    if name in known and known[name] != me:
                        self.mentions[known[name]].add(me)
                        self.at[known[name]].add((path, inner.lineno))

    def owner(self, path: str, line: int) -> Name | None:
        """The name at the top whose definition has this line."""
        return next((name for name, (a, b) in self.lines.items() if name[0] == path and a <= line <= b), None)

    def compiled_with(self, name: Name) -> set[Name]:
        """The loops whose code depends on a name: itself, and all that mention it, over any number of loops."""
        found: set[Name] = {name} & self.kernels
        waiting = [name]
        while waiting:
            for other in self.mentions[waiting.pop()] & self.kernels - found:
                found.add(other)
                waiting.append(other)
        return found

    def used_at(self, name: Name) -> set[tuple[str, int]]:
        """The lines outside of loops where a loop or a constant takes effect."""
        every = {name} | self.compiled_with(name)
        inside = {(path, line) for path, owner in self.kernels for line in range(*self.lines[path, owner])}
        return {place for one in every for place in self.at[one]} - inside


def _bound(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
