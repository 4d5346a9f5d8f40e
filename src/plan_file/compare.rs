//! Comparison of two plan files: the decisions that differ, and the cost of each difference.

use super::{OpCost, PlanFile, PlannedLoopNest};
use crate::codes;
use std::{collections::BTreeMap, fmt::Write};

/// Cost and decisions of one source op in one plan, in total over the ops to which it is lowered.
#[derive(Default)]
struct OpPlanSummary {
    us: f64,
    hbm_bytes: i64,
    /// Loops, core split and result memory of each lowered op, in order, as text.
    decisions: Vec<String>,
}

/// Compares two plans and returns the differences as text: the totals, the loops, and the ops with different decisions
/// or costs, with the largest time difference first.
///
/// # Errors
/// Returns an error if the plans are for different programs.
pub fn compare(one: &PlanFile, other: &PlanFile) -> Result<String, String> {
    if one.chosen.key != other.chosen.key {
        let (one, other) = (&one.program, &other.program);
        return Err(codes::PLAN_COMPARE.format(format_args!(
            "expected two plans of one program, found plans of '{one}' and '{other}', or of other layouts or names"
        )));
    }
    let mut text = String::new();
    let mut write_line =
        |words: std::fmt::Arguments<'_>| writeln!(text, "{words}").expect("a text takes all that is written");
    write_line(format_args!(
        "{}: {:.1} us and {} B of HBM; {:.1} us and {} B",
        one.program, one.us, one.hbm_bytes, other.us, other.hbm_bytes
    ));
    for (name, of_one) in one.target.iter().filter(|(name, number)| other.target.get(*name) != Some(number)) {
        let of_other = other.target.get(name).map_or_else(|| "none".to_owned(), i64::to_string);
        write_line(format_args!("  machine: '{name}' is {of_one}, and {of_other}"));
    }
    let describe_unshared_nests = |mine: &[PlannedLoopNest], of_other: &[PlannedLoopNest]| {
        mine.iter().filter(|nest| !of_other.contains(nest)).map(describe_nest).collect::<Vec<_>>()
    };
    let (first, second) = (
        describe_unshared_nests(&one.chosen.loops, &other.chosen.loops),
        describe_unshared_nests(&other.chosen.loops, &one.chosen.loops),
    );
    first.iter().for_each(|nest| write_line(format_args!("  loops of the first alone: {nest}")));
    second.iter().for_each(|nest| write_line(format_args!("  loops of the second alone: {nest}")));
    let differences = collect_differences(&one.costs, &other.costs);
    if differences.is_empty() {
        write_line(format_args!("  every op is run in the same way"));
    }
    for ((location, function), [one, other]) in differences {
        let (us, bytes) = (other.us - one.us, other.hbm_bytes - one.hbm_bytes);
        write_line(format_args!(
            "  {location} {function}: {}; {} ({us:+.1} us, {bytes:+} B)",
            one.describe(),
            other.describe()
        ));
    }
    Ok(text)
}

impl OpPlanSummary {
    fn describe(&self) -> String {
        if self.decisions.is_empty() {
            return "absent".to_owned();
        }
        format!("{:.1} us, {} B, {}", self.us, self.hbm_bytes, self.decisions.join(" + "))
    }
}

fn describe_nest(nest: &PlannedLoopNest) -> String {
    let counts: Vec<String> = nest.levels.iter().map(|level| level.count.to_string()).collect();
    let copies = match nest.copies.len() {
        0 => String::new(),
        1 => ", after copying an operand".to_owned(),
        num_copies => format!(", after copying {num_copies} operands"),
    };
    format!("{} tiles around ops {} to {}{copies}", counts.join(" x "), nest.ops[0], nest.ops[1].saturating_sub(1))
}

/// Source op (location and device function) with its summary in each of the two plans.
type OpPlanDifference = ((String, String), [OpPlanSummary; 2]);

/// Collects the source ops whose decisions, traffic or time differ, with the largest time difference first.
fn collect_differences(one: &[OpCost], other: &[OpCost]) -> Vec<OpPlanDifference> {
    let mut summaries: BTreeMap<(String, String), [OpPlanSummary; 2]> = BTreeMap::new();
    for (side, costs) in [one, other].into_iter().enumerate() {
        for cost in costs {
            let summary = &mut summaries.entry((cost.location.clone(), cost.function.clone())).or_default()[side];
            summary.us += cost.us;
            summary.hbm_bytes += cost.hbm_bytes;
            summary
                .decisions
                .push(format!("core split {:?}, tiles {:?}, result in {}", cost.work, cost.loops, cost.memory));
        }
    }
    let differs = |(_, [one, other]): &OpPlanDifference| {
        one.decisions != other.decisions || one.hbm_bytes != other.hbm_bytes || (one.us - other.us).abs() >= 0.05
    };
    let mut differences: Vec<OpPlanDifference> = summaries.into_iter().filter(differs).collect();
    differences.sort_by(|(_, [a, b]), (_, [c, d])| (d.us - c.us).abs().total_cmp(&(b.us - a.us).abs()));
    differences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_file::PlannedLoop;

    fn sample_plan(count: i64, us: f64) -> PlanFile {
        let cost = |function: &str, us: f64| OpCost {
            function: function.to_owned(),
            location: "a.mlir:1:1".to_owned(),
            loops: vec![count],
            work: vec![32],
            memory: "hbm".to_owned(),
            us,
            hbm_bytes: 128 * count,
        };
        let mut plan = PlanFile { program: "main".to_owned(), us, hbm_bytes: 256 * count, ..PlanFile::default() };
        plan.chosen.loops = vec![PlannedLoopNest {
            ops: [0, 2],
            levels: vec![PlannedLoop { count, dims: BTreeMap::new() }],
            copies: Vec::new(),
        }];
        plan.costs = vec![cost("add", us / 4.0), cost("mul", us * 3.0 / 4.0)];
        plan
    }

    #[test]
    fn lists_largest_difference_first() {
        let text = compare(&sample_plan(2, 8.0), &sample_plan(4, 4.0)).unwrap();
        let expected = "main: 8.0 us and 512 B of HBM; 4.0 us and 1024 B
  loops of the first alone: 2 tiles around ops 0 to 1
  loops of the second alone: 4 tiles around ops 0 to 1
  a.mlir:1:1 mul: 6.0 us, 256 B, core split [32], tiles [2], result in hbm; \
3.0 us, 512 B, core split [32], tiles [4], result in hbm (-3.0 us, +256 B)
  a.mlir:1:1 add: 2.0 us, 256 B, core split [32], tiles [2], result in hbm; \
1.0 us, 512 B, core split [32], tiles [4], result in hbm (-1.0 us, +256 B)
";
        assert_eq!(text, expected);
    }

    #[test]
    fn reports_no_difference_between_equal_plans() {
        assert_eq!(
            compare(&sample_plan(2, 8.0), &sample_plan(2, 8.0)).unwrap(),
            "main: 8.0 us and 512 B of HBM; 8.0 us and 512 B\n  every op is run in the same way\n"
        );
    }

    #[test]
    fn rejects_plans_of_different_programs() {
        let mut other = sample_plan(2, 8.0);
        other.chosen.key = "1".to_owned();
        assert!(compare(&sample_plan(2, 8.0), &other).unwrap_err().contains("found plans of 'main' and 'main'"));
    }
}
