// RUN: spyre-opt --spyre-fuse-online-reductions %s | FileCheck %s

// The tiles of the second loop are of a part of what the first one makes: they are no tiles of that, though there are as many.
// CHECK-LABEL: func.func @part(
// CHECK:         spyre.loop 4 "T"
// CHECK:         spyre.loop 4 "T"
#rows = #spyre.layout<[8, 64, 64], [64, 512, 1]>
#row_window = #spyre.layout<[8, 64, 64], [64, 512, 1], of = [64, 512]>
#tile = #spyre.layout<[2, 64, 64], [64, 128, 1]>
#half_tile = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#column = #spyre.layout<[1, 64, 64], [-1, 1, -1]>
func.func @part(%x: tensor<64x512xf16, #rows>, %lowest: tensor<64x1xf16, #column>, %zeros: tensor<64x1xf16, #column>) -> tensor<64x1xf16, #column> {
  %all, %max = spyre.loop 4 "T" tiled(%tile = %x[1] : tensor<64x512xf16, #rows>) carried(%before = %lowest : tensor<64x1xf16, #column>) {
    %s = spyre.pointwise neg(%tile) : (tensor<64x128xf16, #row_window>) -> tensor<64x128xf16, #tile>
    %copy = spyre.copy %s : tensor<64x128xf16, #tile> -> tensor<64x128xf16, #row_window>
    %m = spyre.reduce max(%s) dims [1] : tensor<64x128xf16, #tile> -> tensor<64x1xf16, #column>
    %now = spyre.pointwise maximum(%before, %m) : tensor<64x1xf16, #column>
    spyre.yield %copy[1], %now : tensor<64x128xf16, #row_window>, tensor<64x1xf16, #column>
  } : tensor<64x512xf16, #rows>, tensor<64x1xf16, #column>
  %half = spyre.view %all by affine_map<(d0, d1) -> (d0, d1)> : tensor<64x512xf16, #rows> -> tensor<64x256xf16>
  %sum = spyre.loop 4 "T" tiled(%tile = %half[1] : tensor<64x256xf16>) carried(%before = %zeros : tensor<64x1xf16, #column>) {
    %d = spyre.pointwise sub(%tile, %max) : (tensor<64x64xf16>, tensor<64x1xf16, #column>) -> tensor<64x64xf16, #half_tile>
    %e = spyre.pointwise exp(%d) : tensor<64x64xf16, #half_tile>
    %l = spyre.reduce sum(%e) dims [1] : tensor<64x64xf16, #half_tile> -> tensor<64x1xf16, #column>
    %now = spyre.pointwise add(%before, %l) : tensor<64x1xf16, #column>
    spyre.yield %now : tensor<64x1xf16, #column>
  } : tensor<64x1xf16, #column>
  return %sum : tensor<64x1xf16, #column>
}
