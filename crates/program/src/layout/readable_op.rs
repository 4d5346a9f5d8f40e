//! Device coordinates of operands that read their buffers through views.

use super::{
    Coordinate, DeviceLayout, HostTensor, IndexError, OperandView, TensorIndex, compute_device_coordinates,
    split_iteration,
};

/// Operand of the program: a buffer and the indices at which it is read.
#[derive(Clone, Copy, Debug)]
pub struct ViewedOperand<'a> {
    /// Layout of the buffer.
    pub layout: &'a DeviceLayout,
    /// The buffer.
    pub host: &'a HostTensor,
    /// One index per dimension of the buffer, in terms of the iteration dimensions.
    pub indices: &'a [TensorIndex],
}

/// Operand as the device can read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadableOperand {
    /// Layout of the buffer with split dimensions.
    pub layout: DeviceLayout,
    /// The buffer with split dimensions.
    pub host: HostTensor,
    /// One coordinate per device dimension, in terms of the parts.
    pub coordinates: Vec<Coordinate>,
}

/// Op whose iteration dimensions are split so that the device can read every operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadableOp {
    /// For each iteration dimension, the sizes of its parts, outer to inner, numbered as in [`super::IterationSplit`].
    pub parts: Vec<Vec<i64>>,
    /// The operands, in the order given.
    pub operands: Vec<ReadableOperand>,
}

/// Splits the iteration dimensions, of sizes `ranges`, and the layouts of the operands until every operand has device
/// coordinates.
///
/// # Errors
/// Those of [`split_iteration`]; if a layout cannot be split that way, or its coordinates would split a stick.
pub fn make_readable(ranges: &[i64], operands: &[ViewedOperand<'_>]) -> Result<ReadableOp, IndexError> {
    let views: Vec<OperandView<'_>> =
        operands.iter().map(|operand| OperandView { sizes: operand.host.sizes(), indices: operand.indices }).collect();
    let split = split_iteration(ranges, &views)?;
    let parts = split.parts.concat();
    let read = |(number, (operand, split)): (usize, (&ViewedOperand<'_>, &super::SplitOperand))| {
        let at_operand = |error| IndexError::Layout { operand: number, error };
        let (layout, host) = operand.layout.split(operand.host, &split.factors).map_err(at_operand)?;
        let coordinates = compute_device_coordinates(&layout, &host, &split.indices, &parts).map_err(at_operand)?;
        Ok(ReadableOperand { layout, host, coordinates })
    };
    let operands = operands.iter().zip(&split.operands).enumerate().map(read).collect::<Result<_, IndexError>>()?;
    Ok(ReadableOp { parts: split.parts, operands })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{
        LayoutError,
        testing::{TestExpr, checked_index, d},
    };
    use machine::DeviceFormat::Sen169Fp16;

    fn make_test_op_readable(ranges: &[i64], buffers: &[(&[i64], &[TestExpr])]) -> Result<ReadableOp, IndexError> {
        let host = |sizes: &[i64]| HostTensor::row_major(sizes).unwrap();
        let tensors: Vec<_> = buffers
            .iter()
            .map(|(sizes, _)| (host(sizes), DeviceLayout::row_major(sizes, Sen169Fp16).unwrap()))
            .collect();
        let indices: Vec<Vec<TensorIndex>> =
            buffers.iter().map(|(_, exprs)| exprs.iter().map(|expr| checked_index(expr, ranges)).collect()).collect();
        let operands =
            tensors.iter().zip(&indices).map(|((host, layout), indices)| ViewedOperand { layout, host, indices });
        make_readable(ranges, &operands.collect::<Vec<_>>())
    }

    fn format_operand(operand: &ReadableOperand) -> String {
        let coordinates: Vec<String> = operand.coordinates.iter().map(ToString::to_string).collect();
        format!("{:?} at {}", operand.layout.device_size(), coordinates.join(", "))
    }

    #[test]
    fn splits_row_into_heads_of_two_sticks() {
        let row: (&[i64], &[TestExpr]) = (&[32, 512], &[d(1), d(0) * 128 + d(2)]);
        let heads = make_test_op_readable(&[4, 32, 128], &[row, (&[4, 32, 128], &[d(0), d(1), d(2)])]).unwrap();
        assert_eq!(heads.parts, [vec![4], vec![32], vec![128]]);
        assert_eq!(format_operand(&heads.operands[0]), "[4, 2, 32, 64] at c0, c2 floordiv 64, c1, c2 mod 64");
        assert_eq!(format_operand(&heads.operands[1]), "[32, 2, 4, 64] at c1, c2 floordiv 64, c0, c2 mod 64");
        assert_eq!(heads.operands[0].host.sizes(), [32, 4, 128]);
    }

    #[test]
    fn merges_heads_into_row() {
        let heads: (&[i64], &[TestExpr]) = (&[4, 32, 128], &[d(1).floordiv(128), d(0), d(1).modulo(128)]);
        let row = make_test_op_readable(&[32, 512], &[heads, (&[32, 512], &[d(0), d(1)])]).unwrap();
        assert_eq!(row.parts, [vec![32], vec![4, 128]]);
        assert_eq!(format_operand(&row.operands[0]), "[32, 2, 4, 64] at c0, c2 floordiv 64, c1, c2 mod 64");
        assert_eq!(format_operand(&row.operands[1]), "[4, 2, 32, 64] at c1, c2 floordiv 64, c0, c2 mod 64");
    }

    #[test]
    fn names_operand_whose_stick_is_cut() {
        let merged: (&[i64], &[TestExpr]) = (&[64, 256], &[d(1), d(0) * 32 + d(2)]);
        let error = make_test_op_readable(&[8, 64, 32], &[(&[8, 64, 32], &[d(0), d(1), d(2)]), merged]).unwrap_err();
        assert_eq!(
            error,
            IndexError::Layout { operand: 1, error: LayoutError::CutsStick { dim: 1, elements: 32, stick: 64 } }
        );
        assert_eq!(error.to_string(), "operand 1: 32 elements along dimension 1 cut a stick of 64");
        let half = make_test_op_readable(&[64, 32], &[(&[64, 256], &[d(0), d(1) + 48])]).unwrap_err();
        assert_eq!(
            half,
            IndexError::Layout { operand: 0, error: LayoutError::CutsStick { dim: 1, elements: 48, stick: 64 } }
        );
    }
}
