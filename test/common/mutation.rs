//! Texts with a few changes, each determined by a number.

/// Numbers at which arithmetic breaks.
const NUMBERS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "2",
    "3",
    "63",
    "65",
    "127",
    "1000",
    "100000",
    "2147483648",
    "4611686018427387904",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e308",
];

/// Words that can replace each other in one of the formats.
const WORDS: [&str; 12] = ["null", "true", "[]", "{}", "\"\"", "\"../x\"", "\"/x\"", "?", "f32", "i64", "NaN", "\u{0}"];

/// Advances `state` and returns the next number of splitmix64.
pub(crate) fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns a number below `end`.
pub(crate) fn below(end: usize, state: &mut u64) -> usize {
    usize::try_from(mix(state) % end.max(1) as u64).unwrap()
}

/// Returns a text with one to three changes; `other` is a text from which words are taken.
pub(crate) fn mutant(text: &[u8], other: &[u8], state: &mut u64) -> Vec<u8> {
    let mut mutant = text.to_vec();
    for _ in 0..=below(3, state) {
        mutant = match below(12, state) {
            0..=3 => replace_word(&mutant, other, state),
            4..=6 => replace_number(&mutant, state),
            7 => change_line(&mutant, state),
            8 => remove_span(&mutant, state),
            9 => replace_byte(&mutant, state),
            10 => insert_brackets(&mutant, state),
            _ => replace_name(&mutant, state),
        };
    }
    mutant
}

/// Returns the spans of words: letters and digits, or one other character.
fn find_words(text: &[u8]) -> Vec<(usize, usize)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let length = text[at..].iter().take_while(|byte| is_part(**byte)).count().max(1);
        if !text[at].is_ascii_whitespace() {
            found.push((at, at + length));
        }
        at += length;
    }
    found
}

fn replace_span(text: &[u8], (start, end): (usize, usize), by: &[u8]) -> Vec<u8> {
    [&text[..start], by, &text[end..]].concat()
}

fn pick_span(spans: &[(usize, usize)], state: &mut u64) -> (usize, usize) {
    spans.get(below(spans.len(), state)).copied().unwrap_or((0, 0))
}

/// Replaces a word by a word of this text or of another one.
fn replace_word(text: &[u8], other: &[u8], state: &mut u64) -> Vec<u8> {
    let from = if below(2, state) == 0 { text } else { other };
    let (start, end) = pick_span(&find_words(from), state);
    replace_span(text, pick_span(&find_words(text), state), &from[start..end])
}

fn replace_number(text: &[u8], state: &mut u64) -> Vec<u8> {
    let numbers: Vec<(usize, usize)> =
        find_words(text).into_iter().filter(|(start, _)| text[*start].is_ascii_digit()).collect();
    replace_span(text, pick_span(&numbers, state), NUMBERS[below(NUMBERS.len(), state)].as_bytes())
}

fn replace_name(text: &[u8], state: &mut u64) -> Vec<u8> {
    replace_span(text, pick_span(&find_words(text), state), WORDS[below(WORDS.len(), state)].as_bytes())
}

/// Drops a line, repeats it, or swaps it with another one.
fn change_line(text: &[u8], state: &mut u64) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let (one, other, how) = (below(lines.len(), state), below(lines.len(), state), below(3, state));
    match how {
        0 if !lines.is_empty() => drop(lines.remove(one)),
        1 if !lines.is_empty() => lines.insert(other, lines[one]),
        _ if !lines.is_empty() => lines.swap(one, other),
        _ => {}
    }
    lines.concat()
}

fn remove_span(text: &[u8], state: &mut u64) -> Vec<u8> {
    let start = below(text.len(), state);
    let most = if below(4, state) == 0 { text.len() } else { 40 };
    replace_span(text, (start, (start + below(most, state)).min(text.len())), b"")
}

fn replace_byte(text: &[u8], state: &mut u64) -> Vec<u8> {
    let at = below(text.len(), state);
    replace_span(text, (at, (at + below(2, state)).min(text.len())), &[mix(state).to_le_bytes()[0]])
}

/// Inserts nested brackets, mostly a few.
fn insert_brackets(text: &[u8], state: &mut u64) -> Vec<u8> {
    let brackets = [("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("tuple<", ">"), ("-", "")];
    let (open, close) = brackets[below(brackets.len(), state)];
    let depth = [1, 2, 10, 20_000][below(4, state)];
    let (start, end) = pick_span(&find_words(text), state);
    replace_span(
        text,
        (start, end),
        &[open.repeat(depth).as_bytes(), &text[start..end], close.repeat(depth).as_bytes()].concat(),
    )
}
