"""The language: which syntax runs, and where the guards are put in.

RestrictedPython's transformer refuses every syntax node that it does not know. This policy keeps that, and changes
what it allows: attribute access goes through ``_getattr_`` and ``_write_``, class bases through ``_bases_``, all of
which the code cannot name. Items, iteration and unpacking need no guard: no object here hides items from the code.
"""

from __future__ import annotations

import ast
from typing import Any

from RestrictedPython.transformer import INSPECT_ATTRIBUTES, RestrictingNodeTransformer, copy_locations

_METHODS = """
init post_init repr str format bool int float complex index hash len contains iter next reversed getitem setitem
delitem missing call enter exit lt le eq ne gt ge neg pos abs round floor ceil trunc add sub mul matmul truediv
floordiv mod divmod pow and or xor lshift rshift invert radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow
rand ror rxor iadd isub imul itruediv ifloordiv imod ipow iand ior ixor
"""
MAGIC_METHODS = frozenset(f"__{name}__" for name in _METHODS.split())
"""Methods that a class may define. Not among them: what numpy reads memory addresses from (``__array_interface__`` and
its kin), what intercepts attribute access, what pickling and copying call."""

READABLE_DUNDERS = frozenset({"__name__", "__class__", "__doc__", "__dict__"})
"""Dunder attributes whose values the guard makes harmless."""

INSPECTION = frozenset(INSPECT_ATTRIBUTES) | {"gi_yieldfrom", "tb_lasti", "f_generator", "f_trace_opcodes"}
"""Attributes that lead from a running thing to its frame, code or globals."""


def is_refused_name(name: str) -> bool:
    """Whether a variable may not have this name: the guards' own (``_x_``), and two underscores but for methods."""
    if name in MAGIC_METHODS:
        return False
    return name.startswith("__") or (name.startswith("_") and name.endswith("_") and name != "_")


class Policy(RestrictingNodeTransformer):  # type: ignore[misc]
    """What of Python may be written, and how it is rewritten."""

    def check_name(self, node: Any, name: str | None, allow_magic_methods: bool = False) -> None:
        """Refuse names under which guards could be rebound."""
        if name and is_refused_name(name):
            self.error(node, f'the name "{name}" is not available here')

    def _plain(self, node: ast.AST) -> ast.AST:
        return self.node_contents_visit(node)  # type: ignore[no-any-return]

    # No guard needed: no object here hides its items, and printing is an ordinary function.
    visit_Subscript = visit_Call = visit_comprehension = visit_For = visit_Assign = visit_With = _plain
    visit_AugAssign = visit_Module = _plain
    # Node types that RestrictedPython, or an older version of it, leaves out.
    visit_Constant = _plain
    visit_Match = visit_match_case = visit_MatchValue = visit_MatchSingleton = _plain
    visit_MatchSequence = visit_MatchOr = _plain

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Check names; ``__name__`` may be read."""
        if not (node.id == "__name__" and isinstance(node.ctx, ast.Load)):
            self.check_name(node, node.id)
        return self._plain(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """``a.b`` becomes ``_getattr_(a, "b")``; ``a.b = c`` becomes ``_write_(a).b = c``."""
        if node.attr in INSPECTION or (
            node.attr.startswith("__") and node.attr not in MAGIC_METHODS and node.attr not in READABLE_DUNDERS
        ):
            self.error(node, f'the attribute "{node.attr}" is not available here')
        node = self.node_contents_visit(node)
        if not isinstance(node.ctx, ast.Load):
            node.value = self._call(node.value, "_write_", node.value)
            return node
        return self._call(node, "_getattr_", node.value, ast.Constant(node.attr))

    @staticmethod
    def _call(at: ast.expr, function: str, *arguments: ast.expr) -> ast.Call:
        call = ast.Call(func=ast.Name(function, ast.Load()), args=list(arguments), keywords=[])
        copy_locations(call, at)
        return call

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Check the names of the function and of its parameters."""
        self.check_name(node, node.name)
        self.check_function_argument_names(node)
        return self._plain(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """``class A(B)`` becomes ``class A(*_bases_(B))``; no metaclass."""
        self.check_name(node, node.name)
        if node.keywords:
            self.error(node, "keyword arguments of a class statement are not available here")
        node = self.node_contents_visit(node)
        if node.bases:
            checked = self._call(node.bases[0], "_bases_", *node.bases)
            starred = ast.Starred(checked, ast.Load())
            copy_locations(starred, checked)
            node.bases = [starred]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """``x: float = 3``: as an assignment; the annotation is an expression like any other."""
        return self._plain(node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        """Check the names."""
        for name in node.names:
            self.check_name(node, name)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        """Check the names."""
        for name in node.names:
            self.check_name(node, name)
        return node

    def check_import_names(self, node: Any) -> ast.AST:
        """Check the names; ``*`` brings public names only, since that is all a facade has."""
        if getattr(node, "is_lazy", 0) or getattr(node, "level", 0):
            self.error(node, "only plain imports are available here")
        for alias in node.names:
            for part in (alias.asname or alias.name).split("."):
                self.check_name(node, part)
            for part in alias.name.split("."):
                self.check_name(node, part)
        return self._plain(node)

    # Patterns: captured names are strings in the tree, and class patterns would read attributes past the guard.

    def visit_MatchAs(self, node: Any) -> ast.AST:
        """Check the captured name."""
        self.check_name(node, node.name)
        return self._plain(node)

    def visit_MatchStar(self, node: Any) -> ast.AST:
        """Check the captured name."""
        self.check_name(node, node.name)
        return self._plain(node)

    def visit_MatchMapping(self, node: Any) -> ast.AST:
        """Check the captured name."""
        self.check_name(node, node.rest)
        return self._plain(node)

    def visit_MatchClass(self, node: Any) -> ast.AST:
        """Allow the bare class only."""
        if node.patterns or node.kwd_attrs:
            self.error(node, "patterns inside a class pattern are not available here")
        return self._plain(node)
