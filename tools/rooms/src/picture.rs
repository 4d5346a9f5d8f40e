//! Picture of the architecture: the phases with their stages, and the crates with their dependencies.
//!
//! `cargo xtask docs` writes it to `docs/pictures/architecture.svg`, and the test `tidy` fails if that file is
//! outdated.

use crate::house::{HOUSE, PHASES, Package, Phase};
use std::fmt::Write;

/// Width of the picture, in SVG units.
const WIDTH: usize = 760;

/// Height of the picture.
const HEIGHT: usize = 464;

/// Size of a crate's box.
const CRATE: [usize; 2] = [116, 26];

/// Vertical distance of two layers of crates.
const LAYER: usize = 56;

/// Top of the bottom layer of crates.
const GROUND: usize = 424;

const STYLE: &str = "\
.bg{fill:#fff}text{fill:#1b1f24}.note{fill:#57606a}.phase{fill:#dbeafe;stroke:#3b6fb5}.crate{fill:#fde9c8;stroke:#b07a1e}
.compiler{fill:#e3f3df;stroke:#4b8b3b}.line{stroke:#8b949e;fill:none}.arrow{fill:#8b949e}
@media (prefers-color-scheme:dark){.bg{fill:#0d1117}text{fill:#e6edf3}.note{fill:#9aa4af}.phase{fill:#17324f;stroke:#7fb0ec}
.crate{fill:#4a3512;stroke:#e0ab52}.compiler{fill:#1c3a17;stroke:#8fcf7f}}";

/// A crate and the position of its box.
struct CratePlacement {
    package: &'static Package,
    /// Number of layers below it.
    depth: usize,
    /// Horizontal center.
    center: usize,
}

impl CratePlacement {
    fn top(&self) -> usize {
        GROUND - self.depth * LAYER
    }
}

/// Renders the phases and the crates as SVG.
#[must_use]
pub fn render_architecture() -> String {
    let mut svg = format!(
        "<!-- Made by `cargo xtask docs` from tools/rooms/src/house.rs. -->\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Phases of a compilation, and crates of the project</title>\n<style>\n{STYLE}\n</style>\n\
         <rect class=\"bg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\"/>\n"
    );
    let mut draw = |part: String| {
        svg.push_str(&part);
        svg.push('\n');
    };
    draw(caption(24, "Phases: the decision that each writes into the IR, and the folders of src that take it"));
    for (number, phase) in PHASES.iter().enumerate() {
        draw(phase_box(number, phase));
    }
    draw(caption(
        168,
        "Crates (spyre-NAME): a line leads down to what a crate depends on; lines that follow from others are left out",
    ));
    let crates = place_crates();
    for upper in &crates {
        for lower in crates.iter().filter(|lower| is_direct(upper.package, lower.package)) {
            draw(dependency(upper, lower));
        }
    }
    for placed in &crates {
        draw(crate_box(placed));
    }
    svg + "</svg>\n"
}

fn caption(y: usize, text: &str) -> String {
    format!("<text x=\"16\" y=\"{y}\" font-weight=\"bold\">{text}</text>")
}

fn phase_box(number: usize, phase: &Phase) -> String {
    let left = 16 + number * 92;
    let center = left + 40;
    let mut text = format!(
        "<rect class=\"phase\" x=\"{left}\" y=\"40\" width=\"80\" height=\"30\" rx=\"3\"/>\
         <text x=\"{center}\" y=\"60\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\
         <text x=\"{center}\" y=\"90\" text-anchor=\"middle\">{}</text>",
        phase.name, phase.writes
    );
    for (row, stage) in phase.stages.iter().enumerate() {
        let y = 110 + row * 16;
        let _ = write!(text, "<text class=\"note\" x=\"{center}\" y=\"{y}\" text-anchor=\"middle\">{stage}</text>");
    }
    if number > 0 {
        let _ = write!(text, "<path class=\"arrow\" d=\"M{} 50l8 5l-8 5z\"/>", left - 10);
    }
    text
}

/// Returns the text of a crate's box: its name without the common prefix.
fn crate_label(package: &Package) -> &'static str {
    package.name.strip_prefix("spyre-").unwrap_or(package.name)
}

fn crate_box(placed: &CratePlacement) -> String {
    let [width, height] = CRATE;
    let class = if placed.package.is_library() { "crate" } else { "compiler" };
    format!(
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        placed.center - width / 2,
        placed.top(),
        placed.center,
        placed.top() + 17,
        crate_label(placed.package)
    )
}

fn dependency(upper: &CratePlacement, lower: &CratePlacement) -> String {
    format!(
        "<path class=\"line\" d=\"M{} {}L{} {}\"/>",
        upper.center,
        upper.top() + CRATE[1],
        lower.center,
        lower.top()
    )
}

/// Packages of the picture: the compiler, its libraries, and the packages that depend on it; no developer tools.
fn pictured_packages() -> Vec<&'static Package> {
    HOUSE.packages.iter().filter(|package| !package.folder.starts_with("tools/")).collect()
}

fn needed_packages(package: &Package) -> Vec<&'static Package> {
    pictured_packages().into_iter().filter(|other| package.needs.contains(&other.name)).collect()
}

fn reaches(from: &Package, to: &Package) -> bool {
    needed_packages(from).into_iter().any(|needed| needed.name == to.name || reaches(needed, to))
}

/// Returns whether `upper` depends on `lower`, and on no other package that depends on `lower`.
fn is_direct(upper: &Package, lower: &Package) -> bool {
    let needed = needed_packages(upper);
    needed.iter().any(|package| package.name == lower.name) && !needed.iter().any(|package| reaches(package, lower))
}

fn depth(package: &Package) -> usize {
    needed_packages(package).into_iter().map(|needed| depth(needed) + 1).max().unwrap_or(0)
}

/// Assigns the crates to layers from the bottom up. A crate is placed near the center of its direct dependencies.
fn place_crates() -> Vec<CratePlacement> {
    let mut placed: Vec<CratePlacement> = Vec::new();
    for layer in 0.. {
        let packages: Vec<&Package> =
            pictured_packages().into_iter().filter(|package| depth(package) == layer).collect();
        if packages.is_empty() {
            return placed;
        }
        let mut ordered: Vec<(usize, &Package)> =
            packages.into_iter().map(|package| (middle_of_needed(package, &placed), package)).collect();
        ordered.sort_by_key(|(middle, _)| *middle);
        let gap = WIDTH / (ordered.len() + 1);
        let boxes = ordered.into_iter().enumerate();
        placed.extend(boxes.map(|(number, (_, package))| CratePlacement {
            package,
            depth: layer,
            center: gap * (number + 1),
        }));
    }
    placed
}

fn middle_of_needed(package: &Package, placed: &[CratePlacement]) -> usize {
    let direct = placed.iter().filter(|lower| is_direct(package, lower.package));
    let centers: Vec<usize> = direct.map(|lower| lower.center).collect();
    centers.iter().sum::<usize>() / centers.len().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_every_phase_stage_and_crate() {
        let svg = render_architecture();
        let stages = PHASES.iter().flat_map(|phase| phase.stages.iter().copied());
        let crates = pictured_packages().into_iter().map(crate_label);
        for name in PHASES.iter().map(|phase| phase.name).chain(stages).chain(crates) {
            assert!(svg.contains(&format!(">{name}<")), "{name}");
        }
    }

    #[test]
    fn contains_every_stage_once_in_phases() {
        let mut viewed: Vec<&str> = PHASES.iter().flat_map(|phase| phase.stages.iter().copied()).collect();
        let mut stages: Vec<&str> = HOUSE.stages().collect();
        viewed.sort_unstable();
        stages.sort_unstable();
        assert_eq!(viewed, stages);
    }

    #[test]
    fn omits_transitive_lines() {
        let package = |name: &str| *pictured_packages().iter().find(|package| package.name == name).expect("a crate");
        assert!(is_direct(package("spyre-referee"), package("spyre-cost")));
        assert!(!is_direct(package("spyre-referee"), package("spyre-machine")), "through cost");
    }
}
