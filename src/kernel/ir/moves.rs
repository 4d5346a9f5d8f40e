//! Moves ops into kernels. The callers have checked that the moves are legal.

use super::{
    dim_labels::LabelList,
    moved_ops::mark_moved,
    neighbors::{KernelView, collect_views},
};
use crate::dialect::ods::spyre;
use crate::{
    dialect::{ComputeOp, collect_users_through_views, input_dims_of, rebuild_scope, set_input_dims, strip_views},
    mlir::{DerivationKind, Op, OpExt, Value, ValueExt, derived_location, insert_before, shape_of},
};

/// Name of the pass that moves ops into kernels.
pub(super) const FUSING_PASS: &str = "spyre-fuse-prologue-epilogue";

/// New kernel inputs, with the labels of their dimensions.
pub(super) type NewInputs<'c> = Vec<(Value<'c>, LabelList<String>)>;

/// Moves a producer into the scope that reads its result; returns the new kernel. Other users after the kernel read the
/// value as a result of the kernel.
pub(super) fn fuse_producer<'c>(view: &KernelView<'c>, producer: Op<'c>) -> Op<'c> {
    let others = if producer.is(spyre::CONSTANT) { Vec::new() } else { collect_other_uses(producer, view.op) };
    let viewed: Vec<(usize, Vec<Op<'c>>)> = view
        .find_inputs_from(producer)
        .into_iter()
        .map(|input| (input, collect_views(view.op.inputs()[input])))
        .collect();
    let of_iteration = ComputeOp::from_op(producer)
        .map(|compute| derive_iteration_labels(compute, &view.labels_of_producer(producer)));
    let operands = label_operands(producer, of_iteration.as_ref());
    let kernel = add_inputs(view.op, &operands);
    let arguments = kernel.body_args();
    let sites: Vec<Op<'c>> = viewed.iter().flat_map(|(input, _)| arguments[*input].users()).collect();
    let anchor = find_common_anchor(kernel, &sites);
    let copy = insert_before(anchor, (*producer).clone());
    copy.set_loc(derived_location(producer, DerivationKind::Fusion, FUSING_PASS));
    mark_moved(copy);
    for (operand, (value, _)) in operands.iter().enumerate() {
        copy.set_input(operand, argument_for_input(kernel, *value));
    }
    for (input, views) in viewed {
        arguments[input].replace_with(rebuild_views(copy.output(), views, anchor));
    }
    let kernel = if others.is_empty() {
        kernel
    } else {
        let scope = copy.parent().expect("it stands in the kernel");
        let (kernel, result) = yield_to_outside(kernel, scope, copy.output());
        for (reader, operand) in others {
            reader.set_input(operand, rebuild_views(result, collect_views(reader.inputs()[operand]), reader));
        }
        kernel
    };
    let kernel = prune_kernel(kernel);
    erase_if_dead(producer);
    kernel
}

/// Returns the operands through which ops other than a kernel read an op's result.
fn collect_other_uses<'c>(producer: Op<'c>, kernel: Op<'c>) -> Vec<(Op<'c>, usize)> {
    let mut readers: Vec<Op<'c>> = Vec::new();
    for reader in collect_users_through_views(producer.output()) {
        if reader != kernel && !readers.contains(&reader) {
            readers.push(reader);
        }
    }
    let reads = |reader: Op<'c>| {
        let is_read = move |(_, value): &(usize, Value<'c>)| strip_views(*value) == producer.output();
        reader.inputs().into_iter().enumerate().filter(is_read).map(move |(operand, _)| (reader, operand))
    };
    readers.into_iter().flat_map(reads).collect()
}

/// Clones a chain of views, innermost first, before an op, and applies it to a value.
fn rebuild_views<'c>(value: Value<'c>, views: Vec<Op<'c>>, anchor: Op<'c>) -> Value<'c> {
    views.into_iter().fold(value, |value, view| {
        let again = insert_before(anchor, (*view).clone());
        again.set_input(0, value);
        again.output()
    })
}

/// Returns the operands of an op with their dimension names. Among argument operands, only the first one along a
/// dimension gets its name, which suffices: another one, such as angles that queries and keys share, may have another
/// name elsewhere. Constants get none: they move along, and a mask would take the name from the masked value.
fn label_operands<'c>(producer: Op<'c>, of_iteration: Option<&LabelList<String>>) -> NewInputs<'c> {
    let mut open = of_iteration.cloned();
    let mut found = NewInputs::new();
    for (operand, value) in producer.inputs().into_iter().enumerate() {
        if strip_views(value).def().is_some_and(|def| def.is(spyre::CONSTANT)) {
            found.push((value, vec![None; shape_of(value).len()]));
            continue;
        }
        let is_argument = strip_views(value).def().is_none();
        let labels =
            derive_operand_labels(producer, operand, if is_argument { open.as_ref() } else { of_iteration }, value);
        if let Some(open) = &mut open {
            open.iter_mut().filter(|label| labels.contains(label)).for_each(|label| *label = None);
        }
        found.push((value, labels));
    }
    found
}

/// Moves a consumer after its operands in the kernel; returns the new kernel.
pub(super) fn fuse_consumer<'c>(view: &KernelView<'c>, consumer: Op<'c>) -> Op<'c> {
    let labels = view.labels_of_consumer(consumer);
    let operands = consumer.inputs();
    let mut extra: NewInputs<'c> = Vec::new();
    for (operand, value) in operands.iter().enumerate() {
        let root = strip_views(*value);
        let is_known = root.def().is_some_and(|def| def.is(spyre::CONSTANT));
        if view.find_viewed_output(*value).is_none() && !is_known {
            // The kernel's values have the names. A producer may also be fused, and must then be tiled in the same way.
            let may_follow = root.def().is_some() && collect_views(*value).is_empty();
            let seen = may_follow.then(|| derive_operand_labels(consumer, operand, Some(&labels), root));
            extra.push((root, seen.unwrap_or_else(|| vec![None; shape_of(root).len()])));
        }
    }
    let made: Vec<Option<(Value<'c>, Vec<Op<'c>>)>> = operands
        .iter()
        .map(|value| {
            view.find_viewed_output(*value)
                .map(|output| (view.find_definition(output).value, view.find_definition(output).views))
        })
        .collect();
    let scope = operands
        .iter()
        .find_map(|value| view.find_viewed_output(*value))
        .map_or(view.op, |output| view.find_definition(output).scope);
    // The kernel's own inputs that the body reads have new values once the kernel is rebuilt.
    let inside: Vec<Option<(ValueInKernel<'c>, Vec<Op<'c>>)>> =
        made.into_iter().map(|made| made.map(|(value, views)| (ValueInKernel::new(view.op, value), views))).collect();
    let kernel = add_inputs(view.op, &extra);
    let scope = if scope == view.op { kernel } else { scope };
    let Some(end) = scope.body_ops().pop() else { return kernel };
    let copy = insert_before(end, (*consumer).clone());
    copy.set_loc(derived_location(consumer, DerivationKind::Fusion, FUSING_PASS));
    mark_moved(copy);
    for (operand, value) in operands.iter().enumerate() {
        let outside = collect_views(*value);
        let (start, views) = match &inside[operand] {
            Some((made, views)) => (made.resolve(kernel), views.iter().copied().chain(outside).collect::<Vec<_>>()),
            None => match strip_views(*value).def().filter(|def| def.is(spyre::CONSTANT)) {
                Some(constant) => (insert_before(copy, (*constant).clone()).output(), outside),
                None => (argument_for_input(kernel, strip_views(*value)), outside),
            },
        };
        copy.set_input(operand, rebuild_views(start, views, copy));
    }
    let (kernel, result) = yield_to_outside(kernel, scope, copy.output());
    consumer.output().replace_with(result);
    erase_if_dead(consumer);
    operands.into_iter().for_each(erase_dead_views);
    prune_kernel(kernel)
}

/// Value in a kernel that is rebuilt: op results stay the same, block arguments do not.
enum ValueInKernel<'c> {
    Argument(usize),
    OpResult(Value<'c>),
}

impl<'c> ValueInKernel<'c> {
    fn new(kernel: Op<'c>, value: Value<'c>) -> Self {
        kernel.body_args().iter().position(|argument| *argument == value).map_or(Self::OpResult(value), Self::Argument)
    }

    fn resolve(&self, kernel: Op<'c>) -> Value<'c> {
        match self {
            Self::Argument(number) => kernel.body_args()[*number],
            Self::OpResult(value) => *value,
        }
    }
}

/// Returns the kernel with additional inputs, appended to its existing ones.
pub(super) fn add_inputs<'c>(kernel: Op<'c>, more: &NewInputs<'c>) -> Op<'c> {
    let mut inputs: Vec<(Value<'c>, Option<usize>)> =
        kernel.inputs().into_iter().enumerate().map(|(number, value)| (value, Some(number))).collect();
    let mut dims = input_dims_of(kernel);
    for (value, labels) in more {
        match inputs.iter().position(|(known, _)| known == value) {
            Some(known) => dims.iter_mut().for_each(|dims| drop_conflicting_labels(&mut dims[known], labels)),
            None => {
                inputs.push((*value, None));
                dims.iter_mut().for_each(|dims| dims.push(labels.clone()));
            }
        }
    }
    let yielded: Vec<(Value<'c>, Option<usize>)> =
        kernel.yielded().into_iter().enumerate().map(|(number, value)| (value, Some(number))).collect();
    let new = rebuild_scope(kernel, &inputs, &yielded);
    if let Some(dims) = dims {
        set_input_dims(new, &dims);
    }
    new
}

/// Removes names for which another reader of the input has a different name, such as the angles that rotate both
/// queries and keys: the other operands of these readers have names of their own.
fn drop_conflicting_labels(known: &mut LabelList<String>, labels: &LabelList<String>) {
    for (known, label) in known.iter_mut().zip(labels) {
        if label.is_some() && known != label {
            *known = None;
        }
    }
}

/// Returns the kernel argument for one of the kernel's inputs.
fn argument_for_input<'c>(kernel: Op<'c>, input: Value<'c>) -> Value<'c> {
    let number = kernel.inputs().iter().position(|known| *known == input).expect("it was made an input");
    kernel.body_args()[number]
}

/// Yields a value defined in a scope to the outside: returns the rebuilt kernel, which has one more result, and that
/// result.
fn yield_to_outside<'c>(kernel: Op<'c>, scope: Op<'c>, value: Value<'c>) -> (Op<'c>, Value<'c>) {
    let (mut scope, mut value) = (scope, value);
    loop {
        let around = scope.parent();
        let mut yielded: Vec<(Value<'c>, Option<usize>)> =
            scope.yielded().into_iter().enumerate().map(|(number, value)| (value, Some(number))).collect();
        yielded.push((value, None));
        let is_kernel = scope == kernel;
        let inputs: Vec<(Value<'c>, Option<usize>)> =
            scope.inputs().into_iter().enumerate().map(|(number, value)| (value, Some(number))).collect();
        let dims = is_kernel.then(|| input_dims_of(scope)).flatten();
        let new = rebuild_scope(scope, &inputs, &yielded);
        if let Some(dims) = dims {
            set_input_dims(new, &dims);
        }
        value = new.outputs()[yielded.len() - 1];
        match around {
            Some(around) if !is_kernel => scope = around,
            _ => return (new, value),
        }
    }
}

/// Returns the kernel without unused inputs and results, including those of its scopes.
pub(super) fn prune_kernel(kernel: Op<'_>) -> Op<'_> {
    let is_read = |argument: &Value<'_>| !argument.users().is_empty();
    let kept: Vec<usize> = kernel
        .body_args()
        .iter()
        .enumerate()
        .filter(|(_, argument)| is_read(argument))
        .map(|(number, _)| number)
        .collect();
    let inputs: Vec<_> = kept.iter().map(|&number| (kernel.inputs()[number], Some(number))).collect();
    let dims = input_dims_of(kernel);
    let new = rebuild_scope(kernel, &inputs, &collect_used_results(kernel));
    if let Some(dims) = dims {
        set_input_dims(new, &kept.into_iter().map(|number| dims[number].clone()).collect::<Vec<_>>());
    }
    // An inner scope need not yield a value that the outer scope does not yield.
    for scope in new.nested().into_iter().filter(|op| op.is(spyre::HINT)) {
        let read = collect_used_results(scope);
        if read.len() < scope.outputs().len() {
            rebuild_scope(scope, &[], &read);
        }
    }
    new
}

/// Returns the yielded values of a scope whose results have uses, each with its result number.
fn collect_used_results(scope: Op<'_>) -> Vec<(Value<'_>, Option<usize>)> {
    let results = scope.outputs();
    let is_read = |number: &usize| !results[*number].users().is_empty();
    scope
        .yielded()
        .into_iter()
        .enumerate()
        .filter(|(number, _)| is_read(number))
        .map(|(number, value)| (value, Some(number)))
        .collect()
}

/// Returns the op before which a value that all sites read is placed: in the innermost scope that contains all sites,
/// the first op that contains one.
fn find_common_anchor<'c>(kernel: Op<'c>, sites: &[Op<'c>]) -> Op<'c> {
    let path = |site: Op<'c>| {
        let mut path: Vec<Op<'c>> =
            std::iter::successors(Some(site), |op| op.parent()).take_while(|op| *op != kernel).collect();
        path.reverse();
        path
    };
    let paths: Vec<Vec<Op<'c>>> = sites.iter().map(|site| path(*site)).collect();
    let mut scope = kernel;
    for depth in 0.. {
        let at = |path: &Vec<Op<'c>>| path.get(depth).copied().filter(|op| op.is(spyre::HINT));
        let Some(inner) = paths.first().and_then(at) else { break };
        if !paths.iter().all(|path| at(path) == Some(inner)) {
            break;
        }
        scope = inner;
    }
    let has_site = |op: &Op<'c>| paths.iter().any(|path| path.contains(op));
    let first = scope.body_ops().into_iter().find(has_site);
    first.or_else(|| scope.body_ops().pop()).expect("a scope ends with a terminator")
}

/// Derives labels of the iteration dimensions from a kernel's labels of the result dimensions; `None` where unknown.
fn derive_iteration_labels(compute: ComputeOp<'_>, of_result: &LabelList<String>) -> LabelList<String> {
    let mut found: LabelList<String> = vec![None; compute.iteration_space().len()];
    for (label, dim) in of_result.iter().zip(compute.operand_dims(compute.read_operands().len())) {
        if let Some(dim) = dim {
            found[dim].clone_from(label);
        }
    }
    found
}

/// Derives the labels of an operand from those of the iteration dimensions that index its dimensions in full.
fn derive_operand_labels(
    op: Op<'_>,
    operand: usize,
    of_iteration: Option<&LabelList<String>>,
    value: Value<'_>,
) -> LabelList<String> {
    let none = vec![None; shape_of(value).len()];
    let (Some(compute), Some(of_iteration)) = (ComputeOp::from_op(op), of_iteration) else { return none };
    let space = compute.iteration_space();
    let along = |(dim, size): (Option<usize>, i64)| {
        dim.filter(|dim| space[*dim] == size).and_then(|dim| of_iteration[dim].clone())
    };
    compute.operand_dims(operand).into_iter().zip(shape_of(value)).map(along).collect()
}

/// Erases views whose results have no uses.
fn erase_dead_views(value: Value<'_>) {
    for view in collect_views(value).into_iter().rev() {
        if !view.output().users().is_empty() {
            return;
        }
        view.erase();
    }
}

/// Erases an op without uses, and the views of its result.
fn erase_if_dead(op: Op<'_>) {
    let mut views: Vec<Op<'_>> = Vec::new();
    let mut viewed = op.outputs();
    while let Some(value) = viewed.pop() {
        for user in value.users() {
            if !user.is(spyre::VIEW) {
                return;
            }
            viewed.extend(user.outputs());
            views.push(user);
        }
    }
    views.into_iter().rev().for_each(OpExt::erase);
    op.erase();
}
