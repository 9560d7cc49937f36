"""Small deliberate breaks of a source file: every place where an operator, number or statement could be another one.

A mutant is a piece of text in the place of another, on the same lines, so that all other lines keep their numbers.
Left alone is what decides nothing: annotations, decorators, texts, log messages, the words of errors.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

OPERATORS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "ones": "zeros", "floor": "ceil",
         "cumsum": "cumprod", "flatnonzero": "argsort", "left": "right"}  # fmt: skip
NAMES |= {value: key for key, value in NAMES.items() if key != "flatnonzero"}
# What is said of a computation, or checks types alone.
SILENT = (ast.Raise, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
UNTOUCHED = ("logger.", "warnings.", "TypeVar", "np.dtype", "require", "cast")


@dataclass(frozen=True)
class Mutant:
    """`before` in lines first..last of a file becomes `after`.

    function : its qualified name, "" at the top of the file; nth : which of the same changes there, counted from 1.
    """

    path: str
    function: str
    first: int
    last: int
    start: int  # byte offsets in the file
    stop: int
    before: str
    after: str
    nth: int = 1

    @cached_property
    def name(self) -> str:
        """What it is called in the file of reasons: independent of line numbers."""
        text = " ".join(self.before.split())
        nth = "" if self.nth == 1 else f" #{self.nth}"
        return f"{self.path} {self.function}: {text} -> {self.after}{nth}"

    def applied(self, source: bytes) -> bytes:
        """The source with the change, as many lines as before."""
        lines = b"\n" * (self.before.count("\n") - self.after.count("\n"))
        after = self.after.encode()
        # Inside of brackets a line may end anywhere.
        new = after[:-1] + lines + after[-1:] if after.endswith(b")") else after + lines
        return source[: self.start] + new + source[self.stop :]


def mutants_of(path: str, source: bytes) -> list[Mutant]:
    """All mutants of a file, in the order of their places; a few of them are no Python (see `compiles`)."""
    lines = source.splitlines(keepends=True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    found, seen = [], Counter[str]()
    for node, function, after in _changes(ast.parse(source), ""):
        start, stop = offsets[node.lineno - 1] + node.col_offset, offsets[node.end_lineno - 1] + node.end_col_offset
        mutant = Mutant(path, function, node.lineno, node.end_lineno, start, stop, source[start:stop].decode(), after)
        if mutant.after == mutant.before:
            continue
        seen[mutant.name] += 1
        found.append(Mutant(**{**vars_of(mutant), "nth": seen[mutant.name]}))
    return found


def vars_of(mutant: Mutant) -> dict[str, object]:
    return {name: getattr(mutant, name) for name in Mutant.__dataclass_fields__}


def compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _changes(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str, str]]:
    """(node, function, text in its place) for a node and all below it."""
    if isinstance(node, SILENT):
        if isinstance(node, ast.Raise):
            yield node, function, "pass"
        return
    if isinstance(node, ast.Call) and ast.unparse(node.func).startswith(UNTOUCHED):
        return
    if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare | ast.UnaryOp | ast.Constant):
        yield node.test, function, f"(not ({ast.unparse(node.test)}))"
    if isinstance(node, ast.expr | ast.stmt) and hasattr(node, "lineno"):
        yield from ((node, function, text) for text in _others(node))
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
    for child in _children(node):
        yield from _changes(child, function)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What may be changed below a node: no annotations, decorators, docstrings, messages or type aliases."""
    if isinstance(node, ast.AnnAssign):
        alias = "TypeAlias" in ast.unparse(node.annotation)
        yield from () if alias or node.value is None else (node.value,)
        return
    skipped: list[ast.AST | None] = []
    if isinstance(node, ast.FunctionDef):
        skipped = [
            *node.decorator_list,
            node.returns,
            *(arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)),
        ]
    if isinstance(node, ast.ClassDef):
        skipped = [*node.decorator_list, *node.bases, *node.keywords]
    for child in ast.iter_child_nodes(node):
        if any(child is one for one in skipped):
            continue
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # docstrings and ellipses
        if isinstance(child, ast.arguments):
            yield from (default for default in [*child.defaults, *child.kw_defaults] if default is not None)
            continue
        yield child


def _others(node: ast.AST) -> Iterator[str]:
    """Texts in the place of this very node."""

    def with_(**fields: object) -> str:
        other = copy.copy(node)
        for name, value in fields.items():
            setattr(other, name, value)
        return f"({ast.unparse(other)})"

    match node:
        case ast.Compare():
            for k, op in enumerate(node.ops):
                if type(op) in OPERATORS:
                    yield with_(ops=[*node.ops[:k], OPERATORS[type(op)](), *node.ops[k + 1 :]])
        case ast.BinOp() | ast.BoolOp() if type(node.op) in OPERATORS:
            yield with_(op=OPERATORS[type(node.op)]())
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
            yield f"({ast.unparse(node.operand)})"
        case ast.AugAssign():
            if type(node.op) in OPERATORS:
                yield with_(op=OPERATORS[type(node.op)]())[1:-1]
            yield "pass"
        case ast.Constant(value=bool()):
            yield str(not node.value)
        case ast.Constant(value=int() | float()):
            yield str(node.value + 1)
            if node.value:
                yield str(node.value - 1) if node.value >= 1 else "0.0"
        case ast.IfExp():
            yield with_(test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Attribute() if node.attr in NAMES:
            yield with_(attr=NAMES[node.attr])[1:-1]
        case ast.Name() if node.id in NAMES:
            yield NAMES[node.id]
        case ast.Call(keywords=[*_, last]) if last.arg is not None and not isinstance(node.func, ast.Name):
            yield with_(keywords=node.keywords[:-1])[1:-1]
        case ast.Return() if node.value is not None and ast.unparse(node.value) != "None":
            yield "return None"
        case ast.Continue() | ast.Break():
            yield "pass"
        case ast.Expr(value=ast.Call(func=func)) if not ast.unparse(func).startswith(UNTOUCHED):
            yield "pass"
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "pass"
