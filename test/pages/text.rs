//! Prose of a Markdown page: paragraphs, list items and table cells, without code.

/// Kind of a block of prose.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum BlockKind {
    Heading,
    /// A paragraph or a list item.
    Paragraph,
    /// A cell of a table.
    Cell,
}

/// Paragraph, list item or cell as one text.
#[derive(Debug)]
pub(super) struct ProseBlock {
    pub(super) kind: BlockKind,
    /// Line of the first word, from 1.
    pub(super) line: usize,
    /// The text on one line. A code span is the single word `CODE`, a link is its text.
    pub(super) text: String,
}

/// Placeholder for a code span in the text of a block.
pub(super) const CODE: &str = "CODE";

/// Returns the lines of a page that are not in code fences, HTML comments or pictures, with their numbers from 1.
pub(super) fn prose_lines(page: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut closing: Option<&str> = None;
    for (number, line) in (1..).zip(page.lines()) {
        let start = line.trim_start();
        if let Some(end) = closing {
            if (end == "```" && start.starts_with(end)) || (end != "```" && line.contains(end)) {
                closing = None;
            }
            continue;
        }
        closing = [("```", "```"), ("<!--", "-->"), ("<svg", "</svg>")]
            .into_iter()
            .find(|(begin, _)| start.starts_with(begin))
            .map(|(_, end)| end);
        match closing {
            None => lines.push((number, line)),
            Some(end) if end != "```" && line.contains(end) => closing = None,
            Some(_) => {}
        }
    }
    lines
}

/// Returns whether `line` begins a list item.
fn is_list_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    line.starts_with("* ") || line.starts_with("- ") || (digits.len() < line.len() && digits.starts_with(". "))
}

/// Removes the marker of a list item or of a quotation.
fn strip_mark(line: &str) -> &str {
    let line = line.trim_start_matches("> ").trim_start_matches('>').trim_start();
    if is_list_item(line) { line.split_once(' ').map_or("", |(_, rest)| rest) } else { line }
}

/// Splits a table row at the bars outside of code spans.
fn split_row(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_code = false;
    let mut previous = ' ';
    for letter in row.trim().trim_matches('|').chars() {
        is_code ^= letter == '`';
        if letter == '|' && !is_code && previous != '\\' {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(letter);
        }
        previous = letter;
    }
    cells
}

/// Replaces code spans by [`CODE`] and links by their text, and removes marks of emphasis.
pub(super) fn plain_text(text: &str) -> String {
    let mut plain = String::new();
    for (number, part) in text.split('`').enumerate() {
        plain.push_str(if number % 2 == 1 { CODE } else { part });
    }
    while let Some((before, after)) =
        plain.split_once("](").and_then(|(before, rest)| Some((before, rest.split_once(')')?.1)))
    {
        let opening = before.rfind('[').unwrap_or(0);
        plain =
            format!("{}{}{after}", &before[..opening].trim_end_matches('!'), before[opening..].trim_start_matches('['));
    }
    plain.replace(['*', '_'], "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the prose of a page in order.
pub(super) fn split_blocks(page: &str) -> Vec<ProseBlock> {
    let mut blocks: Vec<ProseBlock> = Vec::new();
    let mut is_open = false;
    let mut last_number = 0;
    for (number, line) in prose_lines(page) {
        let trimmed = line.trim();
        is_open &= number == last_number + 1;
        last_number = number;
        let heading = trimmed.strip_prefix('#');
        if trimmed.is_empty() || trimmed.starts_with('<') || trimmed.starts_with('|') || heading.is_some() {
            is_open = false;
        }
        if let Some(heading) = heading {
            blocks.push(ProseBlock {
                kind: BlockKind::Heading,
                line: number,
                text: heading.trim_start_matches('#').trim().to_owned(),
            });
        } else if trimmed.starts_with('|') {
            let is_rule = trimmed.chars().all(|letter| ['|', '-', ':', ' '].contains(&letter));
            let cells = split_row(trimmed).into_iter().filter(|_| !is_rule);
            blocks.extend(cells.map(|text| ProseBlock { kind: BlockKind::Cell, line: number, text }));
        } else if !trimmed.is_empty() && !trimmed.starts_with('<') {
            match blocks.last_mut() {
                Some(block) if is_open && !is_list_item(trimmed) => {
                    block.text = format!("{} {}", block.text, strip_mark(trimmed))
                }
                _ => blocks.push(ProseBlock {
                    kind: BlockKind::Paragraph,
                    line: number,
                    text: strip_mark(trimmed).to_owned(),
                }),
            }
            is_open = true;
        }
    }
    blocks.iter_mut().for_each(|block| block.text = plain_text(&block.text));
    blocks
}

#[test]
fn splits_page_into_paragraphs_items_and_cells() {
    let page = "# A `b` title\n\nOne [two](three.md)\nfour.\n* five `six seven`\n  eight\n1. nine\n\n```text\nten\n```\n<!-- eleven\n\ntwelve -->\n\
        | a | `b | c` |\n|---|---|\n<svg>\nx\n</svg>\n> thirteen ![picture](p.png)\n";
    let found: Vec<(BlockKind, usize, String)> =
        split_blocks(page).into_iter().map(|block| (block.kind, block.line, block.text)).collect();
    let expected = [
        (BlockKind::Heading, 1, "A CODE title"),
        (BlockKind::Paragraph, 3, "One two four."),
        (BlockKind::Paragraph, 5, "five CODE eight"),
        (BlockKind::Paragraph, 7, "nine"),
        (BlockKind::Cell, 15, "a"),
        (BlockKind::Cell, 15, "CODE"),
        (BlockKind::Paragraph, 20, "thirteen picture"),
    ];
    assert_eq!(found, expected.map(|(kind, line, text)| (kind, line, text.to_owned())));
}
