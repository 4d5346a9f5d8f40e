//! Generates programs of `spyre.loop`s from a list of drawn numbers, and computes their results.
//!
//! Every value is an array of small integers with [`COLUMNS`] columns; ops are elementwise, so only the order of reads and writes matters.

use std::fmt::Write as _;

/// One stick of f16 a row.
pub(crate) const COLUMNS: usize = 64;

/// Rows of an argument.
const ROWS: usize = 4;

/// No array has more rows.
const MOST_ROWS: usize = 32;

/// The device has every integer up to here, and one more bit for a sum.
const LARGEST: i32 = 500;

/// Maximum nesting depth of loops.
const DEEPEST: usize = 2;

/// A type: rows, and of how many rows they are a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) rows: usize,
    of: Option<usize>,
}

impl Type {
    const fn compact(rows: usize) -> Self {
        Self { rows, of: None }
    }

    fn tile(self, count: usize) -> Self {
        Self { rows: self.rows / count, of: Some(self.of.unwrap_or(self.rows)) }
    }

    fn text(self) -> String {
        let (rows, whole) = (self.rows, self.of.unwrap_or(self.rows));
        let of = self.of.map_or_else(String::new, |of| format!(", of = [{of}, {COLUMNS}]"));
        // A dimension of one row does not move.
        let stride = if whole == 1 { -1 } else { 64 };
        format!("tensor<{rows}x{COLUMNS}xf16, #spyre.layout<[1, {whole}, 64], [64, {stride}, 1]{of}>>")
    }
}

/// A value, by its position in the list of types.
type Id = usize;

#[derive(Clone, Copy, Debug)]
enum Function {
    Maximum,
    Minimum,
    Add,
    Sub,
}

impl Function {
    const fn name(self) -> &'static str {
        match self {
            Self::Maximum => "maximum",
            Self::Minimum => "minimum",
            Self::Add => "add",
            Self::Sub => "sub",
        }
    }

    fn of(self, a: i32, b: i32) -> i32 {
        match self {
            Self::Maximum => a.max(b),
            Self::Minimum => a.min(b),
            Self::Add => a + b,
            Self::Sub => a - b,
        }
    }
}

enum Statement {
    /// An elementwise op; the first row of the second operand may be broadcast to all rows.
    Op {
        result: Id,
        function: Function,
        reads: [Id; 2],
        is_broadcast: bool,
    },
    Loop(Loop),
}

#[derive(Default)]
struct Loop {
    count: usize,
    /// The tile and its source.
    tiled: Vec<(Id, Id)>,
    /// Carried values: the value at the start of an iteration, the initial value, the yielded value, and the result.
    carried: Vec<(Id, Id, Id, Id)>,
    /// Tiles that an iteration yields, and the results that the tiles belong to.
    given: Vec<(Id, Id)>,
    body: Vec<Statement>,
}

/// A program and its features.
pub(crate) struct Program {
    types: Vec<Type>,
    arguments: Vec<Id>,
    body: Vec<Statement>,
    results: Vec<Id>,
}

/// Numbers that were drawn; 0 when there are no more.
struct Draws<'a> {
    numbers: std::slice::Iter<'a, u16>,
}

impl Draws<'_> {
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.numbers.next().copied().unwrap_or(0)) % end.max(1)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        if list.is_empty() { None } else { Some(list[self.below(list.len())]) }
    }
}

impl Program {
    pub(crate) fn of(numbers: &[u16]) -> Self {
        let mut program = Self { types: Vec::new(), arguments: Vec::new(), body: Vec::new(), results: Vec::new() };
        let mut draws = Draws { numbers: numbers.iter() };
        program.arguments = (0..2 + draws.below(2)).map(|_| program.value(Type::compact(ROWS))).collect();
        let mut visible = program.arguments.clone();
        let mut body = Vec::new();
        if draws.one_in(2) {
            body.push(program.op(&mut draws, &visible, &[], None));
            visible.extend(results_of(&body));
        }
        for _ in 0..1 + draws.below(2) {
            let inner = program.nest(&mut draws, &visible, 1);
            body.push(Statement::Loop(inner));
            visible.extend(body.last().map(|last| results_of(std::slice::from_ref(last))).unwrap_or_default());
        }
        program.return_some(&mut draws, &mut body);
        program.body = body;
        program
    }

    fn value(&mut self, of: Type) -> Id {
        self.types.push(of);
        self.types.len() - 1
    }

    /// An op on visible values, half of the time on one of `favoured`; its type is the requested one, else a full array.
    fn op(&mut self, draws: &mut Draws<'_>, visible: &[Id], favoured: &[Id], wanted: Option<Type>) -> Statement {
        let rows = wanted.map(|wanted| wanted.rows);
        let fits = |id: &&Id| rows.is_none_or(|rows| self.types[**id].rows == rows);
        let liked: Vec<Id> = favoured.iter().filter(fits).copied().collect();
        let all: Vec<Id> = visible.iter().filter(fits).copied().collect();
        let first =
            if draws.one_in(2) { draws.of(&liked) } else { None }.or_else(|| draws.of(&all)).expect("a value of every size is visible");
        let alike: Vec<Id> = visible.iter().filter(|id| self.types[**id].rows == self.types[first].rows).copied().collect();
        let second = draws.of(&alike).unwrap_or(first);
        let function =
            [Function::Maximum, Function::Minimum, Function::Sub, Function::Maximum, Function::Minimum, Function::Add][draws.below(6)];
        let is_broadcast = draws.one_in(6);
        let reads = if draws.one_in(2) { [first, second] } else { [second, first] };
        let result = self.value(wanted.unwrap_or(Type::compact(self.types[first].rows)));
        Statement::Op { result, function, reads, is_broadcast }
    }

    fn nest(&mut self, draws: &mut Draws<'_>, visible: &[Id], depth: usize) -> Loop {
        let count = [2, 4, 3, 1][draws.below(4)];
        let mut around = Loop { count, ..Loop::default() };
        for _ in 0..draws.below(3) {
            let whole: Vec<Id> = visible.iter().filter(|id| self.types[**id].rows.is_multiple_of(count)).copied().collect();
            if let Some(whole) = draws.of(&whole) {
                let tile = self.value(self.types[whole].tile(count));
                around.tiled.push((tile, whole));
            }
        }
        let mut starts: Vec<(Id, Id)> = Vec::new();
        for _ in 0..draws.below(4) {
            // Mostly the newest values, and the same one again.
            let again = starts.last().map(|&(_, start)| start).filter(|_| draws.one_in(3));
            let newest = &visible[visible.len().saturating_sub(3)..];
            let of = if draws.one_in(3) { visible } else { newest };
            let Some(start) = again.or_else(|| draws.of(of)) else { continue };
            starts.push((self.value(self.types[start]), start));
        }
        let mut inside = visible.to_vec();
        inside.extend(around.tiled.iter().map(|(tile, _)| tile).chain(starts.iter().map(|(found, _)| found)));
        let own: Vec<Id> = inside[visible.len()..].to_vec();
        for _ in 0..1 + draws.below(4) {
            let statement = if depth < DEEPEST && draws.one_in(4) {
                Statement::Loop(self.nest(draws, &inside, depth + 1))
            } else {
                self.op(draws, &inside, &own, None)
            };
            inside.extend(results_of(std::slice::from_ref(&statement)));
            around.body.push(statement);
        }
        for (found, start) in starts {
            let left = self.left(draws, &mut inside, &own, self.types[found], &mut around.body);
            let result = self.value(self.types[found]);
            around.carried.push((found, start, left, result));
        }
        for _ in 0..draws.below(3).max(usize::from(around.carried.is_empty())) {
            self.give(draws, &mut inside, &own, &mut around);
        }
        around
    }

    /// Returns a value for an iteration to yield: a new value, or any existing one.
    fn left(&mut self, draws: &mut Draws<'_>, inside: &mut Vec<Id>, own: &[Id], of: Type, body: &mut Vec<Statement>) -> Id {
        let there: Vec<Id> = inside.iter().filter(|id| self.types[**id] == of).copied().collect();
        let newest = there[there.len().saturating_sub(3)..].to_vec();
        match draws.below(4) {
            0 | 1 => draws.of(&newest).expect("what is found is there"),
            2 => draws.of(&there).expect("what is found is there"),
            _ => {
                let made = self.op(draws, inside, own, Some(of));
                inside.extend(results_of(std::slice::from_ref(&made)));
                body.push(made);
                *inside.last().expect("an op has a result")
            }
        }
    }

    /// Appends a value tile by tile: tiles of any size, or windows.
    fn give(&mut self, draws: &mut Draws<'_>, inside: &mut Vec<Id>, own: &[Id], around: &mut Loop) {
        let tile = draws.of(&around.tiled).filter(|_| draws.one_in(2));
        let (left, whole) = match tile {
            Some((tile, whole)) => (self.left(draws, inside, own, self.types[tile], &mut around.body), self.types[whole]),
            None => {
                let small: Vec<Id> = inside.iter().filter(|id| self.types[**id].rows * around.count <= MOST_ROWS).copied().collect();
                let left = draws.of(&small[small.len().saturating_sub(4)..]).expect("a value of few rows is visible");
                (left, Type::compact(self.types[left].rows * around.count))
            }
        };
        let result = self.value(whole);
        around.given.push((left, result));
    }

    /// Returns the results of loops, directly or through an op, in separate buffers.
    fn return_some(&mut self, draws: &mut Draws<'_>, body: &mut Vec<Statement>) {
        let made: Vec<Id> = body
            .iter()
            .filter(|statement| matches!(statement, Statement::Loop(_)))
            .flat_map(|one| results_of(std::slice::from_ref(one)))
            .collect();
        for id in made {
            if draws.one_in(3) && self.types[id].of.is_none() {
                self.results.push(id);
                continue;
            }
            let result = self.value(Type::compact(self.types[id].rows));
            body.push(Statement::Op { result, function: Function::Maximum, reads: [id, id], is_broadcast: false });
            self.results.push(result);
        }
    }

    /// Computes the results of the program; `None` if a number grows too large to be exact.
    pub(crate) fn results(&self, inputs: &[Vec<i32>]) -> Option<Vec<Vec<i32>>> {
        let mut values: Vec<Vec<i32>> = vec![Vec::new(); self.types.len()];
        for (&argument, input) in self.arguments.iter().zip(inputs) {
            values[argument].clone_from(input);
        }
        run(&self.body, &mut values)?;
        Some(self.results.iter().map(|&result| values[result].clone()).collect())
    }

    /// Rows of each argument, and of each result.
    pub(crate) fn rows(&self) -> (Vec<usize>, Vec<usize>) {
        let rows = |ids: &[Id]| ids.iter().map(|&id| self.types[id].rows).collect();
        (rows(&self.arguments), rows(&self.results))
    }

    pub(crate) fn text(&self) -> String {
        let typed = |id: &Id| format!("%v{id}: {}", self.types[*id].text());
        let arguments: Vec<String> = self.arguments.iter().map(typed).collect();
        let results: Vec<String> = self.results.iter().map(|id| self.types[*id].text()).collect();
        let mut text = format!("func.func @loops({}) -> ({}) {{\n", arguments.join(", "), results.join(", "));
        self.write(&self.body, &mut text);
        let _ = writeln!(text, "  return {} : {}\n}}", names(&self.results), results.join(", "));
        text
    }

    fn write(&self, body: &[Statement], text: &mut String) {
        let of = |id: Id| self.types[id].text();
        for statement in body {
            match statement {
                Statement::Op { result, function, reads: [first, second], is_broadcast } => {
                    let (mut read, mut read_type) = (format!("%v{second}"), of(*second));
                    if *is_broadcast {
                        let shown = format!("tensor<{}x{COLUMNS}xf16>", self.types[*second].rows);
                        let _ = writeln!(
                            text,
                            "  %row{result} = spyre.view {read} by affine_map<(d0, d1) -> (0, d1)> : {read_type} -> {shown}"
                        );
                        (read, read_type) = (format!("%row{result}"), shown);
                    }
                    let (name, first_type, result_type) = (function.name(), of(*first), of(*result));
                    let _ = writeln!(
                        text,
                        "  %v{result} = spyre.pointwise {name}(%v{first}, {read}) : ({first_type}, {read_type}) -> {result_type}"
                    );
                }
                Statement::Loop(inner) => self.write_loop(inner, text),
            }
        }
    }

    fn write_loop(&self, inner: &Loop, text: &mut String) {
        let of = |id: Id| self.types[id].text();
        let carried: Vec<String> =
            inner.carried.iter().map(|(found, start, ..)| format!("%v{found} = %v{start} : {}", of(*start))).collect();
        let tiled: Vec<String> = inner.tiled.iter().map(|(tile, whole)| format!("%v{tile} = %v{whole}[0] : {}", of(*whole))).collect();
        let list =
            |word: &str, entries: &[String]| if entries.is_empty() { String::new() } else { format!(" {word}({})", entries.join(", ")) };
        let given = inner.given.iter().map(|&(left, result)| (format!("%v{left}[0]"), left, result));
        let carried_on = inner.carried.iter().map(|&(_, _, left, result)| (format!("%v{left}"), left, result));
        let left: Vec<(String, Id, Id)> = given.chain(carried_on).collect();
        let results: Vec<Id> = left.iter().map(|(.., result)| *result).collect();
        let joined = |of: &dyn Fn(&(String, Id, Id)) -> String| left.iter().map(of).collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            text,
            "  {} = spyre.loop {} \"L\"{}{} {{",
            names(&results),
            inner.count,
            list("tiled", &tiled),
            list("carried", &carried)
        );
        self.write(&inner.body, text);
        let _ = writeln!(text, "  spyre.yield {} : {}", joined(&|(name, ..)| name.clone()), joined(&|(_, left, _)| of(*left)));
        let _ = writeln!(text, "  }} : {}", joined(&|(.., result)| of(*result)));
    }
}

fn names(ids: &[Id]) -> String {
    ids.iter().map(|id| format!("%v{id}")).collect::<Vec<_>>().join(", ")
}

fn results_of(body: &[Statement]) -> Vec<Id> {
    let of = |statement: &Statement| match statement {
        Statement::Op { result, .. } => vec![*result],
        Statement::Loop(inner) => inner.carried.iter().map(|one| one.3).chain(inner.given.iter().map(|one| one.1)).collect(),
    };
    body.iter().flat_map(of).collect()
}

fn run(body: &[Statement], values: &mut [Vec<i32>]) -> Option<()> {
    for statement in body {
        match statement {
            Statement::Op { result, function, reads: [first, second], is_broadcast } => {
                let (a, b) = (&values[*first], &values[*second]);
                let numbers = (0..a.len()).map(|at| function.of(a[at], b[if *is_broadcast { at % COLUMNS } else { at }]));
                let numbers: Vec<i32> = numbers.collect();
                if numbers.iter().any(|number| number.abs() > LARGEST) {
                    return None;
                }
                values[*result] = numbers;
            }
            Statement::Loop(inner) => run_loop(inner, values)?,
        }
    }
    Some(())
}

fn run_loop(inner: &Loop, values: &mut [Vec<i32>]) -> Option<()> {
    for &(found, start, ..) in &inner.carried {
        values[found] = values[start].clone();
    }
    for &(_, result) in &inner.given {
        values[result].clear();
    }
    for iteration in 0..inner.count {
        for &(tile, whole) in &inner.tiled {
            let length = values[whole].len() / inner.count;
            values[tile] = values[whole][iteration * length..(iteration + 1) * length].to_vec();
        }
        run(&inner.body, values)?;
        for &(left, result) in &inner.given {
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
