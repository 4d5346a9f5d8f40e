//! Number formats of the release.

/// Formats with the bits of an element in `wordLength`, as far as the release or the name of the format states them.
pub const NUMBER_FORMATS: [(&str, Option<i64>); 21] = [
    ("SEN169_FP16", Some(16)),
    ("IEEE_FP32", Some(32)),
    ("IEEE_FP16", Some(16)),
    ("BFLOAT16", Some(16)),
    ("BOOL", None),
    ("SEN143_FP8", Some(8)),
    ("SEN152_FP8", Some(8)),
    ("SEN153_FP9", None),
    ("SEN18F_FP24", None),
    ("SEN080_FP8", Some(8)),
    ("SEN053_FP8", Some(8)),
    ("SEN121_FP4", Some(4)),
    ("SENINT2", Some(2)),
    ("SENINT4", Some(4)),
    ("SENINT8", Some(8)),
    ("SENINT16", Some(16)),
    ("SENINT24", None),
    ("SENUINT2", Some(2)),
    ("SENUINT32", Some(32)),
    ("IEEE_INT32", Some(32)),
    ("IEEE_INT64", Some(64)),
];

/// Returns the bits of an element of a format; `None` if the format is unknown or its word length is not established.
#[must_use]
pub fn number_format_bits(name: &str) -> Option<i64> {
    NUMBER_FORMATS.iter().find(|(known, _)| *known == name).and_then(|(_, bits)| *bits)
}
