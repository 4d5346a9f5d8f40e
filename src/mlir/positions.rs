//! File positions of locations.

use super::{
    Location,
    location_form::{FileRange, LocationForm},
};
use std::{collections::BTreeSet, fmt};

/// Source position; line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// File name.
    pub file: String,
    /// Line number.
    pub line: i64,
    /// Column number.
    pub column: i64,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Returns the file positions of a location, innermost first. For a fused location, returns those of its first location
/// that has any.
#[must_use]
pub fn source_positions(location: Location<'_>) -> Vec<SourcePosition> {
    match LocationForm::from_location(location) {
        LocationForm::File(FileRange { file, start: [line, column], end: _ }) => {
            vec![SourcePosition { file, line: line.into(), column: column.into() }]
        }
        LocationForm::Name { inner, .. } => source_positions(inner),
        LocationForm::Call { callee, caller } => {
            let mut places = source_positions(callee);
            places.extend(source_positions(caller));
            places
        }
        LocationForm::Fused { parts, .. } => {
            parts.into_iter().map(source_positions).find(|places| !places.is_empty()).unwrap_or_default()
        }
        LocationForm::Other => Vec::new(),
    }
}

/// Returns the locations in a fused location at other file positions than [`source_positions`] returns, one for each
/// position. Returns an empty list for any other location.
#[must_use]
pub fn other_fused_locations(location: Location<'_>) -> Vec<Location<'_>> {
    let mut known = vec![source_positions(location), Vec::new()];
    let mut others = Vec::new();
    for part in flatten_fused_location(location) {
        let places = source_positions(part);
        if !known.contains(&places) {
            known.push(places);
            others.push(part);
        }
    }
    others
}

/// Returns the locations that a location fuses, also through nested fused locations, each once and in order.
fn flatten_fused_location(location: Location<'_>) -> Vec<Location<'_>> {
    let (mut found, mut seen, mut left) = (Vec::new(), BTreeSet::new(), vec![location]);
    while let Some(next) = left.pop() {
        if !seen.insert(next.to_raw().ptr) {
            continue;
        }
        match LocationForm::from_location(next) {
            LocationForm::Fused { parts, .. } => left.extend(parts.into_iter().rev()),
            _ => found.push(next),
        }
    }
    found
}
