// Causal attention with its queries in pieces, of which each reads the keys only that it may see: what `docs/measurements/tile-search.md` compares is right.
// RUN: python3 %S/../../benches/causal_pieces.py 128 2 --heads 2 | spyre-compile - -o %t.two --validate | FileCheck %s
// CHECK: validated: the files and the imported program agree
// RUN: python3 %S/../../benches/causal_pieces.py 128 2 --separate | spyre-opt | FileCheck %s --check-prefix=SEPARATE
// SEPARATE: -> (tensor<32x64x128xf16>, tensor<32x64x128xf16>)
// RUN: not python3 %S/../../benches/causal_pieces.py 256 3 2>&1 | FileCheck %s --check-prefix=UNEVEN
// UNEVEN: 256 tokens cannot be cut into 3 pieces
