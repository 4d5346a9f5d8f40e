//! Documentation of ops, attributes and types: the generated pages of `docs/reference/generated`, split per entry.

use std::{collections::BTreeMap, fmt::Write as _};

/// Generated reference page of each dialect.
const REFERENCE_PAGES: [&str; 5] = [
    include_str!("../../../docs/reference/generated/spyre.md"),
    include_str!("../../../docs/reference/generated/sdsc.md"),
    include_str!("../../../docs/reference/generated/sdscbundle.md"),
    include_str!("../../../docs/reference/generated/stablehlo.md"),
    include_str!("../../../docs/reference/generated/tm_tensor.md"),
];

/// Sections of an entry that are omitted: editors show HTML as text, and the other tables repeat the types.
const OMITTED_SECTIONS: [&str; 7] =
    ["Traits:", "Interfaces:", "Effects:", "Attributes:", "Operands:", "Results:", "Parameters:"];

/// Holder of a discardable attribute: where an attribute that no op defines may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AttributeHolder {
    /// Attribute dictionary of a function.
    Function,
    /// Attribute dictionary of an argument or a result of a function.
    Argument,
    /// Attribute dictionary of any op.
    Op,
}

/// Headings of the tables of discardable attributes.
const HOLDER_HEADINGS: [(&str, AttributeHolder); 3] = [
    ("Attributes of functions:", AttributeHolder::Function),
    ("Attributes of arguments and results:", AttributeHolder::Argument),
    ("Attributes of ops:", AttributeHolder::Op),
];

/// Attribute that an op or a function may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AttributeRow {
    pub(super) name: String,
    /// Type or syntax, such as `::spyre::WorkAttr` or `spyre.dims = ["M", "K"]`.
    pub(super) form: String,
    pub(super) text: String,
}

/// Documentation of an op, an attribute or a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReferenceEntry {
    /// Markdown: summary, syntax, description, constraints, examples.
    pub(super) text: String,
    /// Attributes of an op.
    pub(super) attributes: Vec<AttributeRow>,
    /// Whether an op has regions, whose braces are not an attribute dictionary.
    pub(super) has_regions: bool,
}

impl ReferenceEntry {
    /// Formats the documentation with its heading and its attributes.
    pub(super) fn to_markdown(&self, name: &str) -> String {
        let mut text = format!("### `{name}`\n\n{}", self.text);
        if !self.attributes.is_empty() {
            text += "\n\nAttributes:";
            for AttributeRow { name, text: meaning, .. } in &self.attributes {
                // Writing to a string does not fail.
                let _ = write!(text, "\n* `{name}`: {meaning}");
            }
        }
        text
    }
}

/// Documentation of all dialects.
#[derive(Debug, Default)]
pub(super) struct OpReference {
    /// Entries by name: `spyre.reduce`, `#spyre.layout`, `!sdscbundle.input_arg`.
    entries: BTreeMap<String, ReferenceEntry>,
    /// Discardable attributes, with their holders.
    attributes: Vec<(AttributeHolder, AttributeRow)>,
}

impl OpReference {
    /// Returns the documentation of the dialects of this build.
    pub(super) fn load() -> Self {
        let mut reference = Self::default();
        REFERENCE_PAGES.iter().for_each(|page| reference.read_page(page));
        reference
    }

    pub(super) fn entry(&self, name: &str) -> Option<&ReferenceEntry> {
        self.entries.get(name)
    }

    /// Returns the documentation of the attribute or type of an [`AttributeRow`], such as `::spyre::WorkAttr`.
    pub(super) fn find_entry_by_form(&self, form: &str) -> Option<(String, &ReferenceEntry)> {
        let (dialect, class) = form.trim_start_matches("::").split_once("::")?;
        let name = class_to_ir_name(dialect, class)?;
        self.entry(&name).map(|entry| (name, entry))
    }

    /// Returns the discardable attributes that a holder may have.
    pub(super) fn attributes_of(&self, holder: AttributeHolder) -> impl Iterator<Item = &AttributeRow> {
        self.attributes.iter().filter(move |(found, _)| *found == holder).map(|(_, row)| row)
    }

    /// Returns the discardable attribute with this name.
    pub(super) fn attribute(&self, name: &str) -> Option<&AttributeRow> {
        self.attributes.iter().map(|(_, row)| row).find(|row| row.name == name)
    }

    fn read_page(&mut self, page: &str) {
        let dialect =
            page.lines().find_map(|line| line.strip_prefix("# '")?.split_once('\'')).map_or("", |(name, _)| name);
        let mut section: Option<(String, usize, Vec<&str>)> = None;
        let (mut is_code, mut holder) = (false, None);
        for line in page.lines() {
            is_code ^= line.starts_with("```");
            let level = line.bytes().take_while(|byte| *byte == b'#').count();
            let is_heading = !is_code && level > 0 && line[level..].starts_with(' ');
            if is_heading && section.as_ref().is_none_or(|(_, own, _)| level <= *own) {
                self.add_section(section.take());
                holder = None;
                section = parse_heading(dialect, &line[level + 1..]).map(|name| (name, level, Vec::new()));
            } else if let Some((_, _, lines)) = &mut section {
                lines.push(line);
            } else if let Some((_, found)) = HOLDER_HEADINGS.iter().find(|(title, _)| *title == line) {
                holder = Some(*found);
            } else if let Some(holder) = holder {
                self.attributes.extend(parse_table_rows(line).into_iter().map(|row| (holder, row)));
            }
        }
        self.add_section(section);
    }

    fn add_section(&mut self, section: Option<(String, usize, Vec<&str>)>) {
        let Some((name, _, lines)) = section else { return };
        let attributes = lines.iter().filter_map(|line| parse_attribute_row(line)).collect();
        let has_regions = lines.iter().any(|line| line.contains("`SingleBlock`") || line.contains("`NoTerminator`"));
        self.entries.insert(name, ReferenceEntry { text: filter_section_text(&lines), attributes, has_regions });
    }
}

/// Returns the name of the op, attribute or type that a heading introduces.
fn parse_heading(dialect: &str, heading: &str) -> Option<String> {
    let op = heading.strip_prefix('`').and_then(|rest| rest.split_once('`')).map(|(name, _)| name.to_owned());
    op.or_else(|| class_to_ir_name(dialect, heading))
}

/// Returns the IR name of a C++ class: `#spyre.tile_hint` for `TileHintAttr`.
fn class_to_ir_name(dialect: &str, class: &str) -> Option<String> {
    let (sigil, stem) = match (class.strip_suffix("Attr"), class.strip_suffix("Type")) {
        (Some(stem), _) => ('#', stem),
        (None, Some(stem)) => ('!', stem),
        (None, None) => return None,
    };
    let is_name = !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mut name = format!("{sigil}{dialect}.");
    for (position, letter) in stem.chars().enumerate() {
        if letter.is_ascii_uppercase() && position > 0 {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    is_name.then_some(name)
}

/// Returns the text of a section without [`OMITTED_SECTIONS`] and without repeated empty lines.
fn filter_section_text(lines: &[&str]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut is_left_out = false;
    for line in lines {
        let title = line.trim_start_matches('#').trim_start();
        if OMITTED_SECTIONS.iter().any(|start| title.starts_with(start)) {
            is_left_out = true;
        } else if line.starts_with("Syntax:") || line.starts_with("Example") {
            is_left_out = false;
        }
        let is_repeated = line.is_empty() && kept.last().is_none_or(|last| last.is_empty());
        if !is_left_out && !is_repeated {
            kept.push(line);
        }
    }
    kept.join("\n").trim_end().to_owned()
}

/// Parses a row of the HTML table of the attributes of an op.
fn parse_attribute_row(line: &str) -> Option<AttributeRow> {
    let cells = line.strip_prefix("<tr><td><code>")?.strip_suffix("</td></tr>")?;
    let (name, rest) = cells.split_once("</code></td><td>")?;
    let (form, text) = rest.split_once("</td><td>")?;
    Some(AttributeRow { name: name.to_owned(), form: form.to_owned(), text: text.to_owned() })
}

/// Parses a row of a table of discardable attributes; a row may describe several attributes.
fn parse_table_rows(line: &str) -> Vec<AttributeRow> {
    let cells =
        line.strip_prefix("| `").and_then(|rest| rest.strip_suffix(" |")).and_then(|rest| rest.split_once(" | "));
    let Some((forms, text)) = cells else { return Vec::new() };
    let forms = forms.split("`, `").map(|form| form.trim_end_matches('`'));
    let row = |form: &str| AttributeRow {
        name: form.split(' ').next().unwrap_or(form).to_owned(),
        form: form.to_owned(),
        text: text.to_owned(),
    };
    forms.map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_text_and_attributes_of_op_without_tables() {
        let reference = OpReference::load();
        let reduce = reference.entry("spyre.reduce").unwrap();
        assert!(
            reduce.text.starts_with("_Reduce along dimensions, which remain with size 1_\n\nThe iteration space"),
            "{}",
            reduce.text
        );
        assert!(reduce.text.contains("(reduce_c2)") && reduce.text.ends_with("```"), "{}", reduce.text);
        assert!(!["Traits", "<table>", "Operand"].iter().any(|word| reduce.text.contains(word)), "{}", reduce.text);
        assert_eq!(reduce.attributes[1].name, "reduced");
        let markdown = reduce.to_markdown("spyre.reduce");
        assert!(
            markdown.starts_with("### `spyre.reduce`\n\n_")
                && markdown.contains("\n* `work`: Split the iteration space"),
            "{markdown}"
        );
    }

    #[test]
    fn reads_entries_of_all_dialects_and_marks_ops_with_regions() {
        let reference = OpReference::load();
        for name in [
            "spyre.yield",
            "sdsc.op",
            "sdscbundle.sdsc_execute",
            "stablehlo.sort",
            "tm_tensor.topk",
            "#sdsc.dim",
            "#spyre.tile_hint",
        ] {
            assert!(reference.entry(name).is_some_and(|entry| !entry.text.is_empty()), "{name}");
        }
        assert!(reference.entry("!sdscbundle.input_arg").is_some());
        let has_regions = |name: &str| reference.entry(name).unwrap().has_regions;
        assert!(has_regions("spyre.hint") && has_regions("sdsc.program") && !has_regions("spyre.reduce"));
        let (name, work) = reference.find_entry_by_form("::spyre::WorkAttr").unwrap();
        assert!(name == "#spyre.work" && work.text.contains("order"), "{}", work.text);
        assert_eq!(reference.find_entry_by_form("::mlir::ArrayAttr"), None);
    }

    #[test]
    fn separates_attributes_of_functions_arguments_and_ops() {
        let reference = OpReference::load();
        let names = |holder| reference.attributes_of(holder).map(|row| row.name.as_str()).collect::<Vec<_>>();
        assert!(
            names(AttributeHolder::Function).contains(&"spyre.dim_sizes")
                && names(AttributeHolder::Function).contains(&"spyre.knobs")
        );
        assert!(
            names(AttributeHolder::Argument).contains(&"spyre.dims")
                && !names(AttributeHolder::Argument).contains(&"spyre.dim_sizes")
        );
        assert!(names(AttributeHolder::Op).contains(&"spyre.for_loop"));
        let dims = reference.attribute("spyre.dims").unwrap();
        assert_eq!(
            (dims.form.as_str(), dims.text.as_str()),
            (r#"spyre.dims = ["M", "K"]"#, "dimension names of an argument")
        );
    }
}
