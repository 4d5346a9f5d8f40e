//! The forms of locations as values.

use super::{Attribute, Location, text::read_text};
use mlir_sys::{
    MlirLocation, mlirIdentifierStr, mlirLocationCallSiteGetCallee, mlirLocationCallSiteGetCaller,
    mlirLocationFileLineColRangeGetEndColumn, mlirLocationFileLineColRangeGetEndLine,
    mlirLocationFileLineColRangeGetFilename, mlirLocationFileLineColRangeGetStartColumn,
    mlirLocationFileLineColRangeGetStartLine, mlirLocationFusedGetLocations, mlirLocationFusedGetMetadata,
    mlirLocationFusedGetNumLocations, mlirLocationIsACallSite, mlirLocationIsAFileLineColRange, mlirLocationIsAFused,
    mlirLocationIsAName, mlirLocationNameGetChildLoc, mlirLocationNameGetName,
};

/// Range in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// Path of the file, as in the location.
    pub file: String,
    /// First line and column, from 1.
    pub start: [u32; 2],
    /// Last line and column; equal to the first ones for a position.
    pub end: [u32; 2],
}

/// Form of a location.
pub enum LocationForm<'c> {
    /// Range in a file.
    File(FileRange),
    /// Name of a location.
    Name {
        /// Name.
        name: String,
        /// Named location; unknown if the name stands alone.
        inner: Location<'c>,
    },
    /// Location in a called function.
    Call {
        /// Location in the function.
        callee: Location<'c>,
        /// Location of the call.
        caller: Location<'c>,
    },
    /// Several locations, or one with metadata.
    Fused {
        /// Locations.
        parts: Vec<Location<'c>>,
        /// Metadata, if any.
        metadata: Option<Attribute<'c>>,
    },
    /// Unknown or opaque location.
    Other,
}

impl<'c> LocationForm<'c> {
    /// Returns the form of a location.
    #[must_use]
    pub fn from_location(location: Location<'c>) -> Self {
        let raw = location.to_raw();
        // SAFETY: each getter is called on a location of its kind; the results live as long as the context of the
        // location, of which the caller has a borrow.
        unsafe {
            if mlirLocationIsAFileLineColRange(raw) {
                return Self::File(read_range(raw));
            }
            if mlirLocationIsAName(raw) {
                let name = read_text(mlirIdentifierStr(mlirLocationNameGetName(raw))).into_owned();
                return Self::Name { name, inner: Location::from_raw(mlirLocationNameGetChildLoc(raw)) };
            }
            if mlirLocationIsACallSite(raw) {
                let [callee, caller] = [mlirLocationCallSiteGetCallee(raw), mlirLocationCallSiteGetCaller(raw)];
                return Self::Call { callee: Location::from_raw(callee), caller: Location::from_raw(caller) };
            }
            if mlirLocationIsAFused(raw) {
                let metadata = mlirLocationFusedGetMetadata(raw);
                let metadata = (!metadata.ptr.is_null()).then(|| Attribute::from_raw(metadata));
                return Self::Fused { parts: read_parts(raw), metadata };
            }
        }
        Self::Other
    }
}

/// # Safety
/// The location is a range in a file, and its context is alive.
unsafe fn read_range(raw: MlirLocation) -> FileRange {
    // SAFETY: the getters are those of the kind.
    unsafe {
        let number = |number: std::ffi::c_int| u32::try_from(number).unwrap_or_default();
        FileRange {
            file: read_text(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(raw))).into_owned(),
            start: [
                number(mlirLocationFileLineColRangeGetStartLine(raw)),
                number(mlirLocationFileLineColRangeGetStartColumn(raw)),
            ],
            end: [
                number(mlirLocationFileLineColRangeGetEndLine(raw)),
                number(mlirLocationFileLineColRangeGetEndColumn(raw)),
            ],
        }
    }
}

/// # Safety
/// The location is a fused one, and its context is alive.
unsafe fn read_parts<'c>(raw: MlirLocation) -> Vec<Location<'c>> {
    // SAFETY: the array of fused locations has as many entries as C reports.
    unsafe {
        let count = usize::try_from(mlirLocationFusedGetNumLocations(raw)).unwrap_or_default();
        let mut parts = vec![MlirLocation { ptr: std::ptr::null() }; count];
        mlirLocationFusedGetLocations(raw, parts.as_mut_ptr());
        parts.into_iter().map(|part| Location::from_raw(part)).collect()
    }
}
