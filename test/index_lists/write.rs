//! Programs as MLIR text, in the spellings of several producers.

use super::program::{List, Program, Read, Step};
use std::fmt::Write as _;

/// The text of a program under way.
struct Writer<'a> {
    program: &'a Program,
    text: String,
    n_values: usize,
}

/// An operand of a `linalg.generic`: its name, its type and its map.
type Operand = (String, String, String);

fn tensor(shape: &[usize], element: &str) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{element}>")
}

/// The type of the elements of a tensor type.
fn element_of(of: &str) -> &str {
    let inner = of.trim_start_matches("tensor<").trim_end_matches('>');
    inner.rsplit('x').next().unwrap()
}

fn commas<T: std::fmt::Display>(list: impl IntoIterator<Item = T>) -> String {
    list.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
}

/// `affine_map<(d0, d1) -> (results)>`.
fn map(rank: usize, results: impl IntoIterator<Item = String>) -> String {
    format!("affine_map<({}) -> ({})>", commas((0..rank).map(|dim| format!("d{dim}"))), commas(results))
}

fn identity(rank: usize) -> String {
    map(rank, (0..rank).map(|dim| format!("d{dim}")))
}

impl Program {
    /// The program as a function `main`.
    pub(crate) fn text(&self) -> String {
        let mut writer = Writer { program: self, text: String::new(), n_values: 0 };
        let mut arguments = Vec::new();
        for (number, Step { list, shape, .. }) in self.steps.iter().enumerate() {
            match list {
                List::Argument => arguments.push(format!("%l{number}: {}", tensor(shape, self.integer))),
                List::WhereMask => arguments.push(format!("%m{number}: {}", tensor(shape, "i1"))),
                List::ArgMax => arguments.push(format!("%x{number}: {}", tensor(&[shape[0], 7], self.float))),
                _ => {}
            }
        }
        if self.read != Read::List {
            arguments.push(format!("%t: {}", tensor(&self.table, self.float)));
        }
        for (number, step) in self.steps.iter().enumerate() {
            writer.step(number, step);
        }
        let (result, of) = writer.read();
        let body = writer.text;
        format!("func.func @main({}) -> {of} {{\n{body}  return {result} : {of}\n}}\n", arguments.join(", "))
    }
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        writeln!(self.text, "  {text}").unwrap();
    }

    fn fresh(&mut self) -> String {
        self.n_values += 1;
        format!("%v{}", self.n_values)
    }

    /// The type of a list.
    fn of(&self, step: usize) -> String {
        tensor(&self.program.steps[step].shape, self.program.integer)
    }

    fn empty(&mut self, of: &str) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = tensor.empty() : {of}"));
        name
    }

    /// Writes a `linalg.generic` with parallel dimensions over the result; `body` ends with the yielded value.
    fn generic(&mut self, name: &str, inputs: &[Operand], (rank, of): (usize, &str), (body, yields): (&[String], &str)) {
        let out = self.empty(of);
        let maps = commas(inputs.iter().map(|(_, _, map)| map.clone()).chain([identity(rank)]));
        let iterators = commas((0..rank).map(|_| "\"parallel\""));
        let ins = match inputs {
            [] => String::new(),
            _ => format!("ins({} : {}) ", commas(inputs.iter().map(|(value, ..)| value)), commas(inputs.iter().map(|(_, of, _)| of))),
        };
        let arguments = inputs.iter().enumerate().map(|(at, (_, of, _))| format!("%i{at}: {}", element_of(of)));
        let arguments = commas(arguments.chain([format!("%o: {}", element_of(of))]));
        self.line(&format!(
            "{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} {ins}outs({out} : {of}) {{"
        ));
        self.line(&format!("^bb0({arguments}):"));
        body.iter().for_each(|line| self.line(&format!("  {line}")));
        self.line(&format!("  linalg.yield {yields} : {}", element_of(of)));
        self.line(&format!("}} -> {of}"));
    }

    /// Writes an elementwise function of lists of one shape; `INT` is a placeholder for the type of integers.
    fn elementwise(&mut self, number: usize, step: &Step, body: &[&str]) {
        let (rank, of) = (step.shape.len(), self.of(number));
        let inputs: Vec<Operand> = step.inputs.iter().map(|&input| (format!("%l{input}"), self.of(input), identity(rank))).collect();
        let body: Vec<String> = body.iter().map(|line| line.replace("INT", self.program.integer)).collect();
        self.generic(&format!("%l{number}"), &inputs, (rank, &of), (&body, "%y"));
    }

    fn step(&mut self, number: usize, step: &Step) {
        let (name, of, int) = (format!("%l{number}"), self.of(number), self.program.integer);
        let rank = step.shape.len();
        match &step.list {
            List::Argument => {}
            List::Known(elements) => self.line(&format!("{name} = arith.constant dense<{}> : {of}", elements[0])),
            List::Slice { offsets, strides } => self.slice(number, step, offsets, strides),
            List::Row(row) => self.row(number, step, *row),
            List::Reverse(dim) => self.reverse(number, step, *dim),
            List::Transpose => self.transpose(number, step),
            List::Reshape => {
                let from = self.of(step.inputs[0]);
                let shape = commas(&step.shape);
                self.line(&match rank {
                    1 => format!("{name} = tensor.collapse_shape %l{} [[0, 1]] : {from} into {of}", step.inputs[0]),
                    _ => format!("{name} = tensor.expand_shape %l{} [[0, 1]] output_shape [{shape}] : {from} into {of}", step.inputs[0]),
                });
            }
            List::Join(dim) => {
                let part = |&input: &usize| (format!("%l{input}"), self.program.steps[input].shape.clone());
                let parts: Vec<_> = step.inputs.iter().map(part).collect();
                self.join(&name, &parts, *dim, &step.shape, step.spelling);
            }
            List::Stack(dim) => self.stack(number, step, *dim),
            List::Sort { dim, is_descending } => self.sort(number, step, *dim, *is_descending),
            List::Add(by) => self.by_number(number, step, "arith.addi", *by),
            List::Multiply(by) => self.by_number(number, step, "arith.muli", *by),
            List::Divide(by) => self.by_number(number, step, "arith.divsi", *by),
            List::Clip([low, high]) => {
                let bounds = [format!("%a = arith.constant {low} : INT"), format!("%b = arith.constant {high} : INT")];
                let body = [bounds[0].as_str(), &bounds[1], "%c = arith.maxsi %i0, %a : INT", "%y = arith.minsi %c, %b : INT"];
                self.elementwise(number, step, &body);
            }
            List::Plus => self.elementwise(number, step, &["%y = arith.addi %i0, %i1 : INT"]),
            List::Minimum => self.elementwise(number, step, &["%y = arith.minsi %i0, %i1 : INT"]),
            List::WhereBelow(limit) => self.where_below(number, step, *limit),
            List::WhereMask => {
                let operand = |&input: &usize| (format!("%l{input}"), self.of(input), identity(rank));
                let mut inputs: Vec<Operand> = step.inputs.iter().map(operand).collect();
                inputs.push((format!("%m{number}"), tensor(&step.shape, "i1"), identity(rank)));
                self.generic(&name, &inputs, (rank, &of), (&[format!("%y = arith.select %i2, %i0, %i1 : {int}")], "%y"));
            }
            List::SumUp(dim) => self.sum_up(number, step, *dim),
            List::ArgMax => self.arg_max(number, step),
            List::Normalize(rows) => {
                let rows = format!("%n = arith.constant {rows} : INT");
                let body = [
                    "%a = arith.constant 0 : INT",
                    rows.as_str(),
                    "%c = arith.cmpi slt, %i0, %a : INT",
                    "%w = arith.addi %i0, %n : INT",
                    "%y = arith.select %c, %w, %i0 : INT",
                ];
                self.elementwise(number, step, &body);
            }
        }
    }

    fn by_number(&mut self, number: usize, step: &Step, function: &str, by: i64) {
        if step.spelling == 0 {
            let (by_tensor, of) = (self.fresh(), self.of(number));
            self.line(&format!("{by_tensor} = arith.constant dense<{by}> : {of}"));
            return self.line(&format!("%l{number} = {function} %l{}, {by_tensor} : {of}", step.inputs[0]));
        }
        let by = format!("%a = arith.constant {by} : INT");
        self.elementwise(number, step, &[by.as_str(), &format!("%y = {function} %i0, %a : INT")]);
    }

    fn where_below(&mut self, number: usize, step: &Step, limit: i64) {
        let limit_line = format!("%a = arith.constant {limit} : {}", self.program.integer);
        let comparison = format!("%c = arith.cmpi slt, %i0, %a : {}", self.program.integer);
        if step.spelling != 0 {
            let choice = format!("%y = arith.select %c, %i0, %i1 : {}", self.program.integer);
            return self.elementwise(number, step, &[limit_line.as_str(), &comparison, &choice]);
        }
        // As `jnp.where` is: the truths are a tensor.
        let (rank, of, truths) = (step.shape.len(), self.of(number), self.fresh());
        let of_truths = tensor(&step.shape, "i1");
        let operand = |writer: &Self, input: usize| (format!("%l{input}"), writer.of(input), identity(rank));
        let [one, other] = [0, 1].map(|input| operand(self, step.inputs[input]));
        self.generic(&truths, std::slice::from_ref(&one), (rank, &of_truths), (&[limit_line, comparison], "%c"));
        let inputs = [(truths, of_truths, identity(rank)), one, other];
        let choice = format!("%y = arith.select %i0, %i1, %i2 : {}", self.program.integer);
        self.generic(&format!("%l{number}"), &inputs, (rank, &of), (&[choice], "%y"));
    }

    /// Writes a read of a list at indices that the body computes: `lines` defines `%k0`, `%k1`.
    fn extracted(&mut self, number: usize, step: &Step, lines: &[String]) {
        let (rank, of, from) = (step.shape.len(), self.of(number), self.of(step.inputs[0]));
        let mut body: Vec<String> = (0..rank).map(|dim| format!("%d{dim} = linalg.index {dim} : index")).collect();
        body.extend_from_slice(lines);
        let at = commas((0..self.program.steps[step.inputs[0]].shape.len()).map(|dim| format!("%k{dim}")));
        body.push(format!("%y = tensor.extract %l{}[{at}] : {from}", step.inputs[0]));
        self.generic(&format!("%l{number}"), &[], (rank, &of), (&body, "%y"));
    }

    fn slice(&mut self, number: usize, step: &Step, offsets: &[usize], strides: &[usize]) {
        let (of, from) = (self.of(number), self.of(step.inputs[0]));
        if step.spelling < 2 {
            return self.line(&format!(
                "%l{number} = tensor.extract_slice %l{}[{}] [{}] [{}] : {from} to {of}",
                step.inputs[0],
                commas(offsets),
                commas(&step.shape),
                commas(strides)
            ));
        }
        let lines: Vec<String> = (0..offsets.len())
            .flat_map(|dim| {
                [
                    format!("%f{dim} = arith.constant {} : index", offsets[dim]),
                    format!("%s{dim} = arith.constant {} : index", strides[dim]),
                    format!("%p{dim} = arith.muli %d{dim}, %s{dim} : index"),
                    format!("%k{dim} = arith.addi %p{dim}, %f{dim} : index"),
                ]
            })
            .collect();
        self.extracted(number, step, &lines);
    }

    fn row(&mut self, number: usize, step: &Step, row: usize) {
        let (of, from) = (self.of(number), self.of(step.inputs[0]));
        let columns = step.shape[0];
        let slice = format!("tensor.extract_slice %l{}[{row}, 0] [1, {columns}] [1, 1] : {from} to", step.inputs[0]);
        if step.spelling < 2 {
            return self.line(&format!("%l{number} = {slice} {of}"));
        }
        let (one, of_one) = (self.fresh(), tensor(&[1, columns], self.program.integer));
        self.line(&format!("{one} = {slice} {of_one}"));
        self.line(&format!("%l{number} = tensor.collapse_shape {one} [[0, 1]] : {of_one} into {of}"));
    }

    fn reverse(&mut self, number: usize, step: &Step, dim: usize) {
        let (rank, of, last) = (step.shape.len(), self.of(number), step.shape[dim] - 1);
        if step.spelling == 0 {
            let index = |own: usize| if own == dim { format!("-d{own} + {last}") } else { format!("d{own}") };
            let input = (format!("%l{}", step.inputs[0]), self.of(step.inputs[0]), map(rank, (0..rank).map(index)));
            return self.generic(&format!("%l{number}"), &[input], (rank, &of), (&[], "%i0"));
        }
        let line = |own: usize| {
            let last = if own == dim { last } else { 0 };
            let first = format!("%f{own} = arith.constant {last} : index");
            let function = if own == dim { "arith.subi" } else { "arith.addi" };
            [first, format!("%k{own} = {function} %f{own}, %d{own} : index")]
        };
        self.extracted(number, step, &(0..rank).flat_map(line).collect::<Vec<_>>());
    }

    fn transpose(&mut self, number: usize, step: &Step) {
        let (of, from) = (self.of(number), self.of(step.inputs[0]));
        if step.spelling == 0 {
            let out = self.empty(&of);
            return self.line(&format!(
                "%l{number} = linalg.transpose ins(%l{} : {from}) outs({out} : {of}) permutation = [1, 0]",
                step.inputs[0]
            ));
        }
        let input = (format!("%l{}", step.inputs[0]), from, map(2, ["d1".to_owned(), "d0".to_owned()]));
        self.generic(&format!("%l{number}"), &[input], (2, &of), (&[], "%i0"));
    }

    /// Parts joined: by `tensor.concat`, by a branch on the place as JAX leaves it, or written one after the other.
    fn join(&mut self, name: &str, parts: &[(String, Vec<usize>)], dim: usize, shape: &[usize], spelling: usize) {
        let (of, int, rank) = (tensor(shape, self.program.integer), self.program.integer, shape.len());
        match spelling {
            0 => {
                let types = commas(parts.iter().map(|(_, shape)| tensor(shape, int)));
                self.line(&format!("{name} = tensor.concat dim({dim}) {} : ({types}) -> {of}", commas(parts.iter().map(|(part, _)| part))));
            }
            1 => {
                let [(first, of_first), (second, of_second)] = parts else { panic!("two parts") };
                let mut body: Vec<String> = (0..rank).map(|own| format!("%d{own} = linalg.index {own} : index")).collect();
                let at = commas((0..rank).map(|own| format!("%d{own}")));
                let behind = commas((0..rank).map(|own| if own == dim { "%r".to_owned() } else { format!("%d{own}") }));
                body.extend([
                    format!("%b = arith.constant {} : index", of_first[dim]),
                    format!("%c = arith.cmpi ult, %d{dim}, %b : index"),
                    format!("%y = scf.if %c -> ({int}) {{"),
                    format!("  %e = tensor.extract {first}[{at}] : {}", tensor(of_first, int)),
                    format!("  scf.yield %e : {int}"),
                    "} else {".to_owned(),
                    format!("  %r = arith.subi %d{dim}, %b : index"),
                    format!("  %e = tensor.extract {second}[{behind}] : {}", tensor(of_second, int)),
                    format!("  scf.yield %e : {int}"),
                    "}".to_owned(),
                ]);
                self.generic(name, &[], (rank, &of), (&body, "%y"));
            }
            _ => {
                let mut whole = self.empty(&of);
                let mut offsets = vec![0; rank];
                for (number, (part, of_part)) in parts.iter().enumerate() {
                    let next = if number + 1 == parts.len() { name.to_owned() } else { self.fresh() };
                    self.line(&format!(
                        "{next} = tensor.insert_slice {part} into {whole}[{}] [{}] [{}] : {} into {of}",
                        commas(&offsets),
                        commas(of_part),
                        commas(of_part.iter().map(|_| 1)),
                        tensor(of_part, int)
                    ));
                    offsets[dim] += of_part[dim];
                    whole = next;
                }
            }
        }
    }

    fn stack(&mut self, number: usize, step: &Step, dim: usize) {
        let mut one = self.program.steps[step.inputs[0]].shape.clone();
        one.insert(dim, 1);
        let of_one = tensor(&one, self.program.integer);
        let mut parts = Vec::new();
        for &input in &step.inputs {
            let (part, from) = (self.fresh(), self.of(input));
            let sizes = commas(&one);
            self.line(&format!("{part} = tensor.expand_shape %l{input} [[0, 1]] output_shape [{sizes}] : {from} into {of_one}"));
            parts.push((part, one.clone()));
        }
        self.join(&format!("%l{number}"), &parts, dim, &step.shape, step.spelling);
    }

    fn sort(&mut self, number: usize, step: &Step, dim: usize, is_descending: bool) {
        let (of, int) = (self.of(number), self.program.integer);
        let order = if is_descending { "sgt" } else { "slt" };
        if step.spelling < 2 {
            let stays = if is_descending { "sge" } else { "sle" };
            self.line(&format!("%l{number} = tm_tensor.sort dimension({dim}) outs(%l{} : {of}) {{", step.inputs[0]));
            self.line(&format!("^bb0(%a: {int}, %b: {int}):"));
            self.line(&format!("  %s = arith.cmpi {stays}, %a, %b : {int}"));
            self.line("  tm_tensor.yield %s : i1");
            return self.line(&format!("}} -> {of}"));
        }
        let none = "affine_map<() -> ()>";
        self.line(&format!("%l{number} = \"stablehlo.sort\"(%l{}) <{{dimension = {dim} : i64, is_stable = true}}> ({{", step.inputs[0]));
        self.line(&format!("^bb0(%a: tensor<{int}>, %b: tensor<{int}>):"));
        self.line("  %e = tensor.empty() : tensor<i1>");
        self.line(&format!(
            "  %g = linalg.generic {{indexing_maps = [{none}, {none}, {none}], iterator_types = []}} ins(%a, %b : tensor<{int}>, \
             tensor<{int}>) outs(%e : tensor<i1>) {{"
        ));
        self.line(&format!("  ^bb0(%x: {int}, %y: {int}, %o: i1):"));
        self.line(&format!("    %s = arith.cmpi {order}, %x, %y : {int}"));
        self.line("    linalg.yield %s : i1");
        self.line("  } -> tensor<i1>");
        self.line("  stablehlo.return %g : tensor<i1>");
        self.line(&format!("}}) : ({of}) -> {of}"));
    }

    fn sum_up(&mut self, number: usize, step: &Step, dim: usize) {
        let (of, int) = (self.of(number), self.program.integer);
        let mut last = step.shape.clone();
        last.remove(dim);
        let of_last = tensor(&last, int);
        let (zero, none, sums) = (self.fresh(), self.fresh(), self.fresh());
        let (out, start) = (self.empty(&of), self.empty(&of_last));
        self.line(&format!("{zero} = arith.constant 0 : {int}"));
        self.line(&format!("{none} = linalg.fill ins({zero} : {int}) outs({start} : {of_last}) -> {of_last}"));
        self.line(&format!(
            "{sums}:2 = tm_tensor.scan dimension({dim}) inclusive(true) ins(%l{} : {of}) outs({out}, {none} : {of}, {of_last}) {{",
            step.inputs[0]
        ));
        self.line(&format!("^bb0(%s: {int}, %e: {int}):"));
        self.line(&format!("  %n = arith.addi %s, %e : {int}"));
        self.line(&format!("  tm_tensor.yield %n : {int}"));
        self.line(&format!("}} -> {of}, {of_last}"));
        self.line(&format!("%l{number} = tensor.cast {sums}#0 : {of} to {of}"));
    }

    fn arg_max(&mut self, number: usize, step: &Step) {
        let (of, int, float) = (self.of(number), self.program.integer, self.program.float);
        let (rows, of_numbers) = (step.shape[0], tensor(&[step.shape[0], 7], self.program.float));
        let of_row = tensor(&[rows], float);
        let (zero, low, first, lowest, found) = (self.fresh(), self.fresh(), self.fresh(), self.fresh(), self.fresh());
        let (places, limits) = (self.empty(&of), self.empty(&of_row));
        self.line(&format!("{zero} = arith.constant 0 : {int}"));
        let infinity = if float == "f16" { "0xFC00" } else { "0xFF800000" };
        self.line(&format!("{low} = arith.constant {infinity} : {float}"));
        self.line(&format!("{first} = linalg.fill ins({zero} : {int}) outs({places} : {of}) -> {of}"));
        self.line(&format!("{lowest} = linalg.fill ins({low} : {float}) outs({limits} : {of_row}) -> {of_row}"));
        let maps = commas([identity(2), map(2, ["d0".to_owned()]), map(2, ["d0".to_owned()])]);
        self.line(&format!(
            "{found}:2 = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"reduction\"]}} ins(%x{number} : \
             {of_numbers}) outs({lowest}, {first} : {of_row}, {of}) {{"
        ));
        self.line(&format!("^bb0(%i0: {float}, %o: {float}, %p: {int}):"));
        self.line("  %d = linalg.index 1 : index");
        self.line(&format!("  %k = arith.index_cast %d : index to {int}"));
        self.line(&format!("  %m = arith.maximumf %i0, %o : {float}"));
        self.line(&format!("  %c = arith.cmpf ogt, %i0, %o : {float}"));
        self.line(&format!("  %n = arith.select %c, %k, %p : {int}"));
        self.line(&format!("  linalg.yield %m, %n : {float}, {int}"));
        self.line(&format!("}} -> ({of_row}, {of})"));
        self.line(&format!("%l{number} = tensor.cast {found}#1 : {of} to {of}"));
    }

    /// The result and its type.
    fn read(&mut self) -> (String, String) {
        let (program, int) = (self.program, self.program.integer);
        let list = program.indices[0];
        let own = program.steps[list].shape.clone();
        let rank = own.len();
        let (table, of_table) = (program.table.as_slice(), tensor(&program.table, program.float));
        if program.read == Read::List {
            return (format!("%l{list}"), self.of(list));
        }
        if program.read == Read::Page {
            return self.page(list);
        }
        // The dimensions of the list in the iteration space, the indices into the table, and the shape of the result.
        let (of_list, at, shape): (Vec<usize>, Vec<String>, Vec<usize>) = match program.read {
            Read::Rows => ((0..rank).collect(), vec!["%p0".to_owned(), format!("%d{rank}")], [own.as_slice(), &table[1..]].concat()),
            Read::Elements => ((0..rank).collect(), vec!["%p0".to_owned()], own.clone()),
            Read::Columns => ((1..=rank).collect(), vec!["%d0".to_owned(), "%p0".to_owned()], [&table[..1], own.as_slice()].concat()),
            Read::Pairs => ((0..rank).collect(), vec!["%p0".to_owned(), "%p1".to_owned()], own.clone()),
            Read::AlongRows => ((0..rank).collect(), vec!["%d0".to_owned(), "%p0".to_owned()], own.clone()),
            _ => (vec![0], vec!["%d0".to_owned(), "%p0".to_owned(), "%d1".to_owned()], vec![own[0], table[2]]),
        };
        let of = tensor(&shape, program.float);
        let mut body: Vec<String> = (0..shape.len()).map(|dim| format!("%d{dim} = linalg.index {dim} : index")).collect();
        let mut inputs = Vec::new();
        for (number, &index) in program.indices.iter().enumerate() {
            let element = if program.is_extracted {
                let at = commas(of_list.iter().map(|dim| format!("%d{dim}")));
                body.push(format!("%e{number} = tensor.extract %l{index}[{at}] : {}", self.of(index)));
                format!("%e{number}")
            } else {
                let at = map(shape.len(), of_list.iter().map(|dim| format!("d{dim}")));
                inputs.push((format!("%l{index}"), self.of(index), at));
                format!("%i{number}")
            };
            let name = if program.is_clamped { "q" } else { "p" };
            body.push(format!("%{name}{number} = arith.index_cast {element} : {int} to index"));
            if program.is_clamped {
                let dim = at.iter().position(|at| *at == format!("%p{number}")).unwrap();
                body.extend([
                    format!("%u{number} = arith.constant 0 : index"),
                    format!("%w{number} = arith.constant {} : index", table[dim] - 1),
                    format!("%g{number} = arith.maxsi %q{number}, %u{number} : index"),
                    format!("%p{number} = arith.minsi %g{number}, %w{number} : index"),
                ]);
            }
        }
        body.push(format!("%y = tensor.extract %t[{}] : {of_table}", commas(at)));
        let name = self.fresh();
        self.generic(&name, &inputs, (shape.len(), &of), (&body, "%y"));
        (name, of)
    }

    /// One page, chosen by the last entry of a list.
    fn page(&mut self, list: usize) -> (String, String) {
        let (program, int) = (self.program, self.program.integer);
        let (place, entry, row, page) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        let columns = program.table[1];
        let (of, of_table) = (tensor(&[1, columns], program.float), tensor(&program.table, program.float));
        self.line(&format!("{place} = arith.constant {} : index", program.steps[list].shape[0] - 1));
        self.line(&format!("{entry} = tensor.extract %l{list}[{place}] : {}", self.of(list)));
        self.line(&format!("{row} = arith.index_cast {entry} : {int} to index"));
        self.line(&format!("{page} = tensor.extract_slice %t[{row}, 0] [1, {columns}] [1, 1] : {of_table} to {of}"));
        (page, of)
    }
}
