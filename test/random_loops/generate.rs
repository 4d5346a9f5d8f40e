//! Generates programs of `spyre.loop`s from a list of random numbers, and computes their results.
//!
//! Every value is an array of small integers with [`COLUMNS`] columns; ops are elementwise, so only the order of reads
//! and writes matters.

use std::fmt::Write as _;

/// Number of columns: one stick of f16 per row.
pub(crate) const COLUMNS: usize = 64;

/// Number of rows of an argument.
const ROWS: usize = 4;

/// Maximum number of rows of an array.
const MAX_ROWS: usize = 32;

/// Maximum absolute value of an element: the device represents it, and the sum of two such elements, exactly.
const MAX_INTEGER: i32 = 500;

/// Maximum nesting depth of loops.
const MAX_DEPTH: usize = 2;

/// Type of a value: a compact array, or a window of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayType {
    pub(crate) rows: usize,
    /// Number of rows of the array of which the value is a window; `None` for a compact array.
    source_rows: Option<usize>,
}

impl ArrayType {
    const fn compact(rows: usize) -> Self {
        Self { rows, source_rows: None }
    }

    fn tile(self, count: usize) -> Self {
        Self { rows: self.rows / count, source_rows: Some(self.source_rows.unwrap_or(self.rows)) }
    }

    fn text(self) -> String {
        let (rows, whole) = (self.rows, self.source_rows.unwrap_or(self.rows));
        let of = self.source_rows.map_or_else(String::new, |of| format!(", of = [{of}, {COLUMNS}]"));
        // A dimension of one row has the host stride -1.
        let stride = if whole == 1 { -1 } else { 64 };
        format!("tensor<{rows}x{COLUMNS}xf16, #spyre.layout<[1, {whole}, 64], [64, {stride}, 1]{of}>>")
    }
}

/// Id of a value: its position in the list of types.
type ValueId = usize;

/// Function of an elementwise op.
#[derive(Clone, Copy, Debug)]
enum LoopFunction {
    Maximum,
    Minimum,
    Add,
    Sub,
}

impl LoopFunction {
    const fn name(self) -> &'static str {
        match self {
            Self::Maximum => "maximum",
            Self::Minimum => "minimum",
            Self::Add => "add",
            Self::Sub => "sub",
        }
    }

    fn apply(self, a: i32, b: i32) -> i32 {
        match self {
            Self::Maximum => a.max(b),
            Self::Minimum => a.min(b),
            Self::Add => a + b,
            Self::Sub => a - b,
        }
    }
}

/// Statement in the body of a program or of a loop.
enum LoopStatement {
    /// Elementwise op; the first row of the second operand may be broadcast to all rows.
    Op {
        result: ValueId,
        function: LoopFunction,
        reads: [ValueId; 2],
        is_broadcast: bool,
    },
    Loop(GeneratedLoop),
}

/// Loop: its trip count, operands, results and body.
#[derive(Default)]
struct GeneratedLoop {
    count: usize,
    /// Tiles that an iteration reads, each with its source.
    tiled: Vec<(ValueId, ValueId)>,
    /// Loop-carried values: the value at the start of an iteration, the initial value, the yielded value, and the
    /// result.
    carried: Vec<(ValueId, ValueId, ValueId, ValueId)>,
    /// Tiles that an iteration yields, each with the result that consists of them.
    tiled_results: Vec<(ValueId, ValueId)>,
    body: Vec<LoopStatement>,
}

/// Random program.
pub(crate) struct LoopProgram {
    types: Vec<ArrayType>,
    arguments: Vec<ValueId>,
    body: Vec<LoopStatement>,
    results: Vec<ValueId>,
}

/// Source of random choices: a list of random numbers, followed by zeros.
struct RandomChoices<'a> {
    numbers: std::slice::Iter<'a, u16>,
}

impl RandomChoices<'_> {
    /// Returns a random number below `end`.
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.numbers.next().copied().unwrap_or(0)) % end.max(1)
    }

    /// Returns true with probability 1 / `n`.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// Returns a random entry of a list.
    fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        if list.is_empty() { None } else { Some(list[self.below(list.len())]) }
    }
}

impl LoopProgram {
    /// Generates a program from random numbers.
    pub(crate) fn from_numbers(numbers: &[u16]) -> Self {
        let mut program = Self { types: Vec::new(), arguments: Vec::new(), body: Vec::new(), results: Vec::new() };
        let mut draws = RandomChoices { numbers: numbers.iter() };
        program.arguments = (0..2 + draws.below(2)).map(|_| program.new_value(ArrayType::compact(ROWS))).collect();
        let mut visible = program.arguments.clone();
        let mut body = Vec::new();
        if draws.one_in(2) {
            body.push(program.draw_op(&mut draws, &visible, &[], None));
            visible.extend(collect_results(&body));
        }
        for _ in 0..1 + draws.below(2) {
            let inner = program.draw_loop(&mut draws, &visible, 1);
            body.push(LoopStatement::Loop(inner));
            visible.extend(body.last().map(|last| collect_results(std::slice::from_ref(last))).unwrap_or_default());
        }
        program.return_loop_results(&mut draws, &mut body);
        program.body = body;
        program
    }

    /// Adds a value of a type, and returns its id.
    fn new_value(&mut self, of: ArrayType) -> ValueId {
        self.types.push(of);
        self.types.len() - 1
    }

    /// Draws an op on visible values. Its first operand is a preferred value half of the time. The result has the
    /// requested type, or else a compact type.
    fn draw_op(
        &mut self,
        draws: &mut RandomChoices<'_>,
        visible: &[ValueId],
        preferred: &[ValueId],
        result_type: Option<ArrayType>,
    ) -> LoopStatement {
        let rows = result_type.map(|wanted| wanted.rows);
        let fits = |id: &&ValueId| rows.is_none_or(|rows| self.types[**id].rows == rows);
        let matching_preferred: Vec<ValueId> = preferred.iter().filter(fits).copied().collect();
        let all: Vec<ValueId> = visible.iter().filter(fits).copied().collect();
        let first = if draws.one_in(2) { draws.pick(&matching_preferred) } else { None }
            .or_else(|| draws.pick(&all))
            .expect("a value of every size is visible");
        let same_size: Vec<ValueId> =
            visible.iter().filter(|id| self.types[**id].rows == self.types[first].rows).copied().collect();
        let second = draws.pick(&same_size).unwrap_or(first);
        let function = [
            LoopFunction::Maximum,
            LoopFunction::Minimum,
            LoopFunction::Sub,
            LoopFunction::Maximum,
            LoopFunction::Minimum,
            LoopFunction::Add,
        ][draws.below(6)];
        let is_broadcast = draws.one_in(6);
        let reads = if draws.one_in(2) { [first, second] } else { [second, first] };
        let result = self.new_value(result_type.unwrap_or(ArrayType::compact(self.types[first].rows)));
        LoopStatement::Op { result, function, reads, is_broadcast }
    }

    /// Draws a loop that reads visible values.
    fn draw_loop(&mut self, draws: &mut RandomChoices<'_>, visible: &[ValueId], depth: usize) -> GeneratedLoop {
        let count = [2, 4, 3, 1][draws.below(4)];
        let mut generated = GeneratedLoop { count, ..GeneratedLoop::default() };
        for _ in 0..draws.below(3) {
            let whole: Vec<ValueId> =
                visible.iter().filter(|id| self.types[**id].rows.is_multiple_of(count)).copied().collect();
            if let Some(whole) = draws.pick(&whole) {
                let tile = self.new_value(self.types[whole].tile(count));
                generated.tiled.push((tile, whole));
            }
        }
        let mut starts: Vec<(ValueId, ValueId)> = Vec::new();
        for _ in 0..draws.below(4) {
            // Initial values are mostly the newest values; some are used twice.
            let again = starts.last().map(|&(_, start)| start).filter(|_| draws.one_in(3));
            let newest = &visible[visible.len().saturating_sub(3)..];
            let candidates = if draws.one_in(3) { visible } else { newest };
            let Some(start) = again.or_else(|| draws.pick(candidates)) else { continue };
            starts.push((self.new_value(self.types[start]), start));
        }
        let mut visible_inside = visible.to_vec();
        visible_inside
            .extend(generated.tiled.iter().map(|(tile, _)| tile).chain(starts.iter().map(|(found, _)| found)));
        let own: Vec<ValueId> = visible_inside[visible.len()..].to_vec();
        for _ in 0..1 + draws.below(4) {
            let statement = if depth < MAX_DEPTH && draws.one_in(4) {
                LoopStatement::Loop(self.draw_loop(draws, &visible_inside, depth + 1))
            } else {
                self.draw_op(draws, &visible_inside, &own, None)
            };
            visible_inside.extend(collect_results(std::slice::from_ref(&statement)));
            generated.body.push(statement);
        }
        for (found, start) in starts {
            let yielded = self.pick_yielded(draws, &mut visible_inside, &own, self.types[found], &mut generated.body);
            let result = self.new_value(self.types[found]);
            generated.carried.push((found, start, yielded, result));
        }
        for _ in 0..draws.below(3).max(usize::from(generated.carried.is_empty())) {
            self.add_tiled_result(draws, &mut visible_inside, &own, &mut generated);
        }
        generated
    }

    /// Returns a value of a type for an iteration to yield: the result of a new op, or an existing value.
    fn pick_yielded(
        &mut self,
        draws: &mut RandomChoices<'_>,
        inside: &mut Vec<ValueId>,
        own: &[ValueId],
        yielded_type: ArrayType,
        body: &mut Vec<LoopStatement>,
    ) -> ValueId {
        let candidates: Vec<ValueId> = inside.iter().filter(|id| self.types[**id] == yielded_type).copied().collect();
        let newest = candidates[candidates.len().saturating_sub(3)..].to_vec();
        match draws.below(4) {
            0 | 1 => draws.pick(&newest).expect("what is found is there"),
            2 => draws.pick(&candidates).expect("what is found is there"),
            _ => {
                let new_op = self.draw_op(draws, inside, own, Some(yielded_type));
                inside.extend(collect_results(std::slice::from_ref(&new_op)));
                body.push(new_op);
                *inside.last().expect("an op has a result")
            }
        }
    }

    /// Adds a result that consists of one tile per iteration. The tile has the type of a tile that the loop reads, or
    /// any type.
    fn add_tiled_result(
        &mut self,
        draws: &mut RandomChoices<'_>,
        inside: &mut Vec<ValueId>,
        own: &[ValueId],
        generated: &mut GeneratedLoop,
    ) {
        let tile = draws.pick(&generated.tiled).filter(|_| draws.one_in(2));
        let (left, whole) = match tile {
            Some((tile, whole)) => {
                (self.pick_yielded(draws, inside, own, self.types[tile], &mut generated.body), self.types[whole])
            }
            None => {
                let small: Vec<ValueId> =
                    inside.iter().filter(|id| self.types[**id].rows * generated.count <= MAX_ROWS).copied().collect();
                let left = draws.pick(&small[small.len().saturating_sub(4)..]).expect("a value of few rows is visible");
                (left, ArrayType::compact(self.types[left].rows * generated.count))
            }
        };
        let result = self.new_value(whole);
        generated.tiled_results.push((left, result));
    }

    /// Adds the results of loops to the results of the program: directly, or as a copy in a separate buffer.
    fn return_loop_results(&mut self, draws: &mut RandomChoices<'_>, body: &mut Vec<LoopStatement>) {
        let loop_results: Vec<ValueId> = body
            .iter()
            .filter(|statement| matches!(statement, LoopStatement::Loop(_)))
            .flat_map(|one| collect_results(std::slice::from_ref(one)))
            .collect();
        for id in loop_results {
            if draws.one_in(3) && self.types[id].source_rows.is_none() {
                self.results.push(id);
                continue;
            }
            let result = self.new_value(ArrayType::compact(self.types[id].rows));
            body.push(LoopStatement::Op {
                result,
                function: LoopFunction::Maximum,
                reads: [id, id],
                is_broadcast: false,
            });
            self.results.push(result);
        }
    }

    /// Computes the results of the program; `None` if a number grows too large to be exact.
    pub(crate) fn evaluate(&self, inputs: &[Vec<i32>]) -> Option<Vec<Vec<i32>>> {
        let mut values: Vec<Vec<i32>> = vec![Vec::new(); self.types.len()];
        for (&argument, input) in self.arguments.iter().zip(inputs) {
            values[argument].clone_from(input);
        }
        execute(&self.body, &mut values)?;
        Some(self.results.iter().map(|&result| values[result].clone()).collect())
    }

    /// Returns the number of rows of each argument, and of each result.
    pub(crate) fn rows(&self) -> (Vec<usize>, Vec<usize>) {
        let rows = |ids: &[ValueId]| ids.iter().map(|&id| self.types[id].rows).collect();
        (rows(&self.arguments), rows(&self.results))
    }

    /// Returns the program as MLIR text.
    pub(crate) fn text(&self) -> String {
        let typed = |id: &ValueId| format!("%v{id}: {}", self.types[*id].text());
        let arguments: Vec<String> = self.arguments.iter().map(typed).collect();
        let results: Vec<String> = self.results.iter().map(|id| self.types[*id].text()).collect();
        let mut text = format!("func.func @loops({}) -> ({}) {{\n", arguments.join(", "), results.join(", "));
        self.write_body(&self.body, &mut text);
        let _ = writeln!(text, "  return {} : {}\n}}", join_names(&self.results), results.join(", "));
        text
    }

    fn write_body(&self, body: &[LoopStatement], text: &mut String) {
        let of = |id: ValueId| self.types[id].text();
        for statement in body {
            match statement {
                LoopStatement::Op { result, function, reads: [first, second], is_broadcast } => {
                    let (mut read, mut read_type) = (format!("%v{second}"), of(*second));
                    if *is_broadcast {
                        let viewed = format!("tensor<{}x{COLUMNS}xf16>", self.types[*second].rows);
                        let _ = writeln!(
                            text,
                            "  %row{result} = spyre.view {read} by affine_map<(d0, d1) -> (0, d1)> : {read_type} -> {viewed}"
                        );
                        (read, read_type) = (format!("%row{result}"), viewed);
                    }
                    let (name, first_type, result_type) = (function.name(), of(*first), of(*result));
                    let _ = writeln!(
                        text,
                        "  %v{result} = spyre.pointwise {name}(%v{first}, {read}) : ({first_type}, {read_type}) -> {result_type}"
                    );
                }
                LoopStatement::Loop(inner) => self.write_loop(inner, text),
            }
        }
    }

    fn write_loop(&self, inner: &GeneratedLoop, text: &mut String) {
        let of = |id: ValueId| self.types[id].text();
        let carried: Vec<String> =
            inner.carried.iter().map(|(found, start, ..)| format!("%v{found} = %v{start} : {}", of(*start))).collect();
        let tiled: Vec<String> =
            inner.tiled.iter().map(|(tile, whole)| format!("%v{tile} = %v{whole}[0] : {}", of(*whole))).collect();
        let list = |word: &str, entries: &[String]| {
            if entries.is_empty() { String::new() } else { format!(" {word}({})", entries.join(", ")) }
        };
        let tiled_yields = inner.tiled_results.iter().map(|&(left, result)| (format!("%v{left}[0]"), left, result));
        let carried_yields = inner.carried.iter().map(|&(_, _, left, result)| (format!("%v{left}"), left, result));
        let yields: Vec<(String, ValueId, ValueId)> = tiled_yields.chain(carried_yields).collect();
        let results: Vec<ValueId> = yields.iter().map(|(.., result)| *result).collect();
        let joined =
            |of: &dyn Fn(&(String, ValueId, ValueId)) -> String| yields.iter().map(of).collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            text,
            "  {} = spyre.loop {} \"L\"{}{} {{",
            join_names(&results),
            inner.count,
            list("tiled", &tiled),
            list("carried", &carried)
        );
        self.write_body(&inner.body, text);
        let _ = writeln!(
            text,
            "  spyre.yield {} : {}",
            joined(&|(name, ..)| name.clone()),
            joined(&|(_, left, _)| of(*left))
        );
        let _ = writeln!(text, "  }} : {}", joined(&|(.., result)| of(*result)));
    }
}

fn join_names(ids: &[ValueId]) -> String {
    ids.iter().map(|id| format!("%v{id}")).collect::<Vec<_>>().join(", ")
}

fn collect_results(body: &[LoopStatement]) -> Vec<ValueId> {
    let find_results = |statement: &LoopStatement| match statement {
        LoopStatement::Op { result, .. } => vec![*result],
        LoopStatement::Loop(inner) => {
            inner.carried.iter().map(|one| one.3).chain(inner.tiled_results.iter().map(|one| one.1)).collect()
        }
    };
    body.iter().flat_map(find_results).collect()
}

fn execute(body: &[LoopStatement], values: &mut [Vec<i32>]) -> Option<()> {
    for statement in body {
        match statement {
            LoopStatement::Op { result, function, reads: [first, second], is_broadcast } => {
                let (a, b) = (&values[*first], &values[*second]);
                let numbers =
                    (0..a.len()).map(|at| function.apply(a[at], b[if *is_broadcast { at % COLUMNS } else { at }]));
                let numbers: Vec<i32> = numbers.collect();
                if numbers.iter().any(|number| number.abs() > MAX_INTEGER) {
                    return None;
                }
                values[*result] = numbers;
            }
            LoopStatement::Loop(inner) => execute_loop(inner, values)?,
        }
    }
    Some(())
}

fn execute_loop(inner: &GeneratedLoop, values: &mut [Vec<i32>]) -> Option<()> {
    for &(found, start, ..) in &inner.carried {
        values[found] = values[start].clone();
    }
    for &(_, result) in &inner.tiled_results {
        values[result].clear();
    }
    for iteration in 0..inner.count {
        for &(tile, whole) in &inner.tiled {
            let length = values[whole].len() / inner.count;
            values[tile] = values[whole][iteration * length..(iteration + 1) * length].to_vec();
        }
        execute(&inner.body, values)?;
        for &(left, result) in &inner.tiled_results {
            let tile = values[left].clone();
            values[result].extend(tile);
        }
        let left: Vec<Vec<i32>> = inner.carried.iter().map(|&(_, _, left, _)| values[left].clone()).collect();
        for (&(found, _, _, result), left) in inner.carried.iter().zip(left) {
            values[found].clone_from(&left);
            values[result] = left;
        }
    }
    Some(())
}
