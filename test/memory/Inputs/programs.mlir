// Small programs for `test/memory.rs`, one of each kind.

// -----
#ab = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @layer_norm(%x: tensor<16x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<16x128xf16> {
  %all = tensor.empty() : tensor<16x128xf16>
  %column = tensor.empty() : tensor<16xf16>
  %zero = arith.constant 0.0 : f16
  %none = linalg.fill ins(%zero : f16) outs(%column : tensor<16xf16>) -> tensor<16xf16>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<16x128xf16>) outs(%none : tensor<16xf16>) dimensions = [1]
  %centred = linalg.generic {indexing_maps = [#ab, #a, #ab], iterator_types = ["parallel", "parallel"]}
    ins(%x, %sum : tensor<16x128xf16>, tensor<16xf16>) outs(%all : tensor<16x128xf16>) {
  ^bb0(%element: f16, %total: f16, %out: f16):
    %n = arith.constant 128.0 : f16
    %mean = arith.divf %total, %n : f16
    %less = arith.subf %element, %mean : f16
    linalg.yield %less : f16
  } -> tensor<16x128xf16>
  %squares = linalg.mul ins(%centred, %centred : tensor<16x128xf16>, tensor<16x128xf16>) outs(%all : tensor<16x128xf16>) -> tensor<16x128xf16>
  %spread = linalg.reduce { arith.addf } ins(%squares : tensor<16x128xf16>) outs(%none : tensor<16xf16>) dimensions = [1]
  %norm = linalg.generic {indexing_maps = [#ab, #a, #ab], iterator_types = ["parallel", "parallel"]}
    ins(%centred, %spread : tensor<16x128xf16>, tensor<16xf16>) outs(%all : tensor<16x128xf16>) {
  ^bb0(%element: f16, %total: f16, %out: f16):
    %n = arith.constant 128.0 : f16
    %eps = arith.constant 1.0e-3 : f16
    %variance = arith.divf %total, %n : f16
    %above = arith.addf %variance, %eps : f16
    %factor = math.rsqrt %above : f16
    %scaled = arith.mulf %element, %factor : f16
    linalg.yield %scaled : f16
  } -> tensor<16x128xf16>
  return %norm : tensor<16x128xf16>
}

// -----
func.func @product(%x: tensor<64x128xf16> {spyre.dims = ["M", "K"]}, %y: tensor<128x64xf16> {spyre.dims = ["K", "N"]}) -> tensor<64x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %product = linalg.matmul ins(%x, %y : tensor<64x128xf16>, tensor<128x64xf16>) outs(%zero : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %product : tensor<64x64xf16>
}

// -----
func.func @rows_of_a_table(%table: tensor<32x64xf16>, %list: tensor<4xi32>) -> tensor<4x64xf16> {
  %rows = spyre.gather(%table, %list) dim 0 : (tensor<32x64xf16>, tensor<4xi32>) -> tensor<4x64xf16>
  %exp = spyre.pointwise exp(%rows) : tensor<4x64xf16>
  return %exp : tensor<4x64xf16>
}

// -----
// A tile of a mean is one element, and a view of the mean is read.
func.func @mean_over_heads(%x: tensor<4x128xf16> {spyre.dims = ["H", "N"]}) -> tensor<128xf16> {
  %empty = tensor.empty() : tensor<128xf16>
  %zero = arith.constant 0.0 : f16
  %none = linalg.fill ins(%zero : f16) outs(%empty : tensor<128xf16>) -> tensor<128xf16>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<4x128xf16>) outs(%none : tensor<128xf16>) dimensions = [0]
  %mean = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
    ins(%sum : tensor<128xf16>) outs(%empty : tensor<128xf16>) {
  ^bb0(%total: f16, %out: f16):
    %four = arith.constant 4.0 : f16
    %share = arith.divf %total, %four : f16
    linalg.yield %share : f16
  } -> tensor<128xf16>
  %exp = linalg.exp ins(%mean : tensor<128xf16>) outs(%empty : tensor<128xf16>) -> tensor<128xf16>
  return %exp : tensor<128xf16>
}

// -----
// Eight arguments and a result are more than a launch with baked addresses has segments for.
func.func @several_launches(%a: tensor<8x64xf16>, %b: tensor<8x64xf16>, %c: tensor<8x64xf16>, %d: tensor<8x64xf16>, %e: tensor<8x64xf16>,
                            %f: tensor<8x64xf16>, %g: tensor<8x64xf16>, %h: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %empty = tensor.empty() : tensor<8x64xf16>
  %ab = linalg.add ins(%a, %b : tensor<8x64xf16>, tensor<8x64xf16>) outs(%empty : tensor<8x64xf16>) -> tensor<8x64xf16>
  %cd = linalg.mul ins(%c, %d : tensor<8x64xf16>, tensor<8x64xf16>) outs(%empty : tensor<8x64xf16>) -> tensor<8x64xf16>
  %ef = linalg.sub ins(%e, %f : tensor<8x64xf16>, tensor<8x64xf16>) outs(%empty : tensor<8x64xf16>) -> tensor<8x64xf16>
  %gh = linalg.max ins(%g, %h : tensor<8x64xf16>, tensor<8x64xf16>) outs(%empty : tensor<8x64xf16>) -> tensor<8x64xf16>
  %first = linalg.add ins(%ab, %cd : tensor<8x64xf16>, tensor<8x64xf16>) outs(%empty : tensor<8x64xf16>) -> tensor<8x64xf16>
  %second = linalg.add ins(%ef, %gh : tensor<8x64xf16>, tensor<8x64xf16>) outs(%empty : tensor<8x64xf16>) -> tensor<8x64xf16>
  %sum = linalg.add ins(%first, %second : tensor<8x64xf16>, tensor<8x64xf16>) outs(%empty : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %sum : tensor<8x64xf16>
}

// -----
// Computed in the 16-bit format, and returned twice.
func.func @wide(%x: tensor<8x96xf32>) -> (tensor<8x96xf32>, tensor<8x96xf32>) {
  %empty = tensor.empty() : tensor<8x96xf32>
  %y = linalg.tanh ins(%x : tensor<8x96xf32>) outs(%empty : tensor<8x96xf32>) -> tensor<8x96xf32>
  return %y, %y : tensor<8x96xf32>, tensor<8x96xf32>
}
