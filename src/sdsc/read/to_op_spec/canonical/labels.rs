//! Names of dimensions in files. Names have no meaning, except in matmuls and windowed ops, and the members of an
//! object have no order. The emitter names dimensions by their position in the iteration space.

use crate::bundle::{OpFamily, OpSpec};
use crate::launch::geometry::DimLabel;
use sdsc_format::model::{DimSizes, Dsc, Entries, Sdsc, Text, strip_underscore};

/// Names of ordinary dimensions, in the order in which front ends use them. The emitter does not use `x1`.
const ORDINARY_NAMES: [&str; 9] = ["mb", "x", "x1", "y", "i", "j", "ki", "kj", "in"];

/// Names of the dimensions of a matmul other than `out` and `in`, outermost first.
const MATMUL_NAMES: [&str; 6] = ["ki", "kj", "y", "x1", "x", "mb"];

/// Order of the dimensions of windowed ops. The emitter adds channels as first or last dimension.
const WINDOWED_ORDERS: [&[&str]; 4] = [
    &["mb", "out", "i", "j", "in", "ki", "kj"],
    &["out", "mb", "i", "j", "in", "ki", "kj"],
    &["mb", "i", "j", "out", "in", "ki", "kj"],
    &["mb", "i", "j", "in", "ki", "kj", "out"],
];

/// Dimensions of an iteration space in order: the name in the file, and the name that the emitter gives.
type DimNames = Vec<(Text, &'static str)>;

/// Returns a canonical file with each possible naming and order of its dimensions, likeliest first.
pub(in super::super) fn rename_dims(file: &Sdsc) -> impl Iterator<Item = Sdsc> {
    let names: Vec<Text> = file.value.slices.iter().map(|(name, _)| name.clone()).collect();
    enumerate_dim_names(file, &names).into_iter().map(|names| rename_file(file, &names))
}

fn enumerate_dim_names(file: &Sdsc, names: &[Text]) -> Vec<DimNames> {
    let keep = |name: &Text| Some((name.clone(), DimLabel::from_name(name)?.name()));
    let mut found: Vec<DimNames> = names.iter().map(keep).collect::<Option<_>>().into_iter().collect();
    let function = file.value.dscs.first().map(|dsc| dsc.name.to_string()).unwrap_or_default();
    let family = OpFamily::from_op(&OpSpec { function, ..OpSpec::default() });
    let others = match family {
        OpFamily::Matmul => name_matmul_dims(names).into_iter().collect(),
        OpFamily::Conv2d | OpFamily::Depthwise | OpFamily::Pool => name_windowed_dims(names),
        OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => name_ordinary_dims(file, names),
    };
    // Windowed ops have the same meaning with any order of dimensions. Some writers sort the members of objects, which
    // the emitter does not.
    let is_sorted = family.is_windowed() && names.is_sorted();
    let known = if is_sorted { std::mem::take(&mut found) } else { Vec::new() };
    for other in others.into_iter().chain(known) {
        if !found.contains(&other) {
            found.push(other);
        }
    }
    found
}

/// Returns the names of an op without windows. The last dimension of its own is `out`; the emitter added the others.
fn name_ordinary_dims(file: &Sdsc, names: &[Text]) -> Vec<DimNames> {
    let classes = file.value.dscs.iter().flat_map(|dsc| dsc.value.classes.iter());
    let sticks = classes.filter_map(|(_, class)| class.stick.last()).filter(|stick| names.contains(stick));
    let column = names.iter().find(|name| *name == "out").or_else(|| sticks.into_iter().next()).or(names.last());
    let Some(column) = column else { return Vec::new() };
    let mut others: Vec<&Text> = names.iter().filter(|name| *name != column).collect();
    others.sort_by_key(|name| ORDINARY_NAMES.iter().position(|known| known == *name));
    if others.len() > DimLabel::ORDINARY.len() {
        return Vec::new();
    }
    let labels = || DimLabel::ORDINARY.into_iter().map(DimLabel::name);
    let with_added = |num_own: usize| {
        let mut dims: DimNames = others.iter().map(|name| (**name).clone()).zip(labels()).collect();
        dims.insert(num_own, (column.clone(), DimLabel::Out.name()));
        dims
    };
    (0..=others.len()).rev().map(with_added).collect()
}

fn name_matmul_dims(names: &[Text]) -> Option<DimNames> {
    let mut others: Vec<&Text> = names.iter().filter(|name| !matches!(&***name, "out" | "in")).collect();
    others.sort_by_key(|name| MATMUL_NAMES.iter().position(|known| known == *name));
    let labels = DimLabel::MATMUL.map(DimLabel::name);
    let first = labels.len().checked_sub(others.len() + 2)?;
    (names.len() == others.len() + 2).then(|| {
        let order = others.into_iter().cloned().chain(["out".into(), "in".into()]);
        order.zip(labels.into_iter().skip(first)).collect()
    })
}

fn name_windowed_dims(names: &[Text]) -> Vec<DimNames> {
    let dims = |order: &&[&str]| {
        let own = order.iter().filter(|name| names.iter().any(|known| known == *name));
        own.map(|name| Some((Text::from((*name).to_owned()), DimLabel::from_name(name)?.name()))).collect()
    };
    WINDOWED_ORDERS.iter().filter_map(dims).filter(|dims: &DimNames| dims.len() == names.len()).collect()
}

/// Returns the file with its dimensions in this order, under their new names.
fn rename_file(file: &Sdsc, names: &DimNames) -> Sdsc {
    let mut file = file.clone();
    let operation = &mut file.value;
    let position = |name: &Text| names.iter().position(|(known, _)| known == name);
    operation.slices.0.sort_by_key(|(name, _)| position(name));
    if names.iter().all(|(name, label)| name == label) {
        return file;
    }
    let rename = |name: &mut Text| {
        if let Some((_, label)) = names.iter().find(|(known, _)| **known == *strip_underscore(name)) {
            *name = if name.ends_with('_') { format!("{label}_").into() } else { (*label).into() };
        }
    };
    rename_keys(&mut operation.slices, rename);
    operation.core_to_slice.0.iter_mut().for_each(|(_, slots)| rename_keys(slots, rename));
    operation.dscs.iter_mut().for_each(|dsc| rename_description(&mut dsc.value, &rename));
    file
}

fn rename_keys<V>(entries: &mut Entries<Text, V>, rename: impl Fn(&mut Text)) {
    entries.0.iter_mut().for_each(|(name, _)| rename(name));
}

fn rename_description(dsc: &mut Dsc, rename: &impl Fn(&mut Text)) {
    let stage = &mut dsc.stages.core;
    for sizes in [&mut dsc.space, &mut stage.steady, &mut stage.end] {
        rename_sizes(sizes, rename);
    }
    rename_keys(&mut dsc.masking, rename);
    dsc.dim_symbols.iter_mut().for_each(|symbols| rename_keys(symbols, rename));
    for (_, class) in &mut dsc.classes.0 {
        class.order.iter_mut().chain(&mut class.stick).for_each(rename);
    }
    for node in &mut dsc.nodes {
        node.order.iter_mut().for_each(rename);
        node.padding.iter_mut().for_each(|padding| rename_keys(padding, rename));
        node.gaps.iter_mut().for_each(|gaps| rename_keys(gaps, rename));
        rename_keys(&mut node.coordinates.dims, rename);
        node.coordinates.core_to_slice.0.iter_mut().for_each(|(_, slots)| rename_keys(slots, rename));
    }
}

fn rename_sizes(sizes: &mut DimSizes, rename: &impl Fn(&mut Text)) {
    rename_keys(&mut sizes.sizes.0, rename);
    sizes.symbolic.iter_mut().for_each(|entries| rename_keys(entries, rename));
    for (name, window) in sizes.windows.iter_mut().flat_map(|windows| &mut windows.0) {
        rename(name);
        rename(&mut window.window_dim);
    }
}
