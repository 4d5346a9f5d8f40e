// RUN: rm -rf %t && spyre-opt --spyre-emit-bundle=output=%t --split-input-file --verify-diagnostics %s
// RUN: not ls %t

sdsc.program @long_integers {
  // expected-error @+1 {{'sdsc.buffer' op cannot be stored: element 1 is 4294967296, which does not fit in the 32 bits of IEEE_INT32}}
  sdsc.buffer @const0 constant 0 = dense<[1, 4294967296]> : tensor<2xi64> : tensor<2xi64, #spyre.layout<[1, 32], [32, 1]>>
}

// -----

sdsc.program @a_resource_of_another_size {
  // expected-error @+1 {{'sdsc.buffer' op cannot be stored: found 2 bytes, where 2 elements of 'f16' have 4}}
  sdsc.buffer @const0 constant 0 = dense_resource<short> : tensor<2xf16> : tensor<2xf16, #spyre.layout<[1, 64], [64, 1]>>
}

{-#
  dialect_resources: { builtin: { short: "0x02000000003C" } }
#-}

// -----

sdsc.program @a_resource_that_is_not_there {
  // expected-error @+1 {{'sdsc.buffer' op expected 'dense' elements or a 'dense_resource' with content, found others}}
  sdsc.buffer @const0 constant 0 = dense_resource<missing> : tensor<2xf16> : tensor<2xf16, #spyre.layout<[1, 64], [64, 1]>>
}

// -----

sdsc.program @sparse_elements {
  // expected-error @+1 {{'sdsc.buffer' op expected 'dense' elements or a 'dense_resource' with content, found others}}
  sdsc.buffer @const0 constant 0 = sparse<[[0]], [1.0]> : tensor<2xf16> : tensor<2xf16, #spyre.layout<[1, 64], [64, 1]>>
}

// -----

sdsc.program @bytes {
  // expected-error @+1 {{'sdsc.buffer' op cannot be stored: elements of 'i8' cannot be stored in the device format SENINT8}}
  sdsc.buffer @const0 constant 0 = dense<1> : tensor<128xi8> : tensor<128xi8, #spyre.layout<[1, 128], [128, 1]>>
}

// -----

sdsc.program @half_of_a_tensor {
  // expected-error @+1 {{'sdsc.buffer' op cannot be stored: the device layout does not hold the 128 positions of dimension 0 once each}}
  sdsc.buffer @const0 constant 0 = dense<1.0> : tensor<128xf16> : tensor<128xf16, #spyre.layout<[1, 64], [64, 1]>>
}

// -----

sdsc.program @a_stride_of_nothing {
  // expected-error @+1 {{'sdsc.buffer' op cannot be stored: device dimension 1 steps over 0 elements, which follows no dimension of the tensor}}
  sdsc.buffer @const0 constant 0 = dense<1.0> : tensor<64xf16> : tensor<64xf16, #spyre.layout<[1, 64], [64, 0]>>
}

// -----

sdsc.program @too_large {
  // expected-error @+1 {{'sdsc.buffer' op has 20000000000 bytes, more than a segment of 17179869184}}
  sdsc.buffer @const0 constant 0 = dense<1.0> : tensor<10000000000xf16> : tensor<10000000000xf16, #spyre.layout<[156250000, 64], [64, 1]>>
}

// -----

sdsc.program @names_are_names_of_files {
  // expected-error @+1 {{'sdsc.buffer' op expected a name of letters, digits and '_' for the file of the constant, found '../const0'}}
  sdsc.buffer @"../const0" constant 0 = dense<1.0> : tensor<64xf16> : tensor<64xf16, #spyre.layout<[1, 64], [64, 1]>>
}

// -----

sdsc.program @one_number_many_times {
  // expected-error @+1 {{'sdsc.buffer' op repeats one number for 268435584 bytes, more than the limit of 268435456; use linalg.fill}}
  sdsc.buffer @const0 constant 0 = dense<1.5> : tensor<2097153x64xf16> : tensor<2097153x64xf16, #spyre.layout<[1, 2097153, 64], [64, 64, 1]>>
}
