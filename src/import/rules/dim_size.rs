//! Sizes that the user gives to dimensions that a program leaves open.

use std::{fmt, str::FromStr};

/// A dimension and its size: `arg0.1=128`, dimension 1 of argument 0, or `L=128`, each dimension that arguments call `L`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimSize {
    dim: String,
    size: i64,
}

impl FromStr for DimSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("expected argA.D=SIZE or NAME=SIZE, with a size of at least 1, found '{text}'");
        let (dim, size) = text.split_once('=').ok_or_else(refuse)?;
        let size = size.parse().ok().filter(|size| *size >= 1).ok_or_else(refuse)?;
        if dim.is_empty() { Err(refuse()) } else { Ok(Self { dim: dim.to_owned(), size }) }
    }
}

impl fmt::Display for DimSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.dim, self.size)
    }
}

/// What is known of the dimensions of an argument.
#[derive(Clone, Debug, Default)]
pub struct OpenShape {
    /// Their sizes; none where the program leaves them open.
    pub sizes: Vec<Option<i64>>,
    /// Their names, if the program has one for each.
    pub names: Vec<String>,
}

/// The sizes of all open dimensions of all arguments, in order.
///
/// # Errors
/// A size for what is no dimension, two sizes for one, or open dimensions without one, all of which are named.
pub fn settled_sizes(arguments: &[OpenShape], given: &[DimSize]) -> Result<Vec<i64>, String> {
    let is_named = |place: &(usize, usize), wish: &DimSize| {
        let (argument, dim) = *place;
        wish.dim == format!("arg{argument}.{dim}") || arguments[argument].names.get(dim) == Some(&wish.dim)
    };
    let of_argument = |(argument, shape): (usize, &OpenShape)| (0..shape.sizes.len()).map(move |dim| (argument, dim)).collect::<Vec<_>>();
    let places: Vec<(usize, usize)> = arguments.iter().enumerate().flat_map(of_argument).collect();
    if let Some(wish) = given.iter().find(|wish| !places.iter().any(|place| is_named(place, wish))) {
        return Err(format!(
            "is given '{wish}', which is of no dimension of an argument: these are arg0.0, arg0.1, ..., or names in 'spyre.dims'"
        ));
    }
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for place in places {
        let (argument, dim) = place;
        let known = arguments[argument].sizes[dim];
        let mut sizes = known.into_iter().chain(given.iter().filter(|wish| is_named(&place, wish)).map(|wish| wish.size));
        let Some(size) = sizes.next() else {
            missing.push(format!("arg{argument}.{dim}"));
            continue;
        };
        if let Some(other) = sizes.find(|other| *other != size) {
            return Err(format!("has size {size} in arg{argument}.{dim}, and is given {other}"));
        }
        found.extend(known.is_none().then_some(size));
    }
    if missing.is_empty() { Ok(found) } else { Err(format!("leaves the sizes of {} open: {}", missing.join(", "), how(&missing))) }
}

fn how(missing: &[String]) -> String {
    let options: Vec<String> = missing.iter().map(|dim| format!("--dim-size {dim}=N")).collect();
    format!("give them by {}", options.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sizes: &[Option<i64>], names: &[&str]) -> OpenShape {
        OpenShape { sizes: sizes.to_vec(), names: names.iter().map(|name| (*name).to_owned()).collect() }
    }

    fn settled(given: &[&str]) -> Result<Vec<i64>, String> {
        let arguments = [shape(&[None, Some(64)], &["L", "D"]), shape(&[], &[]), shape(&[Some(2), None, None], &["B", "L", "E"])];
        let given: Vec<DimSize> = given.iter().map(|text| text.parse().unwrap()).collect();
        settled_sizes(&arguments, &given)
    }

    #[test]
    fn places_and_names_give_sizes() {
        assert_eq!(settled(&["L=7", "arg2.2=3"]).unwrap(), [7, 7, 3]);
        assert_eq!(settled(&["arg0.0=5", "arg2.1=6", "E=3", "D=64"]).unwrap(), [5, 6, 3]);
    }

    #[test]
    fn what_is_missing_or_contradicts_is_named() {
        let missing = settled(&["arg2.1=6"]).unwrap_err();
        assert_eq!(missing, "leaves the sizes of arg0.0, arg2.2 open: give them by --dim-size arg0.0=N --dim-size arg2.2=N");
        assert_eq!(settled(&["D=32", "L=1", "E=1"]).unwrap_err(), "has size 64 in arg0.1, and is given 32");
        assert_eq!(settled(&["L=1", "arg0.0=2", "E=1"]).unwrap_err(), "has size 1 in arg0.0, and is given 2");
        assert!(settled(&["K=1"]).unwrap_err().starts_with("is given 'K=1', which is of no dimension"));
        assert!(settled(&["arg1.0=1"]).unwrap_err().starts_with("is given 'arg1.0=1'"));
    }

    #[test]
    fn only_sizes_are_read() {
        for wrong in ["L", "L=", "=3", "L=0", "L=-4", "L=x"] {
            assert!(wrong.parse::<DimSize>().unwrap_err().contains(wrong), "{wrong}");
        }
    }
}
