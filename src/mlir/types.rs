//! Converts builtin types and attributes to and from plain values.

use super::{Attribute, AttributeLike, Context, ScalarType, Type, TypeLike, Value, ValueLike, text::read_context_text};
use machine::ElementType;
use melior::ir::{
    attribute::{
        ArrayAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute, FlatSymbolRefAttribute, FloatAttribute,
        IntegerAttribute, StringAttribute, TypeAttribute,
    },
    r#type::IntegerType,
};
use mlir_sys::{
    MlirAttribute, MlirType, mlirArrayAttrGetElement, mlirArrayAttrGetNumElements, mlirAttributeGetContext,
    mlirAttributeGetNull, mlirAttributeGetType, mlirAttributeIsAArray, mlirAttributeIsADenseElements,
    mlirAttributeIsADenseF64Array, mlirAttributeIsADictionary, mlirAttributeIsAElements, mlirAttributeIsAFlatSymbolRef,
    mlirAttributeIsAString, mlirDenseArrayGetNumElements, mlirDenseElementsAttrGetSplatValue,
    mlirDenseElementsAttrIsSplat, mlirDenseElementsAttrRawBufferGet, mlirDenseF64ArrayGet, mlirDenseF64ArrayGetElement,
    mlirDictionaryAttrGetElement, mlirDictionaryAttrGetNumElements, mlirFlatSymbolRefAttrGetValue, mlirIdentifierStr,
    mlirRankedTensorTypeGet, mlirRankedTensorTypeGetEncoding, mlirShapedTypeGetDimSize, mlirShapedTypeGetElementType,
    mlirShapedTypeGetRank, mlirShapedTypeHasStaticShape, mlirStringAttrGetValue, mlirTypeIsARankedTensor,
    mlirTypeIsATensor,
};

unsafe extern "C" {
    fn spyreIteratorIsReduction(iterator: MlirAttribute) -> bool;
    fn spyreElementsReshape(attribute: MlirAttribute, shaped_type: MlirType) -> MlirAttribute;
}

/// Ranked tensor type of static shape, as a plain value.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorType<'c> {
    /// Sizes of the dimensions.
    pub shape: Vec<i64>,
    /// Type of the elements.
    pub element: Type<'c>,
    /// Encoding; in our dialects a device layout.
    pub encoding: Option<Attribute<'c>>,
}

/// Returns the shape of a tensor; empty unless it is a tensor of static shape.
#[must_use]
pub fn shape_of(tensor: Value<'_>) -> Vec<i64> {
    TensorType::from_type(tensor.r#type()).map(|tensor| tensor.shape).unwrap_or_default()
}

impl<'c> TensorType<'c> {
    /// Reads `type`; `None` unless it is a ranked tensor of static shape.
    #[must_use]
    pub fn from_type(tensor: Type<'c>) -> Option<Self> {
        let raw = tensor.to_raw();
        // SAFETY: each query is called on its own kind of type only.
        unsafe {
            if !mlirTypeIsARankedTensor(raw) || !mlirShapedTypeHasStaticShape(raw) {
                return None;
            }
            let shape =
                (0..mlirShapedTypeGetRank(raw)).map(|dim| mlirShapedTypeGetDimSize(raw, dim as isize)).collect();
            let element = Type::from_raw(mlirShapedTypeGetElementType(raw));
            Some(Self { shape, element, encoding: Attribute::from_option_raw(mlirRankedTensorTypeGetEncoding(raw)) })
        }
    }

    /// Builds the type.
    #[must_use]
    pub fn build(&self) -> Type<'c> {
        // SAFETY: shape, element type and encoding are of one context; a missing encoding is a null attribute.
        unsafe {
            let encoding = self.encoding.map_or_else(|| mlirAttributeGetNull(), |attribute| attribute.to_raw());
            Type::from_raw(mlirRankedTensorTypeGet(
                self.shape.len() as isize,
                self.shape.as_ptr(),
                self.element.to_raw(),
                encoding,
            ))
        }
    }

    /// Returns the tensor type with this shape and another element type, without a layout.
    #[must_use]
    pub fn with_element(&self, element: Type<'c>) -> Self {
        Self { shape: self.shape.clone(), element, encoding: None }
    }

    /// Returns the tensor type with this element type and another shape, without a layout.
    #[must_use]
    pub fn with_shape(&self, shape: Vec<i64>) -> Self {
        Self { shape, element: self.element, encoding: None }
    }

    /// Returns the tensor type with another layout.
    #[must_use]
    pub fn with_encoding(&self, encoding: Attribute<'c>) -> Self {
        Self { encoding: Some(encoding), ..self.clone() }
    }
}

/// Returns the text of a string attribute.
#[must_use]
pub fn string(attribute: Attribute<'_>) -> Option<&str> {
    // melior's own accessor fails on the empty string (0.27.4).
    // SAFETY: the value is read only if the attribute is a string; strings are uniqued in the context.
    unsafe {
        mlirAttributeIsAString(attribute.to_raw()).then(|| {
            read_context_text(mlirStringAttrGetValue(attribute.to_raw()), || {
                mlirAttributeGetContext(attribute.to_raw())
            })
        })
    }
}

/// Returns the number in an integer attribute.
#[must_use]
pub fn integer(attribute: Attribute<'_>) -> Option<i64> {
    IntegerAttribute::try_from(attribute).ok().map(|number| number.value())
}

/// Returns a nonnegative integer, such as a dimension number.
#[must_use]
pub fn natural_number(attribute: Attribute<'_>) -> Option<usize> {
    integer(attribute).and_then(|number| usize::try_from(number).ok())
}

/// Returns the numbers of an array of 64-bit integers.
#[must_use]
pub fn integers(attribute: Attribute<'_>) -> Option<Vec<i64>> {
    let array = DenseI64ArrayAttribute::try_from(attribute).ok()?;
    (0..array.len()).map(|index| array.element(index).ok()).collect()
}

/// Returns the elements of an array attribute.
#[must_use]
pub fn elements(attribute: Attribute<'_>) -> Option<Vec<Attribute<'_>>> {
    let raw = attribute.to_raw();
    // melior's own conversion expects an array of integers instead (0.27.4).
    // SAFETY: the elements are read only if the attribute is an array.
    unsafe {
        if !mlirAttributeIsAArray(raw) {
            return None;
        }
        Some(
            (0..mlirArrayAttrGetNumElements(raw))
                .map(|index| Attribute::from_raw(mlirArrayAttrGetElement(raw, index)))
                .collect(),
        )
    }
}

/// Returns the strings of an array of strings.
#[must_use]
pub fn strings(attribute: Attribute<'_>) -> Option<Vec<&str>> {
    elements(attribute)?.into_iter().map(string).collect()
}

/// Returns the number in a float attribute.
#[must_use]
pub fn float_value(attribute: Attribute<'_>) -> Option<f64> {
    FloatAttribute::try_from(attribute).ok().map(|number| number.value())
}

/// Returns the element of a splat constant.
#[must_use]
pub fn splat_value(attribute: Attribute<'_>) -> Option<Attribute<'_>> {
    // SAFETY: the element is read only if there is one.
    unsafe {
        if !mlirAttributeIsADenseElements(attribute.to_raw()) || !mlirDenseElementsAttrIsSplat(attribute.to_raw()) {
            return None;
        }
        Attribute::from_option_raw(mlirDenseElementsAttrGetSplatValue(attribute.to_raw()))
    }
}

/// Returns the entries of a dictionary attribute, in its own (alphabetical) order.
#[must_use]
pub fn dictionary_entries(attribute: Attribute<'_>) -> Option<Vec<(&str, Attribute<'_>)>> {
    let raw = attribute.to_raw();
    // SAFETY: the elements are read only if the attribute is a dictionary; names are uniqued in the context.
    unsafe {
        if !mlirAttributeIsADictionary(raw) {
            return None;
        }
        let entry = |index| {
            let named = mlirDictionaryAttrGetElement(raw, index);
            (
                read_context_text(mlirIdentifierStr(named.name), || mlirAttributeGetContext(raw)),
                Attribute::from_raw(named.attribute),
            )
        };
        Some((0..mlirDictionaryAttrGetNumElements(raw)).map(entry).collect())
    }
}

/// Builds an array attribute.
#[must_use]
pub fn array_attribute<'c>(context: &'c Context, values: &[Attribute<'c>]) -> Attribute<'c> {
    ArrayAttribute::new(context, values).into()
}

/// Builds a reference to a symbol.
#[must_use]
pub fn symbol_attribute<'c>(context: &'c Context, name: &str) -> Attribute<'c> {
    FlatSymbolRefAttribute::new(context, name).into()
}

/// Returns the name in a reference to a symbol.
#[must_use]
pub fn symbol_name(attribute: Attribute<'_>) -> Option<&str> {
    // SAFETY: the name is read only if the attribute is a reference; names are uniqued in the context.
    unsafe {
        mlirAttributeIsAFlatSymbolRef(attribute.to_raw()).then(|| {
            read_context_text(mlirFlatSymbolRefAttrGetValue(attribute.to_raw()), || {
                mlirAttributeGetContext(attribute.to_raw())
            })
        })
    }
}

/// Returns the type in a type attribute.
#[must_use]
pub fn type_of(attribute: Attribute<'_>) -> Option<Type<'_>> {
    TypeAttribute::try_from(attribute).ok().map(|holder| holder.value())
}

/// Builds a type attribute.
#[must_use]
pub fn type_attribute(of: Type<'_>) -> Attribute<'_> {
    TypeAttribute::new(of).into()
}

/// Returns the index type.
#[must_use]
pub fn index_type(context: &Context) -> Type<'_> {
    Type::index(context)
}

/// Builds a unit attribute.
#[must_use]
pub fn unit_attribute(context: &Context) -> Attribute<'_> {
    Attribute::unit(context)
}

/// Builds a 64-bit integer attribute.
#[must_use]
pub fn i64_attribute(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(IntegerType::new(context, 64).into(), value).into()
}

/// Builds a 32-bit integer attribute, as enums have.
#[must_use]
pub fn i32_attribute(context: &Context, value: i32) -> Attribute<'_> {
    IntegerAttribute::new(IntegerType::new(context, 32).into(), value.into()).into()
}

/// Builds a 64-bit float attribute.
pub(crate) fn f64_attribute(context: &Context, value: f64) -> Attribute<'_> {
    FloatAttribute::new(context, Type::float64(context), value).into()
}

/// Builds an index attribute.
pub(crate) fn index_attribute(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(Type::index(context), value).into()
}

/// Builds an array of 64-bit integers.
pub(crate) fn i64_array_attribute<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    DenseI64ArrayAttribute::new(context, values).into()
}

/// Builds an array of 32-bit integers, as for operand segment sizes.
///
/// # Panics
/// If a list has 2^31 elements or more: no op has so many operands.
pub(crate) fn i32_array_attribute<'c>(context: &'c Context, lengths: &[usize]) -> Attribute<'c> {
    let lengths: Vec<i32> =
        lengths.iter().map(|length| i32::try_from(*length).expect("no op has 2^31 operands")).collect();
    DenseI32ArrayAttribute::new(context, &lengths).into()
}

/// Builds a string attribute.
#[must_use]
pub fn string_attribute<'c>(context: &'c Context, text: &str) -> Attribute<'c> {
    StringAttribute::new(context, text).into()
}

/// Builds an array of strings.
#[must_use]
pub fn string_array<'c>(context: &'c Context, texts: &[String]) -> Attribute<'c> {
    let texts: Vec<Attribute<'c>> = texts.iter().map(|text| string_attribute(context, text)).collect();
    array_attribute(context, &texts)
}

/// Builds an array of 64-bit floats.
#[must_use]
pub fn f64_array_attribute<'c>(context: &'c Context, values: &[f64]) -> Attribute<'c> {
    // SAFETY: MLIR copies as many numbers as the slice has.
    unsafe { Attribute::from_raw(mlirDenseF64ArrayGet(context.to_raw(), values.len().cast_signed(), values.as_ptr())) }
}

/// Returns the numbers of an array of 64-bit floats.
#[must_use]
pub fn floats(attribute: Attribute<'_>) -> Option<Vec<f64>> {
    // SAFETY: the elements are read only if the attribute is such an array.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsADenseF64Array(raw).then(|| {
            (0..mlirDenseArrayGetNumElements(raw)).map(|index| mlirDenseF64ArrayGetElement(raw, index)).collect()
        })
    }
}

/// Returns the builtin type of that name.
///
/// # Panics
/// If MLIR has no such type.
pub(super) fn parse_type<'c>(context: &'c Context, name: &str) -> Type<'c> {
    Type::parse(context, name).expect("the name of a builtin type")
}

/// Returns the MLIR type of an element type.
#[must_use]
pub fn type_of_element(context: &Context, element: ElementType) -> Type<'_> {
    parse_type(context, element.name())
}

/// Returns whether a type is a tensor, ranked or not.
#[must_use]
pub fn is_tensor(r#type: Type<'_>) -> bool {
    // SAFETY: the type is valid.
    unsafe { mlirTypeIsATensor(r#type.to_raw()) }
}

/// Returns whether an iterator type of `linalg` is a reduction.
#[must_use]
pub fn is_reduction(iterator: Attribute<'_>) -> bool {
    // SAFETY: the query accepts any attribute.
    unsafe { spyreIteratorIsReduction(iterator.to_raw()) }
}

/// Returns the tensor type of an elements attribute.
#[must_use]
pub fn type_of_elements(attribute: Attribute<'_>) -> Option<Type<'_>> {
    // SAFETY: the type is read only if the attribute has elements.
    unsafe {
        mlirAttributeIsAElements(attribute.to_raw()).then(|| Type::from_raw(mlirAttributeGetType(attribute.to_raw())))
    }
}

/// Returns `dense<...>` or `dense_resource<...>` as a tensor of shape `shape`, with the same elements in row-major
/// order; a resource is shared. Returns `None` for another attribute, or if the number of elements differs.
#[must_use]
pub fn reshaped_elements<'c>(attribute: Attribute<'c>, shape: &[i64]) -> Option<Attribute<'c>> {
    let tensor = TensorType::from_type(type_of_elements(attribute)?)?;
    let of = tensor.with_shape(shape.to_vec()).build();
    // SAFETY: both are tensors with the same element type and number of elements, as MLIR requires.
    let reshaped = || unsafe { Attribute::from_option_raw(spyreElementsReshape(attribute.to_raw(), of.to_raw())) };
    (tensor.shape.iter().product::<i64>() == shape.iter().product::<i64>()).then(reshaped).flatten()
}

/// Builds a dense constant of floats, or of integers of 8, 32 or 64 bits, from one number per element or a single one
/// for all.
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "the numbers become what the element type can hold")]
pub fn dense_attribute<'c>(tensor: Type<'c>, numbers: &[f64]) -> Attribute<'c> {
    let element =
        TensorType::from_type(tensor).map_or(ScalarType::Other, |tensor| ScalarType::from_type(tensor.element));
    let bytes: Vec<u8> = match element {
        ScalarType::F16 => numbers.iter().flat_map(|&number| half::f16::from_f64(number).to_le_bytes()).collect(),
        ScalarType::Bf16 => numbers.iter().flat_map(|&number| half::bf16::from_f64(number).to_le_bytes()).collect(),
        ScalarType::F32 => numbers.iter().flat_map(|&number| (number as f32).to_le_bytes()).collect(),
        ScalarType::F64 => numbers.iter().flat_map(|&number| number.to_le_bytes()).collect(),
        ScalarType::Integer(8) => numbers.iter().flat_map(|&number| (number as i8).to_le_bytes()).collect(),
        ScalarType::Integer(64) => numbers.iter().flat_map(|&number| (number as i64).to_le_bytes()).collect(),
        _ => numbers.iter().flat_map(|&number| (number as i32).to_le_bytes()).collect(),
    };
    // SAFETY: MLIR copies the bytes, which are one element or as many as the type has.
    unsafe {
        Attribute::from_raw(mlirDenseElementsAttrRawBufferGet(tensor.to_raw(), bytes.len(), bytes.as_ptr().cast()))
    }
}

/// Returns whether the element type represents the number exactly, so that a constant of it is not rounded; always true
/// for integers and truth values.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "whether that changes the number is the question")]
pub fn is_exactly_representable(element: Type<'_>, number: f64) -> bool {
    match ScalarType::from_type(element) {
        ScalarType::F16 => half::f16::from_f64(number).to_f64() == number,
        ScalarType::Bf16 => half::bf16::from_f64(number).to_f64() == number,
        ScalarType::F32 => f64::from(number as f32) == number,
        _ => true,
    }
}
