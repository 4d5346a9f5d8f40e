//! Programs at symbolic sizes that a run chooses.
//!
//! A buffer is laid out for the maximum sizes, and the caller's arrays have the chosen sizes. So the elements of an
//! array have the positions that they have in the largest array. The remainder of the buffer is NaN from the host; no
//! result may depend on it, and no op must write it.

use crate::error::SimError;
use crate::load::address_program::Parameter;
use crate::run::simulation::Simulation;
use sdsc_format::program::{LaunchEntry, Tensor};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Simulation {
    /// Returns the program at these sizes, by name; sizes without an entry are the maximum. The shapes of its arguments
    /// and results are those of the caller's arrays.
    ///
    /// # Errors
    /// The program does not have a size with this name, the value is not legal, or the files disagree about sizes.
    pub fn with_sizes(&self, sizes: &BTreeMap<String, i64>) -> Result<Self, SimError> {
        for (name, size) in sizes {
            let reject = |message: String| SimError::Array { name: self.program.name.clone(), message };
            let known = self
                .program
                .size(name)
                .ok_or_else(|| reject(format!("has no symbolic size '{name}'{}", self.describe_sizes())))?;
            known.check(*size).map_err(reject)?;
        }
        let mut sized = self.clone();
        sized.sizes.clone_from(sizes);
        let Self { program, bundles, .. } = &mut sized;
        for tensor in program.arguments.iter_mut().chain(&mut program.results) {
            shrink_tensor(tensor, sizes).map_err(|message| SimError::Array { name: tensor.name.clone(), message })?;
        }
        for plan in bundles.values_mut().flat_map(|loaded| loaded.plans.values_mut().flatten().flatten()) {
            *plan = Arc::new(plan.with_sizes(sizes)?);
        }
        Ok(sized)
    }

    fn describe_sizes(&self) -> String {
        let names: Vec<String> = self.program.sizes.iter().map(|size| format!("'{}'", size.name)).collect();
        if names.is_empty() {
            ": it was compiled for one size of each dimension; leave the sizes out".to_owned()
        } else {
            format!(": it has {}; use one of these", names.join(", "))
        }
    }

    /// Returns the value of a parameter that is a size, by its number among the sizes of the launch; `None` for an
    /// address.
    pub(crate) fn parameter_size(
        sizes: &BTreeMap<String, i64>,
        launch: &LaunchEntry,
        number: usize,
        parameter: &Parameter,
    ) -> Option<i64> {
        let largest = parameter.size?.max;
        Some(launch.sizes.get(number).and_then(|name| sizes.get(name)).copied().unwrap_or(largest))
    }
}

/// Sets the symbolic dimensions of a tensor to the chosen sizes. The strides of the outer dimensions become those of
/// the smaller array.
fn shrink_tensor(tensor: &mut Tensor, sizes: &BTreeMap<String, i64>) -> Result<(), String> {
    let largest = tensor.shape.clone();
    for symbolic in &tensor.symbolic {
        let Some(maximum) = largest.get(symbolic.dim).copied().filter(|size| *size > 0) else {
            return Err(format!("has no dimension {}, but '{}' is its size", symbolic.dim, symbolic.size));
        };
        let Some(size) = sizes.get(&symbolic.size).copied().filter(|size| *size != maximum) else { continue };
        let stride: i64 = largest[symbolic.dim + 1..].iter().product();
        for step in tensor.stride_map.iter_mut().filter(|step| **step >= stride * maximum) {
            if *step % maximum != 0 || size > maximum {
                return Err(format!(
                    "has a stride of {step} elements, which is not a multiple of {maximum}, the maximum of '{}'",
                    symbolic.size
                ));
            }
            *step = *step / maximum * size;
        }
        tensor.shape[symbolic.dim] = size;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdsc_format::program::SymbolicDim;

    fn shrink_sample_tensor(shape: &[i64], steps: &[i64], dims: &[usize], size: i64) -> (Vec<i64>, Vec<i64>) {
        let symbolic = dims.iter().map(|dim| SymbolicDim { dim: *dim, size: format!("s{dim}") }).collect();
        let mut tensor = Tensor { shape: shape.to_vec(), stride_map: steps.to_vec(), symbolic, ..Tensor::default() };
        shrink_tensor(&mut tensor, &dims.iter().map(|dim| (format!("s{dim}"), size)).collect()).unwrap();
        (tensor.shape, tensor.stride_map)
    }

    #[test]
    fn scales_strides_over_smaller_dimension() {
        assert_eq!(shrink_sample_tensor(&[1024, 256], &[64, 256, 1], &[0], 128), (vec![128, 256], vec![64, 256, 1]));
        assert_eq!(
            shrink_sample_tensor(&[4, 1024, 64], &[65536, 64, 64, 1], &[1], 128),
            (vec![4, 128, 64], vec![8192, 64, 64, 1])
        );
        assert_eq!(
            shrink_sample_tensor(&[2, 8, 8, 64], &[4096, 512, 64, 1], &[1, 2], 4),
            (vec![2, 4, 4, 64], vec![1024, 256, 64, 1])
        );
        assert_eq!(shrink_sample_tensor(&[8, 64], &[-1, 64, 1], &[0], 8), (vec![8, 64], vec![-1, 64, 1]));
    }
}
