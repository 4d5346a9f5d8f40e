// A maximum and a sum that a loop carries, with layouts as a front end may give them.
#s = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#c = #spyre.layout<[1, 64, 64], [-1, 1, -1]>
#k = #spyre.layout<[4, 64, 64], [64, 256, 1]>
#kt = #spyre.layout<[4, 64, 64], [64, 256, 1], of = [64, 256]>
#o = #spyre.layout<[1, 1, 64], [-1, -1, -1]>
func.func @carried(%q: tensor<64x64xf16, #s>, %k: tensor<64x256xf16, #k>) -> tensor<64x1xf16, #c> {
  %low = spyre.constant dense<-6.0e+04> : tensor<1x1xf16> -> tensor<1x1xf16, #o>
  %zero = spyre.constant dense<0.000000e+00> : tensor<1x1xf16> -> tensor<1x1xf16, #o>
  %lv = spyre.view %low by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16, #o> -> tensor<64x1xf16>
  %m0 = spyre.copy %lv : tensor<64x1xf16> -> tensor<64x1xf16, #c>
  %zv = spyre.view %zero by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16, #o> -> tensor<64x1xf16>
  %l0 = spyre.copy %zv : tensor<64x1xf16> -> tensor<64x1xf16, #c>
  %r:2 = spyre.loop 4 "T" tiled(%kt = %k[1] : tensor<64x256xf16, #k>)
      carried(%m = %m0 : tensor<64x1xf16, #c>, %l = %l0 : tensor<64x1xf16, #c>) {
    %s = spyre.matmul(%q, %kt) : (tensor<64x64xf16, #s>, tensor<64x64xf16, #kt>) -> tensor<64x64xf16, #s>
    %mt = spyre.reduce max(%s) dims [1] : tensor<64x64xf16, #s> -> tensor<64x1xf16, #c>
    %mn = spyre.pointwise maximum(%m, %mt) : tensor<64x1xf16, #c>
    %d = spyre.pointwise sub(%m, %mn) : tensor<64x1xf16, #c>
    %ln = spyre.pointwise add(%l, %d) : tensor<64x1xf16, #c>
    spyre.yield %mn, %ln : tensor<64x1xf16, #c>, tensor<64x1xf16, #c>
  } : tensor<64x1xf16, #c>, tensor<64x1xf16, #c>
  %y = spyre.pointwise add(%r#0, %r#1) : tensor<64x1xf16, #c>
  return %y : tensor<64x1xf16, #c>
}
