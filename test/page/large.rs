//! Pages of programs that are large, empty or hostile.

use super::{OpenedPage, WINDOW, open_report};
use spyre_compiler::{
    explain::{LoopOpReport, LxValue, TileLoop},
    report::{LaunchReport, OpReport, ProgramText, Report},
    traffic::Bytes,
};

/// Builds a report of consecutive ops in loops of eight, each with a value in LX.
pub(super) fn build_large_report(n_ops: usize) -> Report {
    let mut report = Report { program: "large".to_owned(), ..Report::default() };
    report.target.insert("lx_bytes".to_owned(), 1 << 20);
    for index in 0..n_ops {
        let bytes = Bytes { hbm_read: (index as i64 % 7) << 10, hbm_written: 512, ..Bytes::default() };
        let (function, location) = (format!("f{index}"), format!("large.mlir:{}:1", index + 1));
        report.ops.push(OpReport {
            op: "spyre.pointwise".to_owned(),
            function,
            location,
            memory: "lx",
            cores: 32,
            us: 1.5,
            bytes,
            ..OpReport::default()
        });
        let (lx_offset_bytes, last_op) = (((index as i64) % 16) << 14, (index + 3).min(n_ops - 1));
        let name = format!("f{index}");
        report.explain.scratchpad.push(LxValue {
            name,
            op: index,
            last_op,
            lx_offset_bytes,
            bytes: 1 << 14,
            ..LxValue::default()
        });
    }
    for first in (0..n_ops).step_by(8) {
        let ops = (first..first + 8).map(|op| LoopOpReport { op, ..LoopOpReport::default() }).collect();
        report.explain.loops.push(TileLoop { dim: "rows".to_owned(), count: 4, ops, ..TileLoop::default() });
    }
    report.launches = vec![LaunchReport { bundle: "bundle_0".to_owned(), n_ops, ..LaunchReport::default() }];
    report.assign_start_times();
    report
}

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn draws_only_visible_ops_of_two_thousand() {
    let text: String = (0..2000).map(|line| format!("  line {line}\n")).collect();
    let mut opened = open_report(&build_large_report(2000), &[ProgramText { file: "large.mlir", text: &text }]);
    let drawn = |opened: &mut OpenedPage| opened.number("Number(document.getElementById('canvas').dataset.drawn)");
    // At most a few items per pixel of width.
    let most = 5.0 * f64::from(WINDOW.0);
    let all = drawn(&mut opened);
    assert!(all > 100.0 && all < most, "{all} of {most}");
    let place = opened.find_middle("#canvas");
    for num_steps in 1..=14 {
        let frames = opened.number("Number(document.getElementById('canvas').dataset.frames)");
        opened.browser.scroll(place, -200.0);
        let [found, more] =
            [drawn(&mut opened), opened.number("Number(document.getElementById('canvas').dataset.frames)") - frames];
        assert!(found < most && (1.0..=4.0).contains(&more), "step {num_steps}: {found} things in {more} frames");
    }
    let [from, to] = opened.view();
    assert!(to - from < 60.0 && drawn(&mut opened) < 300.0, "{from} to {to}: {}", drawn(&mut opened));

    // The lists contain only the visible rows.
    for list in ["ops", "source"] {
        let rows = opened.number(&format!("document.querySelectorAll('#{list} .row').length"));
        assert!(rows > 5.0 && rows < 80.0, "{rows} rows of {list}");
    }
    opened.browser.evaluate("report_page.choose('op', 1999)");
    opened.browser.wait_until_painted();
    assert!(opened.text("ops-1999").contains("f1999"));
    assert!(
        opened
            .browser
            .evaluate("document.querySelector('#source .row.selected').innerText")
            .as_str()
            .unwrap()
            .contains("line 1999")
    );

    // A search finds the op.
    opened.browser.evaluate("(() => { const field = document.getElementById('search'); field.focus(); field.value = 'f1234'; field.dispatchEvent(new Event('input')); })()");
    assert_eq!(opened.text("found"), "1 op");
    opened.browser.press_key("Enter");
    assert_eq!(opened.browser.evaluate("report_page.state.chosen.index"), 1234);
    opened.expect_no_complaints();
}

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn names_innermost_line_of_viewed_file() {
    let mut report = build_large_report(8);
    let places =
        ["model.py:3:1", "gone.py:1:1 called from model.py:2:5", "layer.py:2:1 called from model.py:1:1", "unknown"];
    report.ops.iter_mut().zip(places).for_each(|(op, place)| op.location = place.to_owned());
    let files =
        [ProgramText { file: "layer.py", text: "L1\nL2\n" }, ProgramText { file: "model.py", text: "M1\nM2\nM3\n" }];
    let mut opened = open_report(&report, &files);
    assert_eq!(opened.text("source-name"), "2 files");
    for (op, wanted) in [(0, Some("M3")), (1, Some("M2")), (2, Some("L2")), (3, None)] {
        opened.browser.evaluate(&format!("report_page.choose('op', {op})"));
        opened.browser.wait_until_painted();
        let marked =
            opened.browser.evaluate("document.querySelector('#source .row.selected .text')?.innerText ?? null");
        assert_eq!(marked.as_str(), wanted, "op {op}");
    }
    let headings = opened
        .browser
        .evaluate("[...document.querySelectorAll('#source .file')].map((row) => row.innerText.trim()).join()");
    assert_eq!(headings, "layer.py,model.py");
}

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn escapes_names_and_renders_empty_report() {
    let hostile =
        "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\"><!--\u{2028}";
    let mut report = build_large_report(8);
    report.program = hostile.to_owned();
    for op in &mut report.ops {
        (op.function, op.location, op.reason) = (hostile.to_owned(), hostile.to_owned(), hostile.to_owned());
    }
    report.explain.scratchpad.iter_mut().for_each(|value| value.name = hostile.to_owned());
    report.explain.loops[0].dim = hostile.to_owned();
    let mut opened = open_report(&report, &[ProgramText { file: hostile, text: hostile }]);
    for kind in ["op", "value", "loop"] {
        let (place, _) = opened.find_point_on(kind, "(hit) => true");
        opened.browser.hover(place);
        opened.browser.click(place);
        assert!(opened.text("side").contains("onerror"), "{kind}");
    }
    assert_eq!(opened.number("document.images.length + document.scripts.length"), 2.0, "the data and the script");
    assert!(opened.browser.evaluate("document.title !== 'broken'").as_bool().unwrap());
    opened.expect_no_complaints();

    let mut opened = open_report(&Report { program: "main".to_owned(), ..Report::default() }, &[]);
    assert_eq!(opened.text("program"), "main");
    opened.browser.press_key("+");
    opened.browser.press_key("ArrowDown");
    opened.expect_no_complaints();
}
