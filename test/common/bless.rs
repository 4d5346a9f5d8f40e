//! Rewrites the expected output of the tests that `BLESS` names, and of no others: `BLESS=golden/add`,
//! `BLESS=pipeline,faults`.

use std::{env, fs, path::Path};

/// Returns whether `BLESS` names `what` or a prefix of it: a test program and one of its items, such as `golden/add`.
///
/// # Panics
///
/// `BLESS` is 1, which names nothing.
pub(crate) fn is_blessed(what: &str) -> bool {
    let names = env::var("BLESS").unwrap_or_default();
    assert_ne!(names, "1", "BLESS names what is written again, for instance BLESS={what}");
    matches_name(&names, what)
}

fn matches_name(names: &str, what: &str) -> bool {
    let mut names = names.split(',').map(|name| name.trim_end_matches('/')).filter(|name| !name.is_empty());
    names.any(|name| what.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Compares the text between two lines of a page with `wanted`, or writes it if `what` is blessed.
///
/// # Panics
///
/// The texts differ, or the page does not have the lines.
#[allow(dead_code, reason = "not every test program has a part of a page")]
pub(crate) fn expect_on_page(page: &str, [begin, end]: [&str; 2], wanted: &str, what: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let (head, rest) = text.split_once(begin).unwrap_or_else(|| panic!("{page} has no line {begin}"));
    let (found, tail) = rest.split_once(end).unwrap_or_else(|| panic!("{page} has no line {end}"));
    if is_blessed(what) {
        fs::write(&path, format!("{head}{begin}{wanted}{end}{tail}")).unwrap_or_else(|error| panic!("{page}: {error}"));
    } else {
        assert!(found == wanted, "{page} is out of date; BLESS={what} writes it. It should say:\n{wanted}");
    }
}

#[test]
fn matches_blessed_names() {
    assert!(
        matches_name("golden", "golden/add")
            && matches_name("faults,golden/add", "golden/add")
            && matches_name("golden/", "golden/add")
    );
    assert!(
        !matches_name("", "golden")
            && !matches_name("gold", "golden")
            && !matches_name("golden/add", "golden/sub")
            && !matches_name("golden/add", "golden")
    );
}
