//! Module path of an op within its model, read from the names in locations.

use super::{Location, is_unknown_location, location_form::LocationForm};

/// Returns the path of the module that an operation belongs to, such as `layers.3.self_attn`: the outermost name around
/// a location that is a module path. Returns an empty text if there is none. Front ends write it as
/// `loc("layers.3.self_attn"("model.py":7:1))`.
#[must_use]
pub fn module_path(location: Location<'_>) -> String {
    find_module_path(location).unwrap_or_default()
}

fn find_module_path(location: Location<'_>) -> Option<String> {
    match LocationForm::from_location(location) {
        LocationForm::Name { name, inner } if !is_unknown_location(inner) && is_module_path(&name) => Some(name),
        LocationForm::Name { inner, .. } => find_module_path(inner),
        LocationForm::Call { callee, caller } => find_module_path(callee).or_else(|| find_module_path(caller)),
        LocationForm::Fused { parts, .. } => parts.into_iter().find_map(find_module_path),
        LocationForm::File(_) | LocationForm::Other => None,
    }
}

/// Returns whether a name consists of identifiers and numbers separated by dots.
fn is_module_path(name: &str) -> bool {
    let is_segment =
        |segment: &str| !segment.is_empty() && segment.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    name.split('.').all(is_segment)
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
