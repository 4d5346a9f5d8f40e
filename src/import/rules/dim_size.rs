//! Sizes that the user specifies for the dynamic dimensions of a program.

use crate::codes;
use std::{collections::BTreeMap, fmt, str::FromStr};

/// A dimension and its size: `arg0.1=128`, dimension 1 of argument 0, or `L=128`, each dimension that arguments call
/// `L`. `L=1024:64` is a symbolic size: known at launch only, at most 1024 and a multiple of 64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimSize {
    dim: String,
    size: i64,
    granularity: Option<i64>,
}

impl DimSize {
    /// Returns whether the size is known only at launch.
    #[must_use]
    pub const fn is_symbolic(&self) -> bool {
        self.granularity.is_some()
    }

    /// Returns the dimension with a fixed size in place of a symbolic one.
    #[must_use]
    pub fn with_fixed_size(&self, size: i64) -> Self {
        Self { dim: self.dim.clone(), size, granularity: None }
    }

    /// Returns the dimension as the user specified it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.dim
    }
}

impl FromStr for DimSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let reject_with = |example: String| {
            format!(
                "expected argA.D=SIZE or NAME=SIZE, where SIZE is a positive number, or MAX:STEP for a size that is known at launch (MAX \
                 at least 2, STEP divides MAX), found '{text}'; give one such as '{example}'"
            )
        };
        let reject = || reject_with("arg0.0=128".to_owned());
        let (dim, size) = text.split_once('=').filter(|(dim, _)| !dim.is_empty()).ok_or_else(reject)?;
        let number = |text: &str| text.parse().ok().filter(|size: &i64| *size >= 1).ok_or_else(reject);
        let dim = dim.to_owned();
        let Some((largest, step)) = size.split_once(':') else {
            return Ok(Self { dim, size: number(size)?, granularity: None });
        };
        let (size, step) = (number(largest)?, number(step)?);
        if size < 2 || size % step != 0 {
            let whole = (size - size % step).max(step).max(2);
            return Err(reject_with(format!("{dim}={whole}:{}", if whole % step == 0 { step } else { 1 })));
        }
        Ok(Self { dim, size, granularity: Some(step) })
    }
}

impl fmt::Display for DimSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.dim, self.size)?;
        self.granularity.map_or(Ok(()), |granularity| write!(formatter, ":{granularity}"))
    }
}

/// Sizes and names of the dimensions of an argument, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct ArgumentShape {
    /// Sizes; None for dimensions that the program leaves dynamic.
    pub sizes: Vec<Option<i64>>,
    /// Names, if the program has one for each dimension.
    pub names: Vec<String>,
}

/// Sizes of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedSizes {
    /// Sizes of all dynamic dimensions of all arguments, in order; the largest size for symbolic ones.
    pub sizes: Vec<i64>,
    /// Name of the symbolic size for each argument and dimension; empty if there is none.
    pub symbolic: Vec<Vec<String>>,
    /// Number that each symbolic size is a multiple of, by the name of the size.
    pub granularities: BTreeMap<String, i64>,
}

/// Returns the sizes of all dynamic dimensions of all arguments.
///
/// # Errors
/// Returns an error for a size of an unknown dimension, and for two sizes for one dimension. Dynamic dimensions without
/// a size are an error that names all of them.
pub fn resolve_sizes(arguments: &[ArgumentShape], given: &[DimSize]) -> Result<ResolvedSizes, String> {
    let is_named = |place: &(usize, usize), request: &DimSize| {
        let (argument, dim) = *place;
        request.dim == format!("arg{argument}.{dim}") || arguments[argument].names.get(dim) == Some(&request.dim)
    };
    let of_argument = |(argument, shape): (usize, &ArgumentShape)| {
        (0..shape.sizes.len()).map(move |dim| (argument, dim)).collect::<Vec<_>>()
    };
    let places: Vec<(usize, usize)> = arguments.iter().enumerate().flat_map(of_argument).collect();
    if let Some(request) = given.iter().find(|request| !places.iter().any(|place| is_named(place, request))) {
        return Err(format!(
            "expected a dimension as arg0.0, arg0.1 or a name in 'spyre.dims', found '{request}'; correct the name"
        ));
    }
    let symbolic = arguments.iter().map(|shape| vec![String::new(); shape.sizes.len()]).collect();
    let (mut settled, mut missing) = (ResolvedSizes { symbolic, ..ResolvedSizes::default() }, Vec::new());
    for place in places {
        let (argument, dim) = place;
        let known = arguments[argument].sizes[dim];
        let requests: Vec<&DimSize> = given.iter().filter(|request| is_named(&place, request)).collect();
        check_symbolic(place, known, &requests)?;
        let mut sizes = known.into_iter().chain(requests.iter().map(|request| request.size));
        let Some(size) = sizes.next() else {
            missing.push(format!("arg{argument}.{dim}"));
            continue;
        };
        if let Some(other) = sizes.find(|other| *other != size) {
            return Err(format!(
                "dimension {dim} of argument 'arg{argument}' has size {size}, found --dim-size {other}; remove the option"
            ));
        }
        settled.sizes.extend(known.is_none().then_some(size));
        if let Some((request, granularity)) = requests.first().and_then(|request| Some((request, request.granularity?)))
        {
            settled.symbolic[argument][dim].clone_from(&request.dim);
            settled.granularities.insert(request.dim.clone(), granularity);
        }
    }
    if missing.is_empty() { Ok(settled) } else { Err(codes::DYNAMIC_DIM.format(format_missing_sizes(&missing))) }
}

/// Checks that a symbolic size is for a dynamic dimension, and is its only size.
fn check_symbolic((argument, dim): (usize, usize), known: Option<i64>, requests: &[&DimSize]) -> Result<(), String> {
    let Some(request) = requests.iter().find(|request| request.is_symbolic()) else { return Ok(()) };
    if let Some(size) = known {
        return Err(format!(
            "dimension {dim} of argument 'arg{argument}' has size {size}, found '--dim-size {request}' of a dynamic dimension; \
             remove the option"
        ));
    }
    match requests.iter().find(|other| other != &request) {
        Some(other) => Err(format!(
            "dimension {dim} of argument 'arg{argument}' is given twice, as '{request}' and '{other}'; remove one of them"
        )),
        None => Ok(()),
    }
}

/// Returns the message about dimensions that have no size.
fn format_missing_sizes(missing: &[String]) -> String {
    let options = missing.iter().map(|dim| format!("--dim-size {dim}=N")).collect::<Vec<_>>().join(" ");
    match missing {
        [only] => {
            let (argument, dim) = only.split_once('.').unwrap_or((only, ""));
            format!("dimension {dim} of argument '{argument}' is dynamic; give its size with {options}")
        }
        _ => format!("dimensions {} are dynamic; give their sizes with {options}", missing.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_shape(sizes: &[Option<i64>], names: &[&str]) -> ArgumentShape {
        ArgumentShape { sizes: sizes.to_vec(), names: names.iter().map(|name| (*name).to_owned()).collect() }
    }

    fn resolve(given: &[&str]) -> Result<Vec<i64>, String> {
        let arguments = [
            build_shape(&[None, Some(64)], &["L", "D"]),
            build_shape(&[], &[]),
            build_shape(&[Some(2), None, None], &["B", "L", "E"]),
        ];
        let given: Vec<DimSize> = given.iter().map(|text| text.parse().unwrap()).collect();
        resolve_sizes(&arguments, &given).map(|settled| settled.sizes)
    }

    #[test]
    fn resolves_positions_and_names() {
        assert_eq!(resolve(&["L=7", "arg2.2=3"]).unwrap(), [7, 7, 3]);
        assert_eq!(resolve(&["arg0.0=5", "arg2.1=6", "E=3", "D=64"]).unwrap(), [5, 6, 3]);
    }

    #[test]
    fn reports_missing_and_contradicting_sizes() {
        let missing = resolve(&["arg2.1=6"]).unwrap_err();
        assert_eq!(
            missing,
            "[SPY0201] dimensions arg0.0, arg2.2 are dynamic; give their sizes with --dim-size arg0.0=N --dim-size arg2.2=N"
        );
        let of_known = resolve(&["D=32", "L=1", "E=1"]).unwrap_err();
        assert_eq!(of_known, "dimension 1 of argument 'arg0' has size 64, found --dim-size 32; remove the option");
        let twice = resolve(&["L=1", "arg0.0=2", "E=1"]).unwrap_err();
        assert_eq!(twice, "dimension 0 of argument 'arg0' has size 1, found --dim-size 2; remove the option");
        assert!(resolve(&["K=1"]).unwrap_err().ends_with("found 'K=1'; correct the name"));
        assert!(resolve(&["arg1.0=1"]).unwrap_err().ends_with("found 'arg1.0=1'; correct the name"));
    }

    #[test]
    fn resolves_symbolic_sizes() {
        let arguments = [build_shape(&[None, Some(64)], &["L", "D"]), build_shape(&[None, None], &[])];
        let settled = |given: &[&str]| {
            let given: Vec<DimSize> = given.iter().map(|text| text.parse().unwrap()).collect();
            resolve_sizes(&arguments, &given)
        };
        let found = settled(&["L=1024:64", "arg1.0=1024:64", "arg1.1=8"]).unwrap();
        assert_eq!(found.sizes, [1024, 1024, 8]);
        assert_eq!(found.symbolic, [["L", ""], ["arg1.0", ""]]);
        assert_eq!(found.granularities, BTreeMap::from([("L".to_owned(), 64), ("arg1.0".to_owned(), 64)]));
        let rejected = settled(&["L=8", "D=64:64", "arg1.0=8", "arg1.1=8"]).unwrap_err();
        assert_eq!(
            rejected,
            "dimension 1 of argument 'arg0' has size 64, found '--dim-size D=64:64' of a dynamic dimension; remove the option"
        );
        let twice = settled(&["L=64:8", "arg0.0=64:8", "arg1.0=8", "arg1.1=8"]).unwrap_err();
        assert_eq!(
            twice,
            "dimension 0 of argument 'arg0' is given twice, as 'L=64:8' and 'arg0.0=64:8'; remove one of them"
        );
    }

    #[test]
    fn rejects_malformed_sizes() {
        for wrong in [
            "L", "L=", "=3", "L=0", "L=-4", "L=x", "L=64:", "L=:64", "L=64:0", "L=64:48", "L=1:1", "L=64:128",
            "L=64:8:8",
        ] {
            assert!(wrong.parse::<DimSize>().unwrap_err().contains(wrong), "{wrong}");
        }
    }
}
