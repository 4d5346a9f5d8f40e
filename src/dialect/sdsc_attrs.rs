//! Attributes of `sdsc` and types of `sdscbundle`, through their C accessors.

use crate::mlir::{
    Attribute, AttributeLike, AttributeList, Context, Type, TypeLike, build_dictionary, dictionary_entries, string_ref,
};
use mlir_sys::{MlirAttribute, MlirContext, MlirStringRef, MlirType};

unsafe extern "C" {
    fn sdscAttributeGetParameters(attribute: MlirAttribute) -> MlirAttribute;
    fn sdscAttributeGet(mnemonic: MlirStringRef, parameters: MlirAttribute) -> MlirAttribute;
    fn sdscbundleInputArgTypeGet(context: MlirContext, granularity: i64, max_value: i64) -> MlirType;
    fn sdscbundleInputArgTypeGetGranularity(input_arg: MlirType) -> i64;
    fn sdscbundleInputArgTypeGetMaxValue(input_arg: MlirType) -> i64;
}

/// Returns the parameters of an `#sdsc` attribute by name; `None` for other attributes.
#[must_use]
pub fn sdsc_parameters(attribute: Attribute<'_>) -> Option<Vec<(&str, Attribute<'_>)>> {
    // SAFETY: the query accepts any attribute; it returns a null attribute for one that is not ours.
    let parameters = unsafe { Attribute::from_option_raw(sdscAttributeGetParameters(attribute.to_raw())) };
    parameters.and_then(dictionary_entries)
}

/// Builds the `#sdsc` attribute of a mnemonic, which requires all of its parameters.
#[must_use]
pub fn sdsc_attribute<'c>(mnemonic: &str, parameters: AttributeList<'c>) -> Attribute<'c> {
    // SAFETY: C++ reads the dictionary, and callers pass all parameters of the mnemonic.
    unsafe { Attribute::from_raw(sdscAttributeGet(string_ref(mnemonic), build_dictionary(parameters).to_raw())) }
}

/// Builds the type of a launch parameter: a symbolic size with a granularity and a maximum, or an address if both are
/// 0.
///
/// # Panics
/// If only one of them is 0, or one is negative.
#[must_use]
pub fn input_arg_type(context: &Context, granularity: i64, max: i64) -> Type<'_> {
    assert!((granularity > 0 && max > 0) || (granularity == 0 && max == 0), "bounds of a symbolic size are positive");
    // SAFETY: zeros mean an address, and the bounds of a symbolic size are positive.
    unsafe { Type::from_raw(sdscbundleInputArgTypeGet(context.to_raw(), granularity, max)) }
}

/// Returns granularity and maximum of a launch parameter that is a symbolic size; `None` for other types.
#[must_use]
pub fn input_arg_bounds(param: Type<'_>) -> Option<(i64, i64)> {
    // SAFETY: the query accepts any type; it returns 0 for one of another kind.
    let (granularity, max) = unsafe {
        (sdscbundleInputArgTypeGetGranularity(param.to_raw()), sdscbundleInputArgTypeGetMaxValue(param.to_raw()))
    };
    (granularity > 0).then_some((granularity, max))
}
