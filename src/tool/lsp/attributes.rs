//! Attributes and dimension names: finds the positions where the syntax permits them, and the names that exist.

use super::{
    cursor::{Cursor, OpenBracket},
    op_reference::{AttributeHolder, AttributeRow, OpReference},
};
use std::collections::BTreeSet;

/// Parameters of `spyre.hint` that are lists of requests, each of dimension names with counts.
const HINT_LISTS: [&str; 4] = ["tiles", "work_div", "slices", "num_tiles_per_dim"];

/// Syntax of a dimension name at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DimNameSyntax {
    /// Inside quotes that the text contains already.
    Quoted,
    /// Without quotes in the text; the completion adds them.
    Unquoted,
    /// Without quotes.
    Bare,
    /// Without quotes, before a number: `M = 2`.
    Counted,
}

/// Returns the attributes that may be added at the position, without those that are present.
pub(super) fn attributes_at<'r>(cursor: &Cursor<'_>, reference: &'r OpReference) -> Vec<&'r AttributeRow> {
    let Some((dictionary, holder)) = find_dictionary(cursor, reference) else { return Vec::new() };
    if cursor.is_in_string || dictionary.item.contains('=') {
        return Vec::new();
    }
    let of_op = cursor.op.and_then(|op| reference.entry(op)).filter(|_| holder == AttributeHolder::Op);
    let own = of_op.into_iter().flat_map(|entry| &entry.attributes);
    let present: Vec<&str> =
        dictionary.content.split(',').filter_map(|item| item.split_once('=')).map(|(name, _)| name.trim()).collect();
    own.chain(reference.attributes_of(holder)).filter(|row| !present.contains(&row.name.as_str())).collect()
}

/// Returns the attribute named `name` that the dictionary around the position may contain.
pub(super) fn find_attribute<'r>(
    cursor: &Cursor<'_>,
    reference: &'r OpReference,
    name: &str,
) -> Option<&'r AttributeRow> {
    let (_, holder) = find_dictionary(cursor, reference)?;
    let of_op = cursor.op.and_then(|op| reference.entry(op)).filter(|_| holder == AttributeHolder::Op);
    of_op.and_then(|entry| entry.attributes.iter().find(|row| row.name == name))
}

/// Returns the attribute dictionary around the position, and its holder.
fn find_dictionary<'c, 't>(
    cursor: &'c Cursor<'t>,
    reference: &OpReference,
) -> Option<(&'c OpenBracket<'t>, AttributeHolder)> {
    let (dictionary, outer) = cursor.openings.split_last()?;
    let is_named = dictionary.before.ends_with("attributes");
    if dictionary.bracket != '{' || dictionary.before.ends_with('=') {
        return None;
    }
    let holder = match cursor.op? {
        "func.func" if outer.last().is_some_and(|opening| opening.bracket == '(') => AttributeHolder::Argument,
        "func.func" if is_named => AttributeHolder::Function,
        "func.func" => return None,
        op => {
            let entry = reference.entry(op)?;
            (!entry.has_regions || is_named).then_some(AttributeHolder::Op)?
        }
    };
    Some((dictionary, holder))
}

/// Returns the syntax of a dimension name at the position; `None` if the position takes no dimension name.
pub(super) fn find_dim_name_syntax(cursor: &Cursor<'_>) -> Option<DimNameSyntax> {
    let opening = cursor.innermost_bracket()?;
    let names = |before: &str, name: &str| {
        before
            .strip_suffix(name)
            .is_some_and(|rest| !rest.ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_'))
    };
    let is_value = opening.item.contains('=');
    let before_value = opening.before.strip_suffix('=').map(str::trim_end);
    match opening.bracket {
        '[' if before_value.is_some_and(|before| names(before, "dims")) => {
            Some(if cursor.is_in_string { DimNameSyntax::Quoted } else { DimNameSyntax::Unquoted })
        }
        _ if cursor.is_in_string || is_value => None,
        '{' => before_value.filter(|before| before.ends_with("spyre.dim_sizes")).map(|_| DimNameSyntax::Counted),
        '(' if names(opening.before, "recompute") => Some(DimNameSyntax::Bare),
        '(' => HINT_LISTS.iter().any(|request| names(opening.before, request)).then_some(DimNameSyntax::Counted),
        // The parameters of both attributes begin with the number of the request.
        '<' if opening.content.contains(',') => {
            let is_hint = opening.before.ends_with("#spyre.tile_hint") || opening.before.ends_with("#spyre.work_hint");
            is_hint.then_some(DimNameSyntax::Counted)
        }
        _ => None,
    }
}

/// Returns the dimension names that a text assigns to arguments and ops, and those in `spyre.dim_sizes`.
pub(super) fn collect_dimension_names(text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for list in text.split("dims = [").skip(1).filter_map(|rest| rest.split(']').next()) {
        names.extend(list.split('"').skip(1).step_by(2));
    }
    for sizes in text.split("spyre.dim_sizes = {").skip(1).filter_map(|rest| rest.split('}').next()) {
        names.extend(
            sizes.split(',').filter_map(|size| size.split_once('=')).map(|(name, _)| name.trim().trim_matches('"')),
        );
    }
    // An empty name marks a dimension without a name, and `*` joins names.
    names.into_iter().filter(|name| !name.is_empty() && !name.contains(['*', '\n'])).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::cursor::tests::parse_marked_text, *};

    fn attributes(text: &str) -> Vec<String> {
        let (document, position) = parse_marked_text(text);
        let reference = OpReference::load();
        attributes_at(&Cursor::from_position(&document, position).unwrap(), &reference)
            .iter()
            .map(|row| row.name.clone())
            .collect()
    }

    fn syntax_at(text: &str) -> Option<DimNameSyntax> {
        let (document, position) = parse_marked_text(text);
        find_dim_name_syntax(&Cursor::from_position(&document, position).unwrap())
    }

    #[test]
    fn offers_op_attributes_that_are_not_present() {
        let found = attributes("%0 = spyre.pointwise exp(%x) {work = #spyre.work<[1, 2]>, |");
        assert!(
            found.iter().any(|name| name == "place") && found.iter().any(|name| name == "spyre.for_loop"),
            "{found:?}"
        );
        assert!(!found.iter().any(|name| name == "work" || name == "spyre.dims"), "{found:?}");
        assert!(attributes("%0 = \"spyre.reduce\"(%x) <{|").contains(&"reduced".to_owned()));
    }

    #[test]
    fn offers_dialect_attributes_of_functions_and_arguments() {
        assert!(attributes("func.func @f(%x: tensor<4xf16> {|").contains(&"spyre.dims".to_owned()));
        let of_function = attributes("func.func @f(%x: tensor<4xf16> {spyre.dims = [\"M\"]}) attributes {|");
        assert!(
            of_function.contains(&"spyre.dim_sizes".to_owned()) && !of_function.contains(&"spyre.dims".to_owned()),
            "{of_function:?}"
        );
    }

    #[test]
    fn offers_no_attributes_in_regions_values_strings_and_other_ops() {
        for text in [
            "func.func @f() {|",
            "spyre.hint tiles(M = 2) {|",
            "spyre.copy %x {place = |",
            "spyre.copy %x {place = #spyre.place<hbm, \"|",
            "func.func @f() attributes {spyre.dim_sizes = {|",
            "%0 = arith.constant {|",
            "|",
        ] {
            assert!(attributes(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn offers_dimension_names_in_lists_and_before_counts() {
        assert_eq!(syntax_at("func.func @f(%x: tensor<4xf16> {spyre.dims = [\"M\", \"|"), Some(DimNameSyntax::Quoted));
        assert_eq!(syntax_at("spyre.copy %x {dims = [|"), Some(DimNameSyntax::Unquoted));
        assert_eq!(syntax_at("%0 = spyre.hint tiles(M = 2, |"), Some(DimNameSyntax::Counted));
        assert_eq!(syntax_at("%0 = spyre.hint work_div(|"), Some(DimNameSyntax::Counted));
        assert_eq!(syntax_at("%0 = spyre.hint tiles(M = 2) recompute(|"), Some(DimNameSyntax::Bare));
        assert_eq!(syntax_at("func.func @f() attributes {spyre.dim_sizes = {|"), Some(DimNameSyntax::Counted));
        assert_eq!(syntax_at("spyre.copy %x {hints = [#spyre.tile_hint<0, |"), Some(DimNameSyntax::Counted));
        for text in [
            "spyre.copy %x {hints = [#spyre.tile_hint<|",
            "spyre.hint tiles(M = |",
            "spyre.reduce sum(%x) dims [|",
            "spyre.pointwise exp(|",
        ] {
            assert_eq!(syntax_at(text), None, "{text}");
        }
    }

    #[test]
    fn collects_names_from_arguments_ops_and_sizes() {
        let text = "func.func @f(%x: t {spyre.dims = [\"M\", \"K\"]}) attributes {spyre.dim_sizes = {N = 64, M = 4}}\n\
                    spyre.copy %x {dims = [\"\", \"B\", \"A*C\"]}";
        assert_eq!(collect_dimension_names(text).into_iter().collect::<Vec<_>>(), ["B", "K", "M", "N"]);
    }
}
