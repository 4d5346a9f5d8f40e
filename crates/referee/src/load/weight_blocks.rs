//! Device sizes of 8-bit weights.
//!
//! The sticks of such weights are blocks of two rows and 64 columns. torch-spyre states the device size `[N / 128, K,
//! 128]`, which counts their sticks; the order of the elements follows from the arrangement `QFP8WT`. Here it follows
//! from the files that access the tensor: the device size becomes `[N / 128, 2, K / 2, 2, 64]`, in which every element
//! has its position.

use super::address_program::{BundleProgram, Expression, Statement};
use super::directory::LoadedBundle;
use crate::plan::{MemorySpace, OpPlan, StartAddress};
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use std::collections::{BTreeMap, BTreeSet};

/// Rows and columns of a block.
const BLOCK: [i64; 2] = [2, 64];

/// Replaces the device sizes of tensors that ops access in blocks. Only bundles with symbolic addresses show which
/// tensors they access.
pub(crate) fn expand_device_sizes(program: &mut Program, bundles: &BTreeMap<String, LoadedBundle>) {
    let names: BTreeSet<String> = program
        .launches
        .iter()
        .filter_map(|launch| Some((launch, bundles.get(&launch.bundle)?)))
        .flat_map(|(launch, loaded)| find_block_arguments(launch, loaded))
        .collect();
    let lists = [&mut program.arguments, &mut program.results, &mut program.constants, &mut program.buffers];
    for tensor in lists.into_iter().flatten() {
        // The file of a constant has the bytes in the order of its device size.
        if names.contains(&tensor.name) && tensor.file.is_none() {
            expand_device_size(tensor);
        }
    }
}

/// Replaces a device size `[.., K, 128]` of rows of 128 columns.
fn expand_device_size(tensor: &mut Tensor) {
    let [rows, columns] = BLOCK;
    let (sizes, map) = (&mut tensor.device_size, &mut tensor.stride_map);
    let (Some([height, width]), Some([down, across])) =
        (sizes.last_chunk::<2>().copied(), map.last_chunk::<2>().copied())
    else {
        return;
    };
    let strides: Option<[i64; 2]> = columns.checked_mul(across).zip(rows.checked_mul(down)).map(<[i64; 2]>::from);
    let Some([next_block, next_rows]) = strides.filter(|_| width == 2 * columns && height % rows == 0) else { return };
    if sizes.len() == map.len() && down > 0 && across > 0 {
        sizes.truncate(sizes.len() - 2);
        sizes.extend([2, height / rows, rows, columns]);
        map.truncate(map.len() - 2);
        map.extend([next_block, next_rows, down, across]);
    }
}

/// Returns the arguments of a launch that an op accesses in blocks.
fn find_block_arguments(launch: &LaunchEntry, loaded: &LoadedBundle) -> Vec<String> {
    let bundle = &loaded.bundle;
    let mut parameters = vec![None; bundle.num_values];
    (0..bundle.parameters.len()).for_each(|number| parameters[number] = Some(number));
    let mut found = Vec::new();
    bundle.visit_statements(&mut |statement| match statement {
        Statement::Define { result, expression } => {
            parameters[*result] = find_parameter(expression, &parameters);
        }
        Statement::Execute { file, operands, symbols } => {
            for plan in loaded.plans.get(file).into_iter().flatten().flatten() {
                let operands = block_operands(plan, operands, symbols.as_deref());
                found.extend(operands.into_iter().filter_map(|value| parameters[value]));
            }
        }
        Statement::For { .. } => {}
    });
    found.into_iter().filter_map(|number| argument_name(bundle, number, launch)).collect()
}

/// Returns the parameter that an address is relative to.
fn find_parameter(expression: &Expression, parameters: &[Option<usize>]) -> Option<usize> {
    match expression {
        Expression::Constant(_) | Expression::Allocate { .. } => None,
        Expression::Add(left, right) => parameters[*left].or(parameters[*right]),
        Expression::Apply { operands, .. } => operands.iter().find_map(|operand| parameters[*operand]),
        Expression::Extract(parameter) => parameters[*parameter],
    }
}

/// Returns the values that are the addresses of tensors in blocks.
fn block_operands(plan: &OpPlan, operands: &[usize], symbols: Option<&[i64]>) -> Vec<usize> {
    let position = |symbol: i64| match symbols {
        Some(symbols) => symbols.iter().position(|known| *known == symbol),
        None => usize::try_from(-1 - symbol).ok(),
    };
    let start = |start: &StartAddress| match start {
        StartAddress::Symbol(symbol) => operands.get(position(*symbol)?).copied(),
        StartAddress::Address(_) => None,
    };
    let tensors = plan.tensors.iter().filter(|tensor| tensor.has_weight_blocks() && tensor.memory == MemorySpace::Hbm);
    tensors.filter_map(|tensor| tensor.starts.iter().find_map(start)).collect()
}

fn argument_name(bundle: &BundleProgram, parameter: usize, launch: &LaunchEntry) -> Option<String> {
    let number = bundle.argument_number(parameter, launch.arguments.len())?;
    launch.arguments.get(number).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expands_rows_of_two_blocks() {
        let tensor = |device_size: &[i64], stride_map: &[i64]| {
            let (device_size, stride_map) = (device_size.to_vec(), stride_map.to_vec());
            let mut tensor = Tensor { device_size, stride_map, ..Tensor::default() };
            expand_device_size(&mut tensor);
            (tensor.device_size, tensor.stride_map)
        };
        let blocks = tensor(&[2, 256, 128], &[128, 256, 1]);
        assert_eq!(blocks, (vec![2, 2, 128, 2, 64], vec![128, 64, 512, 256, 1]));
        let stated = (vec![4, 128, 2, 64], vec![64, 512, 256, 1]);
        assert_eq!(tensor(&stated.0, &stated.1), stated);
    }
}
