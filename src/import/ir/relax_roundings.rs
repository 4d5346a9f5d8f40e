//! `spyre-relax-roundings`: removes roundings of f32 to 16 bits whose results are extended again.
//!
//! Reads `arith.truncf` and its transitive uses; changes the values between it and its `arith.extf` users to the wider
//! type, and erases the casts. Values that are forwarded unchanged, into and out of bodies of `linalg.generic`, through
//! reshapes, into scopes, kernels and loops, change together or not at all.

use super::{cast::element_type, import_linalg::find_half_type};
use crate::dialect::ods::{option, spyre};
use crate::{
    codes,
    dialect::loop_carried_values,
    import::Precision,
    mlir::{
        BlockLike, ErrorReported, Op, OpExt, Pass, PassOptions, ScalarType, TensorType, Type, Value, ValueExt,
        ValueLike, ValueMap, find_defined_functions, remark_at_location,
    },
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-relax-roundings", run };

const NARROWING_CAST: &str = "arith.truncf";
const WIDENING_CAST: &str = "arith.extf";
const GENERIC_OP: &str = "linalg.generic";
const RESHAPE_OPS: [&str; 2] = ["tensor.expand_shape", "tensor.collapse_shape"];

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let precision: Precision = options.read_enum(module, option::PRECISION)?;
    for function in find_defined_functions(module) {
        // Such a program computes in 16 bits only.
        if precision.is_narrow() && find_half_type(function).is_some() {
            continue;
        }
        let mut known = ValueMap::default();
        let roundings = function.nested().into_iter().filter(|op| op.is(NARROWING_CAST)).enumerate();
        let found: Vec<RoundingGroup<'_>> = roundings
            .filter_map(|(group, rounding)| RoundingGroup::from_rounding(rounding, group, &mut known))
            .collect();
        found.into_iter().for_each(RoundingGroup::widen);
    }
    Ok(())
}

/// Visited values, with the number of the rounding from which they were reached: the values of a group change together
/// or not at all.
type VisitedValues = ValueMap<usize>;

/// Values of a narrow type that are produced by rounding only, and whose only non-forwarding uses extend them.
struct RoundingGroup<'c> {
    values: Vec<Value<'c>>,
    wide: Type<'c>,
    roundings: Vec<Op<'c>>,
    widenings: Vec<Op<'c>>,
}

impl<'c> RoundingGroup<'c> {
    /// Returns all values that a rounding is forwarded as. Returns None if one of them has another producer or use, or
    /// if they are constant.
    fn from_rounding(rounding: Op<'c>, group: usize, known: &mut VisitedValues) -> Option<Self> {
        let wide = element_type(rounding.inputs()[0].r#type());
        let narrow = element_type(rounding.output().r#type());
        // Roundings to 8 bits are intentional, and f64 is computed as f32 in any case.
        if ScalarType::from_type(wide) != ScalarType::F32 || !ScalarType::from_type(narrow).is_half() {
            return None;
        }
        if known.get(rounding.output()).is_some() {
            return None;
        }
        known.insert(rounding.output(), group);
        let mut found = Self { values: vec![rounding.output()], wide, roundings: Vec::new(), widenings: Vec::new() };
        let mut looked_at = 0;
        while let Some(value) = found.values.get(looked_at).copied() {
            looked_at += 1;
            let from = found.find_forwarding_sources(value)?;
            let to = found.find_forwarding_targets(value)?;
            for next in from.into_iter().chain(to) {
                match known.insert(next, group) {
                    None => found.values.push(next),
                    // The value was reached from another rounding, and is not changed: otherwise this rounding would be
                    // in the same group.
                    Some(other) if other != group => return None,
                    Some(_) => {}
                }
            }
        }
        // Values that are never extended again are not changed.
        (!found.widenings.is_empty()).then_some(found)
    }

    /// Returns the values that a value is forwarded from. Returns None if it is computed.
    fn find_forwarding_sources(&mut self, value: Value<'c>) -> Option<Vec<Value<'c>>> {
        let Some(def) = value.def() else {
            let (block, number) = value.as_block_arg()?;
            let around = block.parent_operation()?;
            let from = || [vec![around.inputs()[number]], find_carried_slot_values(around, value)].concat();
            return [GENERIC_OP, spyre::KERNEL, spyre::LOOP].iter().any(|name| around.is(name)).then(from);
        };
        let number = def.outputs().iter().position(|output| *output == value)?;
        if def.is(NARROWING_CAST) {
            self.roundings.push(def);
            return (element_type(def.inputs()[0].r#type()) == self.wide).then(Vec::new);
        }
        match def.full_name() {
            "tensor.empty" => Some(Vec::new()),
            GENERIC_OP => Some(vec![def.yielded()[number], def.inputs()[num_ins(def) + number]]),
            spyre::HINT | spyre::KERNEL | spyre::LOOP => {
                Some([vec![def.yielded()[number]], find_carried_slot_values(def, value)].concat())
            }
            name => RESHAPE_OPS.contains(&name).then(|| vec![def.inputs()[0]]),
        }
    }

    /// Returns the values that a value is forwarded as. Returns None if an op computes with it.
    fn find_forwarding_targets(&mut self, value: Value<'c>) -> Option<Vec<Value<'c>>> {
        let mut found = Vec::new();
        for user in value.users() {
            if user.is(WIDENING_CAST) {
                if element_type(user.output().r#type()) != self.wide {
                    return None;
                }
                self.widenings.push(user);
                continue;
            }
            for number in (0..user.inputs().len()).filter(|&number| user.inputs()[number] == value) {
                found.extend(find_forwarded_values(user, number)?);
            }
        }
        Some(found)
    }

    /// Changes the values to the wider type, and removes the casts.
    fn widen(self) {
        let Self { values, wide, roundings, widenings } = self;
        for rounding in &roundings {
            let message =
                format!("rounding is removed: its operand is widened again, and stays {wide} (--rounding relaxed)");
            remark_at_location(codes::ROUNDING_REMOVED, *rounding, message).emit();
        }
        for value in values {
            let widened =
                TensorType::from_type(value.r#type()).map_or(wide, |tensor| tensor.with_element(wide).build());
            value.retype(widened);
        }
        for cast in widenings.into_iter().chain(roundings) {
            cast.output().replace_with(cast.inputs()[0]);
            cast.erase();
        }
    }
}

/// Returns the values as which an op forwards operand `number` unchanged. Returns None if the op computes with it.
fn find_forwarded_values<'c>(user: Op<'c>, number: usize) -> Option<Vec<Value<'c>>> {
    match user.full_name() {
        GENERIC_OP => {
            let of_body = user.body_args()[number];
            let result = number.checked_sub(num_ins(user)).map(|number| user.outputs()[number]);
            Some([of_body].into_iter().chain(result).collect())
        }
        spyre::KERNEL | spyre::LOOP => Some(vec![user.body_args()[number]]),
        "linalg.yield" | spyre::YIELD => {
            let around = user.parent().filter(|around| {
                [GENERIC_OP, spyre::HINT, spyre::KERNEL, spyre::LOOP].iter().any(|name| around.is(name))
            })?;
            Some(vec![around.outputs()[number]])
        }
        name => RESHAPE_OPS.contains(&name).then(|| vec![user.output()]),
    }
}

/// Returns the initial value, the block argument, the yielded value and the result of a loop-carried slot, which have
/// one type. `value` is the argument or the result of the slot. Returns an empty list if `around` does not carry
/// `value`.
fn find_carried_slot_values<'c>(around: Op<'c>, value: Value<'c>) -> Vec<Value<'c>> {
    let slots = if around.is(spyre::LOOP) { loop_carried_values(around) } else { Vec::new() };
    let slot = slots.into_iter().find(|slot| slot.argument == value || slot.result == value);
    slot.map_or_else(Vec::new, |slot| vec![slot.before, slot.argument, slot.after, slot.result])
}

/// Returns the number of operands of a `linalg.generic` on tensors that it only reads.
fn num_ins(generic: Op<'_>) -> usize {
    generic.inputs().len() - generic.outputs().len()
}
