//! Tests the page of `spyre-compile --report FILE.html` in a browser: display, hover, click, zoom and drag, compared
//! with the JSON report.
//!
//! Ignored in plain `cargo test`, because it needs chromium, which `cargo xtask setup` installs; `cargo xtask test`
//! runs it.

#![allow(clippy::unwrap_used, reason = "a test over files")]

#[path = "page/browser.rs"]
mod browser;
#[path = "page/groups.rs"]
mod groups;
#[path = "page/large.rs"]
mod large;

use crate::common::granite::Granite;
use browser::Browser;
use serde_json::Value;
use spyre_compiler::report::{ProgramText, Report, render_page};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

const WINDOW: (u32, u32) = (1400, 1000);

/// Open page, with the report that it contains.
struct OpenedPage {
    report: Value,
    browser: Browser,
    _place: TempDir,
}

impl OpenedPage {
    fn from_program(input: &Path, options: &[&str]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let page = compile_report(&place, input, "report.html", options);
        Self::from_page(place, &page)
    }

    /// Opens a page and parses its report.
    fn from_page(place: TempDir, page: &Path) -> Self {
        let mut browser = Browser::start(WINDOW.0, WINDOW.1);
        browser.open(page);
        let mut opened = Self { report: Value::Null, browser, _place: place };
        let data: Value = serde_json::from_str(&opened.plain_text("data")).unwrap();
        opened.report = data["report"].clone();
        opened
    }

    fn number(&mut self, expression: &str) -> f64 {
        let value = self.browser.evaluate(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    fn text(&mut self, id: &str) -> String {
        let value = self.browser.evaluate(&format!("document.getElementById('{id}').innerText"));
        value.as_str().unwrap_or_else(|| panic!("#{id} has {value}")).to_owned()
    }

    /// Returns the text of an element without the effects of its style.
    fn plain_text(&mut self, id: &str) -> String {
        let value = self.browser.evaluate(&format!("document.getElementById('{id}').textContent"));
        value.as_str().unwrap_or_else(|| panic!("#{id} has {value}")).to_owned()
    }

    /// Returns the center of an element.
    fn find_middle(&mut self, selector: &str) -> [f64; 2] {
        let place = self.browser.evaluate(&format!(
            "(() => {{ const box = document.querySelector('{selector}').getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        [0, 1].map(|at| place[at].as_f64().unwrap_or_else(|| panic!("{selector} is not there")))
    }

    fn press(&mut self, selector: &str) {
        let place = self.find_middle(selector);
        self.browser.click(place);
    }

    /// Returns a point of the canvas at which the widest item of a kind is topmost, and the item's index.
    fn find_point_on(&mut self, kind: &str, condition: &str) -> ([f64; 2], usize) {
        let found = self.browser.evaluate(&format!(
            "(() => {{ const {{ pen }} = report_page.timeline; const canvas = document.getElementById('canvas').getBoundingClientRect();
              const width = (hit) => Math.min(hit.x + hit.width, canvas.width - 30) - Math.max(hit.x, GUTTER);
              const middle = (hit) => [Math.max(hit.x, GUTTER) + width(hit) / 2, hit.y + hit.height / 2];
              const hits = pen.hits.filter((hit) => hit.kind === '{kind}' && width(hit) > 4 && ({condition})(hit) && pen.at(...middle(hit)) === hit);
              hits.sort((a, b) => width(b) - width(a));
              return hits.length ? [middle(hits[0])[0] + canvas.x, middle(hits[0])[1] + canvas.y, hits[0].index] : null; }})()"
        ));
        let number = |at: usize| found[at].as_f64().unwrap_or_else(|| panic!("no {kind} is in sight"));
        ([number(0), number(1)], number(2) as usize)
    }

    /// Returns the texts of the rows of the list of ops, which exist only while they are visible.
    fn visible_rows(&mut self) -> Vec<String> {
        let rows = self.browser.evaluate(
            "(async () => { const list = document.getElementById('ops'); const frame = () => new Promise(requestAnimationFrame); const rows = [];
               for (let op = 0; op < report_page.ops.length; op += 1) {
                 list.scrollTop = op * 24; await frame(); await frame(); rows.push(document.getElementById(`ops-${op}`).innerText); }
               return rows; })()",
        );
        rows.as_array().unwrap().iter().map(|row| row.as_str().unwrap().to_owned()).collect()
    }

    /// Returns the horizontal range of the ops on the canvas, computed from the times of the report.
    fn op_ranges(&mut self) -> Vec<[f64; 2]> {
        let times = |op: &Value| ["start_us", "us"].map(|name| op[name].as_f64().unwrap());
        let times: Vec<[f64; 2]> =
            self.report["ops"].as_array().unwrap().iter().map(times).map(|[start, us]| [start, start + us]).collect();
        let places =
            self.browser.evaluate(&format!("{times:?}.map((ends) => ends.map((us) => report_page.timeline.x(us)))"));
        places.as_array().unwrap().iter().map(|ends| [0, 1].map(|end| ends[end].as_f64().unwrap())).collect()
    }

    fn view(&mut self) -> [f64; 2] {
        let view = self.browser.evaluate("report_page.timeline.view");
        [0, 1].map(|at| view[at].as_f64().unwrap())
    }

    /// Expects no network requests and no errors of the page.
    fn expect_no_complaints(&self) {
        assert!(self.browser.complaints.is_empty(), "{:?}", self.browser.complaints);
    }

    fn op(&self, index: usize) -> &Value {
        &self.report["ops"][index]
    }
}

/// Compiles a program, and returns the path of its report; the extension selects the format.
fn compile_report(place: &TempDir, input: &Path, name: &str, options: &[&str]) -> PathBuf {
    let (out, report) = (place.path().join("out"), place.path().join(name));
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    let done = command
        .arg(input)
        .arg("-o")
        .arg(&out)
        .args(["--validate=off", "--report"])
        .arg(&report)
        .args(options)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    report
}

fn project_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns a small Granite block, with loops in loops.
fn compile_granite() -> (TempDir, PathBuf) {
    let model =
        Granite { layers: 1, sequence: 256, cached: 0, hidden: 512, heads: 8, kv_heads: 2, head_size: 64, mlp: 2048 };
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("granite.mlir");
    fs::write(&path, model.module()).unwrap();
    (place, path)
}

/// Opens the page of a hand-written report.
fn open_report(report: &Report, program: &[ProgramText<'_>]) -> OpenedPage {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("page.html");
    fs::write(&path, render_page(report, program).unwrap()).unwrap();
    OpenedPage::from_page(place, &path)
}

/// LX size in which not all values fit.
const SMALL_LX: [&str; 2] = ["--lx-bytes", "16384"];

/// Collects the loops of a report with their depths, outer ones first.
fn collect_loops(of: &Value, depth: usize) -> Vec<(Value, usize)> {
    let inner = |each: &Value| [vec![(each.clone(), depth)], collect_loops(&each["loops"], depth + 1)].concat();
    of.as_array().map_or_else(Vec::new, |of| of.iter().flat_map(inner).collect())
}

//===----------------------------------------------------------------------===//
// Contents of the page
//===----------------------------------------------------------------------===//

/// Checks that the data and the headline are those of the JSON report, and that every op has a row with its figures.
fn check_shows_report(opened: &mut OpenedPage, input: &Path, options: &[&str]) {
    let place = tempfile::tempdir().unwrap();
    let data = fs::read_to_string(compile_report(&place, input, "report.json", options)).unwrap();
    assert_eq!(opened.report, serde_json::from_str::<Value>(&data).unwrap());
    let report = opened.report.clone();
    let hbm = report["total"]["hbm_read"].as_f64().unwrap() + report["total"]["hbm_written"].as_f64().unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let expected = [
        ("hbm", [hbm, number(&report["lower_bound"]["hbm"]), number(&report["gap"]["hbm"])]),
        (
            "us",
            [
                number(&report["time"]["estimate_us"]),
                number(&report["lower_bound"]["us"]),
                number(&report["gap"]["us"]),
            ],
        ),
    ];
    for (name, values) in expected {
        let found = ["plan", "bound", "gap"]
            .map(|part| opened.number(&format!("Number(document.querySelector('[data-name={name}]').dataset.{part})")));
        assert_eq!(found, values, "{name}");
    }
    let title = opened.browser.evaluate("document.querySelector('[data-name=us]').innerText");
    assert!(title.as_str().unwrap().contains("Modeled time"), "{title}");
    assert_eq!(opened.text("program"), report["program"].as_str().unwrap());

    let ops = report["ops"].as_array().unwrap();
    let rows = opened.visible_rows();
    assert_eq!(rows.len(), ops.len());
    for (index, (op, row)) in ops.iter().zip(&rows).enumerate() {
        let has_us = |us: f64| {
            row.split_whitespace()
                .filter_map(|word| word.parse::<f64>().ok())
                .any(|viewed| (viewed - us).abs() < 0.0051)
        };
        let has_name = row.split_whitespace().any(|word| Some(word) == op["function"].as_str());
        assert!(has_name && has_us(number(&op["us"])), "op {index}: {row}");
    }
}

/// Returns all tracks share one axis: an op and the live range of a value have the same position in each track, as in
/// the report.
fn check_single_axis(opened: &mut OpenedPage) {
    let hits = opened.browser.evaluate("report_page.timeline.pen.hits");
    let hits = hits.as_array().unwrap();
    let ends = opened.op_ranges();
    for hit in hits.iter().filter(|hit| ["op", "hbm", "time"].iter().any(|kind| hit["kind"] == *kind)) {
        let index = to_index(&hit["index"]);
        let [left, right] = [ends[index][0] - x_range(hit)[0], x_range(hit)[1] - ends[index][1]];
        assert!(left.abs() < 0.51 && right < 1.01, "{hit}: {:?}", ends[index]);
    }
    let values = opened.report["explain"]["scratchpad"].as_array().unwrap();
    let mut num_values = 0;
    for hit in hits.iter().filter(|hit| hit["kind"] == "value" && to_index(&hit["index"]) < values.len()) {
        let value = &values[to_index(&hit["index"])];
        let [left, right] = [ends[to_index(&value["op"])][0], ends[to_index(&value["last_op"])][1]];
        assert!(
            (x_range(hit)[0] - left).abs() < 1.01 && (x_range(hit)[1] - right).abs() < 2.01,
            "{hit}: {left} to {right}"
        );
        num_values += 1;
    }
    assert!(num_values > values.len() / 2, "{num_values} of {} values are in sight", values.len());
    for kind in ["op", "hbm", "time"] {
        let num_hits = hits.iter().filter(|hit| hit["kind"] == kind).count();
        assert!(num_hits > ends.len() / 2, "{num_hits} of {} ops are in the track {kind}", ends.len());
    }
}

fn to_index(number: &Value) -> usize {
    usize::try_from(number.as_u64().unwrap()).unwrap()
}

/// Returns the horizontal range of an item.
fn x_range(hit: &Value) -> [f64; 2] {
    let [x, width] = ["x", "width"].map(|name| hit[name].as_f64().unwrap());
    [x, x + width]
}

/// Checks that each loop is a bracket over its ops, inner loops below outer ones, and has a row in the list of ops.
fn check_brackets(opened: &mut OpenedPage) {
    let expected = collect_loops(&opened.report["explain"]["loops"], 0);
    let hits = opened.browser.evaluate("report_page.timeline.pen.hits.filter((hit) => hit.kind === 'loop')");
    assert_eq!(hits.as_array().unwrap().len(), expected.len());
    let ends = opened.op_ranges();
    let mut rows: Vec<(f64, usize)> = Vec::new();
    for (hit, (each, depth)) in hits.as_array().unwrap().iter().zip(&expected) {
        let ops = || each["ops"].as_array().unwrap().iter().map(|op| to_index(&op["op"]));
        let (first, last) = (ops().min().unwrap(), ops().max().unwrap());
        let [left, right] = [ends[first][0] - x_range(hit)[0], ends[last][1] - x_range(hit)[1]];
        assert!(left.abs() < 2.0 && right.abs() < 2.0, "{hit}: {first} to {last}");
        rows.push((hit["y"].as_f64().unwrap(), *depth));
        opened.browser.evaluate(&format!("document.getElementById('ops').scrollTop = {first} * 24"));
        opened.browser.wait_until_painted();
        let num_brackets = opened.number(&format!("document.querySelectorAll('#ops-{first} .brackets i').length"));
        assert!(num_brackets > *depth as f64, "op {first} has {num_brackets} brackets");
    }
    for (one, other) in rows.iter().flat_map(|one| rows.iter().map(move |other| (one, other))) {
        assert_eq!(one.1 < other.1, one.0 < other.0, "inner loops stand lower: {rows:?}");
    }
}

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn shows_softmax_as_reported() {
    let softmax = project_path("examples/softmax.mlir");
    let mut opened = OpenedPage::from_program(&softmax, &[]);
    check_shows_report(&mut opened, &softmax, &[]);
    check_single_axis(&mut opened);
    opened.expect_no_complaints();
}

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn shows_granite_block_with_loops() {
    let (_place, block) = compile_granite();
    let mut opened = OpenedPage::from_program(&block, &SMALL_LX);
    let depths: Vec<usize> =
        collect_loops(&opened.report["explain"]["loops"], 0).iter().map(|(_, depth)| *depth).collect();
    assert!(depths.len() >= 3 && depths.contains(&1), "the program has loops in loops: {depths:?}");
    check_shows_report(&mut opened, &block, &SMALL_LX);
    check_single_axis(&mut opened);
    check_brackets(&mut opened);
    opened.expect_no_complaints();
}

//===----------------------------------------------------------------------===//
// Interaction
//===----------------------------------------------------------------------===//

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn shows_live_ranges_reasons_and_costs_on_hover_and_click() {
    let (_place, block) = compile_granite();
    let mut opened = OpenedPage::from_program(&block, &SMALL_LX);
    // A value in LX.
    let (place, index) = opened.find_point_on("value", "(hit) => true");
    opened.browser.hover(place);
    let value = opened.report["explain"]["scratchpad"][index].clone();
    let live_range = format!("live from op {} to op {}", value["op"], value["last_op"]);
    let tip = opened.text("tip");
    assert!(tip.contains(value["name"].as_str().unwrap()) && tip.contains(&live_range), "{tip}: {value}");
    opened.browser.click(place);
    let live_range = format!("op {} to op {}", value["op"], value["last_op"]);
    let side = opened.text("side");
    assert!(side.contains(&live_range) && side.contains("0 B"), "{side}: {value}");

    // An op that does not leave its result in LX, with its reason, its cost and its line.
    let (place, index) = opened.find_point_on("op", "(hit) => report_page.ops[hit.index].reason");
    opened.browser.hover(place);
    let op = opened.op(index).clone();
    let (tip, reason) = (opened.text("tip"), op["reason"].as_str().unwrap());
    assert!(
        tip.contains(op["function"].as_str().unwrap()) && tip.contains(&format!("not in LX: {reason}")),
        "{tip}: {op}"
    );
    opened.browser.click(place);
    let side = opened.text("side");
    assert!(side.contains(reason) && side.contains(&format!("{} us", op["us"])), "{side}: {op}");
    assert_eq!(
        opened.browser.evaluate("document.querySelector('#ops .row.selected').dataset.index"),
        index.to_string().as_str()
    );
    let line = op["location"].as_str().unwrap().rsplit(':').nth(1).unwrap().parse::<usize>().unwrap();
    let viewed = opened.browser.evaluate("document.querySelector('#source .row.selected').dataset.index");
    assert_eq!(viewed, (line - 1).to_string().as_str(), "the line of the op is marked");

    // A loop and its effect on its values.
    let (place, index) = opened.find_point_on("loop", "(hit) => true");
    opened.browser.click(place);
    let (each, _) = collect_loops(&opened.report["explain"]["loops"], 0)[index].clone();
    let side = opened.text("side");
    assert!(side.contains(&format!("{} × {}", each["count"], each["dim"].as_str().unwrap())), "{side}: {each}");

    // The pointer leaves.
    opened.browser.hover([20.0, 990.0]);
    assert_eq!(opened.browser.evaluate("document.getElementById('tip').hidden"), true);
    opened.expect_no_complaints();
}

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn moves_and_zooms_by_wheel_drag_keys_and_buttons() {
    let (_place, block) = compile_granite();
    let mut opened = OpenedPage::from_program(&block, &SMALL_LX);
    let all = opened.view();
    let (place, index) = opened.find_point_on("op", "(hit) => hit.index > 5");
    let under = |opened: &mut OpenedPage| {
        let left = opened.number("document.getElementById('canvas').getBoundingClientRect().x");
        opened.number(&format!("report_page.timeline.position({} - {left})", place[0]))
    };
    let before = under(&mut opened);
    opened.browser.scroll(place, -300.0);
    let zoomed = opened.view();
    assert!(zoomed[1] - zoomed[0] < 0.6 * (all[1] - all[0]), "{zoomed:?} of {all:?}");
    let after = under(&mut opened);
    assert!(
        (before - after).abs() < 0.01 * (all[1] - all[0]),
        "what is under the pointer stays: {before}, {after} of op {index}"
    );

    opened.browser.drag(place, [place[0] - 100.0, place[1]]);
    let moved = opened.view();
    let width = |[from, to]: [f64; 2]| to - from;
    assert!(moved[0] > zoomed[0] && (width(moved) - width(zoomed)).abs() < 1e-6, "{moved:?} after {zoomed:?}");
    let chosen = opened.browser.evaluate("report_page.state.chosen");
    assert!(chosen.is_null(), "a drag chooses nothing: {chosen}");

    opened.browser.press_key("ArrowLeft");
    assert!(opened.view()[0] < moved[0]);
    opened.browser.press_key("0");
    assert_eq!(opened.view(), all);
    opened.browser.press_key("+");
    assert!(width(opened.view()) < width(all));
    opened.press("#zoom-all");
    assert_eq!(opened.view(), all);
    opened.press("#zoom-in");
    let closer = width(opened.view());
    assert!(closer < width(all));
    opened.press("#zoom-out");
    assert!(width(opened.view()) > closer);
    for _ in 0..60 {
        opened.browser.evaluate("report_page.timeline.zoom(2)");
    }
    let closest = opened.view();
    assert!(width(closest) > 0.0 && closest[0] >= 0.0 && closest[1] <= all[1], "{closest:?}");

    // Ops of equal width.
    opened.press("#axis-ops");
    opened.press("#zoom-all");
    let n_ops = opened.report["ops"].as_array().unwrap().len() as f64;
    assert_eq!(opened.view(), [0.0, n_ops]);
    opened.press("#axis-time");
    opened.press("#zoom-all");
    assert_eq!(opened.view(), all);

    // From op to op by keys.
    opened.browser.press_key("ArrowDown");
    opened.browser.press_key("ArrowDown");
    assert_eq!(opened.browser.evaluate("report_page.state.chosen.index"), 1);
    opened.expect_no_complaints();
}

/// The contrast of text on its background, as the accessibility guidelines for web content define it.
const CONTRAST: &str = "((selector) => {
  const numbers = (colour) => { const pen = document.createElement('canvas').getContext('2d'); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); return [...pen.getImageData(0, 0, 1, 1).data]; };
  const light = (colour) => numbers(colour).slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const element = document.querySelector(selector);
  let behind = element;
  while (numbers(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
  const [one, other] = [light(getComputedStyle(element).color), light(getComputedStyle(behind).backgroundColor)].sort((a, b) => b - a);
  return (one + 0.05) / (other + 0.05); })";

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn renders_legibly_in_light_and_dark() {
    let mut opened = OpenedPage::from_program(&project_path("examples/softmax.mlir"), &[]);
    let mut seen = Vec::new();
    for scheme in ["light", "dark"] {
        opened.browser.emulate_color_scheme(scheme);
        assert_eq!(opened.browser.evaluate("document.documentElement.dataset.theme"), scheme);
        seen.push(opened.browser.evaluate("getComputedStyle(document.body).backgroundColor"));
        for selector in [
            "#program",
            "#subtitle",
            "#ops-head > button:nth-child(3)",
            "#source-name",
            "#side dt",
            "#side dd",
            "#ops .row .number",
        ] {
            let contrast = opened.number(&format!("{CONTRAST}('{selector}')"));
            assert!(contrast >= 4.5, "{selector} has a contrast of {contrast} in the {scheme} scheme");
        }
    }
    assert_ne!(seen[0], seen[1]);
    let picture = |opened: &mut OpenedPage| {
        opened.browser.evaluate(
            "document.getElementById('canvas').toDataURL().length > 0 && document.getElementById('canvas').toDataURL()",
        )
    };
    let dark = picture(&mut opened);
    opened.press("#theme");
    opened.browser.wait_until_painted();
    assert_eq!(
        opened.browser.evaluate("document.documentElement.dataset.theme"),
        "light",
        "the switch overrules the system"
    );
    assert_ne!(picture(&mut opened), dark);
    opened.expect_no_complaints();
}

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn shows_ops_before_and_after_fusion() {
    let norm = project_path("test/kernel/rms_norm_fused.mlir");
    let mut opened = OpenedPage::from_program(&norm, &[]);
    check_shows_report(&mut opened, &norm, &[]);
    opened.press("#tab-kernels");
    let text = opened.plain_text("side");
    let outcome = opened.report["kernels"][0].clone();
    let kernel = &outcome["kernels"][0];
    assert!(
        text.contains("Before") && text.contains("After") && text.contains(kernel["name"].as_str().unwrap()),
        "{text}"
    );
    let plain = text.replace([' ', '\u{202f}', '\u{a0}'], "");
    for bytes in [&outcome["hbm_bytes"], &outcome["separate_hbm_bytes"]] {
        assert!(plain.contains(&format!("{bytes}B")), "{bytes} in {text}");
    }
    let fused = kernel["fused"].as_array().unwrap();
    assert!(fused.len() >= 3);
    for op in fused {
        assert!(text.contains(op["function"].as_str().unwrap()), "{op} in {text}");
        assert!(text.contains(&op["mode"].as_str().unwrap().to_uppercase()), "{op} in {text}");
        assert!(
            op["loops"].as_array().unwrap().iter().all(|each| text.contains(each.as_str().unwrap())),
            "{op} in {text}"
        );
    }
    assert_eq!(text.matches("saves ").count(), fused.len(), "{text}");
    opened.expect_no_complaints();
}

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn shows_recomputed_ops_with_their_time() {
    let scaled = project_path("test/kernel/inline.mlir");
    let mut opened = OpenedPage::from_program(&scaled, &[]);
    check_shows_report(&mut opened, &scaled, &[]);
    opened.press("#tab-kernels");
    let text = opened.plain_text("side");
    assert!(
        ["INLINE", "computed 2 times", "of that, recomputed in loops"].iter().all(|part| text.contains(part)),
        "{text}"
    );
}

#[test]
#[ignore = "needs chromium; `cargo xtask test` runs it"]
fn shows_rejection_with_its_code() {
    // A matmul after a kernel belongs to another kernel.
    let mut report = Report { program: "main".to_owned(), ..Report::default() };
    let rejected = r#"{"kernels": [{"name": "norm", "key": "0", "separate":
        [{"function": "batchmatmul", "location": "<b>.mlir:1:1", "side": "epilogue", "mode": "separate", "code": "E-KIND", "message": "<i>is no part</i>"}]}], "n_judged": 1}"#;
    report.kernels = vec![serde_json::from_str(rejected).unwrap()];
    let mut opened = open_report(&report, &[]);
    opened.press("#tab-kernels");
    let text = opened.plain_text("side");
    assert!(
        ["SEPARATE", "E-KIND", "batchmatmul", "<i>is no part</i>", "<b>.mlir:1:1"]
            .iter()
            .all(|part| text.contains(part)),
        "{text}"
    );
    opened.expect_no_complaints();
}
