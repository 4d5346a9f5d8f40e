#!/usr/bin/env python3
"""Prints causal attention (head size 128) with its queries in pieces, each beside the keys that it may see only.

    python3 benches/causal_pieces.py TOKENS PIECES [--separate] [--heads 32]

A piece of the rows [a, b) reads the keys [0, b): what is masked as a whole is not there. One piece is the program as a user writes it. The pieces are
put together by `tensor.concat`; with `--separate` each is a result of its own. `docs/measurements/tile-search.md` has what comes of it.
"""

import argparse

PARALLEL = '"parallel", "parallel", "parallel", "parallel"'
HEADER = """#rows = affine_map<(s, t) -> (s, t)>
#all = affine_map<(b, h, s, t) -> (b, h, s, t)>
#of_mask = affine_map<(b, h, s, t) -> (s, t)>
#of_row = affine_map<(b, h, s, t) -> (b, h, s)>"""
CONSTANTS = """  %zero = arith.constant 0.0 : f16
  %lowest = arith.constant 0xFC00 : f16
  %root_of_scale = arith.constant 0.29730177875068026 : f16"""


def tensor(*sizes):
    return f"tensor<{'x'.join(map(str, sizes))}xf16>"


def elementwise(name, inputs, maps, of, op):
    """One op of scalars on tensors of four dimensions; `%a` and `%b` are the elements of the inputs."""
    names, types = zip(*inputs)
    elements = ", ".join(f"%{letter}: f16" for letter, _ in zip("ab", inputs))
    return f"""  %{name}_empty = tensor.empty() : {of}
  %{name} = linalg.generic {{indexing_maps = [{", ".join(maps)}, #all], iterator_types = [{PARALLEL}]}}
    ins({", ".join(names)} : {", ".join(types)}) outs(%{name}_empty : {of}) {{
  ^bb0({elements}, %out: f16):
    %r = {op} : f16
    linalg.yield %r : f16
  }} -> {of}"""


def started(name, of, value):
    return f"""  %{name}_empty = tensor.empty() : {of}
  %{name}_start = linalg.fill ins({value} : f16) outs(%{name}_empty : {of}) -> {of}"""


def product(name, left, right, of):
    (one, one_type), (other, other_type) = left, right
    return f"""{started(name, of, "%zero")}
  %{name} = linalg.batch_matmul ins({one}, {other} : {one_type}, {other_type}) outs(%{name}_start : {of}) -> {of}"""


def reduced(name, op, value, start, of):
    (source, source_type) = value
    return f"""{started(name, of, start)}
  %{name} = linalg.reduce {{ {op} }} ins({source} : {source_type}) outs(%{name}_start : {of}) dimensions = [3]"""


def mask(name, first, of):
    return f"""  %{name}_empty = tensor.empty() : {of}
  %{name} = linalg.generic {{indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]}} outs(%{name}_empty : {of}) {{
  ^bb0(%out: f16):
    %row = linalg.index 0 : index
    %first = arith.constant {first} : index
    %s = arith.addi %row, %first : index
    %t = linalg.index 1 : index
    %is_seen = arith.cmpi sle, %t, %s : index
    %r = arith.select %is_seen, %zero, %lowest : f16
    linalg.yield %r : f16
  }} -> {of}"""


def part(name, source, first, sizes, whole):
    offsets = ", ".join(map(str, first))
    return f"  %{name} = tensor.extract_slice {source}[{offsets}] [{', '.join(map(str, sizes))}] [1, 1, 1] : {whole} to {tensor(*sizes)}"


def piece(number, rows, tokens, heads):
    """The ops of a piece; the last one makes `%y<number>`."""
    first, keys = number * rows, (number + 1) * rows
    flat, scores, row = tensor(heads, rows, keys), tensor(1, heads, rows, keys), tensor(1, heads, rows)
    n = number
    return [
        part(f"q{n}", "%q_heads", (0, first, 0), (heads, rows, 128), tensor(heads, tokens, 128)),
        part(f"k{n}", "%k_heads", (0, 0, 0), (heads, 128, keys), tensor(heads, 128, tokens)),
        part(f"v{n}", "%v_heads", (0, 0, 0), (heads, keys, 128), tensor(heads, tokens, 128)),
        product(f"products{n}", (f"%q{n}", tensor(heads, rows, 128)), (f"%k{n}", tensor(heads, 128, keys)), flat),
        f"  %all_scores{n} = tensor.expand_shape %products{n} [[0, 1], [2], [3]] output_shape [1, {heads}, {rows}, {keys}] : {flat} into {scores}",
        mask(f"mask{n}", first, tensor(rows, keys)),
        elementwise(
            f"scores{n}",
            [(f"%all_scores{n}", scores), (f"%mask{n}", tensor(rows, keys))],
            ["#all", "#of_mask"],
            scores,
            "arith.addf %a, %b",
        ),
        reduced(f"max{n}", "arith.maximumf", (f"%scores{n}", scores), "%lowest", row),
        elementwise(f"shifted{n}", [(f"%scores{n}", scores), (f"%max{n}", row)], ["#all", "#of_row"], scores, "arith.subf %a, %b"),
        elementwise(f"exp{n}", [(f"%shifted{n}", scores)], ["#all"], scores, "math.exp %a"),
        reduced(f"sum{n}", "arith.addf", (f"%exp{n}", scores), "%zero", row),
        elementwise(f"weights{n}", [(f"%exp{n}", scores), (f"%sum{n}", row)], ["#all", "#of_row"], scores, "arith.divf %a, %b"),
        f"  %weight_heads{n} = tensor.collapse_shape %weights{n} [[0, 1], [2], [3]] : {scores} into {flat}",
        product(f"y{n}", (f"%weight_heads{n}", flat), (f"%v{n}", tensor(heads, keys, 128)), tensor(heads, rows, 128)),
    ]


def program(tokens, pieces, heads, is_separate):
    rows = tokens // pieces
    whole, turned = tensor(1, heads, tokens, 128), tensor(1, heads, 128, tokens)
    of_piece = tensor(heads, rows, 128)
    result = ", ".join([of_piece] * pieces) if is_separate else tensor(heads, tokens, 128)
    results = ", ".join(f"%y{number}" for number in range(pieces))
    scaled = "arith.mulf %a, %root_of_scale"
    lines = [
        HEADER,
        f"func.func @attention(%q: {whole}, %k: {whole}, %v: {whole}) -> ({result}) {{",
        CONSTANTS,
        elementwise("q_scaled", [("%q", whole)], ["#all"], whole, scaled),
        f"  %k_turned_empty = tensor.empty() : {turned}",
        f"  %k_turned = linalg.transpose ins(%k : {whole}) outs(%k_turned_empty : {turned}) permutation = [0, 1, 3, 2]",
        elementwise("k_scaled", [("%k_turned", turned)], ["#all"], turned, scaled),
        f"  %q_heads = tensor.collapse_shape %q_scaled [[0, 1], [2], [3]] : {whole} into {tensor(heads, tokens, 128)}",
        f"  %k_heads = tensor.collapse_shape %k_scaled [[0, 1], [2], [3]] : {turned} into {tensor(heads, 128, tokens)}",
        f"  %v_heads = tensor.collapse_shape %v [[0, 1], [2], [3]] : {whole} into {tensor(heads, tokens, 128)}",
    ]
    for number in range(pieces):
        lines += piece(number, rows, tokens, heads)
    if not is_separate:
        types = ", ".join([of_piece] * pieces)
        lines.append(f"  %y = tensor.concat dim(1) {results} : ({types}) -> {result}")
        results = "%y"
    lines += [f"  return {results} : {result}", "}"]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokens", type=int)
    parser.add_argument("pieces", type=int)
    parser.add_argument("--separate", action="store_true")
    parser.add_argument("--heads", type=int, default=32)
    asked = parser.parse_args()
    if asked.tokens % asked.pieces:
        parser.error(f"{asked.tokens} tokens cannot be cut into {asked.pieces} pieces")
    print(program(asked.tokens, asked.pieces, asked.heads, asked.separate))


if __name__ == "__main__":
    main()
