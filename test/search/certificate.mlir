// A certificate bounds the distance of a plan from the optimum, and is checked by code that is independent of the search.
// RUN: spyre-compile %s --lx-bytes 32768 -o %t.dir --certificate %t.json | FileCheck %s --check-prefix=WRITES
// WRITES: tiling: ops 0-1 in 2 tiles of axis0
// WRITES: lower bound for all tilings on the given machine (not the default one): {{[0-9.]+}} us; this plan: {{[0-9.]+}} us; the best tiling saves at most {{[0-9.]+}} %
// WRITES-NEXT: certificate written to {{.*}}.json

// RUN: spyre-compile %s --lx-bytes 32768 -q -o %t.dir --certificate %t.json | FileCheck %s --allow-empty --check-prefix=QUIET
// QUIET-NOT: {{.}}
// RUN: spyre-plan --certificate %t.json | FileCheck %s --check-prefix=CHECKED
// CHECKED: lower bound for all tilings on the given machine (not the default one): {{[0-9.]+}} us

// Certificates with larger claims are rejected, in any of their fields.
// RUN: sed 's/"bound_us":/"bound_us":9/' %t.json > %t.claim.json
// RUN: not spyre-plan --certificate %t.claim.json 2>&1 | FileCheck %s --check-prefix=CLAIM
// CLAIM: error{{.*}}: {{.*}}claim.json: expected 'bound_us' = {{[0-9.]+}}, found 9{{[0-9.]+}}
// RUN: sed 's/"potentials_ns":\[0.0,/"potentials_ns":[0.0,9/' %t.json > %t.raised.json
// RUN: not spyre-plan --certificate %t.raised.json 2>&1 | FileCheck %s --check-prefix=RAISED
// RAISED: error{{.*}}: {{.*}}raised.json: the bound is not proved: the potentials rise by {{[0-9.]+}} ns over ops 0 to 0, which may take only {{[0-9.]+}} ns in {{.*}}
// RUN: sed 's/"value":0,/"value":0,"made":1,/' %t.json > %t.key.json
// RUN: not spyre-plan --certificate %t.key.json 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error{{.*}}: {{.*}}key.json: the certificate cannot be read: unknown field `made`

// On the default machine both values fit, and loops save nothing.
// RUN: spyre-compile %s -o %t.usual --certificate %t.usual.json | FileCheck %s --check-prefix=USUAL
// USUAL-NOT: tiling:
// USUAL: lower bound for all tilings:

// RUN: not spyre-compile %s -o %t.dir --certificate %t.json --tile-search none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error{{.*}}--certificate requires the tile search; remove '--tile-search none' and '--lx-planner', or give '--joint'
// RUN: not spyre-compile %s --compile-to hint --certificate %t.json 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: error{{.*}}--certificate requires a complete compilation; remove '--compile-to hint'
// RUN: not spyre-compile %s --compile-to hint --write-plan %t.plan.json 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: error{{.*}}--write-plan requires a complete compilation; remove '--compile-to hint'
// RUN: not spyre-compile %s --compile-to hint --plan %t.none.json 2>&1 | FileCheck %s --check-prefix=FOLLOW
// FOLLOW: error{{.*}}--plan: there is no plan '{{.*}}.none.json', and only a complete compilation writes one; remove '--compile-to hint'
// RUN: spyre-compile %s --compile-to hint -o %t.hint.mlir
// RUN: not spyre-compile %t.hint.mlir -o %t.late --certificate %t.json 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error{{.*}}expected loops chosen by the search for the certificate '{{.*}}.json', found loops in the program; remove the loops, or '--certificate'

func.func @gate(%x: tensor<512x2048xf16>) -> tensor<512x2048xf16> {
  %e = spyre.pointwise exp(%x) : tensor<512x2048xf16>
  %y = spyre.pointwise add(%e, %x) : (tensor<512x2048xf16>, tensor<512x2048xf16>) -> tensor<512x2048xf16>
  return %y : tensor<512x2048xf16>
}
