//! Layout classes: tensors of one op that lie alike share a description in the file ("SuperDSC schema, section 3, step 7").

use super::super::BundleError;
use super::{Access, Label, OpFamily, Tensor};
use std::collections::BTreeSet;

/// The name of a layout class. It tells classes apart and, beside `KERNEL_IDX`, says little of a tensor's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassName {
    /// `INPUT`
    Input,
    /// `KERNEL`
    Kernel,
    /// `OUTPUT`
    Output,
    /// `KERNEL_IDX`, the index tensors.
    KernelIndex,
}

impl ClassName {
    /// Every name, in the order of the enum.
    pub const ALL: [Self; 4] = [Self::Input, Self::Kernel, Self::Output, Self::KernelIndex];

    /// The spelling in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "INPUT",
            Self::Kernel => "KERNEL",
            Self::Output => "OUTPUT",
            Self::KernelIndex => "KERNEL_IDX",
        }
    }

    /// The order in which an op's classes take their names.
    const fn sequence(family: OpFamily) -> [Self; 4] {
        match family {
            OpFamily::Matmul | OpFamily::Conv2d => [Self::Input, Self::Kernel, Self::Output, Self::KernelIndex],
            OpFamily::Depthwise => [Self::Output, Self::Input, Self::Kernel, Self::KernelIndex],
            OpFamily::Pool | OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => {
                [Self::Output, Self::Kernel, Self::Input, Self::KernelIndex]
            }
        }
    }
}

/// A layout class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its name.
    pub name: ClassName,
    /// The dimension order of the tensor that created it.
    pub order: Vec<Label>,
    /// The dimensions that run along a stick.
    pub stick: Vec<Label>,
    /// Elements of the stick along each of them.
    pub stick_sizes: Vec<i64>,
}

impl Class {
    fn new(name: ClassName, tensor: &Tensor) -> Self {
        Self { name, order: tensor.order(), stick: tensor.stick.clone(), stick_sizes: tensor.stick_sizes.clone() }
    }

    /// Elements of one stick.
    #[must_use]
    pub fn stick_elements(&self) -> i64 {
        self.stick_sizes.iter().product()
    }

    fn fits(&self, tensor: &Tensor) -> bool {
        let set = |labels: &[Label]| labels.iter().copied().collect::<BTreeSet<_>>();
        self.stick == tensor.stick && self.stick_sizes == tensor.stick_sizes && set(&self.order) == set(&tensor.order())
    }
}

/// Gives every tensor its class, and returns the classes in the order of their first tensors.
pub(super) fn assign(family: OpFamily, is_indirect: bool, tensors: &mut [Tensor]) -> Result<Vec<Class>, BundleError> {
    let names = ClassName::sequence(family);
    let mut classes: Vec<Class> = Vec::new();
    for tensor in tensors {
        let by_role = match tensor.access {
            Access::Index { .. } => Some(ClassName::KernelIndex),
            Access::Direct | Access::Value { .. } => is_indirect.then_some(ClassName::Output),
        };
        let known = match by_role {
            Some(name) => classes.iter().position(|class| class.name == name),
            None => classes.iter().position(|class| class.fits(tensor)),
        };
        tensor.class = match known {
            Some(class) => class,
            None => {
                let free = names.get(classes.len()).copied();
                let name = by_role.or(free).ok_or(BundleError::TooManyClasses { found: classes.len() + 1, limit: names.len() })?;
                classes.push(Class::new(name, tensor));
                classes.len() - 1
            }
        };
    }
    Ok(classes)
}
