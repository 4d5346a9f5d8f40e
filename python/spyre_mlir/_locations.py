"""Locations of a module as text: names of JAX's operations become paths of modules, and frames of installed packages
are left out.

JAX writes `loc("jit(f)/layers.0/tanh"(callsite("dense"("/home/me/f.py":3:4) at ...)))`; here that becomes
`loc("layers.0"(callsite("/home/me/f.py":3:4 at ...)))`.
"""

from __future__ import annotations

import dataclasses
import re

from spyre_mlir._files import is_installed

ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?::\d+:\d+(?: to (?:\d+)?:\d+)?)?|#loc\d*|callsite|fused|unknown|[(),\[\]]|at\b')
FILE = re.compile(r'"((?:[^"\\]|\\.)*)":\d+:\d+')


@dataclasses.dataclass(frozen=True)
class Origin:
    """Places of an operation, innermost first, and the names around them, outermost first."""

    places: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def with_module_paths(text: str) -> str:
    """Returns the text of a module of JAX with locations as the compiler reads them."""
    reader = Reader(dict(ALIAS.findall(text)))
    return ALIAS.sub(lambda found: reader.definition(found[1]) or found[0], text)


class Reader:
    """Resolves aliases of locations."""

    def __init__(self, definitions: dict[str, str]) -> None:
        self.definitions = definitions
        self.origins: dict[str, Origin] = {}

    def definition(self, alias: str) -> str | None:
        """Returns a new definition of an alias; none if it has no place."""
        origin = self.origin(alias)
        if not origin.places:
            return None
        own = [place for place in origin.places if not is_installed(FILE.match(place)[1])] or list(origin.places[:1])
        location = own[-1]
        for place in reversed(own[:-1]):
            location = f"callsite({place} at {location})"
        module = next(filter(None, map(module_path, origin.names)), "")
        return f'{alias} = loc("{module}"({location}))' if module else f"{alias} = loc({location})"

    def origin(self, alias: str) -> Origin:
        if alias not in self.origins:
            self.origins[alias] = Origin()
            self.origins[alias] = self.read(TOKEN.findall(self.definitions.get(alias, "")))
        return self.origins[alias]

    def read(self, tokens: list[str]) -> Origin:
        """Reads one location, and takes its tokens away. Of places that were fused, the first with a file counts."""
        token = tokens.pop(0) if tokens else "unknown"
        if token.startswith("#loc"):
            return self.origin(token)
        if FILE.match(token):
            return Origin((token,))
        if token == "callsite":
            callee, caller = self.members(tokens, ")")[:2]
            return Origin(callee.places + caller.places, callee.names + caller.names)
        if token == "fused":
            members = self.members(tokens, "]")
            return next((member for member in members if member.places), Origin())
        if token.startswith('"'):
            inner = self.members(tokens, ")")[0] if tokens and tokens[0] == "(" else Origin()
            return Origin(inner.places, (token.strip('"'), *inner.names))
        return Origin()

    def members(self, tokens: list[str], end: str) -> list[Origin]:
        """Reads what stands between brackets."""
        found = []
        while tokens and tokens[0] != end:
            if tokens[0] in ("(", "[", ",", "at"):
                tokens.pop(0)
            else:
                found.append(self.read(tokens))
        if tokens:
            tokens.pop(0)
        return [*found, Origin(), Origin()]


def module_path(name: str) -> str:
    """Returns the scopes in the name of a JAX operation, without enclosing functions and the operation itself."""
    scopes = [scope for scope in name.split("/")[:-1] if not re.fullmatch(r"(?:\w+\(.*\)|while|body|cond|branch_\d+_fun)", scope)]
    return ".".join(scopes)
