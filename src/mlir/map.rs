//! Affine maps as plain values, and back.

use super::{AffineMap, Attribute, AttributeLike, Context};
use melior::ir::AffineExpr;
use mlir_sys::{mlirAffineMapAttrGet, mlirAffineMapAttrGetValue, mlirAffineMapGetResult, mlirAttributeIsAAffineMap};
use program::affine::AffineExpression;

/// Returns the results of a map.
#[must_use]
pub fn map_results(map: AffineMap<'_>) -> Vec<AffineExpression> {
    // SAFETY: the index is below the number of results.
    (0..map.result_count())
        .map(|index| read_expr(unsafe { AffineExpr::from_raw(mlirAffineMapGetResult(map.to_raw(), index as isize)) }))
        .collect()
}

fn read_expr(expr: AffineExpr<'_>) -> AffineExpression {
    if expr.is_constant() {
        return AffineExpression::Constant(expr.constant_value());
    }
    if expr.is_dim() {
        return AffineExpression::Dim(expr.dim_position());
    }
    if expr.is_symbol() {
        return AffineExpression::Symbol(expr.symbol_position());
    }
    let (lhs, rhs) = (Box::new(read_expr(expr.lhs())), Box::new(read_expr(expr.rhs())));
    if expr.is_add() {
        AffineExpression::Add(lhs, rhs)
    } else if expr.is_mul() {
        AffineExpression::Mul(lhs, rhs)
    } else if expr.is_floor_div() {
        AffineExpression::FloorDiv(lhs, rhs)
    } else if expr.is_ceil_div() {
        AffineExpression::CeilDiv(lhs, rhs)
    } else {
        AffineExpression::Mod(lhs, rhs)
    }
}

/// Builds a map from its results; MLIR simplifies them.
#[must_use]
pub fn map_from_exprs<'c>(
    context: &'c Context,
    num_dims: usize,
    num_symbols: usize,
    results: &[AffineExpression],
) -> AffineMap<'c> {
    let results: Vec<_> = results.iter().map(|result| build_expr(context, result)).collect();
    AffineMap::new(context, num_dims, num_symbols, &results)
}

fn build_expr<'c>(context: &'c Context, expr: &AffineExpression) -> AffineExpr<'c> {
    let both = |lhs: &AffineExpression, rhs: &AffineExpression| (build_expr(context, lhs), build_expr(context, rhs));
    match expr {
        AffineExpression::Constant(value) => AffineExpr::constant(context, *value),
        AffineExpression::Dim(position) => AffineExpr::dim(context, *position),
        AffineExpression::Symbol(position) => AffineExpr::symbol(context, *position),
        AffineExpression::Add(lhs, rhs) => {
            let (lhs, rhs) = both(lhs, rhs);
            lhs + rhs
        }
        AffineExpression::Mul(lhs, rhs) => {
            let (lhs, rhs) = both(lhs, rhs);
            lhs * rhs
        }
        AffineExpression::FloorDiv(lhs, rhs) => {
            let (lhs, rhs) = both(lhs, rhs);
            AffineExpr::floor_div(lhs, rhs)
        }
        AffineExpression::CeilDiv(lhs, rhs) => {
            let (lhs, rhs) = both(lhs, rhs);
            AffineExpr::ceil_div(lhs, rhs)
        }
        AffineExpression::Mod(lhs, rhs) => {
            let (lhs, rhs) = both(lhs, rhs);
            AffineExpr::modulo(lhs, rhs)
        }
    }
}

/// Returns the map in an affine map attribute; `None` for another attribute.
#[must_use]
pub fn map_of(attribute: Attribute<'_>) -> Option<AffineMap<'_>> {
    // SAFETY: the value is read only if the attribute is of that kind.
    unsafe {
        mlirAttributeIsAAffineMap(attribute.to_raw())
            .then(|| AffineMap::from_raw(mlirAffineMapAttrGetValue(attribute.to_raw())))
    }
}

/// Builds the attribute of a map.
#[must_use]
pub fn map_attribute(map: AffineMap<'_>) -> Attribute<'_> {
    // SAFETY: the map is valid.
    unsafe { Attribute::from_raw(mlirAffineMapAttrGet(map.to_raw())) }
}
