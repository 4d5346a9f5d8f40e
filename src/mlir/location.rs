//! Locations that carry the name of a value.

use super::{Location, Type, other_fused_locations, source_positions};
use mlir_sys::{
    MlirLocation, mlirAttributeGetNull, mlirIdentifierStr, mlirLocationEqual, mlirLocationFusedGet,
    mlirLocationGetContext, mlirLocationIsAName, mlirLocationNameGet, mlirLocationNameGetName, mlirLocationUnknownGet,
};

/// Returns a location that names the value defined there; `--mlir-use-nameloc-as-prefix` prints it.
#[must_use]
pub fn named_location<'c>(at: Location<'c>, name: &str) -> Location<'c> {
    // SAFETY: the name is copied into the context.
    unsafe {
        Location::from_raw(mlirLocationNameGet(
            mlirLocationGetContext(at.to_raw()),
            super::string_ref(name),
            at.to_raw(),
        ))
    }
}

/// Returns the name of a location; empty if it has none.
#[must_use]
pub fn location_name(location: Location<'_>) -> &str {
    // SAFETY: the name is read only if there is one; names are uniqued in the context.
    unsafe {
        if !mlirLocationIsAName(location.to_raw()) {
            return "";
        }
        super::read_context_text(mlirIdentifierStr(mlirLocationNameGetName(location.to_raw())), || {
            mlirLocationGetContext(location.to_raw())
        })
    }
}

/// Returns whether a location is unknown, as those of operations created by upstream passes are.
#[must_use]
pub fn is_unknown_location(location: Location<'_>) -> bool {
    // SAFETY: both are locations of one context.
    unsafe { mlirLocationEqual(location.to_raw(), mlirLocationUnknownGet(mlirLocationGetContext(location.to_raw()))) }
}

/// Returns the fused location of an op that replaces several ops, the first location first. Returns that location
/// itself if all are equal.
///
/// # Panics
/// If there is no location.
#[must_use]
pub fn fused_location<'c>(parts: &[Location<'c>]) -> Location<'c> {
    let mut distinct: Vec<Location<'c>> = Vec::new();
    for &part in parts {
        if !distinct.contains(&part) {
            distinct.push(part);
        }
    }
    let raw: Vec<MlirLocation> = distinct.iter().map(|part| part.to_raw()).collect();
    // SAFETY: the locations are of one context, which outlives them; no metadata is a null attribute.
    unsafe {
        let context = mlirLocationGetContext(raw[0]);
        Location::from_raw(mlirLocationFusedGet(context, raw.len().cast_signed(), raw.as_ptr(), mlirAttributeGetNull()))
    }
}

/// Creates a block whose arguments have their own locations.
#[must_use]
pub fn new_block_with_locations<'c>(arguments: &[(Type<'c>, Location<'c>)]) -> melior::ir::Block<'c> {
    melior::ir::Block::new(arguments)
}

/// Returns `file:line:col`, followed by ` called from ` and the call site, if any; the locations of a fused location
/// are separated by ` fused with `. Returns the name, or `unknown`, for a location without a file.
#[must_use]
pub fn format_location(location: Location<'_>) -> String {
    let chain = |location: Location<'_>| {
        source_positions(location).iter().map(ToString::to_string).collect::<Vec<_>>().join(" called from ")
    };
    let others = other_fused_locations(location).into_iter().map(chain);
    match (chain(location).as_str(), location_name(location)) {
        ("", "") => "unknown".to_owned(),
        ("", name) => name.to_owned(),
        (own, _) => [own.to_owned()].into_iter().chain(others).collect::<Vec<_>>().join(" fused with "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mlir::{Module, OpExt},
        pipeline::create_session,
    };

    #[test]
    fn formats_location_with_call_sites() {
        let session = create_session();
        let text_of = |location: &str| {
            format_location(Module::parse(&session, &format!("module {{}} loc({location})")).unwrap().op().loc())
        };
        assert_eq!(text_of("\"a.mlir\":3:5"), "a.mlir:3:5");
        assert_eq!(text_of("\"value\"(\"a.mlir\":3:5)"), "a.mlir:3:5");
        assert_eq!(
            text_of("callsite(\"a (1).py\":3:5 at callsite(\"b.py\":7:1 at \"c.py\":9:2))"),
            "a (1).py:3:5 called from b.py:7:1 called from c.py:9:2"
        );
        assert_eq!(text_of("fused[unknown, \"a.py\":3:5]"), "a.py:3:5");
        assert_eq!(
            text_of("fused[\"x\"(\"a.py\":3:5), \"a.py\":3:5, callsite(\"b.py\":1:1 at \"c.py\":2:2)]"),
            "a.py:3:5 fused with b.py:1:1 called from c.py:2:2"
        );
        assert_eq!(text_of("\"value\""), "value");
        assert_eq!(text_of("unknown"), "unknown");
    }
}
