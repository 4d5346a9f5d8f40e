//===- Dialects.cpp - attribute accessors and op interfaces for Rust ------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Sdsc.h"
#include "SdscBundle.h"
#include "Spyre.h"
#include "mlir/CAPI/AffineMap.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;

namespace {
template <typename Attr>
Attr as(MlirAttribute attribute) {
  return cast<Attr>(unwrap(attribute));
}
} // namespace

//===----------------------------------------------------------------------===//
// spyre
//===----------------------------------------------------------------------===//

bool spyreAttributeIsALayout(MlirAttribute attribute) { return isa<spyre::LayoutAttr>(unwrap(attribute)); }
MlirAttribute spyreLayoutAttrGet(MlirContext context, intptr_t rank, const int64_t *deviceSize, const int64_t *strideMap,
                                 MlirStringRef format, intptr_t bufferRank, const int64_t *bufferShape) {
  return wrap(spyre::LayoutAttr::get(unwrap(context), ArrayRef(deviceSize, rank), ArrayRef(strideMap, rank), unwrap(format),
                                     ArrayRef(bufferShape, bufferRank)));
}
intptr_t spyreLayoutAttrGetRank(MlirAttribute layout) { return as<spyre::LayoutAttr>(layout).getDeviceSize().size(); }
const int64_t *spyreLayoutAttrGetDeviceSize(MlirAttribute layout) { return as<spyre::LayoutAttr>(layout).getDeviceSize().data(); }
const int64_t *spyreLayoutAttrGetStrideMap(MlirAttribute layout) { return as<spyre::LayoutAttr>(layout).getStrideMap().data(); }
MlirStringRef spyreLayoutAttrGetFormat(MlirAttribute layout) { return wrap(as<spyre::LayoutAttr>(layout).getFormat()); }
intptr_t spyreLayoutAttrGetBufferRank(MlirAttribute layout) { return as<spyre::LayoutAttr>(layout).getBufferShape().size(); }
const int64_t *spyreLayoutAttrGetBufferShape(MlirAttribute layout) {
  return as<spyre::LayoutAttr>(layout).getBufferShape().data();
}

bool spyreAttributeIsAWork(MlirAttribute attribute) { return isa<spyre::WorkAttr>(unwrap(attribute)); }
MlirAttribute spyreWorkAttrGet(MlirContext context, intptr_t rank, const int64_t *slices) {
  return wrap(spyre::WorkAttr::get(unwrap(context), ArrayRef(slices, rank)));
}
intptr_t spyreWorkAttrGetRank(MlirAttribute work) { return as<spyre::WorkAttr>(work).getSlices().size(); }
const int64_t *spyreWorkAttrGetSlices(MlirAttribute work) { return as<spyre::WorkAttr>(work).getSlices().data(); }

bool spyreAttributeIsAPlace(MlirAttribute attribute) { return isa<spyre::PlaceAttr>(unwrap(attribute)); }
MlirAttribute spyrePlaceAttrGet(MlirContext context, MlirStringRef memory, int64_t offsetBytes, MlirStringRef reason) {
  return wrap(spyre::PlaceAttr::get(unwrap(context), unwrap(memory), offsetBytes, unwrap(reason)));
}
MlirStringRef spyrePlaceAttrGetMemory(MlirAttribute place) { return wrap(as<spyre::PlaceAttr>(place).getMemory()); }
int64_t spyrePlaceAttrGetOffsetBytes(MlirAttribute place) { return as<spyre::PlaceAttr>(place).getOffsetBytes(); }
MlirStringRef spyrePlaceAttrGetReason(MlirAttribute place) { return wrap(as<spyre::PlaceAttr>(place).getReason()); }

bool spyreAttributeIsATileHint(MlirAttribute attribute) { return isa<spyre::TileHintAttr>(unwrap(attribute)); }
MlirAttribute spyreTileHintAttrGet(MlirContext context, int64_t id, MlirStringRef dim, int64_t count) {
  return wrap(spyre::TileHintAttr::get(unwrap(context), id, unwrap(dim), count));
}
int64_t spyreTileHintAttrGetId(MlirAttribute hint) { return as<spyre::TileHintAttr>(hint).getId(); }
MlirStringRef spyreTileHintAttrGetDim(MlirAttribute hint) { return wrap(as<spyre::TileHintAttr>(hint).getDim()); }
int64_t spyreTileHintAttrGetCount(MlirAttribute hint) { return as<spyre::TileHintAttr>(hint).getCount(); }

intptr_t spyreComputeOpGetIterationSpace(MlirOperation op, intptr_t capacity, int64_t *sizes) {
  auto compute = dyn_cast<spyre::ComputeOpInterface>(unwrap(op));
  if (!compute)
    return -1;
  SmallVector<int64_t> space = compute.getIterationSpace();
  if (static_cast<intptr_t>(space.size()) <= capacity)
    llvm::copy(space, sizes);
  return space.size();
}
unsigned spyreComputeOpGetNumReductionDims(MlirOperation op) {
  return cast<spyre::ComputeOpInterface>(unwrap(op)).getNumReductionDims();
}
MlirAffineMap spyreComputeOpGetAccessMap(MlirOperation op, intptr_t index) {
  return wrap(cast<spyre::ComputeOpInterface>(unwrap(op)).getAccessMaps()[index]);
}
MlirType spyreTileType(MlirType full, int64_t dim, int64_t count) {
  return wrap(static_cast<Type>(spyre::LoopOp::getTileType(cast<RankedTensorType>(unwrap(full)), dim, count)));
}

//===----------------------------------------------------------------------===//
// sdsc
//===----------------------------------------------------------------------===//

bool sdscAttributeIsADim(MlirAttribute attribute) { return isa<sdsc::DimAttr>(unwrap(attribute)); }
MlirAttribute sdscDimAttrGet(MlirContext context, MlirStringRef name, int64_t range, int64_t split) {
  return wrap(sdsc::DimAttr::get(unwrap(context), StringAttr::get(unwrap(context), unwrap(name)), range, split, StringAttr(), 1));
}
MlirStringRef sdscDimAttrGetName(MlirAttribute dim) { return wrap(as<sdsc::DimAttr>(dim).getName().getValue()); }
int64_t sdscDimAttrGetRange(MlirAttribute dim) { return as<sdsc::DimAttr>(dim).getRange(); }
int64_t sdscDimAttrGetSplit(MlirAttribute dim) { return as<sdsc::DimAttr>(dim).getSplit(); }

bool sdscAttributeIsATensor(MlirAttribute attribute) { return isa<sdsc::TensorAttr>(unwrap(attribute)); }
MlirAttribute sdscTensorAttrGet(MlirContext context, MlirStringRef format, intptr_t rank, const int64_t *deviceSize,
                                MlirAffineMap coordinates, MlirStringRef memory, int64_t argument, int64_t offsetBytes,
                                intptr_t loops, const int64_t *advance) {
  MLIRContext *in = unwrap(context);
  auto advances = loops ? DenseI64ArrayAttr::get(in, ArrayRef(advance, loops)) : DenseI64ArrayAttr();
  return wrap(sdsc::TensorAttr::get(in, StringAttr::get(in, unwrap(format)), DenseI64ArrayAttr::get(in, ArrayRef(deviceSize, rank)),
                                    AffineMapAttr::get(unwrap(coordinates)), StringAttr::get(in, unwrap(memory)), argument,
                                    offsetBytes, advances, ArrayAttr(), StringAttr()));
}
MlirStringRef sdscTensorAttrGetFormat(MlirAttribute tensor) { return wrap(as<sdsc::TensorAttr>(tensor).getFormat().getValue()); }
intptr_t sdscTensorAttrGetRank(MlirAttribute tensor) { return as<sdsc::TensorAttr>(tensor).getDeviceSize().size(); }
const int64_t *sdscTensorAttrGetDeviceSize(MlirAttribute tensor) {
  return as<sdsc::TensorAttr>(tensor).getDeviceSize().asArrayRef().data();
}
MlirAffineMap sdscTensorAttrGetCoordinates(MlirAttribute tensor) {
  return wrap(as<sdsc::TensorAttr>(tensor).getCoordinates().getValue());
}
MlirStringRef sdscTensorAttrGetMemory(MlirAttribute tensor) { return wrap(as<sdsc::TensorAttr>(tensor).getMemory().getValue()); }
int64_t sdscTensorAttrGetArgument(MlirAttribute tensor) { return as<sdsc::TensorAttr>(tensor).getArgument(); }
int64_t sdscTensorAttrGetOffsetBytes(MlirAttribute tensor) { return as<sdsc::TensorAttr>(tensor).getOffsetBytes(); }
intptr_t sdscTensorAttrGetLoops(MlirAttribute tensor) {
  DenseI64ArrayAttr advance = as<sdsc::TensorAttr>(tensor).getAdvance();
  return advance ? advance.size() : 0;
}
const int64_t *sdscTensorAttrGetAdvance(MlirAttribute tensor) {
  return as<sdsc::TensorAttr>(tensor).getAdvance().asArrayRef().data();
}

//===----------------------------------------------------------------------===//
// sdscbundle
//===----------------------------------------------------------------------===//

MlirType sdscbundleInputArgTypeGet(MlirContext context, int64_t granularity, int64_t maxValue) {
  MLIRContext *in = unwrap(context);
  return wrap(static_cast<Type>(sdscbundle::InputArgType::get(in, IndexType::get(in), granularity, maxValue)));
}
