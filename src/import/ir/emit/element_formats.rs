//! `spyre-import-linalg`, emission: selects the formats of f32 programs and of truth values, and the element types of
//! the emitted ops.

use crate::{
    codes,
    import::{
        NodeElementType, NodeId, NodeKind, TruthFormatConflict, ValueNode, infer_truth_formats,
        ir::{emit::GraphEmitter, emit_constant::build_tensor_type, importer::ExternalTensor},
    },
    mlir::{ErrorReported, TensorType, Type, ValueLike, error_at, remark_at_location, type_of_element},
};
use machine::{DeviceFormat, DeviceFunction, ElementType};

impl<'c> GraphEmitter<'_, 'c> {
    /// Returns whether f32 values are computed in the device's 16-bit format because the device lacks a function in
    /// f32.
    pub(in crate::import::ir) fn is_narrow(&self) -> bool {
        let roots: Vec<NodeId> =
            self.importer.retained_ops.iter().flat_map(|kept| kept.inputs.iter().copied()).collect();
        let needed = self.graph.collect_required(&roots, |_| false);
        !self.importer.is_strict() && needed.iter().any(|&id| self.lacks_single_precision(id).is_some())
    }

    /// Chooses the format of an f32-only program: f32 if the device has all of its functions in f32, else 16 bits. With
    /// strict precision, a missing function is an error.
    pub(super) fn choose_format(&mut self, needed: &[NodeId]) -> Result<(), ErrorReported> {
        let lacking = needed.iter().find_map(|&id| self.lacks_single_precision(id).map(|function| (id, function)));
        let Some((id, function)) = lacking else { return Ok(()) };
        let message = format!("the device has no '{function}' in f32");
        if self.importer.is_strict() {
            let location = self.location(id);
            return Err(error_at(
                codes::NEEDS_F32,
                self.function,
                format_args!("requires '{function}' in f32 (--precision strict), which the device does not have; give --precision mixed"),
            )
            .with_location(location)
            .report());
        }
        remark_at_location(
            codes::F32_AS_F16,
            self.function,
            format_args!("f32 values are computed in the device's 16-bit format: {message}"),
        )
        .with_location(self.location(id))
        .emit();
        self.half = Some(NodeElementType::F16);
        Ok(())
    }

    /// Selects the format of truth values: the unique format of the numbers that they are combined with.
    pub(super) fn choose_truth_formats(&mut self, needed: &[NodeId]) -> Result<(), ErrorReported> {
        if self.half.is_some() && !needed.iter().any(|&id| self.graph.node(id).element == NodeElementType::Single) {
            return Ok(());
        }
        self.truth_formats = infer_truth_formats(self.graph, needed).map_err(|TruthFormatConflict { user, needed, found }| {
            let (found, needed) = (found.name(), needed.name());
            let message = format!(
                "expected i1 values of comparisons in {needed}, found a comparison in {found}; compare and select in one element type"
            );
            error_at(codes::TRUTH_FORMATS, self.function, message).with_location(self.location(user)).report()
        })?;
        Ok(())
    }

    fn lacks_single_precision(&self, id: NodeId) -> Option<&'static str> {
        let node = self.graph.node(id);
        let is_single = node.element == NodeElementType::F32
            || node.inputs.iter().any(|&input| self.graph.node(input).element == NodeElementType::F32);
        if self.half.is_some() || !is_single {
            return None;
        }
        let in_f32 = |row: Option<&'static DeviceFunction>| row.is_some_and(|row| row.supports(DeviceFormat::IeeeFp32));
        match node.kind {
            NodeKind::Matmul => Some("batchmatmul"),
            NodeKind::Pointwise(function, _) if !in_f32(DeviceFunction::find_pointwise(function)) => Some(function),
            NodeKind::Reduce(function, ..) if !in_f32(DeviceFunction::find_reduce(function)) => Some(function),
            _ => None,
        }
    }

    /// Returns the element type of a node in the program.
    pub(super) fn element_type(&self, id: NodeId) -> Type<'c> {
        let own = self.graph.node(id).element;
        let element = match own {
            NodeElementType::Bool => {
                let own = self.truth_formats.get(&id).copied();
                own.filter(|&own| own == NodeElementType::Single).or(self.half).or(own).unwrap_or(NodeElementType::F16)
            }
            NodeElementType::F32 => self.half.unwrap_or(own),
            NodeElementType::F16 | NodeElementType::Bf16 | NodeElementType::Single | NodeElementType::Int => own,
        };
        let format = match element {
            NodeElementType::F16 | NodeElementType::Bool => ElementType::F16,
            NodeElementType::Bf16 => ElementType::Bf16,
            NodeElementType::F32 | NodeElementType::Single => ElementType::F32,
            NodeElementType::Int => return self.integer_type(id),
        };
        type_of_element(self.context, format)
    }

    /// Returns the integer type of a node: that of the tensor whose elements it has, or i32.
    fn integer_type(&self, id: NodeId) -> Type<'c> {
        let known = self.integer_types.get(&id).copied().or_else(|| self.find_source_type(id));
        known.unwrap_or_else(|| type_of_element(self.context, ElementType::I32))
    }

    /// Chooses the types of integers that are moved together: a tensor that is assembled from slices has the type of
    /// the external tensors among them, and so have its other slices, and the tensor that it is inserted into.
    pub(super) fn choose_integer_types(&mut self, needed: &[NodeId]) {
        for &id in needed.iter().rev() {
            let node = self.graph.node(id);
            let is_assembled = node.element == NodeElementType::Int && matches!(node.kind, NodeKind::Insert(_));
            let known = self.integer_types.get(&id).copied().or_else(|| self.find_source_type(id));
            let Some(known) = known.filter(|_| is_assembled || self.integer_types.contains_key(&id)) else { continue };
            self.integer_types.insert(id, known);
            for &input in &node.inputs {
                let ValueNode { kind, element, .. } = self.graph.node(input);
                let has_no_source = matches!(kind, NodeKind::Insert(_)) || self.find_source_type(input).is_none();
                if *element == NodeElementType::Int && has_no_source {
                    self.integer_types.entry(input).or_insert(known);
                }
            }
        }
    }

    /// Returns the element type of the external tensor whose elements a node has; for a tensor that is assembled from
    /// slices, of the last slice that has one.
    fn find_source_type(&self, mut id: NodeId) -> Option<Type<'c>> {
        let value = loop {
            let node = self.graph.node(id);
            match node.kind {
                NodeKind::View(_) | NodeKind::Reshape | NodeKind::Copy | NodeKind::Gather(_) => id = node.inputs[0],
                NodeKind::Insert(_) => match self.find_source_type(node.inputs[0]) {
                    Some(found) => return Some(found),
                    None => id = node.inputs[1],
                },
                NodeKind::Tensor(number) => match self.importer.sources[number] {
                    ExternalTensor::Value(value) => break TensorType::from_type(value.r#type()),
                    ExternalTensor::Weights(attribute, _) => {
                        break crate::mlir::type_of_elements(attribute).and_then(TensorType::from_type);
                    }
                },
                _ => return None,
            }
        };
        value.map(|tensor| tensor.element)
    }

    pub(super) fn tensor_type(&self, id: NodeId) -> Type<'c> {
        build_tensor_type(self.graph.node(id).shape.clone(), self.element_type(id))
    }
}
