//! Writes programs as MLIR text, in the spellings of several producers.

use super::program::{IndexProgram, ListDefinition, ListStep, TableRead};
use std::fmt::Write as _;

/// Writer of the text of a program.
struct IndexProgramWriter<'a> {
    program: &'a IndexProgram,
    text: String,
    num_values: usize,
}

/// Operand of a `linalg.generic`: its name, its type and its map.
type GenericOperand = (String, String, String);

fn tensor(shape: &[usize], element: &str) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{element}>")
}

/// Returns the element type of a tensor type.
fn element_type(of: &str) -> &str {
    let inner = of.trim_start_matches("tensor<").trim_end_matches('>');
    inner.rsplit('x').next().unwrap()
}

fn join_commas<T: std::fmt::Display>(list: impl IntoIterator<Item = T>) -> String {
    list.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
}

/// Formats `affine_map<(d0, d1) -> (results)>`.
fn map(rank: usize, results: impl IntoIterator<Item = String>) -> String {
    format!("affine_map<({}) -> ({})>", join_commas((0..rank).map(|dim| format!("d{dim}"))), join_commas(results))
}

fn identity(rank: usize) -> String {
    map(rank, (0..rank).map(|dim| format!("d{dim}")))
}

impl IndexProgram {
    /// Writes the program as a function `main`.
    pub(crate) fn text(&self) -> String {
        let mut writer = IndexProgramWriter { program: self, text: String::new(), num_values: 0 };
        let mut arguments = Vec::new();
        for (number, ListStep { list, shape, .. }) in self.steps.iter().enumerate() {
            match list {
                ListDefinition::Argument => arguments.push(format!("%l{number}: {}", tensor(shape, self.integer))),
                ListDefinition::WhereMask => arguments.push(format!("%m{number}: {}", tensor(shape, "i1"))),
                ListDefinition::ArgMax => arguments.push(format!("%x{number}: {}", tensor(&[shape[0], 7], self.float))),
                _ => {}
            }
        }
        if self.read != TableRead::List {
            arguments.push(format!("%t: {}", tensor(&self.table, self.float)));
        }
        for (number, step) in self.steps.iter().enumerate() {
            writer.write_step(number, step);
        }
        let (result, of) = writer.write_read();
        let body = writer.text;
        format!("func.func @main({}) -> {of} {{\n{body}  return {result} : {of}\n}}\n", arguments.join(", "))
    }
}

impl IndexProgramWriter<'_> {
    fn write_line(&mut self, text: &str) {
        writeln!(self.text, "  {text}").unwrap();
    }

    fn fresh_name(&mut self) -> String {
        self.num_values += 1;
        format!("%v{}", self.num_values)
    }

    /// Returns the type of a list.
    fn list_type(&self, step: usize) -> String {
        tensor(&self.program.steps[step].shape, self.program.integer)
    }

    fn write_empty(&mut self, of: &str) -> String {
        let name = self.fresh_name();
        self.write_line(&format!("{name} = tensor.empty() : {of}"));
        name
    }

    /// Writes a `linalg.generic` with parallel dimensions over the result; `body` ends with the yielded value.
    fn write_generic(
        &mut self,
        name: &str,
        inputs: &[GenericOperand],
        (rank, of): (usize, &str),
        (body, yields): (&[String], &str),
    ) {
        let out = self.write_empty(of);
        let maps = join_commas(inputs.iter().map(|(_, _, map)| map.clone()).chain([identity(rank)]));
        let iterators = join_commas((0..rank).map(|_| "\"parallel\""));
        let ins = match inputs {
            [] => String::new(),
            _ => format!(
                "ins({} : {}) ",
                join_commas(inputs.iter().map(|(value, ..)| value)),
                join_commas(inputs.iter().map(|(_, of, _)| of))
            ),
        };
        let arguments = inputs.iter().enumerate().map(|(at, (_, of, _))| format!("%i{at}: {}", element_type(of)));
        let arguments = join_commas(arguments.chain([format!("%o: {}", element_type(of))]));
        self.write_line(&format!(
            "{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} {ins}outs({out} : {of}) {{"
        ));
        self.write_line(&format!("^bb0({arguments}):"));
        body.iter().for_each(|line| self.write_line(&format!("  {line}")));
        self.write_line(&format!("  linalg.yield {yields} : {}", element_type(of)));
        self.write_line(&format!("}} -> {of}"));
    }

    /// Writes an elementwise function of lists of one shape; `INT` is a placeholder for the type of integers.
    fn write_elementwise(&mut self, number: usize, step: &ListStep, body: &[&str]) {
        let (rank, of) = (step.shape.len(), self.list_type(number));
        let inputs: Vec<GenericOperand> =
            step.inputs.iter().map(|&input| (format!("%l{input}"), self.list_type(input), identity(rank))).collect();
        let body: Vec<String> = body.iter().map(|line| line.replace("INT", self.program.integer)).collect();
        self.write_generic(&format!("%l{number}"), &inputs, (rank, &of), (&body, "%y"));
    }

    fn write_step(&mut self, number: usize, step: &ListStep) {
        let (name, of, int) = (format!("%l{number}"), self.list_type(number), self.program.integer);
        let rank = step.shape.len();
        match &step.list {
            ListDefinition::Argument => {}
            ListDefinition::Known(elements) => {
                self.write_line(&format!("{name} = arith.constant dense<{}> : {of}", elements[0]))
            }
            ListDefinition::Slice { offsets, strides } => self.write_slice(number, step, offsets, strides),
            ListDefinition::Row(row) => self.write_row(number, step, *row),
            ListDefinition::Reverse(dim) => self.write_reverse(number, step, *dim),
            ListDefinition::Transpose => self.write_transpose(number, step),
            ListDefinition::Reshape => {
                let from = self.list_type(step.inputs[0]);
                let shape = join_commas(&step.shape);
                self.write_line(&match rank {
                    1 => format!("{name} = tensor.collapse_shape %l{} [[0, 1]] : {from} into {of}", step.inputs[0]),
                    _ => format!(
                        "{name} = tensor.expand_shape %l{} [[0, 1]] output_shape [{shape}] : {from} into {of}",
                        step.inputs[0]
                    ),
                });
            }
            ListDefinition::Join(dim) => {
                let part = |&input: &usize| (format!("%l{input}"), self.program.steps[input].shape.clone());
                let parts: Vec<_> = step.inputs.iter().map(part).collect();
                self.write_join(&name, &parts, *dim, &step.shape, step.spelling);
            }
            ListDefinition::Stack(dim) => self.write_stack(number, step, *dim),
            ListDefinition::Sort { dim, is_descending } => self.write_sort(number, step, *dim, *is_descending),
            ListDefinition::Add(by) => self.write_integer_op(number, step, "arith.addi", *by),
            ListDefinition::Multiply(by) => self.write_integer_op(number, step, "arith.muli", *by),
            ListDefinition::Divide(by) => self.write_integer_op(number, step, "arith.divsi", *by),
            ListDefinition::Clip([low, high]) => {
                let bounds = [format!("%a = arith.constant {low} : INT"), format!("%b = arith.constant {high} : INT")];
                let body =
                    [bounds[0].as_str(), &bounds[1], "%c = arith.maxsi %i0, %a : INT", "%y = arith.minsi %c, %b : INT"];
                self.write_elementwise(number, step, &body);
            }
            ListDefinition::Plus => self.write_elementwise(number, step, &["%y = arith.addi %i0, %i1 : INT"]),
            ListDefinition::Minimum => self.write_elementwise(number, step, &["%y = arith.minsi %i0, %i1 : INT"]),
            ListDefinition::WhereBelow(limit) => self.write_where_below(number, step, *limit),
            ListDefinition::WhereMask => {
                let operand = |&input: &usize| (format!("%l{input}"), self.list_type(input), identity(rank));
                let mut inputs: Vec<GenericOperand> = step.inputs.iter().map(operand).collect();
                inputs.push((format!("%m{number}"), tensor(&step.shape, "i1"), identity(rank)));
                self.write_generic(
                    &name,
                    &inputs,
                    (rank, &of),
                    (&[format!("%y = arith.select %i2, %i0, %i1 : {int}")], "%y"),
                );
            }
            ListDefinition::SumUp(dim) => self.write_cumsum(number, step, *dim),
            ListDefinition::ArgMax => self.write_arg_max(number, step),
            ListDefinition::Normalize(rows) => {
                let rows = format!("%n = arith.constant {rows} : INT");
                let body = [
                    "%a = arith.constant 0 : INT",
                    rows.as_str(),
                    "%c = arith.cmpi slt, %i0, %a : INT",
                    "%w = arith.addi %i0, %n : INT",
                    "%y = arith.select %c, %w, %i0 : INT",
                ];
                self.write_elementwise(number, step, &body);
            }
        }
    }

    fn write_integer_op(&mut self, number: usize, step: &ListStep, function: &str, by: i64) {
        if step.spelling == 0 {
            let (by_tensor, of) = (self.fresh_name(), self.list_type(number));
            self.write_line(&format!("{by_tensor} = arith.constant dense<{by}> : {of}"));
            return self.write_line(&format!("%l{number} = {function} %l{}, {by_tensor} : {of}", step.inputs[0]));
        }
        let by = format!("%a = arith.constant {by} : INT");
        self.write_elementwise(number, step, &[by.as_str(), &format!("%y = {function} %i0, %a : INT")]);
    }

    fn write_where_below(&mut self, number: usize, step: &ListStep, limit: i64) {
        let limit_line = format!("%a = arith.constant {limit} : {}", self.program.integer);
        let comparison = format!("%c = arith.cmpi slt, %i0, %a : {}", self.program.integer);
        if step.spelling != 0 {
            let choice = format!("%y = arith.select %c, %i0, %i1 : {}", self.program.integer);
            return self.write_elementwise(number, step, &[limit_line.as_str(), &comparison, &choice]);
        }
        // As in `jnp.where`: the condition is a tensor.
        let (rank, of, truths) = (step.shape.len(), self.list_type(number), self.fresh_name());
        let of_truths = tensor(&step.shape, "i1");
        let operand = |writer: &Self, input: usize| (format!("%l{input}"), writer.list_type(input), identity(rank));
        let [one, other] = [0, 1].map(|input| operand(self, step.inputs[input]));
        self.write_generic(&truths, std::slice::from_ref(&one), (rank, &of_truths), (&[limit_line, comparison], "%c"));
        let inputs = [(truths, of_truths, identity(rank)), one, other];
        let choice = format!("%y = arith.select %i0, %i1, %i2 : {}", self.program.integer);
        self.write_generic(&format!("%l{number}"), &inputs, (rank, &of), (&[choice], "%y"));
    }

    /// Writes a read of a list at indices that the body computes: `lines` defines `%k0`, `%k1`.
    fn write_extraction(&mut self, number: usize, step: &ListStep, lines: &[String]) {
        let (rank, of, from) = (step.shape.len(), self.list_type(number), self.list_type(step.inputs[0]));
        let mut body: Vec<String> = (0..rank).map(|dim| format!("%d{dim} = linalg.index {dim} : index")).collect();
        body.extend_from_slice(lines);
        let at = join_commas((0..self.program.steps[step.inputs[0]].shape.len()).map(|dim| format!("%k{dim}")));
        body.push(format!("%y = tensor.extract %l{}[{at}] : {from}", step.inputs[0]));
        self.write_generic(&format!("%l{number}"), &[], (rank, &of), (&body, "%y"));
    }

    fn write_slice(&mut self, number: usize, step: &ListStep, offsets: &[usize], strides: &[usize]) {
        let (of, from) = (self.list_type(number), self.list_type(step.inputs[0]));
        if step.spelling < 2 {
            return self.write_line(&format!(
                "%l{number} = tensor.extract_slice %l{}[{}] [{}] [{}] : {from} to {of}",
                step.inputs[0],
                join_commas(offsets),
                join_commas(&step.shape),
                join_commas(strides)
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
        self.write_extraction(number, step, &lines);
    }

    fn write_row(&mut self, number: usize, step: &ListStep, row: usize) {
        let (of, from) = (self.list_type(number), self.list_type(step.inputs[0]));
        let columns = step.shape[0];
        let slice = format!("tensor.extract_slice %l{}[{row}, 0] [1, {columns}] [1, 1] : {from} to", step.inputs[0]);
        if step.spelling < 2 {
            return self.write_line(&format!("%l{number} = {slice} {of}"));
        }
        let (one, of_one) = (self.fresh_name(), tensor(&[1, columns], self.program.integer));
        self.write_line(&format!("{one} = {slice} {of_one}"));
        self.write_line(&format!("%l{number} = tensor.collapse_shape {one} [[0, 1]] : {of_one} into {of}"));
    }

    fn write_reverse(&mut self, number: usize, step: &ListStep, dim: usize) {
        let (rank, of, last) = (step.shape.len(), self.list_type(number), step.shape[dim] - 1);
        if step.spelling == 0 {
            let index = |own: usize| if own == dim { format!("-d{own} + {last}") } else { format!("d{own}") };
            let input =
                (format!("%l{}", step.inputs[0]), self.list_type(step.inputs[0]), map(rank, (0..rank).map(index)));
            return self.write_generic(&format!("%l{number}"), &[input], (rank, &of), (&[], "%i0"));
        }
        let line = |own: usize| {
            let last = if own == dim { last } else { 0 };
            let first = format!("%f{own} = arith.constant {last} : index");
            let function = if own == dim { "arith.subi" } else { "arith.addi" };
            [first, format!("%k{own} = {function} %f{own}, %d{own} : index")]
        };
        self.write_extraction(number, step, &(0..rank).flat_map(line).collect::<Vec<_>>());
    }

    fn write_transpose(&mut self, number: usize, step: &ListStep) {
        let (of, from) = (self.list_type(number), self.list_type(step.inputs[0]));
        if step.spelling == 0 {
            let out = self.write_empty(&of);
            return self.write_line(&format!(
                "%l{number} = linalg.transpose ins(%l{} : {from}) outs({out} : {of}) permutation = [1, 0]",
                step.inputs[0]
            ));
        }
        let input = (format!("%l{}", step.inputs[0]), from, map(2, ["d1".to_owned(), "d0".to_owned()]));
        self.write_generic(&format!("%l{number}"), &[input], (2, &of), (&[], "%i0"));
    }

    /// Writes a concatenation: by `tensor.concat`, by a branch on the position as JAX emits it, or by inserting the
    /// operands one after the other.
    fn write_join(&mut self, name: &str, parts: &[(String, Vec<usize>)], dim: usize, shape: &[usize], spelling: usize) {
        let (of, int, rank) = (tensor(shape, self.program.integer), self.program.integer, shape.len());
        match spelling {
            0 => {
                let types = join_commas(parts.iter().map(|(_, shape)| tensor(shape, int)));
                self.write_line(&format!(
                    "{name} = tensor.concat dim({dim}) {} : ({types}) -> {of}",
                    join_commas(parts.iter().map(|(part, _)| part))
                ));
            }
            1 => {
                let [(first, of_first), (second, of_second)] = parts else { panic!("two parts") };
                let mut body: Vec<String> =
                    (0..rank).map(|own| format!("%d{own} = linalg.index {own} : index")).collect();
                let at = join_commas((0..rank).map(|own| format!("%d{own}")));
                let after =
                    join_commas((0..rank).map(|own| if own == dim { "%r".to_owned() } else { format!("%d{own}") }));
                body.extend([
                    format!("%b = arith.constant {} : index", of_first[dim]),
                    format!("%c = arith.cmpi ult, %d{dim}, %b : index"),
                    format!("%y = scf.if %c -> ({int}) {{"),
                    format!("  %e = tensor.extract {first}[{at}] : {}", tensor(of_first, int)),
                    format!("  scf.yield %e : {int}"),
                    "} else {".to_owned(),
                    format!("  %r = arith.subi %d{dim}, %b : index"),
                    format!("  %e = tensor.extract {second}[{after}] : {}", tensor(of_second, int)),
                    format!("  scf.yield %e : {int}"),
                    "}".to_owned(),
                ]);
                self.write_generic(name, &[], (rank, &of), (&body, "%y"));
            }
            _ => {
                let mut whole = self.write_empty(&of);
                let mut offsets = vec![0; rank];
                for (number, (part, of_part)) in parts.iter().enumerate() {
                    let next = if number + 1 == parts.len() { name.to_owned() } else { self.fresh_name() };
                    self.write_line(&format!(
                        "{next} = tensor.insert_slice {part} into {whole}[{}] [{}] [{}] : {} into {of}",
                        join_commas(&offsets),
                        join_commas(of_part),
                        join_commas(of_part.iter().map(|_| 1)),
                        tensor(of_part, int)
                    ));
                    offsets[dim] += of_part[dim];
                    whole = next;
                }
            }
        }
    }

    fn write_stack(&mut self, number: usize, step: &ListStep, dim: usize) {
        let mut one = self.program.steps[step.inputs[0]].shape.clone();
        one.insert(dim, 1);
        let of_one = tensor(&one, self.program.integer);
        let mut parts = Vec::new();
        for &input in &step.inputs {
            let (part, from) = (self.fresh_name(), self.list_type(input));
            let sizes = join_commas(&one);
            self.write_line(&format!(
                "{part} = tensor.expand_shape %l{input} [[0, 1]] output_shape [{sizes}] : {from} into {of_one}"
            ));
            parts.push((part, one.clone()));
        }
        self.write_join(&format!("%l{number}"), &parts, dim, &step.shape, step.spelling);
    }

    fn write_sort(&mut self, number: usize, step: &ListStep, dim: usize, is_descending: bool) {
        let (of, int) = (self.list_type(number), self.program.integer);
        let order = if is_descending { "sgt" } else { "slt" };
        if step.spelling < 2 {
            let intervals = if is_descending { "sge" } else { "sle" };
            self.write_line(&format!(
                "%l{number} = tm_tensor.sort dimension({dim}) outs(%l{} : {of}) {{",
                step.inputs[0]
            ));
            self.write_line(&format!("^bb0(%a: {int}, %b: {int}):"));
            self.write_line(&format!("  %s = arith.cmpi {intervals}, %a, %b : {int}"));
            self.write_line("  tm_tensor.yield %s : i1");
            return self.write_line(&format!("}} -> {of}"));
        }
        let none = "affine_map<() -> ()>";
        self.write_line(&format!(
            "%l{number} = \"stablehlo.sort\"(%l{}) <{{dimension = {dim} : i64, is_stable = true}}> ({{",
            step.inputs[0]
        ));
        self.write_line(&format!("^bb0(%a: tensor<{int}>, %b: tensor<{int}>):"));
        self.write_line("  %e = tensor.empty() : tensor<i1>");
        self.write_line(&format!(
            "  %g = linalg.generic {{indexing_maps = [{none}, {none}, {none}], iterator_types = []}} ins(%a, %b : tensor<{int}>, \
             tensor<{int}>) outs(%e : tensor<i1>) {{"
        ));
        self.write_line(&format!("  ^bb0(%x: {int}, %y: {int}, %o: i1):"));
        self.write_line(&format!("    %s = arith.cmpi {order}, %x, %y : {int}"));
        self.write_line("    linalg.yield %s : i1");
        self.write_line("  } -> tensor<i1>");
        self.write_line("  stablehlo.return %g : tensor<i1>");
        self.write_line(&format!("}}) : ({of}) -> {of}"));
    }

    fn write_cumsum(&mut self, number: usize, step: &ListStep, dim: usize) {
        let (of, int) = (self.list_type(number), self.program.integer);
        let mut last = step.shape.clone();
        last.remove(dim);
        let of_last = tensor(&last, int);
        let (zero, none, sums) = (self.fresh_name(), self.fresh_name(), self.fresh_name());
        let (out, start) = (self.write_empty(&of), self.write_empty(&of_last));
        self.write_line(&format!("{zero} = arith.constant 0 : {int}"));
        self.write_line(&format!("{none} = linalg.fill ins({zero} : {int}) outs({start} : {of_last}) -> {of_last}"));
        self.write_line(&format!(
            "{sums}:2 = tm_tensor.scan dimension({dim}) inclusive(true) ins(%l{} : {of}) outs({out}, {none} : {of}, {of_last}) {{",
            step.inputs[0]
        ));
        self.write_line(&format!("^bb0(%s: {int}, %e: {int}):"));
        self.write_line(&format!("  %n = arith.addi %s, %e : {int}"));
        self.write_line(&format!("  tm_tensor.yield %n : {int}"));
        self.write_line(&format!("}} -> {of}, {of_last}"));
        self.write_line(&format!("%l{number} = tensor.cast {sums}#0 : {of} to {of}"));
    }

    fn write_arg_max(&mut self, number: usize, step: &ListStep) {
        let (of, int, float) = (self.list_type(number), self.program.integer, self.program.float);
        let (rows, of_numbers) = (step.shape[0], tensor(&[step.shape[0], 7], self.program.float));
        let of_row = tensor(&[rows], float);
        let (zero, low, first, lowest, found) =
            (self.fresh_name(), self.fresh_name(), self.fresh_name(), self.fresh_name(), self.fresh_name());
        let (places, limits) = (self.write_empty(&of), self.write_empty(&of_row));
        self.write_line(&format!("{zero} = arith.constant 0 : {int}"));
        let infinity = if float == "f16" { "0xFC00" } else { "0xFF800000" };
        self.write_line(&format!("{low} = arith.constant {infinity} : {float}"));
        self.write_line(&format!("{first} = linalg.fill ins({zero} : {int}) outs({places} : {of}) -> {of}"));
        self.write_line(&format!("{lowest} = linalg.fill ins({low} : {float}) outs({limits} : {of_row}) -> {of_row}"));
        let maps = join_commas([identity(2), map(2, ["d0".to_owned()]), map(2, ["d0".to_owned()])]);
        self.write_line(&format!(
            "{found}:2 = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"reduction\"]}} ins(%x{number} : \
             {of_numbers}) outs({lowest}, {first} : {of_row}, {of}) {{"
        ));
        self.write_line(&format!("^bb0(%i0: {float}, %o: {float}, %p: {int}):"));
        self.write_line("  %d = linalg.index 1 : index");
        self.write_line(&format!("  %k = arith.index_cast %d : index to {int}"));
        self.write_line(&format!("  %m = arith.maximumf %i0, %o : {float}"));
        self.write_line(&format!("  %c = arith.cmpf ogt, %i0, %o : {float}"));
        self.write_line(&format!("  %n = arith.select %c, %k, %p : {int}"));
        self.write_line(&format!("  linalg.yield %m, %n : {float}, {int}"));
        self.write_line(&format!("}} -> ({of_row}, {of})"));
        self.write_line(&format!("%l{number} = tensor.cast {found}#1 : {of} to {of}"));
    }

    /// Writes the table read; returns the result and its type.
    fn write_read(&mut self) -> (String, String) {
        let (program, int) = (self.program, self.program.integer);
        let list = program.indices[0];
        let own = program.steps[list].shape.clone();
        let rank = own.len();
        let (table, of_table) = (program.table.as_slice(), tensor(&program.table, program.float));
        if program.read == TableRead::List {
            return (format!("%l{list}"), self.list_type(list));
        }
        if program.read == TableRead::Page {
            return self.write_page(list);
        }
        // The dimensions of the list in the iteration space, the indices into the table, and the shape of the result.
        let (of_list, at, shape): (Vec<usize>, Vec<String>, Vec<usize>) = match program.read {
            TableRead::Rows => (
                (0..rank).collect(),
                vec!["%p0".to_owned(), format!("%d{rank}")],
                [own.as_slice(), &table[1..]].concat(),
            ),
            TableRead::Elements => ((0..rank).collect(), vec!["%p0".to_owned()], own.clone()),
            TableRead::Columns => {
                ((1..=rank).collect(), vec!["%d0".to_owned(), "%p0".to_owned()], [&table[..1], own.as_slice()].concat())
            }
            TableRead::Pairs => ((0..rank).collect(), vec!["%p0".to_owned(), "%p1".to_owned()], own.clone()),
            TableRead::AlongRows => ((0..rank).collect(), vec!["%d0".to_owned(), "%p0".to_owned()], own.clone()),
            _ => (vec![0], vec!["%d0".to_owned(), "%p0".to_owned(), "%d1".to_owned()], vec![own[0], table[2]]),
        };
        let of = tensor(&shape, program.float);
        let mut body: Vec<String> =
            (0..shape.len()).map(|dim| format!("%d{dim} = linalg.index {dim} : index")).collect();
        let mut inputs = Vec::new();
        for (number, &index) in program.indices.iter().enumerate() {
            let element = if program.is_extracted {
                let at = join_commas(of_list.iter().map(|dim| format!("%d{dim}")));
                body.push(format!("%e{number} = tensor.extract %l{index}[{at}] : {}", self.list_type(index)));
                format!("%e{number}")
            } else {
                let at = map(shape.len(), of_list.iter().map(|dim| format!("d{dim}")));
                inputs.push((format!("%l{index}"), self.list_type(index), at));
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
        body.push(format!("%y = tensor.extract %t[{}] : {of_table}", join_commas(at)));
        let name = self.fresh_name();
        self.write_generic(&name, &inputs, (shape.len(), &of), (&body, "%y"));
        (name, of)
    }

    /// Writes the read of one page, selected by the last entry of a list.
    fn write_page(&mut self, list: usize) -> (String, String) {
        let (program, int) = (self.program, self.program.integer);
        let (place, entry, row, page) = (self.fresh_name(), self.fresh_name(), self.fresh_name(), self.fresh_name());
        let columns = program.table[1];
        let (of, of_table) = (tensor(&[1, columns], program.float), tensor(&program.table, program.float));
        self.write_line(&format!("{place} = arith.constant {} : index", program.steps[list].shape[0] - 1));
        self.write_line(&format!("{entry} = tensor.extract %l{list}[{place}] : {}", self.list_type(list)));
        self.write_line(&format!("{row} = arith.index_cast {entry} : {int} to index"));
        self.write_line(&format!(
            "{page} = tensor.extract_slice %t[{row}, 0] [1, {columns}] [1, 1] : {of_table} to {of}"
        ));
        (page, of)
    }
}
