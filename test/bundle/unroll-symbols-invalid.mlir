// RUN: spyre-opt --spyre-lower-to-sdscbundle=loops=unroll --verify-diagnostics %s

sdsc.program @main attributes {sizes = {T = array<i64: 512, 64>}} {
  // expected-error @+1 {{expected a constant trip count of the loop over 'M', found one that size 'T' determines (at most 8); give one size, or keep loops (--loops keep)}}
  sdsc.bundle @what_is_known_at_launch_only_is_not_written_out() {
    sdsc.loop 2 {
      sdsc.loop 8 attributes {dim = "M", granularity = 64 : i64, symbol = "T", tile = 64 : i64} {
      }
    }
  }
}
