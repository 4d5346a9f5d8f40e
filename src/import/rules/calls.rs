//! Op counts of a program after inlining, computed before anything is inlined.

/// Maximum number of ops of a program after inlining, if it has fewer before: a model of 120 layers of 300 ops has
/// 36,000.
pub const MAX_INLINED_OPS: u64 = 1 << 17;

/// Function, with the positions of its callees, one per call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallGraphNode {
    /// Number of ops that inlining copies, without calls and the return.
    pub num_ops: u64,
    /// The callees in order.
    pub callees: Vec<usize>,
}

/// Counts the ops of each function once its calls are inlined. Sums saturate.
///
/// Takes time linear in functions and calls.
///
/// # Errors
/// Returns the functions of a cycle of calls, in the order of the calls.
pub fn count_inlined_ops(functions: &[CallGraphNode]) -> Result<Vec<u64>, Vec<usize>> {
    let mut num_ops: Vec<Option<u64>> = vec![None; functions.len()];
    let mut is_on_path = vec![false; functions.len()];
    for entry in 0..functions.len() {
        // Chains of calls may be as long as a file, so this is not recursive: each function on the path, with the
        // number of its next callee.
        let mut path: Vec<(usize, usize)> = Vec::new();
        if num_ops[entry].is_none() {
            is_on_path[entry] = true;
            path.push((entry, 0));
        }
        while let Some((function, next)) = path.last_mut() {
            let function = *function;
            let callees = &functions[function].callees;
            let Some(&callee) = callees.get(*next) else {
                let called = callees.iter().filter_map(|&callee| num_ops[callee]);
                num_ops[function] = Some(called.fold(functions[function].num_ops, u64::saturating_add));
                is_on_path[function] = false;
                path.pop();
                continue;
            };
            *next += 1;
            if is_on_path[callee] {
                return Err(path
                    .iter()
                    .map(|&(function, _)| function)
                    .skip_while(|&function| function != callee)
                    .collect());
            }
            if num_ops[callee].is_none() {
                is_on_path[callee] = true;
                path.push((callee, 0));
            }
        }
    }
    Ok(num_ops.into_iter().map(Option::unwrap_or_default).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_function(callees: &[usize]) -> CallGraphNode {
        CallGraphNode { num_ops: 1 + callees.len() as u64, callees: callees.to_vec() }
    }

    #[test]
    fn counts_function_once_per_call() {
        let functions =
            [build_function(&[1, 2, 1]), build_function(&[2, 2]), build_function(&[]), build_function(&[0])];
        assert_eq!(count_inlined_ops(&functions), Ok(vec![4 + 5 + 1 + 5, 3 + 1 + 1, 1, 2 + 15]));
    }

    #[test]
    fn saturates_exponential_counts() {
        let chain: Vec<CallGraphNode> = (0..100)
            .map(|function| if function == 99 { build_function(&[]) } else { build_function(&[function + 1; 2]) })
            .collect();
        let counted = count_inlined_ops(&chain).unwrap();
        assert_eq!((counted[0], counted[97]), (u64::MAX, 3 + 2 * (3 + 2)));
    }

    #[test]
    fn counts_long_call_chain_without_recursion() {
        let chain: Vec<CallGraphNode> = (0..200_000)
            .map(|function| if function == 199_999 { build_function(&[]) } else { build_function(&[function + 1]) })
            .collect();
        assert_eq!(count_inlined_ops(&chain).unwrap()[0], 2 * 199_999 + 1);
    }

    #[test]
    fn reports_only_functions_of_cycle() {
        let functions = [build_function(&[1]), build_function(&[2]), build_function(&[3]), build_function(&[1])];
        assert_eq!(count_inlined_ops(&functions), Err(vec![1, 2, 3]));
        assert_eq!(count_inlined_ops(&[build_function(&[]), build_function(&[1])]), Err(vec![1]));
    }
}
