//! Module path of an op within its model, read from the names in locations.

use super::{Location, text::read_text};
use mlir_sys::{
    MlirLocation, mlirIdentifierStr, mlirLocationCallSiteGetCallee, mlirLocationCallSiteGetCaller, mlirLocationEqual,
    mlirLocationFusedGetLocations, mlirLocationFusedGetNumLocations, mlirLocationGetContext, mlirLocationIsACallSite,
    mlirLocationIsAFused, mlirLocationIsAName, mlirLocationNameGetChildLoc, mlirLocationNameGetName,
    mlirLocationUnknownGet,
};

/// Returns the path of the module that an operation belongs to, such as `layers.3.self_attn`: the outermost name around
/// a location that is a module path. Returns an empty text if there is none. Front ends write it as
/// `loc("layers.3.self_attn"("model.py":7:1))`.
#[must_use]
pub fn module_path(location: Location<'_>) -> String {
    // SAFETY: the location is alive as long as its context, of which the caller has a borrow.
    unsafe { find_module_path(location.to_raw()) }.unwrap_or_default()
}

/// # Safety
/// The context of the location is alive.
unsafe fn find_module_path(location: MlirLocation) -> Option<String> {
    // SAFETY: each getter is called on a location of its kind; the array of fused locations has as many entries as C
    // reports.
    unsafe {
        if mlirLocationIsAName(location) {
            let inner = mlirLocationNameGetChildLoc(location);
            let is_alone = mlirLocationEqual(inner, mlirLocationUnknownGet(mlirLocationGetContext(location)));
            let name = read_text(mlirIdentifierStr(mlirLocationNameGetName(location)));
            return if !is_alone && is_module_path(&name) { Some(name.into_owned()) } else { find_module_path(inner) };
        }
        if mlirLocationIsACallSite(location) {
            return find_module_path(mlirLocationCallSiteGetCallee(location))
                .or_else(|| find_module_path(mlirLocationCallSiteGetCaller(location)));
        }
        if mlirLocationIsAFused(location) {
            return fused_locations(location).into_iter().find_map(|part| find_module_path(part));
        }
        None
    }
}

/// Returns whether a name consists of identifiers and numbers separated by dots.
fn is_module_path(name: &str) -> bool {
    let is_segment =
        |segment: &str| !segment.is_empty() && segment.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    name.split('.').all(is_segment)
}

/// # Safety
/// The location is a fused one, and its context is alive.
pub(super) unsafe fn fused_locations(location: MlirLocation) -> Vec<MlirLocation> {
    // SAFETY: the array of fused locations has as many entries as C reports.
    unsafe {
        let count = usize::try_from(mlirLocationFusedGetNumLocations(location)).unwrap_or_default();
        let mut parts = vec![MlirLocation { ptr: std::ptr::null() }; count];
        mlirLocationFusedGetLocations(location, parts.as_mut_ptr());
        parts
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
    fn returns_outermost_name_that_is_a_module_path() {
        let session = create_session();
        let path_of = |location: &str| {
            module_path(Module::parse(&session, &format!("module {{}} loc({location})")).unwrap().op().loc())
        };
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
