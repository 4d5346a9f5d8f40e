//! `spyre-select-program`: rejects recursive calls, and calls whose inlining would create too many ops.

use crate::{
    codes,
    import::{CallGraphNode, MAX_INLINED_OPS, count_inlined_ops},
    mlir::{ErrorReported, Op, OpExt, error_at, find_defined_functions, symbol_name},
};
use std::collections::{BTreeMap, BTreeSet};

/// Rejects recursive functions of a module, and a function that has more than [`MAX_INLINED_OPS`] ops once its calls
/// are inlined, and more than the module has.
pub(super) fn check_calls(module: Op<'_>) -> Result<(), ErrorReported> {
    let calls = CallGraph::from_module(module);
    let num_ops = count_inlined_ops(&calls.graph).map_err(|cycle| calls.report_cycle(&cycle))?;
    let limit = MAX_INLINED_OPS.max(calls.graph.iter().map(|function| function.num_ops).sum());
    // Callees are parts of their callers: the error names the program itself, which has no callers.
    let is_called: BTreeSet<usize> = calls.graph.iter().flat_map(|function| function.callees.iter().copied()).collect();
    let too_large = (0..num_ops.len()).find(|function| num_ops[*function] > limit && !is_called.contains(function));
    too_large.map_or(Ok(()), |function| Err(calls.report_growth(function, &num_ops, limit)))
}

/// Call graph of the functions of a module.
struct CallGraph<'c> {
    functions: Vec<Op<'c>>,
    graph: Vec<CallGraphNode>,
    /// The call ops, in the order of the callees.
    calls: Vec<Vec<Op<'c>>>,
}

impl<'c> CallGraph<'c> {
    fn from_module(module: Op<'c>) -> Self {
        let functions = find_defined_functions(module);
        let positions: BTreeMap<&str, usize> = functions
            .iter()
            .enumerate()
            .map(|(position, function)| (function.text_attr("sym_name"), position))
            .collect();
        let callee = |op: Op<'c>| op.attr("callee").and_then(symbol_name).and_then(|name| positions.get(name)).copied();
        let (mut graph, mut calls) = (Vec::new(), Vec::new());
        for function in &functions {
            let ops = function.nested();
            let called: Vec<(usize, Op<'c>)> =
                ops.iter().filter(|op| op.is("func.call")).filter_map(|&op| Some((callee(op)?, op))).collect();
            // Inlining removes the function, the call ops and the return.
            let num_ops = (ops.len() - 1 - called.len()).saturating_sub(1) as u64;
            graph.push(CallGraphNode { num_ops, callees: called.iter().map(|(callee, _)| *callee).collect() });
            calls.push(called.into_iter().map(|(_, op)| op).collect());
        }
        Self { functions, graph, calls }
    }

    /// Rejects a function with too many ops, at the first of the calls that contribute most of them.
    fn report_growth(&self, function: usize, num_ops: &[u64], limit: u64) -> ErrorReported {
        let callees = || self.graph[function].callees.iter();
        let most = callees().map(|&callee| num_ops[callee]).max();
        let number = callees().position(|&callee| Some(num_ops[callee]) == most);
        let call = number.map_or(self.functions[function], |number| self.calls[function][number]);
        let found = match num_ops[function] {
            u64::MAX => "2^64 or more".to_owned(),
            number => number.to_string(),
        };
        let message = codes::INLINED_SIZE.format(format_args!(
            "expected at most {limit} ops after inlining, found {found} in '{}'; call functions in fewer places, or compile one of them \
             with --entry NAME",
            self.functions[function].text_attr("sym_name")
        ));
        error_at(codes::RECURSIVE_CALL, call, message).report()
    }

    /// Rejects a function that calls itself, directly or through others.
    fn report_cycle(&self, cycle: &[usize]) -> ErrorReported {
        let names: Vec<&str> =
            cycle.iter().chain(cycle.first()).map(|&function| self.functions[function].text_attr("sym_name")).collect();
        let next = cycle.get(1).or(cycle.first());
        let number = self.graph[cycle[0]].callees.iter().position(|callee| Some(callee) == next);
        let call = number.map_or(self.functions[cycle[0]], |number| self.calls[cycle[0]][number]);
        let message = codes::RECURSIVE_CALL.format(format_args!(
            "expected calls without a cycle, found '{}'; write the repetition as 'scf.for' with a constant trip count",
            names.join("' calls '")
        ));
        error_at(codes::RECURSIVE_CALL, call, message).report()
    }
}
