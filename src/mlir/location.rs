//! Locations that carry the name of a value.

use super::{Location, Type, collect::parts_of, places_of};
use mlir_sys::{
    MlirLocation, mlirIdentifierStr, mlirLocationCallSiteGetCallee, mlirLocationCallSiteGetCaller, mlirLocationEqual,
    mlirLocationGetContext, mlirLocationIsACallSite, mlirLocationIsAFused, mlirLocationIsAName, mlirLocationNameGet,
    mlirLocationNameGetChildLoc, mlirLocationNameGetName, mlirLocationUnknownGet,
};

/// A location with a name for the value that is made there; `--mlir-use-nameloc-as-prefix` prints it.
#[must_use]
pub fn named_location<'c>(at: Location<'c>, name: &str) -> Location<'c> {
    // SAFETY: the name is copied into the context.
    unsafe { Location::from_raw(mlirLocationNameGet(mlirLocationGetContext(at.to_raw()), super::string_ref(name), at.to_raw())) }
}

/// The name that a location carries, empty if it has none.
#[must_use]
pub fn location_name(location: Location<'_>) -> &str {
    // SAFETY: the name is only asked for where there is one; names are uniqued in the context.
    unsafe {
        if !mlirLocationIsAName(location.to_raw()) {
            return "";
        }
        super::text_in(mlirIdentifierStr(mlirLocationNameGetName(location.to_raw())), || mlirLocationGetContext(location.to_raw()))
    }
}

/// Whether a location says nothing: operations that an upstream pass made up have such.
#[must_use]
pub fn is_unknown(location: Location<'_>) -> bool {
    // SAFETY: both are locations of one context.
    unsafe { mlirLocationEqual(location.to_raw(), mlirLocationUnknownGet(mlirLocationGetContext(location.to_raw()))) }
}

/// A block whose arguments have locations of their own.
#[must_use]
pub fn named_block<'c>(arguments: &[(Type<'c>, Location<'c>)]) -> melior::ir::Block<'c> {
    melior::ir::Block::new(arguments)
}

/// `file:line:col`, and behind ` called from ` where that was called; of a location without a file its name, or `unknown`.
#[must_use]
pub fn location_text(location: Location<'_>) -> String {
    let places: Vec<String> = places_of(location).iter().map(ToString::to_string).collect();
    match (places.as_slice(), location_name(location)) {
        ([], "") => "unknown".to_owned(),
        ([], name) => name.to_owned(),
        (places, _) => places.join(" called from "),
    }
}

/// Returns the path of the module that an operation belongs to, such as `layers.3.self_attn`: the outermost name around a location that reads
/// as one. Returns an empty text if there is none. Producers write it as `loc("layers.3.self_attn"("model.py":7:1))`.
#[must_use]
pub fn module_path(location: Location<'_>) -> String {
    // SAFETY: the location is alive as long as its context, of which the caller has a borrow.
    unsafe { path_around(location.to_raw()) }.unwrap_or_default()
}

/// # Safety
/// The location is one of a context that is alive.
unsafe fn path_around(location: MlirLocation) -> Option<String> {
    // SAFETY: each getter is asked of a location of its kind; the array of fused locations has as many entries as C says.
    unsafe {
        if mlirLocationIsAName(location) {
            let inner = mlirLocationNameGetChildLoc(location);
            let is_alone = mlirLocationEqual(inner, mlirLocationUnknownGet(mlirLocationGetContext(location)));
            let name = location_name(Location::from_raw(location));
            return if !is_alone && is_module_path(name) { Some(name.to_owned()) } else { path_around(inner) };
        }
        if mlirLocationIsACallSite(location) {
            return path_around(mlirLocationCallSiteGetCallee(location)).or_else(|| path_around(mlirLocationCallSiteGetCaller(location)));
        }
        if mlirLocationIsAFused(location) {
            return parts_of(location).into_iter().find_map(|part| path_around(part));
        }
        None
    }
}

/// Returns whether a name reads as identifiers and numbers with dots between.
fn is_module_path(name: &str) -> bool {
    let is_segment = |segment: &str| !segment.is_empty() && segment.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    name.split('.').all(is_segment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mlir::{Module, OpExt},
        pipeline::session,
    };

    #[test]
    fn a_location_is_the_line_and_where_it_was_called() {
        let session = session();
        let text_of = |location: &str| location_text(Module::parse(&session, &format!("module {{}} loc({location})")).unwrap().op().loc());
        assert_eq!(text_of("\"a.mlir\":3:5"), "a.mlir:3:5");
        assert_eq!(text_of("\"value\"(\"a.mlir\":3:5)"), "a.mlir:3:5");
        assert_eq!(
            text_of("callsite(\"a (1).py\":3:5 at callsite(\"b.py\":7:1 at \"c.py\":9:2))"),
            "a (1).py:3:5 called from b.py:7:1 called from c.py:9:2"
        );
        assert_eq!(text_of("fused[unknown, \"a.py\":3:5]"), "a.py:3:5");
        assert_eq!(text_of("\"value\""), "value");
        assert_eq!(text_of("unknown"), "unknown");
    }

    #[test]
    fn a_module_path_is_the_outermost_name_that_reads_as_one() {
        let session = session();
        let path_of = |location: &str| module_path(Module::parse(&session, &format!("module {{}} loc({location})")).unwrap().op().loc());
        assert_eq!(path_of("\"layers.3.self_attn\"(\"a.py\":3:5)"), "layers.3.self_attn");
        assert_eq!(path_of("\"layers.3\"(\"x\"(\"a.py\":3:5))"), "layers.3");
        assert_eq!(path_of("\"jit(f)/add\"(\"schicht.ä\"(\"a.py\":3:5))"), "schicht.ä");
        assert_eq!(path_of("callsite(\"a.py\":1:1 at \"layers.4\"(\"b.py\":7:1))"), "layers.4");
        assert_eq!(path_of("fused[unknown, \"layers.5\"(\"a.py\":3:5)]"), "layers.5");
        for none in ["\"a.mlir\":3:5", "\"value\"", "\"<b>.0\"(\"a.py\":3:5)", "\"a..b\"(\"a.py\":3:5)", "unknown"] {
            assert_eq!(path_of(none), "", "{none}");
        }
    }
}
