//! Checks that the traffic in the README equals the table that `cargo xtask plans` writes.

use super::{expect_none, read_file};

/// Rows of the README's table: their prefix, and the case of the measured table.
const ROWS: [(&str, &str); 5] = [
    ("| attention,", "attn_plain3d_32x1024x128_f16"),
    ("| causal attention,", "sdpa_causal_1x32x1024x128_f16"),
    ("| RMS norm,", "rmsnorm_2048x4096_f16"),
    ("| SwiGLU, 2,048 tokens,", "swiglu_m2048_h4096_f12800_f16"),
    ("| SwiGLU, 512 tokens,", "swigluT_m512_h4096_f12800_f16"),
];

/// HBM bytes of a case: torch-spyre's plan, ours, and the lower bound.
struct CaseTraffic {
    case: String,
    torch_spyre: u64,
    here: u64,
    bound: u64,
}

/// Reads the measured table: `| case | torch-spyre | here | compulsory | bound | ... |`.
fn read_measured(page: &str) -> Vec<CaseTraffic> {
    let table = page.split("<!-- plans: begin -->").nth(1).and_then(|rest| rest.split("<!-- plans: end -->").next());
    let rows = table.unwrap_or_default().lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let bytes = |column: usize| cells.get(column).and_then(|cell| cell.parse().ok());
        Some(CaseTraffic {
            case: (*cells.first()?).to_owned(),
            torch_spyre: bytes(1)?,
            here: bytes(2)?,
            bound: bytes(4)?,
        })
    });
    rows.collect()
}

/// Formats bytes as MiB, with a decimal below 100.
fn format_mib(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    let whole = mib.round() as u64;
    match whole {
        0..100 => format!("{mib:.1}"),
        100..1000 => whole.to_string(),
        _ => format!("{},{:03}", whole / 1000, whole % 1000),
    }
}

/// Returns the figures of the README that differ from the table.
fn find_outdated(readme: &str, table: &[CaseTraffic]) -> Vec<String> {
    let mut expected: Vec<String> = Vec::new();
    for (start, case) in ROWS {
        let Some(traffic) = table.iter().find(|traffic| traffic.case == case) else {
            expected.push(format!("a measured case {case}"));
            continue;
        };
        let cells = [traffic.torch_spyre, traffic.here, traffic.bound].map(format_mib).join(" | ");
        if !readme.lines().any(|line| line.starts_with(start) && line.ends_with(&format!(" | {cells} |"))) {
            expected.push(format!("{start} ... | {cells} |"));
        }
    }
    let count = |is_counted: fn(&CaseTraffic) -> bool| table.iter().filter(|traffic| is_counted(traffic)).count();
    let less = count(|traffic| traffic.here < traffic.torch_spyre);
    let same = count(|traffic| traffic.here == traffic.torch_spyre);
    let more = table.len() - less - same;
    let counts = format!("{less} move less than torch-spyre's plan, {same} the same, and {more}");
    let sentence = format!("Of {} programs, {counts}", table.len());
    if !readme.contains(&sentence) {
        expected.push(sentence);
    }
    expected
}

#[test]
fn states_measured_traffic_in_readme() {
    let table = read_measured(&read_file("docs/measurements/performance.md"));
    assert!(table.len() > ROWS.len(), "the table has {} cases", table.len());
    let outdated = find_outdated(&read_file("README.md"), &table);
    expect_none("README.md should say, as docs/measurements/performance.md does:", &outdated);
}

#[test]
fn finds_outdated_traffic() {
    let row = "| rmsnorm_2048x4096_f16 | 234889344 | 33562752 | 1 | 33562624 |";
    let table = read_measured(&format!("<!-- plans: begin -->\n| case | a | b | c | d |\n{row}\n<!-- plans: end -->"));
    let sentence = "Of 1 programs, 1 move less than torch-spyre's plan, 0 the same, and 0 more";
    let missing = |here: &str| {
        let missing = find_outdated(&format!("| RMS norm, 2,048 | 224 | {here} | 32.0 |\n{sentence}"), &table);
        missing.into_iter().filter(|line| !line.starts_with("a measured")).count()
    };
    assert_eq!((missing("32.0"), missing("33.0")), (0, 1));
    assert_eq!([33_562_752, 855_638_144, 1_413_480_448].map(format_mib), ["32.0", "816", "1,348"]);
}
