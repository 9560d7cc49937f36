"""What the source tree of a package says about itself, read without importing it: imports, cycles, checks of kinds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

# A module named in a table of lazily imported names: "medianmap.a.b:attribute", "medianmap.a.b" or ".a.b".
NAMED = re.compile(r"(medianmap)?((?:\.\w+)+)(:\w+)?")


@dataclass(frozen=True)
class Import:
    """One module names another: at the top, inside a function, in a table, or for the type checker alone."""

    importer: str
    imported: str
    typing_only: bool

    def __str__(self) -> str:
        return f"{self.importer} -> {self.imported}"


class Tree:
    """The modules of the package in a folder, by their names inside it: "search.bounds"; the root is ""."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = {_dotted(path.relative_to(folder)): path for path in sorted(folder.rglob("*.py"))}
        self.parsed = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in self.paths.items()}

    def imports(self) -> list[Import]:
        """Every import of one of the modules by another, each once; `typing_only` if no line needs it at run time."""
        typing: dict[tuple[str, str], bool] = {}
        for name, parsed in self.parsed.items():
            for target, typing_only in self._targets(name, parsed, False):
                if target != name:
                    typing[name, target] = typing_only and typing.get((name, target), True)
        return [Import(*pair, only) for pair, only in sorted(typing.items())]

    def _targets(self, name: str, node: ast.AST, typing_only: bool) -> Iterator[tuple[str, bool]]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                yield from self._targets(name, child, True)
            for child in node.orelse:
                yield from self._targets(name, child, typing_only)
            return
        if isinstance(node, ast.Import):
            dotted = [alias.name.split(".") for alias in node.names]
            yield from ((self._module(parts[1:]), typing_only) for parts in dotted if parts[0] == "medianmap")
        if isinstance(node, ast.ImportFrom):
            base = self._base(name, node)
            if base is not None:
                yield from ((self._module([*base, alias.name]), typing_only) for alias in node.names)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (found := NAMED.fullmatch(node.value)):
            parts = found[2].split(".")[1:]
            homes = [[]] if found[1] else [[], self._package(name)]
            for home in homes:
                if ".".join([*home, *parts]) in self.paths:
                    yield ".".join([*home, *parts]), typing_only
        for child in ast.iter_child_nodes(node):
            yield from self._targets(name, child, typing_only)

    def _package(self, name: str) -> list[str]:
        parts = name.split(".") if name else []
        return parts if self.paths[name].name == "__init__.py" else parts[:-1]

    def _base(self, name: str, node: ast.ImportFrom) -> list[str] | None:
        """The module after `from`, as parts of its name; None if it is not of this package."""
        given = node.module.split(".") if node.module else []
        if not node.level:
            return given[1:] if given[:1] == ["medianmap"] else None
        package = self._package(name)
        return [*package[: len(package) - node.level + 1], *given]

    def _module(self, parts: list[str]) -> str:
        """The module that defines what the parts name: itself, or the one whose attribute it is."""
        while ".".join(parts) not in self.paths:
            parts = parts[:-1]
        return ".".join(parts)

    def cyclic(self) -> list[Import]:
        """The imports that lie on a cycle; what only the type checker imports makes none, nor does the root."""
        edges = [one for one in self.imports() if not one.typing_only and one.importer and one.imported]
        after: dict[str, set[str]] = {name: set() for name in self.paths}
        for one in edges:
            after[one.importer].add(one.imported)
        reach = {name: _reachable(name, after) for name in self.paths}
        return [one for one in edges if one.importer in reach[one.imported]]

    def kinds(self, patterns: tuple[str, ...]) -> dict[str, set[str]]:
        """Class name -> the modules that define it, of the modules whose path matches one of the patterns."""
        found: dict[str, set[str]] = {}
        for name, path in self.paths.items():
            if any(fnmatch(str(path.relative_to(self.folder)), pattern) for pattern in patterns):
                for node in ast.walk(self.parsed[name]):
                    if isinstance(node, ast.ClassDef):
                        found.setdefault(node.name, set()).add(name)
        return found

    def checks_of(self, kinds: dict[str, set[str]]) -> list[str]:
        """ "module: classes" for each check whether an object is of these classes, outside their own modules.

        Counted are `isinstance`, `issubclass`, `type(x) is` and class patterns of `match`, also through a tuple of
        classes that has a name; not counted are asserts.
        """
        found = []
        for name, parsed in self.parsed.items():
            tuples = {
                target.id: node.value
                for node in ast.walk(parsed)
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            for checked in _checked(parsed):
                parts = [checked, *(tuples[n.id] for n in ast.walk(checked) if getattr(n, "id", None) in tuples)]
                nodes = [node for part in parts for node in ast.walk(part)]
                named = {node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in nodes}
                foreign = sorted(kind for kind in named & set(kinds) if name not in kinds[kind])
                found += [f"{name}: {', '.join(foreign)}"] if foreign else []
        return found


def _checked(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions that name the classes in checks of an object's class, but in asserts."""
    if isinstance(node, ast.Assert):
        return
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
        yield node.args[1]
    if (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Call)
        and getattr(node.left.func, "id", "") == "type"
    ):
        yield from node.comparators
    if isinstance(node, ast.MatchClass):
        yield node.cls
    for child in ast.iter_child_nodes(node):
        yield from _checked(child)


def _reachable(start: str, after: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in after[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# --- the rules of this package ---------------------------------------------------------------------------------------

# Bottom to top: a module imports from its own folder and from those before it.
FOLDERS = ["utils", "metrics", "sources", "readers", "search", "core", "refine", "estimators", "predict", "patches",
           "explore", "report", "datasets", "app"]  # fmt: skip
TOP = {"__init__.py", "__main__.py", "_version.py", "reference.py", "py.typed", *FOLDERS}
ORDER = ["_version", *FOLDERS, "reference", "__main__", ""]  # the root names everything, so nothing imports from it

# Where the kinds of map, space and assignment are defined; then where they were before there were folders.
KINDS = ("core/spaces*", "core/vectors*", "core/label_term*", "core/relational*", "core/assignment*", "estimators/*",
         "patches/clusterer*",
         "spaces.py", "relational.py", "assignment.py", "base.py", "families.py", "rules.py", "estimators.py",
         "relational_estimators.py", "classifier.py")  # fmt: skip


def upward(tree: Tree) -> list[Import]:
    """The imports that go up the order of folders."""
    rank = {name: place for place, name in enumerate(ORDER)}
    placed = [one for one in tree.imports() if one.importer]
    return [one for one in placed if rank[_folder(one.importer)] < rank[_folder(one.imported)]]


def _folder(name: str) -> str:
    return name.split(".", maxsplit=1)[0]
