//! Consistent changes of several fields, as by a compiler bug: no single field shows the fault.

use crate::mutants::{FileChange, Mutant, programs::Files};
use serde_json::{Value, json};

/// Distance of two addresses that are one stick apart.
const STICK_BYTES: i64 = 128;

/// Functions that can replace each other: same number of operands, different meaning.
const FUNCTIONS: [(&str, &str); 8] = [
    ("sub", "mul"),
    ("add", "sub"),
    ("realdiv", "mul"),
    ("mul", "add"),
    ("exp", "neg"),
    ("max", "min"),
    ("sqrt", "exp"),
    ("maxnonstick", "minnonstick"),
];

/// Adds the changes of each bundle and of the program.
pub(crate) fn add_mutants(files: &Files, all: &mut Vec<Mutant>) {
    for (path, content) in files {
        if let Some(folder) = path.strip_suffix("bundle.mlir") {
            let text = std::str::from_utf8(content).unwrap();
            BundleFiles { files, folder, text }.add_mutants(all);
        }
    }
    change_program(files, all);
}

/// One bundle: its folder with a trailing slash, and the text of `bundle.mlir`.
struct BundleFiles<'a> {
    files: &'a Files,
    folder: &'a str,
    text: &'a str,
}

/// An execute of `bundle.mlir`: its line, its file, its operands, and the ids of their symbols.
struct ExecuteOp {
    line: usize,
    file: String,
    operands: Vec<String>,
    ids: Vec<i64>,
}

impl ExecuteOp {
    /// Returns the positions of the symbols of a tensor, core by core; `None` if its addresses are numbers.
    fn symbol_positions(&self, node: &Value) -> Option<Vec<usize>> {
        let position = |id: i64| self.ids.iter().position(|known| *known == id);
        read_starts(node).into_iter().map(position).collect()
    }
}

/// Returns the start addresses of the cores' slices.
fn read_starts(node: &Value) -> Vec<i64> {
    let data = node["startAddressCoreCorelet_"]["data_"].as_object();
    data.into_iter().flatten().map(|(_, start)| start.as_str().unwrap().parse().unwrap()).collect()
}

fn split_items(line: &str, open: char, close: char) -> Vec<&str> {
    let inner = line.split_once(open).and_then(|(_, rest)| rest.split_once(close)).map_or("", |(inner, _)| inner);
    inner.split(", ").filter(|item| !item.is_empty()).collect()
}

impl BundleFiles<'_> {
    fn add_mutants(&self, all: &mut Vec<Mutant>) {
        let executes = self.executes();
        for execute in &executes {
            self.exchange_tensors(execute, all);
            self.move_tensor(execute, all);
            self.replace_function(execute, all);
            self.exchange_cores(execute, all);
        }
        self.move_masks(&executes, all);
        for pair in executes
            .windows(2)
            .filter(|pair| pair[0].operands.len() == pair[1].operands.len() && !pair[0].operands.is_empty())
        {
            self.exchange_operands_of_ops(&pair[0], &pair[1], all);
        }
        self.change_counts_and_advances(all);
    }

    fn executes(&self) -> Vec<ExecuteOp> {
        let execute = |(line, text): (usize, &str)| {
            let file = text.split_once("sdsc_filename=\"")?.1.split_once('"')?.0.to_owned();
            let ids = text.split_once("symbol_ids").map_or(Vec::new(), |(_, rest)| split_items(rest, '[', ']'));
            let ids = ids.into_iter().map(|id| id.parse().unwrap()).collect();
            let operands = split_items(text, '(', ')').into_iter().map(str::to_owned).collect();
            Some(ExecuteOp { line, file, operands, ids })
        };
        self.text.lines().enumerate().filter_map(execute).collect()
    }

    fn sdsc(&self, execute: &ExecuteOp) -> Value {
        serde_json::from_slice(&self.files[&format!("{}{}", self.folder, execute.file)]).unwrap()
    }

    fn lines(&self) -> Vec<String> {
        self.text.split_inclusive('\n').map(str::to_owned).collect()
    }

    fn add_text(&self, what: &str, place: usize, lines: &[String], all: &mut Vec<Mutant>) {
        let (path, text) = (format!("{}bundle.mlir", self.folder), lines.concat());
        if text != self.text {
            let place = format!("line {}", place + 1);
            all.push(Mutant::from_file_change(
                &path,
                (place, what.to_owned()),
                "together",
                String::new(),
                text.into_bytes(),
            ));
        }
    }

    fn add_sdsc(&self, what: &str, execute: &ExecuteOp, place: String, changed: &Value, all: &mut Vec<Mutant>) {
        if *changed != self.sdsc(execute) {
            let path = format!("{}{}", self.folder, execute.file);
            all.push(Mutant::from_file_change(
                &path,
                (place, what.to_owned()),
                "together",
                String::new(),
                serde_json::to_vec(changed).unwrap(),
            ));
        }
    }

    /// Adds mutants that exchange the addresses of two tensors of an op.
    fn exchange_tensors(&self, execute: &ExecuteOp, all: &mut Vec<Mutant>) {
        let what = "addresses of two tensors of an op";
        let sdsc = self.sdsc(execute);
        let nodes = nodes(&sdsc);
        for (first, second) in
            (0..nodes.len()).flat_map(|first| (first + 1..nodes.len()).map(move |second| (first, second)))
        {
            if nodes[first]["component_"] != nodes[second]["component_"] {
                continue;
            }
            let place = format!("tensors {first} and {second}");
            match (execute.symbol_positions(&nodes[first]), execute.symbol_positions(&nodes[second])) {
                (Some(one), Some(other)) => {
                    let mut swapped = execute.operands.clone();
                    one.iter().zip(&other).for_each(|(one, other)| swapped.swap(*one, *other));
                    let mut lines = self.lines();
                    lines[execute.line] =
                        lines[execute.line].replace(&execute.operands.join(", "), &swapped.join(", "));
                    self.add_text(what, execute.line, &lines, all);
                }
                (None, None) => {
                    let mut changed = sdsc.clone();
                    let member = "startAddressCoreCorelet_";
                    let (one, other) = (nodes[first][member].clone(), nodes[second][member].clone());
                    let changed_nodes = nodes_mut(&mut changed);
                    changed_nodes[first][member] = other;
                    changed_nodes[second][member] = one;
                    self.add_sdsc(what, execute, place, &changed, all);
                }
                (Some(_), None) | (None, Some(_)) => {}
            }
        }
    }

    /// Adds mutants that move a tensor of an op by one stick, on every core and in every iteration.
    fn move_tensor(&self, execute: &ExecuteOp, all: &mut Vec<Mutant>) {
        let what = "addresses of a tensor, by a stick";
        let sdsc = self.sdsc(execute);
        for (number, node) in nodes(&sdsc).iter().enumerate() {
            for bytes in [STICK_BYTES, -STICK_BYTES] {
                if let Some(positions) = execute.symbol_positions(node) {
                    let moved: Vec<&String> = positions.iter().map(|position| &execute.operands[*position]).collect();
                    self.add_text(what, execute.line, &self.move_operands(execute, &moved, bytes), all);
                } else {
                    let mut changed = sdsc.clone();
                    let data =
                        nodes_mut(&mut changed)[number]["startAddressCoreCorelet_"]["data_"].as_object_mut().unwrap();
                    for start in data.values_mut() {
                        *start = json!((start.as_str().unwrap().parse::<i64>().unwrap() + bytes).to_string());
                    }
                    self.add_sdsc(what, execute, format!("tensor {number}"), &changed, all);
                }
            }
        }
    }

    /// Returns the text in which some operands of an execute are replaced by values that are `bytes` larger.
    fn move_operands(&self, execute: &ExecuteOp, operands: &[&String], bytes: i64) -> Vec<String> {
        let mut lines = self.lines();
        let mut defined = format!("\t\t%moved_by = arith.constant {bytes} : index\n");
        for operand in operands {
            // Hoists the base of an address that an iteration computes out of the loops.
            let apply = lines.iter().position(|line| line.trim().starts_with(&format!("{operand} = affine.apply")));
            let base = apply.map_or_else(
                || (*operand).clone(),
                |line| split_items(lines[line].rsplit_once(')').unwrap().1, '[', ']')[0].to_owned(),
            );
            let moved = format!("%moved_{}", &base[1..]);
            if !defined.contains(&format!("{moved} =")) {
                defined.push_str(&format!("\t\t{moved} = arith.addi {base}, %moved_by : index\n"));
            }
            match apply {
                Some(line) => lines[line] = lines[line].replace(&format!("[{base}]"), &format!("[{moved}]")),
                None => {
                    let names = split_items(&lines[execute.line], '(', ')').join(", ");
                    let changed = names
                        .split(", ")
                        .map(|name| if name == base { &*moved } else { name })
                        .collect::<Vec<_>>()
                        .join(", ");
                    lines[execute.line] = lines[execute.line].replace(&names, &changed);
                }
            }
        }
        let first = lines.iter().position(|line| line.contains("scf.for") || line.contains("sdsc_execute")).unwrap();
        // Hoists a value that is computed between executes above the first execute that may use it.
        let last = lines
            .iter()
            .rposition(|line| line.starts_with("\t\t%") && line.contains(" = arith."))
            .map_or(first, |last| last + 1);
        lines.insert(first.max(last.min(execute.line)), defined);
        lines
    }

    /// Adds mutants that replace a function under all of its names.
    fn replace_function(&self, execute: &ExecuteOp, all: &mut Vec<Mutant>) {
        let path = format!("{}{}", self.folder, execute.file);
        let text = std::str::from_utf8(&self.files[&path]).unwrap();
        let sdsc = self.sdsc(execute);
        let name = sdsc.as_object().unwrap().keys().next().unwrap();
        let (number, function) = name.split_once('_').unwrap();
        for (_, other) in FUNCTIONS.iter().filter(|(known, _)| *known == function) {
            let changed = text.replace(&format!("\"{name}\""), &format!("\"{number}_{other}\""));
            let changed = changed.replace(&format!("\"{function}\""), &format!("\"{other}\""));
            let field = ("the name of the function".to_owned(), "function of an op".to_owned());
            all.push(Mutant::from_file_change(&path, field, "together", (*other).to_owned(), changed.into_bytes()));
        }
    }

    /// Adds mutants that exchange the slices and the addresses of two cores.
    fn exchange_cores(&self, execute: &ExecuteOp, all: &mut Vec<Mutant>) {
        let mut changed = self.sdsc(execute);
        let slices =
            changed.as_object_mut().unwrap().values_mut().next().unwrap()["coreIdToWkSlice_"].as_object_mut().unwrap();
        let (Some(first), Some(second)) = (slices.get("0").cloned(), slices.get("1").cloned()) else { return };
        slices.insert("0".to_owned(), second);
        slices.insert("1".to_owned(), first);
        for node in nodes_mut(&mut changed) {
            let data = node["startAddressCoreCorelet_"]["data_"].as_object_mut().unwrap();
            let keys = ["[0, 0, 0]", "[1, 0, 0]"];
            let found = keys.map(|key| data[key].clone());
            keys.iter()
                .zip(found.into_iter().rev())
                .for_each(|(key, start)| drop(data.insert((*key).to_owned(), start)));
        }
        self.add_sdsc("slices and addresses of two cores", execute, "cores 0 and 1".to_owned(), &changed, all);
    }

    /// Adds mutants that mask one point less in every op that masks it: an op may overwrite the padding of the previous
    /// one.
    fn move_masks(&self, executes: &[ExecuteOp], all: &mut Vec<Mutant>) {
        let mut files = Vec::new();
        for execute in executes {
            let mut changed = self.sdsc(execute);
            let masks = description_mut(&mut changed)["coordinateMasking_"].as_object_mut().unwrap();
            for mask in masks.values_mut() {
                let [valid, padding] = [0, 1].map(|at| mask[0][at].as_i64().unwrap());
                *mask = json!([[valid + 1, padding - 1]]);
            }
            if changed != self.sdsc(execute) {
                files.push((format!("{}{}", self.folder, execute.file), serde_json::to_vec(&changed).unwrap()));
            }
        }
        if let Some((file, _)) = files.first() {
            let (file, place, field) =
                (file.clone(), "one point less is padding".to_owned(), "masks of a bundle".to_owned());
            all.push(Mutant {
                file,
                place,
                field,
                kind: "together",
                to: String::new(),
                change: FileChange::Files(files),
            });
        }
    }

    fn exchange_operands_of_ops(&self, first: &ExecuteOp, second: &ExecuteOp, all: &mut Vec<Mutant>) {
        let mut lines = self.lines();
        let (one, other) = (first.operands.join(", "), second.operands.join(", "));
        lines[first.line] = lines[first.line].replace(&one, &other);
        lines[second.line] = lines[second.line].replace(&other, &one);
        self.add_text("operands of two ops", first.line, &lines, all);
    }

    /// Adds mutants with half as many loop iterations and doubled strides, or the reverse.
    fn change_counts_and_advances(&self, all: &mut Vec<Mutant>) {
        let lines = self.lines();
        for level in 0.. {
            let bound = format!("%loop_bound_{level} = arith.constant ");
            let Some(line) = lines.iter().position(|line| line.contains(&bound)) else { return };
            let count: i64 = lines[line].split_once(&bound).unwrap().1.split(' ').next().unwrap().parse().unwrap();
            for (numerator, denominator) in [(2, 1), (1, 2)] {
                let mut changed = lines.clone();
                changed[line] =
                    lines[line].replace(&format!(" {count} "), &format!(" {} ", count * numerator / denominator));
                for apply in lines.iter().filter(|line| line.contains("affine.apply")) {
                    let map = apply.split_once("affine.apply ").unwrap().1.split_once('(').unwrap().0;
                    let Some(dim) = split_items(apply, '(', ')').iter().position(|name| *name == format!("%i_{level}"))
                    else {
                        continue;
                    };
                    let definition = lines.iter().position(|line| line.starts_with(&format!("{map} ="))).unwrap();
                    let (front, rest) = lines[definition].split_once(&format!("*d{dim}")).unwrap();
                    let (front, step) = front.rsplit_once(' ').unwrap();
                    let step: i64 = step.parse().unwrap();
                    changed[definition] = format!("{front} {}*d{dim}{rest}", step * denominator / numerator);
                }
                self.add_text("count and advance of a loop", line, &changed, all);
            }
        }
    }
}

fn description_mut(sdsc: &mut Value) -> &mut Value {
    let operation = sdsc.as_object_mut().unwrap().values_mut().next().unwrap();
    operation["dscs_"][0].as_object_mut().unwrap().values_mut().next().unwrap()
}

fn nodes(sdsc: &Value) -> Vec<Value> {
    let operation = sdsc.as_object().unwrap().values().next().unwrap();
    let description = operation["dscs_"][0].as_object().unwrap().values().next().unwrap();
    description["scheduleTree_"].as_array().unwrap().clone()
}

fn nodes_mut(sdsc: &mut Value) -> &mut Vec<Value> {
    description_mut(sdsc)["scheduleTree_"].as_array_mut().unwrap()
}

/// Adds mutants of `program.json` and of the files that it names.
fn change_program(files: &Files, all: &mut Vec<Mutant>) {
    let path = "program.json";
    let program: Value = serde_json::from_slice(&files[path]).unwrap();
    let mut add = |place: String, field: &str, changed: Value| {
        if changed != program {
            let content = serde_json::to_vec(&changed).unwrap();
            all.push(Mutant::from_file_change(path, (place, field.to_owned()), "together", String::new(), content));
        }
    };
    let constants = program["constants"].as_array().map_or(0, Vec::len);
    for (first, second) in (0..constants).flat_map(|first| (first + 1..constants).map(move |second| (first, second))) {
        let mut changed = program.clone();
        for (one, other) in [(first, second), (second, first)] {
            for member in ["file", "bytes", "shape", "device_size", "stride_map"] {
                changed["constants"][one][member] = program["constants"][other][member].clone();
            }
        }
        add(format!("constants {first} and {second}"), "files of two constants", changed);
    }
    for list in ["arguments", "results", "constants", "buffers"] {
        for (number, tensor) in program[list].as_array().into_iter().flatten().enumerate() {
            let Some(rows) = tensor["shape"][0].as_i64() else { continue };
            for (at, size) in tensor["device_size"]
                .as_array()
                .unwrap()
                .iter()
                .enumerate()
                .filter(|(_, size)| size.as_i64() == Some(rows))
            {
                let mut changed = program.clone();
                let grown = &mut changed[list][number];
                grown["shape"][0] = json!(rows + 1);
                grown["device_size"][at] = json!(rows + 1);
                grown["bytes"] = json!(tensor["bytes"].as_i64().unwrap() / size.as_i64().unwrap() * (rows + 1));
                add(format!("/{list}/{number}"), "a tensor with one row more", changed);
            }
        }
    }
    change_numbers_and_origins(files, all);
}

/// Adds mutants that replace a number in an op without a record of the unrounded number.
fn change_numbers_and_origins(files: &Files, all: &mut Vec<Mutant>) {
    let Some(exact) = files.get("exact.json") else { return };
    let exact: Value = serde_json::from_slice(exact).unwrap();
    for (file, constants) in exact["ops"].as_object().into_iter().flatten() {
        for (name, number) in constants.as_object().unwrap() {
            let mut changed = exact.clone();
            changed["ops"][file][name] = json!(number.as_f64().unwrap() * 1.0001);
            let place = (format!("/ops/{file}/{name}"), "number that an op's constant is rounded from".to_owned());
            all.push(Mutant::from_file_change(
                "exact.json",
                place,
                "together",
                String::new(),
                serde_json::to_vec(&changed).unwrap(),
            ));
        }
    }
}
