//! Builders for operations, attributes and blocks.

use super::{
    Attribute, Block, BlockExt, BlockLike, Context, Location, Op, OpExt, OperationLike, RegionLike, Type, Value,
    op::identifier,
    types::{
        f64_attribute, i32_array_attribute, i64_array_attribute, i64_attribute, index_attribute, string_attribute,
    },
};
use melior::ir::{Identifier, Region, operation::OperationBuilder};

/// Attributes of an operation under construction.
pub struct AttributeList<'c> {
    context: &'c Context,
    entries: Vec<(Identifier<'c>, Attribute<'c>)>,
}

impl<'c> AttributeList<'c> {
    /// Creates an empty attribute list.
    #[must_use]
    pub fn new(context: &'c Context) -> Self {
        Self { context, entries: Vec::new() }
    }

    /// Adds any attribute.
    #[must_use]
    pub fn with_attribute(mut self, name: &str, attribute: Attribute<'c>) -> Self {
        self.entries.push((identifier(self.context, name), attribute));
        self
    }

    /// Adds an attribute if it is present.
    #[must_use]
    pub fn with_option(self, name: &str, attribute: Option<Attribute<'c>>) -> Self {
        match attribute {
            Some(attribute) => self.with_attribute(name, attribute),
            None => self,
        }
    }

    /// Adds a string.
    #[must_use]
    pub fn with_text(self, name: &str, text: &str) -> Self {
        let attribute = string_attribute(self.context, text);
        self.with_attribute(name, attribute)
    }

    /// Adds a 64-bit integer.
    #[must_use]
    pub fn with_int(self, name: &str, value: i64) -> Self {
        let attribute = i64_attribute(self.context, value);
        self.with_attribute(name, attribute)
    }

    /// Adds a 64-bit float.
    #[must_use]
    pub fn with_float(self, name: &str, value: f64) -> Self {
        let attribute = f64_attribute(self.context, value);
        self.with_attribute(name, attribute)
    }

    /// Adds an index.
    #[must_use]
    pub fn with_index(self, name: &str, value: i64) -> Self {
        let attribute = index_attribute(self.context, value);
        self.with_attribute(name, attribute)
    }

    /// Adds the segment sizes of an op with several variadic operand lists.
    #[must_use]
    pub fn with_segments(self, lengths: &[usize]) -> Self {
        let attribute = i32_array_attribute(self.context, lengths);
        self.with_attribute("operandSegmentSizes", attribute)
    }

    /// Adds an array of 64-bit integers.
    #[must_use]
    pub fn with_ints(self, name: &str, values: &[i64]) -> Self {
        let attribute = i64_array_attribute(self.context, values);
        self.with_attribute(name, attribute)
    }
}

/// Builds a detached operation; each block of `bodies` becomes a region with that single block.
///
/// # Panics
/// If MLIR does not know the operation or cannot infer its results; we only build registered operations with explicit
/// results.
#[must_use]
pub fn build_op<'c>(
    name: &str,
    location: Location<'c>,
    operands: &[Value<'c>],
    results: &[Type<'c>],
    attributes: AttributeList<'c>,
    bodies: Vec<melior::ir::Block<'c>>,
) -> melior::ir::Operation<'c> {
    let regions = bodies
        .into_iter()
        .map(|block| {
            let region = Region::new();
            region.append_block(block);
            region
        })
        .collect();
    OperationBuilder::new(name, location)
        .add_operands(operands)
        .add_results(results)
        .add_attributes(&attributes.entries)
        .add_regions_vec(regions)
        .build()
        .expect("an operation of a registered dialect with explicit results")
}

/// Builds a dictionary attribute with the entries of `attributes`.
#[must_use]
pub fn build_dictionary(attributes: AttributeList<'_>) -> Attribute<'_> {
    melior::ir::attribute::DictionaryAttribute::new(attributes.context, &attributes.entries).into()
}

/// Builds an empty module operation.
#[must_use]
pub fn build_module<'c>(location: Location<'c>, attributes: AttributeList<'c>) -> melior::ir::Operation<'c> {
    build_op("builtin.module", location, &[], &[], attributes, vec![new_block(&[], location)])
}

/// Creates a block with arguments of the given types.
#[must_use]
pub fn new_block<'c>(arguments: &[Type<'c>], location: Location<'c>) -> melior::ir::Block<'c> {
    let arguments: Vec<_> = arguments.iter().map(|argument| (*argument, location)).collect();
    melior::ir::Block::new(&arguments)
}

/// Inserts a detached operation before another one.
///
/// # Panics
/// If `before` is in no block.
pub fn insert_before<'c>(before: Op<'c>, operation: melior::ir::Operation<'c>) -> Op<'c> {
    before.block().expect("an operation in a block").insert(operation, Some(before))
}

/// Inserts a detached operation after another one.
///
/// # Panics
/// If `after` is in no block.
pub fn insert_after<'c>(after: Op<'c>, operation: melior::ir::Operation<'c>) -> Op<'c> {
    after.block().expect("an operation in a block").insert(operation, after.next_in_block())
}

/// Appends a detached operation to the body of `parent`.
///
/// # Panics
/// If `parent` has no body.
pub fn append_op<'c>(parent: Op<'c>, operation: melior::ir::Operation<'c>) -> Op<'c> {
    let body: Block<'c> = parent.body().expect("an operation with a body");
    body.append_operation(operation)
}
