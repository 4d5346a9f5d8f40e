//! Device functions: finds the positions where the syntax permits them, and formats their rows of the function table.

use super::cursor::Cursor;
use machine::{DeviceFunction, Family};

/// Returns the device functions that are legal at the position; empty if the position takes none.
pub(super) fn functions_at(cursor: &Cursor<'_>) -> Vec<&'static DeviceFunction> {
    let of = |is_legal: fn(&DeviceFunction) -> bool| {
        DeviceFunction::all().iter().filter(|function| is_legal(function)).collect()
    };
    let before = cursor.before.trim_end();
    let is_after_blank = before.len() < cursor.before.len();
    match (cursor.is_in_string, cursor.op) {
        (false, _) if is_after_blank && before.ends_with("spyre.pointwise") => {
            of(|function| function.family == Family::Pointwise)
        }
        (false, _) if is_after_blank && before.ends_with("spyre.reduce") => {
            of(|function| function.family == Family::Reduce)
        }
        (true, Some("sdsc.op")) if before.ends_with("sdsc.op \"") => of(|_| true),
        (true, Some(op)) if before.ends_with("function = \"") => match op {
            "spyre.gather" => of(|function| {
                function.family == Family::Pointwise && function.num_operands == 1 && function.constants.is_empty()
            }),
            "spyre.pointwise" => of(|function| function.family == Family::Pointwise),
            "spyre.reduce" => of(|function| function.family == Family::Reduce),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns a summary of a function, such as `elementwise, 2 operands`.
pub(super) fn summarize(function: &DeviceFunction) -> String {
    let kind = match function.family {
        Family::Pointwise => "elementwise",
        Family::Reduce => "reduction",
        Family::Matmul => "matmul",
        Family::Copy => "data movement",
        Family::Gather => "gather",
    };
    let num_operands = function.num_operands;
    format!("{kind}, {num_operands} {}", if num_operands == 1 { "operand" } else { "operands" })
}

/// Formats the row of the function table as Markdown.
pub(super) fn to_markdown(function: &DeviceFunction) -> String {
    let formats = if function.fp32 { "16-bit format, f32" } else { "16-bit format only" };
    let place = if function.lx { "LX or HBM" } else { "HBM only" };
    let constants = match function.constants {
        [] => "none".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    };
    let name = function.name;
    format!(
        "### `{name}`\n\nDevice function: {}\n\n* formats: {formats}\n* result in: {place}\n* constants: {constants}",
        summarize(function)
    )
}

#[cfg(test)]
mod tests {
    use super::{super::cursor::tests::parse_marked_text, *};

    fn names(text: &str) -> Vec<&'static str> {
        let (document, position) = parse_marked_text(text);
        functions_at(&Cursor::from_position(&document, position).unwrap())
            .iter()
            .map(|function| function.name)
            .collect()
    }

    #[test]
    fn offers_functions_of_op_family() {
        let pointwise = names("  %0 = spyre.pointwise e|");
        assert!(
            pointwise.contains(&"exp") && pointwise.contains(&"gelufwd") && !pointwise.contains(&"sum"),
            "{pointwise:?}"
        );
        let reduce = names("%1 = spyre.reduce |");
        assert!(reduce.contains(&"sum") && !reduce.contains(&"exp"), "{reduce:?}");
        assert_eq!(names("%1 = \"spyre.reduce\"(%0) <{function = \"s|\"}>"), reduce);
        assert!(names("sdsc.op \"|").contains(&"max"));
    }

    #[test]
    fn offers_unary_functions_without_constants_for_gather() {
        let gather = names("%r = spyre.gather(%t, %i) dim 0 {function = \"|");
        assert!(gather.contains(&"exp") && !gather.contains(&"add") && !gather.contains(&"clip"), "{gather:?}");
    }

    #[test]
    fn offers_no_functions_elsewhere() {
        for text in [
            "%0 = spyre.pointwise|",
            "%0 = spyre.pointwise exp(|",
            "%0 = spyre.pointwise exp(%x) {dims = [\"|",
            "return |",
        ] {
            assert!(names(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn describes_formats_memory_and_constants() {
        let clip = DeviceFunction::find_pointwise("clip").unwrap();
        let text = to_markdown(clip);
        assert!(text.starts_with("### `clip`\n\nDevice function: elementwise, 1 operand\n"), "{text}");
        assert!(
            text.contains("16-bit format only") && text.contains("HBM only") && !text.contains("constants: none"),
            "{text}"
        );
    }
}
