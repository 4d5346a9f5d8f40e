// RUN: spyre-opt --spyre-lower-to-sdscbundle=loops=unroll --verify-diagnostics %s

sdsc.program @main attributes {symbols = {T = 8}} {
  // expected-error @+1 {{expected a constant trip count of the loop over 'M', found 'T' (at most 8), known only at launch; give --bind T=NUMBER, or keep loops (--loops keep)}}
  sdsc.bundle @what_is_known_at_launch_only_is_not_written_out() {
    sdsc.loop 2 {
      sdsc.loop 8 attributes {dim = "M", symbol = "T"} {
      }
    }
  }
}
