//! Changes of the statements of `bundle.mlir`.

use crate::mutants::Mutant;

/// Adds changes of each number, operand, name and line.
pub(crate) fn add_mutants(file: &str, content: &[u8], all: &mut Vec<Mutant>) {
    let text = std::str::from_utf8(content).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let names = defined_values(text);
    for (number, line) in lines.iter().enumerate() {
        let field = format!("bundle.mlir {}", statement_kind(line));
        let mut add = |kind: &'static str, to: String| {
            let changed: String =
                lines[..number].iter().copied().chain([&*to]).chain(lines[number + 1..].iter().copied()).collect();
            if changed != text {
                let place = format!("line {}", number + 1);
                all.push(Mutant::from_file_change(
                    file,
                    (place, field.clone()),
                    kind,
                    to.trim().to_owned(),
                    changed.into_bytes(),
                ));
            }
        };
        add("dropped", String::new());
        add("duplicated", format!("{line}{line}"));
        if let Some(next) = lines.get(number + 1) {
            add("duplicated", format!("{line}{next}"));
        }
        add_number_mutants(line, &mut add);
        add_operand_mutants(line, &names, &mut add);
        add_list_mutants(line, &mut add);
    }
    add_line_swaps(file, text, &lines, all);
}

/// Returns the kind of statement in a line.
fn statement_kind(line: &str) -> &'static str {
    const WORDS: [&str; 10] = [
        "affine_map",
        "module",
        "func.func",
        "device_mem_allocate",
        "input_arg_extract",
        "arith.constant",
        "arith.addi",
        "affine.apply",
        "sdsc_execute",
        "scf.for",
    ];
    WORDS.into_iter().find(|word| line.contains(word)).unwrap_or(if line.contains("return") { "return" } else { "}" })
}

/// Returns the defined values, in order.
fn defined_values(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| Some(line.trim().strip_prefix('%')?.split_once(" = ")?.0)).collect()
}

/// Adds mutants that replace a number.
fn add_number_mutants(line: &str, add: &mut impl FnMut(&'static str, String)) {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let starts = bytes[at].is_ascii_digit()
            && !(at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || b"_%#".contains(&bytes[at - 1])));
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if starts && !bytes.get(end).is_some_and(u8::is_ascii_alphabetic) {
            let number: i64 = line[at..end].parse().unwrap();
            let mut with = |kind, other: i64| add(kind, format!("{}{other}{}", &line[..at], &line[end..]));
            with("off by one", number + 1);
            with("off by one", number - 1);
            for other in [0, 128, number + 128, number - 128, number * 2, number / 2] {
                with("other value", other);
            }
        }
        at = end.max(at + 1);
    }
}

/// Adds mutants that replace an operand by another value.
fn add_operand_mutants(line: &str, names: &[&str], add: &mut impl FnMut(&'static str, String)) {
    let from = line.find(" = ").map_or(0, |at| at + 3);
    for (at, _) in line.match_indices('%').filter(|(at, _)| *at >= from) {
        let end =
            at + 1 + line[at + 1..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let Some(position) = names.iter().position(|name| *name == &line[at + 1..end]) else { continue };
        let neighbours = [position.checked_sub(1), Some(position + 1)];
        for other in neighbours.into_iter().flatten().filter_map(|other| names.get(other)) {
            add("value of its neighbour", format!("{}%{other}{}", &line[..at], &line[end..]));
        }
    }
}

/// Adds mutants of the lists of an execute or a map: two neighbors swapped, one removed, or one repeated.
fn add_list_mutants(line: &str, add: &mut impl FnMut(&'static str, String)) {
    for (open, close) in [('(', ')'), ('[', ']')] {
        let Some(from) = line.find(open) else { continue };
        let Some(to) = line[from..].find(close).map(|end| from + end) else { continue };
        let items: Vec<&str> = line[from + 1..to].split(", ").collect();
        if items.len() < 2 {
            continue;
        }
        let mut with =
            |kind, items: Vec<&str>| add(kind, format!("{}{}{}", &line[..=from], items.join(", "), &line[to..]));
        for at in 0..items.len() {
            let mut fewer = items.clone();
            fewer.remove(at);
            with("dropped", fewer);
            let mut twice = items.clone();
            twice.insert(at, items[at]);
            with("duplicated", twice);
            if at + 1 < items.len() {
                let mut swapped = items.clone();
                swapped.swap(at, at + 1);
                with("swapped", swapped);
            }
        }
    }
}

/// Adds mutants that swap adjacent lines.
fn add_line_swaps(file: &str, text: &str, lines: &[&str], all: &mut Vec<Mutant>) {
    for at in 0..lines.len().saturating_sub(1) {
        let mut swapped = lines.to_vec();
        swapped.swap(at, at + 1);
        let content: String = swapped.concat();
        // The order of definitions is irrelevant as long as each precedes its uses.
        if content != text && lines[at].contains("sdsc_execute") {
            let (place, field) = (format!("line {}", at + 1), format!("bundle.mlir {}", statement_kind(lines[at])));
            all.push(Mutant::from_file_change(
                file,
                (place, field),
                "swapped",
                lines[at + 1].trim().to_owned(),
                content.into_bytes(),
            ));
        }
    }
}
