//! SVG drawing of the scratchpad: time on the horizontal axis, address on the vertical one, one box per residency
//! interval of a buffer.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    ops::Range,
};

/// Residency interval of a buffer. A buffer that is evicted and reloaded has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnInterval {
    /// Name of the buffer.
    pub name: String,
    /// Bytes of the buffer on one core.
    pub bytes: i64,
    /// Address in bytes.
    pub address: i64,
    /// Operations of the interval, half-open.
    pub times: Range<usize>,
    /// Buffer whose address this one reuses.
    pub successor_of: Option<String>,
}

/// Content of a drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LxDrawing {
    /// Title.
    pub title: String,
    /// Bytes of LX, drawn as a line at the top.
    pub capacity_bytes: i64,
    /// Residency intervals, drawn as boxes.
    pub intervals: Vec<DrawnInterval>,
    /// Names of the operations, by index. The list may end early.
    pub operations: Vec<String>,
    /// Loops around operations, drawn as brackets under the boxes.
    pub loops: Vec<LoopBracket>,
}

/// Loop around operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopBracket {
    /// Label of the bracket.
    pub name: String,
    /// Operations of the loop, half-open.
    pub times: Range<usize>,
    /// Number of loops around this one.
    pub depth: usize,
}

const LEFT_MARGIN: f64 = 90.0;
const TOP_MARGIN: f64 = 40.0;
const RIGHT_MARGIN: f64 = 60.0;
const BOTTOM_MARGIN: f64 = 40.0;
/// Height of a row of brackets, and of the row of operation names.
const BRACKET_HEIGHT: f64 = 16.0;
const NAMES_HEIGHT: f64 = 80.0;
/// Minimum width of an operation whose name is shown.
const MIN_NAMED_WIDTH: f64 = 11.0;
const PLOT_HEIGHT: f64 = 720.0;
/// Width of an operation, unless the drawing gets too wide or too narrow.
const OPERATION_WIDTH: f64 = 24.0;
const PLOT_WIDTH_RANGE: (f64, f64) = (900.0, 1600.0);
/// Font sizes that are tried for a label, largest first. A small size is readable because the drawing can be enlarged.
const FONT_SIZES: [f64; 3] = [10.0, 8.0, 6.0];
/// Ratio of the LX size to the highest used address from which the drawing omits the upper part of LX.
const MAX_HEIGHT_RATIO: i64 = 4;
/// Width of a letter and height of a line, relative to the font size.
const LETTER_SIZE: (f64, f64) = (0.56, 1.1);

/// Style sheet. The colors have the same lightness, so dark text is readable on each of them in both color schemes.
const STYLE: &str = "<style>
text { font: 10px sans-serif; fill: #222 } .axis { fill: #555 } .title { font-size: 14px } .grid { stroke: #8886; stroke-width: 0.5 }
.page { fill: #fff } .capacity { stroke: #c33; stroke-width: 1.5 } .gauge { fill: #8883; stroke: #8888; stroke-width: 0.5 } .used { fill: #5b8fc7 } .bracket { stroke: #777; fill: none } rect.stay { stroke: #333; stroke-width: 0.5 } rect.stay:hover { stroke-width: 3 } .stay-name { fill: #111 }
.handed { stroke: #111; stroke-width: 2.5 } .evicted { stroke: #888; stroke-width: 1.5; stroke-dasharray: 4 3; fill: none }
.c0 { fill: #9cc5ea } .c1 { fill: #f5c28f } .c2 { fill: #a9d8a2 } .c3 { fill: #eda6a6 } .c4 { fill: #cbb8e4 } .c5 { fill: #d8c0b0 }
.c6 { fill: #f0b8dc } .c7 { fill: #d6d98f }
@media (prefers-color-scheme: dark) { .page { fill: #1b1b1f } text { fill: #ddd } .axis { fill: #aaa } .stay-name { fill: #111 }
rect.stay { stroke: #ccc } .handed { stroke: #fff } }
</style>";

/// Factors that convert bytes and operations to drawing coordinates.
struct DrawingScale {
    plot_width: f64,
    num_times: usize,
    highest_bytes: i64,
    top_bytes: i64,
}

#[expect(clippy::cast_precision_loss, reason = "coordinates of a picture")]
impl DrawingScale {
    fn new(drawing: &LxDrawing) -> Self {
        let ends = drawing
            .intervals
            .iter()
            .map(|interval| interval.times.end)
            .chain(drawing.loops.iter().map(|bracket| bracket.times.end));
        let num_times = ends.max().unwrap_or(0).max(drawing.operations.len()).max(1);
        let highest = drawing.intervals.iter().map(|interval| interval.address + interval.bytes).max().unwrap_or(0);
        // If little of LX is used, a drawing of all of LX would make the boxes invisible.
        let is_small = highest > 0 && highest < drawing.capacity_bytes / MAX_HEIGHT_RATIO;
        let top_bytes = if is_small { highest + highest / 4 } else { highest.max(drawing.capacity_bytes) }.max(1);
        Self {
            plot_width: (num_times as f64 * OPERATION_WIDTH).clamp(PLOT_WIDTH_RANGE.0, PLOT_WIDTH_RANGE.1),
            num_times,
            highest_bytes: highest,
            top_bytes,
        }
    }

    fn x(&self, time: usize) -> f64 {
        LEFT_MARGIN + self.plot_width * time as f64 / self.num_times as f64
    }

    fn y(&self, bytes: i64) -> f64 {
        TOP_MARGIN + PLOT_HEIGHT * (1.0 - bytes as f64 / self.top_bytes as f64)
    }
}

/// Renders a drawing as the text of an SVG file. Equal drawings give equal text.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "coordinates of a picture")]
pub fn draw(drawing: &LxDrawing) -> String {
    let scale = DrawingScale::new(drawing);
    let depth = drawing.loops.iter().map(|bracket| bracket.depth + 1).max().unwrap_or(0);
    let shows_names = !drawing.operations.is_empty() && scale.x(1) - scale.x(0) >= MIN_NAMED_WIDTH;
    let below = depth as f64 * BRACKET_HEIGHT + if shows_names { NAMES_HEIGHT } else { 0.0 };
    let (width, height) =
        (LEFT_MARGIN + scale.plot_width + RIGHT_MARGIN, TOP_MARGIN + PLOT_HEIGHT + BOTTOM_MARGIN + below);
    let mut svg = String::new();
    push_line(
        &mut svg,
        &format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" style="max-width:100%;height:auto">"#
        ),
    );
    push_line(&mut svg, STYLE);
    push_line(&mut svg, r#"<rect class="page" width="100%" height="100%"/>"#);
    push_line(
        &mut svg,
        &format!(r#"<text class="title" x="{LEFT_MARGIN}" y="22">{}</text>"#, escape_xml(&drawing.title)),
    );
    draw_axes(&mut svg, &scale);
    draw_brackets(&mut svg, drawing, &scale);
    if shows_names {
        draw_operation_names(&mut svg, drawing, &scale, scale.y(0) + 20.0 + depth as f64 * BRACKET_HEIGHT);
    }
    draw_boxes(&mut svg, drawing, &scale);
    draw_links(&mut svg, drawing, &scale);
    draw_capacity(&mut svg, drawing, &scale);
    push_line(&mut svg, "</svg>");
    svg
}

/// Draws the capacity line if it is visible, the used share of LX, and the legend.
fn draw_capacity(svg: &mut String, drawing: &LxDrawing, scale: &DrawingScale) {
    let (bytes, used) = (drawing.capacity_bytes, scale.highest_bytes);
    let (left, right) = (scale.x(0), scale.x(scale.num_times));
    let mut legend = format!("{} of {} in use at most", format_bytes(used), format_bytes(bytes));
    if bytes <= scale.top_bytes {
        let y = scale.y(bytes);
        push_line(
            svg,
            &format!(
                r#"<line class="capacity" x1="{left:.1}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}"><title>capacity: {bytes} bytes</title></line>"#
            ),
        );
        legend.push_str("; red line: capacity");
    }
    draw_gauge(svg, (right + 24.0, used, bytes));
    if drawing.intervals.iter().any(|interval| interval.successor_of.is_some()) {
        legend.push_str("; thick edge: an address taken over");
    }
    let names: BTreeSet<&str> = drawing.intervals.iter().map(|interval| interval.name.as_str()).collect();
    if names.len() < drawing.intervals.len() {
        legend.push_str("; dashes: evicted and reloaded");
    }
    push_line(svg, &format!(r#"<text class="axis" x="{:.1}" y="{:.1}">{legend}</text>"#, left + 6.0, TOP_MARGIN - 6.0));
}

/// Draws a bar that represents the capacity, filled up to the used bytes.
#[expect(clippy::cast_precision_loss, reason = "coordinates of a picture")]
fn draw_gauge(svg: &mut String, (x, used, capacity): (f64, i64, i64)) {
    let height = PLOT_HEIGHT * (used as f64 / capacity.max(1) as f64).min(1.0);
    let top = TOP_MARGIN + PLOT_HEIGHT - height;
    push_line(svg, &format!(r#"<rect class="gauge" x="{x:.1}" y="{TOP_MARGIN}" width="14" height="{PLOT_HEIGHT}"/>"#));
    push_line(
        svg,
        &format!(
            r#"<rect class="used" x="{x:.1}" y="{top:.1}" width="14" height="{height:.1}"><title>{used} of {capacity} bytes</title></rect>"#
        ),
    );
}

/// Draws a bracket under the operations of each loop, inner loops closer to the operations.
#[expect(clippy::cast_precision_loss, reason = "coordinates of a picture")]
fn draw_brackets(svg: &mut String, drawing: &LxDrawing, scale: &DrawingScale) {
    let depth = drawing.loops.iter().map(|bracket| bracket.depth + 1).max().unwrap_or(0);
    for bracket in &drawing.loops {
        let (left, right) = (scale.x(bracket.times.start) + 2.0, scale.x(bracket.times.end) - 2.0);
        let y = scale.y(0) + 20.0 + BRACKET_HEIGHT * (depth - 1 - bracket.depth) as f64;
        let (name, middle, foot) = (escape_xml(&bracket.name), f64::midpoint(left, right), y + 4.0);
        push_line(
            svg,
            &format!(
                r#"<path class="bracket" d="M{left:.1} {y:.1} V{foot:.1} H{right:.1} V{y:.1}"><title>{name}</title></path>"#
            ),
        );
        if estimate_text_width(&bracket.name, FONT_SIZES[0]) <= right - left {
            let below = y + 14.0;
            push_line(
                svg,
                &format!(r#"<text class="axis" x="{middle:.1}" y="{below:.1}" text-anchor="middle">{name}</text>"#),
            );
        }
    }
}

/// Draws the names of operations vertically, each under its operation.
fn draw_operation_names(svg: &mut String, drawing: &LxDrawing, scale: &DrawingScale, top: f64) {
    for (time, name) in drawing.operations.iter().enumerate() {
        let (x, y) = (f64::midpoint(scale.x(time), scale.x(time + 1)) + 3.5, top + 4.0);
        let name = escape_xml(name);
        push_line(
            svg,
            &format!(
                r#"<text class="axis" x="{x:.1}" y="{y:.1}" text-anchor="end" transform="rotate(-90 {x:.1} {y:.1})">{name}</text>"#
            ),
        );
    }
}

fn push_line(svg: &mut String, text: &str) {
    svg.push_str(text);
    svg.push('\n');
}

fn draw_axes(svg: &mut String, scale: &DrawingScale) {
    let (left, right, bottom) = (scale.x(0), scale.x(scale.num_times), scale.y(0));
    let every = choose_axis_step(i64::try_from(scale.num_times).expect("fewer than 2^63"), 24, &[1, 2, 5], 10);
    for time in (0..=scale.num_times).step_by(usize::try_from(every).expect("a step is positive")) {
        let x = scale.x(time);
        push_line(
            svg,
            &format!(
                r#"<line class="grid" x1="{x:.1}" y1="{TOP_MARGIN}" x2="{x:.1}" y2="{bottom:.1}"/><text class="axis" x="{x:.1}" y="{:.1}" text-anchor="middle">{time}</text>"#,
                bottom + 14.0
            ),
        );
    }
    let every = choose_axis_step(scale.top_bytes, 17, &[1, 2, 4], 8);
    let unit = find_largest_unit(every);
    for count in 0..=scale.top_bytes / every {
        let (y, bytes) = (scale.y(count * every), count * every);
        push_line(
            svg,
            &format!(
                r#"<line class="grid" x1="{left:.1}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}"/><text class="axis" x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
                left - 6.0,
                y + 3.5,
                format_in_unit(bytes, unit)
            ),
        );
    }
    push_line(
        svg,
        &format!(r#"<text class="axis" x="{right:.1}" y="{:.1}" text-anchor="end">operation</text>"#, bottom + 30.0),
    );
    push_line(svg, &format!(r#"<text class="axis" x="6" y="{:.1}">address</text>"#, TOP_MARGIN - 8.0));
}

/// Returns the smallest of `factors` times a power of `base` that divides the axis up to `end` into at most `most`
/// steps.
fn choose_axis_step(end: i64, most: i64, factors: &[i64], base: i64) -> i64 {
    let mut power = 1_i64;
    loop {
        for factor in factors {
            if end / (power * factor) <= most {
                return power * factor;
            }
        }
        power *= base;
    }
}

/// Returns the largest unit that divides `bytes`: its size in bytes, and its name.
const fn find_largest_unit(bytes: i64) -> (i64, &'static str) {
    if bytes % (1 << 20) == 0 {
        (1 << 20, "MiB")
    } else if bytes % (1 << 10) == 0 {
        (1 << 10, "KiB")
    } else {
        (1, "B")
    }
}

/// Formats bytes in a unit that divides them.
fn format_in_unit(bytes: i64, (unit, name): (i64, &str)) -> String {
    if bytes == 0 { "0".to_owned() } else { format!("{} {name}", bytes / unit) }
}

/// Formats bytes in the largest unit that divides them.
fn format_bytes(bytes: i64) -> String {
    format_in_unit(bytes, find_largest_unit(bytes))
}

fn draw_boxes(svg: &mut String, drawing: &LxDrawing, scale: &DrawingScale) {
    // A buffer that reuses an address hides the last operation of its predecessor.
    let handed_over: BTreeSet<(i64, usize)> = drawing
        .intervals
        .iter()
        .filter(|interval| interval.successor_of.is_some())
        .map(|interval| (interval.address, interval.times.start))
        .collect();
    for (index, interval) in drawing.intervals.iter().enumerate() {
        let (left, right) = (scale.x(interval.times.start), scale.x(interval.times.end));
        let (top, bottom) = (scale.y(interval.address + interval.bytes), scale.y(interval.address));
        let (width, height) = (right - left, bottom - top);
        let size = format!("{} bytes", interval.bytes);
        let taken_over = interval
            .successor_of
            .as_ref()
            .map_or_else(String::new, |parent| format!(", in place of {}", escape_xml(parent)));
        let name = escape_xml(&interval.name);
        push_line(
            svg,
            &format!(
                r#"<rect class="stay c{}" x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}"><title>{name}: {size} at {}, operations {} to {}{taken_over}</title></rect>"#,
                index % 8,
                interval.address,
                interval.times.start,
                interval.times.end - 1,
            ),
        );
        let is_covered = interval.times.len() > 1 && handed_over.contains(&(interval.address, interval.times.end - 1));
        let seen = if is_covered { scale.x(interval.times.end - 1) - left } else { width };
        draw_label(svg, &interval.name, &format_bytes(interval.bytes), (left, top, seen, height));
    }
}

/// Draws the name and the bytes of a box, or only the name, horizontally or vertically, in the largest font size that
/// fits. Draws nothing if no size fits.
fn draw_label(svg: &mut String, name: &str, bytes: &str, (left, top, width, height): (f64, f64, f64, f64)) {
    let ways = [(2.0, false), (2.0, true), (1.0, false), (1.0, true)];
    let fits = |&(size, (n_rows, is_turned)): &(f64, (f64, bool))| {
        let (along, across) = if is_turned { (height, width) } else { (width, height) };
        let bytes_length = if n_rows > 1.0 { estimate_text_width(bytes, size) } else { 0.0 };
        across >= n_rows * (LETTER_SIZE.1 * size + 1.0) && estimate_text_width(name, size).max(bytes_length) <= along
    };
    let Some((size, (n_rows, is_turned))) =
        FONT_SIZES.into_iter().flat_map(|size| ways.map(|way| (size, way))).find(fits)
    else {
        return;
    };
    for (text, row) in [(name, 1.0), (bytes, 2.0)].into_iter().filter(|(_, row)| *row <= n_rows) {
        let after = LETTER_SIZE.1 * size * row - 0.2 * size;
        let (x, y) = if is_turned { (left + after, top + height - 2.0) } else { (left + 2.0, top + after) };
        let turned = if is_turned { format!(r#" transform="rotate(-90 {x:.1} {y:.1})""#) } else { String::new() };
        let small = if size < FONT_SIZES[0] { format!(r#" style="font-size:{size}px""#) } else { String::new() };
        let text = escape_xml(text);
        push_line(
            svg,
            &format!(
                r#"<text class="stay-name" x="{x:.1}" y="{y:.1}" pointer-events="none"{turned}{small}>{text}</text>"#
            ),
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "coordinates of a picture")]
fn estimate_text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * LETTER_SIZE.0 * size + 4.0
}

/// Draws the in-place reuses, and connects the residency intervals of each buffer.
fn draw_links(svg: &mut String, drawing: &LxDrawing, scale: &DrawingScale) {
    let mut last_interval: BTreeMap<&str, &DrawnInterval> = BTreeMap::new();
    for interval in &drawing.intervals {
        let (left, bottom, top) =
            (scale.x(interval.times.start), scale.y(interval.address), scale.y(interval.address + interval.bytes));
        if interval.successor_of.is_some() {
            push_line(
                svg,
                &format!(r#"<line class="handed" x1="{left:.1}" y1="{bottom:.1}" x2="{left:.1}" y2="{top:.1}"/>"#),
            );
        }
        if let Some(before) = last_interval.insert(&interval.name, interval) {
            let from = (scale.x(before.times.end), scale.y(before.address + before.bytes / 2));
            push_line(
                svg,
                &format!(
                    r#"<path class="evicted" d="M{:.1} {:.1} L{left:.1} {:.1}"><title>{} is evicted and reloaded</title></path>"#,
                    from.0,
                    from.1,
                    f64::midpoint(bottom, top),
                    escape_xml(&interval.name),
                ),
            );
        }
    }
}

fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // XML cannot represent other control characters.
            _ if letter.is_control() && !letter.is_whitespace() => {
                // Writing to a string does not fail.
                let _ = write!(escaped, "{}", letter.escape_unicode());
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_interval(name: &str, bytes: i64, address: i64, times: Range<usize>) -> DrawnInterval {
        DrawnInterval { name: name.to_owned(), bytes, address, times, successor_of: None }
    }

    fn build_drawing_of_intervals(capacity_bytes: i64, intervals: Vec<DrawnInterval>) -> LxDrawing {
        LxDrawing { title: String::new(), capacity_bytes, intervals, operations: vec![], loops: vec![] }
    }

    #[test]
    fn chooses_smallest_axis_step_within_limit() {
        assert_eq!(
            [
                choose_axis_step(9, 10, &[1, 2, 5], 10),
                choose_axis_step(19, 10, &[1, 2, 5], 10),
                choose_axis_step(100, 10, &[1, 2, 5], 10)
            ],
            [1, 2, 10]
        );
        assert_eq!([choose_axis_step(10, 10, &[1, 2, 5], 10), choose_axis_step(11 * 128, 11, &[1], 2)], [1, 128]);
    }

    #[test]
    fn draws_chain_and_eviction() {
        let successor = DrawnInterval {
            successor_of: Some("scores".to_owned()),
            ..build_interval("probabilities", 256 << 10, 0, 3..6)
        };
        let intervals = vec![
            build_interval("scores", 256 << 10, 0, 0..4),
            successor,
            build_interval("q<0>", 128 << 10, 256 << 10, 0..2),
            build_interval("q<0>", 128 << 10, 384 << 10, 4..6),
        ];
        let operations = ["load", "scale", "max", "exp<", "sum", "divide"].map(str::to_owned).to_vec();
        let loops = vec![
            LoopBracket { name: "8 tiles of 'rows'".to_owned(), times: 1..6, depth: 0 },
            LoopBracket { name: "2 tiles of 'keys'".to_owned(), times: 3..5, depth: 1 },
        ];
        insta::assert_snapshot!(draw(&LxDrawing {
            title: "attention & more".to_owned(),
            capacity_bytes: 640 << 10,
            intervals,
            operations,
            loops
        }));
    }

    #[test]
    fn draws_names_only_where_they_fit() {
        let intervals = vec![
            build_interval("a_long_name_of_a_short_life", 1 << 20, 0, 0..1),
            build_interval("low", 1, 1 << 20, 0..60),
            build_interval("fits", 1 << 20, 1 << 20, 0..60),
        ];
        let svg = draw(&build_drawing_of_intervals(2 << 20, intervals));
        let num_texts = |name: &str| svg.lines().filter(|line| line.ends_with(&format!(">{name}</text>"))).count();
        assert_eq!([num_texts("a_long_name_of_a_short_life"), num_texts("low"), num_texts("fits")], [1, 0, 1]);
        let turned = svg.lines().filter(|line| line.contains("rotate(-90")).collect::<Vec<_>>();
        assert!(turned.len() == 2 && turned[0].contains("a_long_name") && turned[1].contains("1 MiB"), "{turned:?}");
        assert_eq!(svg.matches("<title>").count(), 5, "three boxes, capacity and gauge");
    }

    #[test]
    fn keeps_name_out_of_successor() {
        let is_turned = |intervals: Vec<DrawnInterval>| {
            let svg = draw(&build_drawing_of_intervals(1 << 20, intervals));
            svg.lines().any(|line| line.contains("rotate(-90") && line.ends_with(">twenty_letters_of_it</text>"))
        };
        let (first, end) =
            (build_interval("twenty_letters_of_it", 1 << 20, 0, 0..2), build_interval("end", 1 << 19, 0, 11..12));
        let successor =
            DrawnInterval { successor_of: Some(first.name.clone()), ..build_interval("successor", 1 << 20, 0, 1..3) };
        assert!(!is_turned(vec![first.clone(), end.clone()]), "it fits into two of twelve operations");
        assert!(is_turned(vec![first, successor, end]), "but not into one");
    }

    #[test]
    fn draws_empty_plan() {
        assert!(draw(&build_drawing_of_intervals(0, vec![])).ends_with("</svg>\n"));
    }

    #[test]
    fn enlarges_and_reports_low_usage() {
        let intervals =
            vec![DrawnInterval { name: "a".to_owned(), bytes: 1000, address: 0, times: 0..2, successor_of: None }];
        let small = draw(&build_drawing_of_intervals(1 << 20, intervals.clone()));
        assert!(small.contains("1000 B of 1 MiB in use at most<") && !small.contains("class=\"capacity\""), "{small}");
        assert!(draw(&build_drawing_of_intervals(3000, intervals)).contains("class=\"capacity\""));
    }

    #[test]
    fn uses_one_unit_per_axis() {
        let svg = draw(&build_drawing_of_intervals(
            42 << 10,
            vec![build_interval("a", 5 << 10, 0, 0..2), build_interval("b", 512, 5 << 10, 0..2)],
        ));
        let is_label = |line: &&str| {
            line.contains("class=\"axis\"") && line.contains("text-anchor=\"end\">") && line.contains("class=\"grid\"")
        };
        let labels: Vec<&str> = svg
            .lines()
            .filter(is_label)
            .filter_map(|line| line.split_once("\"end\">")?.1.strip_suffix("</text>"))
            .collect();
        assert!(labels.len() > 4 && labels.iter().skip(1).all(|label| label.ends_with(" B")), "{labels:?}");
    }

    #[test]
    fn limits_width_of_long_plan() {
        let intervals =
            (0..2000).map(|time| build_interval(&format!("value {time}"), 128, 0, time..time + 1)).collect();
        let svg = draw(&build_drawing_of_intervals(128, intervals));
        let width: f64 = svg.split_once(" width=\"").unwrap().1.split_once('"').unwrap().0.parse().unwrap();
        assert!(width < 1800.0, "{width}");
    }

    #[test]
    fn labels_axes_with_round_numbers() {
        assert_eq!(
            [
                choose_axis_step(5, 24, &[1, 2, 5], 10),
                choose_axis_step(300, 24, &[1, 2, 5], 10),
                choose_axis_step(1 << 20, 17, &[1, 2, 4], 8)
            ],
            [1, 20, 1 << 16]
        );
        assert_eq!(
            [format_bytes(0), format_bytes(3 << 20), format_bytes(1536), format_bytes(100)],
            ["0", "3 MiB", "1536 B", "100 B"]
        );
    }
}
