"""Rewrites the locations in the text of a module: names of JAX operations become paths of modules, and frames of
installed packages are omitted.

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
    """Source lines of an operation, innermost first, and the enclosing names, outermost first."""

    places: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def rewrite_locations(text: str) -> str:
    """Returns the text of a JAX module with locations in the form that the compiler reads."""
    resolver = LocationResolver(dict(ALIAS.findall(text)))
    return ALIAS.sub(lambda found: resolver.rewrite_alias(found[1]) or found[0], text)


class LocationResolver:
    """Resolves aliases of locations."""

    def __init__(self, definitions: dict[str, str]) -> None:
        self.definitions = definitions
        self.origins: dict[str, Origin] = {}

    def rewrite_alias(self, alias: str) -> str | None:
        """Returns the rewritten definition of an alias; None if its location names no file."""
        origin = self.find_origin(alias)
        if not origin.places:
            return None
        own = [place for place in origin.places if not is_installed(FILE.match(place)[1])] or list(origin.places[:1])
        location = own[-1]
        for place in reversed(own[:-1]):
            location = f"callsite({place} at {location})"
        module = next(filter(None, map(extract_module_path, origin.names)), "")
        return f'{alias} = loc("{module}"({location}))' if module else f"{alias} = loc({location})"

    def find_origin(self, alias: str) -> Origin:
        if alias not in self.origins:
            self.origins[alias] = Origin()
            self.origins[alias] = self.parse_location(TOKEN.findall(self.definitions.get(alias, "")))
        return self.origins[alias]

    def parse_location(self, tokens: list[str]) -> Origin:
        """Parses one location and consumes its tokens. Of fused locations, the first that names a file is used."""
        token = tokens.pop(0) if tokens else "unknown"
        if token.startswith("#loc"):
            return self.find_origin(token)
        if FILE.match(token):
            return Origin((token,))
        if token == "callsite":
            callee, caller = self.parse_members(tokens, ")")[:2]
            return Origin(callee.places + caller.places, callee.names + caller.names)
        if token == "fused":
            members = self.parse_members(tokens, "]")
            return next((member for member in members if member.places), Origin())
        if token.startswith('"'):
            inner = self.parse_members(tokens, ")")[0] if tokens and tokens[0] == "(" else Origin()
            return Origin(inner.places, (token.strip('"'), *inner.names))
        return Origin()

    def parse_members(self, tokens: list[str], end: str) -> list[Origin]:
        """Parses the locations between brackets, and appends two empty ones."""
        found = []
        while tokens and tokens[0] != end:
            if tokens[0] in ("(", "[", ",", "at"):
                tokens.pop(0)
            else:
                found.append(self.parse_location(tokens))
        if tokens:
            tokens.pop(0)
        return [*found, Origin(), Origin()]


def extract_module_path(name: str) -> str:
    """Returns the scopes in the name of a JAX operation, without enclosing functions and the operation itself."""
    scopes = [
        scope
        for scope in name.split("/")[:-1]
        if not re.fullmatch(r"(?:\w+\(.*\)|while|body|cond|branch_\d+_fun)", scope)
    ]
    return ".".join(scopes)
