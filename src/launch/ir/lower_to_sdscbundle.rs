//! `spyre-lower-to-sdscbundle`: writes the launch function of every bundle.
//!
//! Replaces each `sdsc.bundle` by a module with the function of `bundle.mlir` and the op specs in the order of their
//! files.

use crate::bundle::{AddressMode, Bundle, LoopMode, unroll, unroll_live_ranges, unrolled_order};
use crate::dialect::ods::{attr, option, sdsc};
use crate::launch::Launch;
use crate::{
    bundle::ir::op_origins::{collect_ops, copy_origin},
    bundle::ir::sdsc_ops::{bundle_from_ir, live_ranges_from_ir, op_to_ir, set_live_ranges},
    launch::ir::launch_ops::push_launch,
};
use crate::{
    codes,
    dialect::target_of,
    mlir::{
        AttributeList, Context, ErrorReported, Op, OpExt, Pass, PassOptions, append_op, build_module, error_at,
        insert_before, string_array,
    },
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-lower-to-sdscbundle", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    let addresses: AddressMode = options.read_enum(module, option::ADDRESSES)?;
    let loops: LoopMode = options.read_enum(module, option::LOOPS)?;
    // The list includes nested ops, which erasing a bundle erases as well.
    let bundles: Vec<Op<'_>> = module.nested().into_iter().filter(|op| op.is(sdsc::BUNDLE)).collect();
    for bundle in bundles {
        let model =
            bundle_from_ir(bundle).map_err(|(op, message)| error_at(codes::LAUNCH_LIMIT, op, message).report())?;
        let live_ranges =
            live_ranges_from_ir(bundle).map_err(|message| error_at(codes::LAUNCH_LIMIT, bundle, message).report())?;
        let mut origins = collect_ops(bundle);
        let (model, live_ranges) = match loops {
            LoopMode::Keep => (model, live_ranges),
            LoopMode::Unroll => {
                let live_ranges = unroll_live_ranges(&model.items, &live_ranges);
                let unrolled = unroll(&model).map_err(|error| error_at(codes::UNROLLED_OPS, bundle, error).report())?;
                origins = unrolled_order(&model).into_iter().map(|op| origins[op]).collect();
                (unrolled, live_ranges)
            }
        };
        // A bundle that was imported from files keeps the addresses of the files.
        let addresses = if bundle.text_attr(attr::SDSC_ADDRESSES) == "baked" { AddressMode::Baked } else { addresses };
        let launch = match addresses {
            AddressMode::Symbolic => Launch::new_symbolic(&model, &target),
            AddressMode::Baked => Launch::new_baked(&model, &target),
        };
        let launch = launch.map_err(|error| error_at(codes::LAUNCH_LIMIT, bundle, error).report())?;
        let (context, location) = (bundle.ctx(), bundle.loc());
        let mut attributes = AttributeList::new(context).with_text(attr::SYM_NAME, bundle.text_attr(attr::SYM_NAME));
        attributes = attributes.with_option(attr::SDSC_BUFFERS, bundle.attr(attr::BUFFERS));
        attributes = add_loop_size_attributes(context, attributes, &model);
        if addresses == AddressMode::Baked {
            attributes =
                attributes.with_text(attr::SDSC_ADDRESSES, "baked").with_int(attr::SDSC_POOL_BYTES, model.pool_bytes);
        }
        let lowered = insert_before(bundle, build_module(location, attributes));
        push_launch(lowered, location, &launch);
        set_live_ranges(lowered, live_ranges);
        for (number, (op, origin)) in model.ops().into_iter().zip(origins).enumerate() {
            let built = append_op(lowered, op_to_ir(context, location, op, Some(&format!("sdsc_{number}.json"))));
            copy_origin(origin, built);
        }
        bundle.erase();
    }
    Ok(())
}

/// Adds the sizes that bound loops and are parameters of the launch function: their names, and the dimensions that the
/// loops tile, in the order of the parameters.
fn add_loop_size_attributes<'c>(
    context: &'c Context,
    attributes: AttributeList<'c>,
    model: &Bundle,
) -> AttributeList<'c> {
    let (mut names, mut dims): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (symbol, _) in model.symbolic_loops() {
        if !names.contains(&symbol.name) {
            names.push(symbol.name.clone());
            dims.push(symbol.dim.clone());
        }
    }
    if names.is_empty() {
        return attributes;
    }
    attributes
        .with_attribute(attr::SDSC_LOOP_SIZES, string_array(context, &names))
        .with_attribute(attr::SDSC_LOOP_DIMS, string_array(context, &dims))
}
