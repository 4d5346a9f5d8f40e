//! Input of the searches: units without a common divisor, sections instead of ticks, independent subproblems.

use std::ops::Range;

/// Buffer to place: live in `[lower, upper)`, `size` units high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rectangle {
    /// First tick of the live range.
    pub lower: i64,
    /// Tick after the live range.
    pub upper: i64,
    /// Height in units, not negative.
    pub size: i64,
}

impl Rectangle {
    /// Returns whether the area is nonzero.
    pub(super) const fn has_area(&self) -> bool {
        self.lower < self.upper && self.size > 0
    }

    /// Returns whether both rectangles are live during some tick.
    pub(super) const fn overlaps_in_time(&self, other: &Self) -> bool {
        self.lower < other.upper && other.lower < self.upper
    }
}

/// Rectangles with a common offset, for example a buffer and its in-place successors. Where their live ranges overlap,
/// the maximum height counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackingShape {
    /// The rectangles.
    pub steps: Vec<Rectangle>,
}

impl From<Rectangle> for PackingShape {
    fn from(rectangle: Rectangle) -> Self {
        Self { steps: vec![rectangle] }
    }
}

impl PackingShape {
    /// Returns the outline: disjoint rectangles of nonzero area, by ascending tick.
    pub(super) fn compute_outline(&self) -> Vec<Rectangle> {
        let solid: Vec<Rectangle> = self.steps.iter().copied().filter(Rectangle::has_area).collect();
        if solid.len() < 2 {
            return solid;
        }
        let mut ticks: Vec<i64> = solid.iter().flat_map(|step| [step.lower, step.upper]).collect();
        ticks.sort_unstable();
        ticks.dedup();
        let mut outline: Vec<Rectangle> = Vec::new();
        for window in ticks.windows(2) {
            let piece = Rectangle { lower: window[0], upper: window[1], size: 0 };
            let size =
                solid.iter().filter(|step| step.overlaps_in_time(&piece)).map(|step| step.size).max().unwrap_or(0);
            match outline.last_mut() {
                Some(last) if last.upper == piece.lower && last.size == size => last.upper = piece.upper,
                _ if size > 0 => outline.push(Rectangle { size, ..piece }),
                _ => {}
            }
        }
        outline
    }
}

/// Returns the maximum number of units live at once.
#[must_use]
pub fn compute_max_load(rectangles: &[Rectangle]) -> i64 {
    let solid = rectangles.iter().filter(|rectangle| rectangle.has_area());
    let mut changes: Vec<(i64, i64)> = solid.flat_map(|one| [(one.lower, one.size), (one.upper, -one.size)]).collect();
    // At the same tick, ends precede starts: live ranges are half-open.
    changes.sort_unstable();
    let live = changes.iter().scan(0, |live, (_, change)| {
        *live += change;
        Some(*live)
    });
    live.max().unwrap_or(0)
}

/// Run of a shape's outline: a constant height over consecutive sections.
#[derive(Clone, Debug)]
pub(super) struct OutlineRun {
    pub(super) sections: Range<usize>,
    pub(super) height: i64,
}

/// Item of a problem: a shape of nonzero area.
#[derive(Clone, Debug)]
pub(super) struct PackingItem {
    /// Position of the shape in the list of shapes.
    pub(super) shape: usize,
    /// Runs of the outline, by ascending tick.
    pub(super) runs: Range<usize>,
    /// Ticks from the first of the outline to the last.
    pub(super) live_range: Range<i64>,
    /// Height in units times ticks.
    pub(super) area: i64,
    /// Sections in which the item is live.
    pub(super) sections: Range<usize>,
    /// Maximum height of a run.
    pub(super) height: i64,
    /// Minimum offset: the height of the base below the item.
    pub(super) base: i64,
}

/// Packing problem: items that are connected in time, in units without a common divisor.
///
/// A *section* is a maximal set of rectangles that are live at once. Every rectangle is live in consecutive sections,
/// and two rectangles are live together if they share a section.
#[derive(Clone, Debug)]
pub(super) struct PackingProblem {
    pub(super) items: Vec<PackingItem>,
    pub(super) runs: Vec<OutlineRun>,
    pub(super) num_sections: usize,
    /// Caller's units per unit of the problem.
    pub(super) unit: i64,
}

/// Event of the sweep over time: at equal ticks, ends precede starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TickEvent {
    tick: i64,
    begins: bool,
    rectangle: usize,
}

impl PackingProblem {
    /// Splits a list into independent problems, between which no live ranges overlap. Omits shapes of zero area.
    pub(super) fn split_into_components(shapes: &[PackingShape], base: &[Rectangle]) -> Vec<Self> {
        let mut outlines: Vec<(usize, Vec<Rectangle>)> =
            shapes.iter().map(PackingShape::compute_outline).enumerate().collect();
        outlines.retain(|(_, outline)| !outline.is_empty());
        outlines.sort_by_key(|(_, outline)| outline[0].lower);
        let unit = outlines
            .iter()
            .flat_map(|(_, outline)| outline)
            .chain(base)
            .fold(0, |unit, one| greatest_divisor(unit, one.size))
            .max(1);
        let mut problems = Vec::new();
        let mut rest = &outlines[..];
        while !rest.is_empty() {
            let mut after = rest[0].1[rest[0].1.len() - 1].upper;
            let mut count = 1;
            while let Some((_, outline)) = rest.get(count).filter(|(_, outline)| outline[0].lower < after) {
                after = after.max(outline[outline.len() - 1].upper);
                count += 1;
            }
            problems.push(Self::from_outlines(&rest[..count], base, unit));
            rest = &rest[count..];
        }
        problems
    }

    fn from_outlines(outlines: &[(usize, Vec<Rectangle>)], base: &[Rectangle], unit: i64) -> Self {
        let rectangles: Vec<Rectangle> = outlines.iter().flat_map(|(_, outline)| outline.iter().copied()).collect();
        let (sections, num_sections) = compute_sections(&rectangles);
        let run = |(rectangle, sections): (&Rectangle, &Range<usize>)| OutlineRun {
            sections: sections.clone(),
            height: rectangle.size / unit,
        };
        let runs: Vec<OutlineRun> = rectangles.iter().zip(&sections).map(run).collect();
        let mut items = Vec::with_capacity(outlines.len());
        let mut begin = 0;
        for (shape, outline) in outlines {
            let span = begin..begin + outline.len();
            begin = span.end;
            let below = base
                .iter()
                .filter(|one| one.has_area() && outline.iter().any(|step| step.overlaps_in_time(one)))
                .map(|one| one.size / unit);
            items.push(PackingItem {
                shape: *shape,
                live_range: outline[0].lower..outline[outline.len() - 1].upper,
                area: outline
                    .iter()
                    .map(|one| (one.upper - one.lower).saturating_mul(one.size / unit))
                    .fold(0, i64::saturating_add),
                sections: sections[span.start].start..sections[span.end - 1].end,
                height: runs[span.clone()].iter().map(|run| run.height).max().unwrap_or(0),
                base: below.max().unwrap_or(0),
                runs: span,
            });
        }
        Self { items, runs, num_sections, unit }
    }

    /// Returns the outline runs of an item.
    pub(super) fn item_runs(&self, item: usize) -> &[OutlineRun] {
        &self.runs[self.items[item].runs.clone()]
    }

    /// Returns the load of each section.
    pub(super) fn compute_loads(&self) -> Vec<i64> {
        let mut changes = vec![0_i64; self.num_sections + 1];
        for run in &self.runs {
            changes[run.sections.start] += run.height;
            changes[run.sections.end] -= run.height;
        }
        let mut live = 0;
        changes.pop();
        for change in &mut changes {
            live += *change;
            *change = live;
        }
        changes
    }
}

/// Returns the sections of each rectangle, and the number of sections. A section ends at the first end after a start.
fn compute_sections(rectangles: &[Rectangle]) -> (Vec<Range<usize>>, usize) {
    let ends = |(rectangle, one): (usize, &Rectangle)| {
        [
            TickEvent { tick: one.lower, begins: true, rectangle },
            TickEvent { tick: one.upper, begins: false, rectangle },
        ]
    };
    let mut events: Vec<TickEvent> = rectangles.iter().enumerate().flat_map(ends).collect();
    events.sort_unstable();
    let mut sections = vec![0..0; rectangles.len()];
    let (mut current, mut has_begun) = (0, false);
    for event in events {
        if event.begins {
            sections[event.rectangle].start = current;
            has_begun = true;
        } else {
            current += usize::from(has_begun);
            has_begun = false;
            sections[event.rectangle].end = current;
        }
    }
    (sections, current)
}

const fn greatest_divisor(mut left: i64, mut right: i64) -> i64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left.abs()
}
