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
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace {
template <typename Attr>
Attr castAttr(MlirAttribute attribute) {
  return cast<Attr>(unwrap(attribute));
}
} // namespace

//===----------------------------------------------------------------------===//
// spyre
//===----------------------------------------------------------------------===//

bool spyreAttributeIsALayout(MlirAttribute attribute) { return isa<spyre::LayoutAttr>(unwrap(attribute)); }
MlirAttribute spyreLayoutAttrGet(MlirContext context, intptr_t rank, const int64_t *deviceSize, const int64_t *strideMap,
                                 int format, intptr_t bufferRank, const int64_t *bufferShape) {
  std::optional<machine::Format> optionalFormat;
  if (format >= 0)
    optionalFormat = static_cast<machine::Format>(format);
  return wrap(spyre::LayoutAttr::get(unwrap(context), ArrayRef(deviceSize, rank), ArrayRef(strideMap, rank),
                                     optionalFormat, ArrayRef(bufferShape, bufferRank)));
}
intptr_t spyreLayoutAttrGetRank(MlirAttribute layout) {
  return castAttr<spyre::LayoutAttr>(layout).getDeviceSize().size();
}
const int64_t *spyreLayoutAttrGetDeviceSize(MlirAttribute layout) {
  return castAttr<spyre::LayoutAttr>(layout).getDeviceSize().data();
}
const int64_t *spyreLayoutAttrGetStrideMap(MlirAttribute layout) {
  return castAttr<spyre::LayoutAttr>(layout).getStrideMap().data();
}
int spyreLayoutAttrGetFormat(MlirAttribute layout) {
  std::optional<machine::Format> format = castAttr<spyre::LayoutAttr>(layout).getFormat();
  return format ? static_cast<int>(*format) : -1;
}
intptr_t spyreLayoutAttrGetBufferRank(MlirAttribute layout) {
  return castAttr<spyre::LayoutAttr>(layout).getBufferShape().size();
}
const int64_t *spyreLayoutAttrGetBufferShape(MlirAttribute layout) {
  return castAttr<spyre::LayoutAttr>(layout).getBufferShape().data();
}

bool spyreAttributeIsAWork(MlirAttribute attribute) { return isa<spyre::WorkAttr>(unwrap(attribute)); }
MlirAttribute spyreWorkAttrGet(MlirContext context, intptr_t rank, const int64_t *slices, intptr_t orderRank, const int64_t *order) {
  return wrap(spyre::WorkAttr::get(unwrap(context), ArrayRef(slices, rank), ArrayRef(order, orderRank)));
}
intptr_t spyreWorkAttrGetRank(MlirAttribute work) { return castAttr<spyre::WorkAttr>(work).getSlices().size(); }
const int64_t *spyreWorkAttrGetSlices(MlirAttribute work) { return castAttr<spyre::WorkAttr>(work).getSlices().data(); }
intptr_t spyreWorkAttrGetOrderRank(MlirAttribute work) { return castAttr<spyre::WorkAttr>(work).getOrder().size(); }
const int64_t *spyreWorkAttrGetOrder(MlirAttribute work) { return castAttr<spyre::WorkAttr>(work).getOrder().data(); }

bool spyreAttributeIsAPlace(MlirAttribute attribute) { return isa<spyre::PlaceAttr>(unwrap(attribute)); }
MlirAttribute spyrePlaceAttrGet(MlirContext context, int memory, int64_t offsetBytes, MlirStringRef reason) {
  return wrap(spyre::PlaceAttr::get(unwrap(context), static_cast<machine::Memory>(memory), offsetBytes, unwrap(reason)));
}
int spyrePlaceAttrGetMemory(MlirAttribute place) {
  return static_cast<int>(castAttr<spyre::PlaceAttr>(place).getMemory());
}
int64_t spyrePlaceAttrGetOffsetBytes(MlirAttribute place) { return castAttr<spyre::PlaceAttr>(place).getOffsetBytes(); }
MlirStringRef spyrePlaceAttrGetReason(MlirAttribute place) {
  return wrap(castAttr<spyre::PlaceAttr>(place).getReason());
}

bool spyreAttributeIsATileHint(MlirAttribute attribute) { return isa<spyre::TileHintAttr>(unwrap(attribute)); }
MlirAttribute spyreTileHintAttrGet(MlirContext context, int64_t id, MlirStringRef dim, int64_t count, MlirStringRef symbol, bool recompute) {
  return wrap(spyre::TileHintAttr::get(unwrap(context), id, unwrap(dim), count, unwrap(symbol), recompute));
}
bool spyreTileHintAttrGetRecompute(MlirAttribute hint) { return castAttr<spyre::TileHintAttr>(hint).getRecompute(); }
int64_t spyreTileHintAttrGetId(MlirAttribute hint) { return castAttr<spyre::TileHintAttr>(hint).getId(); }
MlirStringRef spyreTileHintAttrGetDim(MlirAttribute hint) { return wrap(castAttr<spyre::TileHintAttr>(hint).getDim()); }
int64_t spyreTileHintAttrGetCount(MlirAttribute hint) { return castAttr<spyre::TileHintAttr>(hint).getCount(); }
MlirStringRef spyreTileHintAttrGetSymbol(MlirAttribute hint) {
  return wrap(castAttr<spyre::TileHintAttr>(hint).getSymbol());
}

bool spyreAttributeIsAWorkHint(MlirAttribute attribute) { return isa<spyre::WorkHintAttr>(unwrap(attribute)); }
MlirAttribute spyreWorkHintAttrGet(MlirContext context, int64_t id, MlirStringRef dim, int64_t slices) {
  return wrap(spyre::WorkHintAttr::get(unwrap(context), id, unwrap(dim), slices));
}
int64_t spyreWorkHintAttrGetId(MlirAttribute hint) { return castAttr<spyre::WorkHintAttr>(hint).getId(); }
MlirStringRef spyreWorkHintAttrGetDim(MlirAttribute hint) { return wrap(castAttr<spyre::WorkHintAttr>(hint).getDim()); }
int64_t spyreWorkHintAttrGetSlices(MlirAttribute hint) { return castAttr<spyre::WorkHintAttr>(hint).getSlices(); }

bool spyreAttributeIsAKnob(MlirAttribute attribute) { return isa<spyre::KnobAttr>(unwrap(attribute)); }
MlirStringRef spyreKnobAttrGetName(MlirAttribute knob) { return wrap(castAttr<spyre::KnobAttr>(knob).getName()); }
int64_t spyreKnobAttrGetValue(MlirAttribute knob) { return castAttr<spyre::KnobAttr>(knob).getValue(); }
intptr_t spyreKnobAttrGetChoices(MlirAttribute knob, intptr_t capacity, int64_t *choices) {
  SmallVector<int64_t> allChoices = castAttr<spyre::KnobAttr>(knob).getChoices();
  if (static_cast<intptr_t>(allChoices.size()) <= capacity)
    llvm::copy(allChoices, choices);
  return allChoices.size();
}
MlirAttribute spyreKnobAttrGetWithValue(MlirAttribute attribute, int64_t value) {
  auto knob = castAttr<spyre::KnobAttr>(attribute);
  return wrap(spyre::KnobAttr::get(knob.getContext(), knob.getName(), value, knob.getKind(), knob.getBounds(), knob.getCondition()));
}
MlirStringRef spyreKnobAttrGetCondition(MlirAttribute knob) {
  return wrap(castAttr<spyre::KnobAttr>(knob).getCondition());
}
bool spyreConditionHolds(MlirStringRef condition, intptr_t count, const MlirStringRef *names, const int64_t *values) {
  auto lookupKnob = [&](StringRef name) -> std::optional<int64_t> {
    for (intptr_t knob = 0; knob < count; ++knob)
      if (unwrap(names[knob]) == name)
        return values[knob];
    return std::nullopt;
  };
  std::string message;
  return spyre::evaluateCondition(unwrap(condition), lookupKnob, message) == spyre::ConditionResult::Holds;
}

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
int spyreComputeOpGetFamily(MlirOperation op) { return static_cast<int>(cast<spyre::ComputeOpInterface>(unwrap(op)).getFamily()); }
MlirStringRef spyreComputeOpGetDeviceFunction(MlirOperation op) {
  return wrap(cast<spyre::ComputeOpInterface>(unwrap(op)).getDeviceFunction());
}
MlirAffineMap spyreComputeOpGetAccessMap(MlirOperation op, intptr_t index) {
  return wrap(cast<spyre::ComputeOpInterface>(unwrap(op)).getAccessMaps()[index]);
}
intptr_t spyreComputeOpGetOverwrittenOperand(MlirOperation op) {
  auto writer = dyn_cast<DestinationStyleOpInterface>(unwrap(op));
  if (!writer || !isa<spyre::ComputeOpInterface>(unwrap(op)))
    return -1;
  return writer.getDpsInitOperand(0)->getOperandNumber();
}
MlirValue spyreViewOpGetSource(MlirOperation op) {
  auto view = dyn_cast<ViewLikeOpInterface>(unwrap(op));
  bool isOurs = view && isa_and_nonnull<spyre::SpyreDialect>(unwrap(op)->getDialect());
  return isOurs ? wrap(view.getViewSource()) : MlirValue{nullptr};
}
MlirType spyreGetTileType(MlirType full, int64_t dim, int64_t count) {
  return wrap(static_cast<Type>(spyre::LoopOp::getTileType(cast<RankedTensorType>(unwrap(full)), dim, count)));
}

//===----------------------------------------------------------------------===//
// Elements of constants
//===----------------------------------------------------------------------===//

bool spyreElementsGetRawData(MlirAttribute attribute, const char **data, intptr_t *bytes, bool *isSplat) {
  ArrayRef<char> raw;
  *isSplat = false;
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(unwrap(attribute))) {
    raw = dense.getRawData();
    *isSplat = dense.isSplat();
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(unwrap(attribute))) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return false;
    raw = blob->getData();
  } else {
    return false;
  }
  *data = raw.data();
  *bytes = raw.size();
  return true;
}

MlirAttribute spyreElementsReshape(MlirAttribute attribute, MlirType type) {
  auto shape = cast<ShapedType>(unwrap(type));
  if (auto dense = dyn_cast<DenseElementsAttr>(unwrap(attribute)))
    return wrap(static_cast<Attribute>(dense.reshape(shape)));
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(unwrap(attribute)))
    return wrap(static_cast<Attribute>(DenseResourceElementsAttr::get(shape, resource.getRawHandle())));
  return {nullptr};
}

//===----------------------------------------------------------------------===//
// sdsc
//===----------------------------------------------------------------------===//

namespace {
/// Builder of a dictionary of parameters, without the absent ones.
struct ParameterDictBuilder {
  explicit ParameterDictBuilder(MLIRContext *context) : builder(context) {}

  ParameterDictBuilder &add(StringRef name, Attribute value) {
    if (value)
      list.set(name, value);
    return *this;
  }
  ParameterDictBuilder &add(StringRef name, int64_t value) { return add(name, builder.getI64IntegerAttr(value)); }
  MlirAttribute build() { return wrap(Attribute(list.getDictionary(builder.getContext()))); }

  Builder builder;
  NamedAttrList list;
};

int64_t getInteger(DictionaryAttr parameters, StringRef name) {
  return cast<IntegerAttr>(parameters.get(name)).getInt();
}
} // namespace

MlirAttribute sdscAttributeGetParameters(MlirAttribute attribute) {
  Attribute attr = unwrap(attribute);
  ParameterDictBuilder parameters(attr.getContext());
  if (auto dim = dyn_cast<sdsc::DimAttr>(attr))
    return parameters.add("name", dim.getName())
        .add("range", dim.getRange())
        .add("split", dim.getSplit())
        .add("symbol", dim.getSymbol())
        .add("granularity", dim.getGranularity())
        .add("divisor", dim.getDivisor())
        .build();
  if (auto owner = dyn_cast<sdsc::OwnerAttr>(attr))
    return parameters.add("dim", owner.getDim())
        .add("slices", owner.getSlices())
        .add("divisor", owner.getDivisor())
        .build();
  if (auto constant = dyn_cast<sdsc::ConstantAttr>(attr))
    return parameters.add("name", constant.getName()).add("value", constant.getValue()).build();
  if (auto window = dyn_cast<sdsc::WindowAttr>(attr))
    return parameters.add("height", window.getHeight())
        .add("width", window.getWidth())
        .add("pad_type", window.getPadType())
        .build();
  if (auto tensor = dyn_cast<sdsc::TensorAttr>(attr))
    return parameters.add("format", static_cast<int64_t>(tensor.getFormat()))
        .add("device_size", tensor.getDeviceSize())
        .add("coordinates", tensor.getCoordinates())
        .add("memory", static_cast<int64_t>(tensor.getMemory()))
        .add("argument", tensor.getArgument())
        .add("offset_bytes", tensor.getOffsetBytes())
        .add("advance", tensor.getAdvance())
        .add("index_tensors", tensor.getIndexTensors())
        .add("name", tensor.getName())
        .add("arrangement", static_cast<int64_t>(tensor.getArrangement()))
        .add("owners", tensor.getOwners())
        .build();
  return wrap(Attribute());
}

MlirAttribute sdscAttributeGet(MlirStringRef mnemonic, MlirAttribute parameters) {
  auto from = cast<DictionaryAttr>(unwrap(parameters));
  MLIRContext *context = from.getContext();
  StringRef kind = unwrap(mnemonic);
  if (kind == "dim")
    return wrap(Attribute(sdsc::DimAttr::get(context, from.getAs<StringAttr>("name"), getInteger(from, "range"),
                                             getInteger(from, "split"), from.getAs<StringAttr>("symbol"),
                                             getInteger(from, "granularity"), getInteger(from, "divisor"))));
  if (kind == "owner")
    return wrap(Attribute(sdsc::OwnerAttr::get(context, getInteger(from, "dim"), getInteger(from, "slices"),
                                               getInteger(from, "divisor"))));
  if (kind == "constant")
    return wrap(Attribute(sdsc::ConstantAttr::get(context, from.getAs<StringAttr>("name"), from.getAs<FloatAttr>("value"))));
  if (kind == "window")
    return wrap(Attribute(sdsc::WindowAttr::get(context, from.getAs<DenseI64ArrayAttr>("height"),
                                                from.getAs<DenseI64ArrayAttr>("width"), from.getAs<StringAttr>("pad_type"))));
  return wrap(Attribute(sdsc::TensorAttr::get(
      context, static_cast<machine::Format>(getInteger(from, "format")), from.getAs<DenseI64ArrayAttr>("device_size"),
      from.getAs<AffineMapAttr>("coordinates"), static_cast<machine::Memory>(getInteger(from, "memory")),
      getInteger(from, "argument"), getInteger(from, "offset_bytes"), from.getAs<DenseI64ArrayAttr>("advance"),
      from.getAs<ArrayAttr>("index_tensors"), from.getAs<StringAttr>("name"),
      static_cast<sdsc::Arrangement>(getInteger(from, "arrangement")), from.getAs<ArrayAttr>("owners"))));
}

//===----------------------------------------------------------------------===//
// sdscbundle
//===----------------------------------------------------------------------===//

MlirType sdscbundleInputArgTypeGet(MlirContext context, int64_t granularity, int64_t maxValue) {
  MLIRContext *ctx = unwrap(context);
  return wrap(static_cast<Type>(sdscbundle::InputArgType::get(ctx, IndexType::get(ctx), granularity, maxValue)));
}
int64_t sdscbundleInputArgTypeGetGranularity(MlirType inputArg) {
  auto type = dyn_cast<sdscbundle::InputArgType>(unwrap(inputArg));
  return type ? type.getGranularity() : 0;
}
int64_t sdscbundleInputArgTypeGetMaxValue(MlirType inputArg) {
  auto type = dyn_cast<sdscbundle::InputArgType>(unwrap(inputArg));
  return type ? type.getMaxValue() : 0;
}
