//! Recorded relayouts: logical tensor, slices and owners before and after, and the bytes that cross cores.
//!
//! Cases: `P` and `D` are prefill and decode of a Granite model. `KT`, `GM`, `PA`, `GR` are small cases and attention,
//! from torch-spyre's workload coverage. `CT` are the conformance tests of the LX relayout contract. Dimensions of one
//! position are omitted; cases without a dimension of complete sticks have one stick per position. `Out` is along the
//! sticks.

use spyre_compiler::launch::geometry::DimLabel::{self, Mb, Out, X, Y};

/// Relayout of a tensor between two distributions.
pub(crate) struct RelayoutGeometry {
    pub(crate) name: &'static str,
    /// Dimensions with their sizes.
    pub(crate) dims: &'static [(DimLabel, i64)],
    pub(crate) source: SliceDistribution,
    pub(crate) destination: SliceDistribution,
    /// Bytes that cores receive from other cores.
    pub(crate) remote_bytes: u64,
}

/// Slices over cores: slice `s` is on core `base` plus the sum of `strides[d] * s[d]`, and on `copies` more cores with
/// distance `step`.
#[derive(Clone, Copy)]
pub(crate) struct SliceDistribution {
    /// Slice count of each dimension.
    pub(crate) slices: &'static [i64],
    pub(crate) base: i64,
    pub(crate) strides: &'static [i64],
    /// Number of cores with the same slice.
    pub(crate) copies: i64,
    pub(crate) step: i64,
}

const fn geometry(
    name: &'static str,
    dims: &'static [(DimLabel, i64)],
    source: SliceDistribution,
    destination: SliceDistribution,
    remote_bytes: u64,
) -> RelayoutGeometry {
    RelayoutGeometry { name, dims, source, destination, remote_bytes }
}

const fn distribution(
    slices: &'static [i64],
    base: i64,
    strides: &'static [i64],
    copies: i64,
    step: i64,
) -> SliceDistribution {
    SliceDistribution { slices, base, strides, copies, step }
}

pub(crate) const GEOMETRIES: &[RelayoutGeometry] = &[
    geometry(
        "P01",
        &[(Out, 128), (Mb, 512), (X, 8)],
        distribution(&[1, 8, 4], 0, &[0, 4, 1], 1, 0),
        distribution(&[1, 1, 1], 0, &[0, 0, 0], 32, 1),
        32_505_856,
    ),
    geometry(
        "P02",
        &[(Mb, 512), (Out, 128), (X, 8)],
        distribution(&[8, 1, 4], 0, &[4, 0, 1], 1, 0),
        distribution(&[1, 1, 1], 0, &[0, 0, 0], 32, 1),
        32_505_856,
    ),
    geometry(
        "P03",
        &[(Out, 4096), (Mb, 512)],
        distribution(&[4, 8], 0, &[1, 4], 1, 0),
        distribution(&[1, 8], 0, &[0, 4], 4, 1),
        12_582_912,
    ),
    geometry(
        "P04",
        &[(Out, 4096), (Mb, 512)],
        distribution(&[1, 32], 0, &[0, 1], 1, 0),
        distribution(&[1, 8], 0, &[0, 4], 4, 1),
        12_582_912,
    ),
    geometry(
        "P09",
        &[(Out, 4096), (Mb, 512)],
        distribution(&[1, 16], 0, &[0, 2], 1, 0),
        distribution(&[1, 8], 0, &[0, 4], 4, 1),
        12_582_912,
    ),
    geometry(
        "P05",
        &[(Mb, 512), (Out, 4096)],
        distribution(&[8, 4], 0, &[4, 1], 1, 0),
        distribution(&[8, 1], 0, &[4, 0], 1, 0),
        3_145_728,
    ),
    geometry(
        "P12",
        &[(Mb, 512), (Out, 4096)],
        distribution(&[16, 1], 0, &[2, 0], 1, 0),
        distribution(&[8, 4], 0, &[4, 1], 1, 0),
        3_145_728,
    ),
    geometry(
        "P06",
        &[(Out, 128), (Mb, 512), (X, 8), (Y, 4)],
        distribution(&[1, 8, 4, 1], 0, &[0, 4, 1, 0], 1, 0),
        distribution(&[1, 32, 1, 1], 0, &[0, 1, 0, 0], 1, 0),
        3_145_728,
    ),
    geometry(
        "P07",
        &[(Mb, 2), (Out, 64), (X, 512)],
        distribution(&[1, 1, 16], 0, &[0, 0, 2], 1, 0),
        distribution(&[1, 1, 8], 0, &[0, 0, 4], 4, 1),
        393_216,
    ),
    geometry(
        "P08",
        &[(Mb, 8), (X, 512), (Out, 128)],
        distribution(&[4, 8, 1], 0, &[8, 1, 0], 1, 0),
        distribution(&[4, 8, 1], 0, &[1, 4, 0], 1, 0),
        983_040,
    ),
    geometry(
        "P10",
        &[(Mb, 512), (Out, 64)],
        distribution(&[8, 1], 0, &[4, 0], 1, 0),
        distribution(&[8, 1], 0, &[4, 0], 4, 1),
        196_608,
    ),
    geometry(
        "P11",
        &[(Mb, 512), (Out, 64)],
        distribution(&[8, 1], 0, &[4, 0], 1, 0),
        distribution(&[8, 1], 0, &[4, 0], 4, 1),
        196_608,
    ),
    geometry("P13", &[(Out, 4096)], distribution(&[32], 0, &[1], 1, 0), distribution(&[1], 0, &[0], 28, 1), 222_208),
    geometry("D-IN32", &[(Out, 4096)], distribution(&[32], 0, &[1], 1, 0), distribution(&[1], 0, &[0], 32, 1), 253_952),
    geometry("D-IN25", &[(Out, 4096)], distribution(&[32], 0, &[1], 1, 0), distribution(&[1], 0, &[0], 25, 1), 198_400),
    geometry(
        "D-DOWN",
        &[(Out, 12800)],
        distribution(&[25], 0, &[1], 1, 0),
        distribution(&[1], 0, &[0], 32, 1),
        793_600,
    ),
    geometry(
        "D-Q",
        &[(Out, 128), (Mb, 8), (X, 4)],
        distribution(&[1, 8, 4], 0, &[0, 4, 1], 1, 0),
        distribution(&[1, 8, 1], 0, &[0, 1, 0], 4, 8),
        31_744,
    ),
    geometry(
        "D-P",
        &[(Out, 768), (Mb, 8), (X, 4)],
        distribution(&[4, 8, 1], 0, &[8, 1, 0], 1, 0),
        distribution(&[1, 8, 2], 0, &[0, 2, 1], 2, 16),
        95_232,
    ),
    geometry(
        "D-V",
        &[(Mb, 768), (Out, 128), (X, 8)],
        distribution(&[32, 1, 1], 0, &[1, 0, 0], 1, 0),
        distribution(&[1, 2, 8], 0, &[0, 16, 2], 2, 1),
        3_047_424,
    ),
    geometry("D-EXX2", &[(Out, 4096)], distribution(&[32], 0, &[1], 1, 0), distribution(&[1], 0, &[0], 1, 0), 7936),
    geometry("D-EMB", &[(Out, 4096)], distribution(&[1], 0, &[0], 1, 0), distribution(&[32], 0, &[1], 1, 0), 7936),
    geometry("D-NORM", &[(Out, 64)], distribution(&[1], 0, &[0], 1, 0), distribution(&[1], 0, &[0], 32, 1), 3968),
    geometry(
        "D-MAX",
        &[(Mb, 32), (Out, 768)],
        distribution(&[8, 4], 0, &[1, 8], 1, 0),
        distribution(&[8, 1], 0, &[4, 0], 1, 0),
        47_616,
    ),
    geometry(
        "D-STAT",
        &[(Mb, 32), (Out, 64)],
        distribution(&[8, 1], 0, &[4, 0], 1, 0),
        distribution(&[8, 1], 0, &[1, 0], 4, 8),
        15_872,
    ),
    geometry(
        "D-ROT32",
        &[(Mb, 2), (Out, 64)],
        distribution(&[2, 1], 0, &[1, 0], 1, 0),
        distribution(&[1, 1], 0, &[0, 0], 32, 1),
        7936,
    ),
    geometry(
        "D-ROT8",
        &[(Mb, 2), (Out, 64)],
        distribution(&[2, 1], 0, &[1, 0], 1, 0),
        distribution(&[1, 1], 0, &[0, 0], 8, 1),
        1792,
    ),
    geometry(
        "D-RS8",
        &[(Mb, 8), (Out, 128), (X, 768)],
        distribution(&[1, 1, 32], 0, &[0, 0, 1], 1, 0),
        distribution(&[4, 2, 4], 0, &[1, 4, 8], 1, 0),
        1_376_256,
    ),
    geometry(
        "D-RS1",
        &[(Mb, 8), (Out, 128), (X, 768)],
        distribution(&[8, 1, 4], 0, &[4, 0, 1], 1, 0),
        distribution(&[8, 1, 4], 0, &[1, 0, 8], 1, 0),
        1_474_560,
    ),
    geometry(
        "D-SCAT",
        &[(Mb, 8), (Out, 128)],
        distribution(&[8, 2], 0, &[4, 2], 1, 0),
        distribution(&[1, 1], 0, &[0, 0], 1, 0),
        1920,
    ),
    geometry(
        "KT-01",
        &[(Mb, 8), (X, 8), (Out, 64)],
        distribution(&[8, 4, 1], 0, &[4, 1, 0], 1, 0),
        distribution(&[8, 1, 1], 0, &[1, 0, 0], 4, 8),
        31_744,
    ),
    geometry(
        "KT-02",
        &[(Mb, 8), (Out, 64)],
        distribution(&[4, 1], 0, &[1, 0], 1, 0),
        distribution(&[1, 1], 0, &[0, 0], 4, 8),
        3840,
    ),
    geometry(
        "KT-04",
        &[(Mb, 2), (X, 2), (Out, 64)],
        distribution(&[2, 2, 1], 0, &[1, 2, 0], 1, 0),
        distribution(&[1, 1, 1], 4, &[0, 0, 0], 1, 0),
        512,
    ),
    geometry(
        "KT-06",
        &[(Mb, 512), (Out, 2816)],
        distribution(&[8, 4], 0, &[4, 1], 1, 0),
        distribution(&[8, 4], 0, &[1, 8], 1, 0),
        2_703_360,
    ),
    geometry(
        "KT-07b",
        &[(Mb, 512), (Out, 704)],
        distribution(&[8, 1], 3, &[4, 0], 1, 0),
        distribution(&[32, 1], 0, &[1, 0], 1, 0),
        540_672,
    ),
    geometry("KT-08", &[(Out, 128)], distribution(&[2], 0, &[1], 1, 0), distribution(&[1], 0, &[0], 2, 1), 256),
    geometry(
        "GM-E4b",
        &[(Mb, 512), (Out, 704)],
        distribution(&[32, 1], 0, &[1, 0], 1, 0),
        distribution(&[8, 1], 0, &[4, 0], 4, 1),
        2_162_688,
    ),
    geometry(
        "GM-E6b",
        &[(Mb, 512), (Out, 64)],
        distribution(&[32, 1], 0, &[1, 0], 1, 0),
        distribution(&[8, 1], 0, &[4, 0], 4, 1),
        196_608,
    ),
    geometry(
        "PA-07V",
        &[(Mb, 32), (Out, 64)],
        distribution(&[32, 1], 0, &[1, 0], 1, 0),
        distribution(&[8, 1], 0, &[1, 0], 4, 8),
        15_872,
    ),
    geometry(
        "GR-X02",
        &[(Mb, 512), (Out, 4096)],
        distribution(&[32, 1], 0, &[1, 0], 1, 0),
        distribution(&[16, 1], 0, &[1, 0], 2, 16),
        8_126_464,
    ),
    geometry(
        "CONTRACT-EXAMPLE",
        &[(Mb, 4), (X, 4096), (Out, 128)],
        distribution(&[4, 8, 1], 0, &[8, 1, 0], 1, 0),
        distribution(&[4, 1, 1], 0, &[8, 0, 0], 8, 1),
        29_360_128,
    ),
    geometry(
        "CT-1",
        &[(Mb, 4), (Out, 256)],
        distribution(&[2, 4], 0, &[4, 1], 1, 0),
        distribution(&[2, 4], 0, &[1, 2], 1, 0),
        1536,
    ),
    geometry(
        "CT-2",
        &[(Mb, 2), (X, 32), (Out, 64)],
        distribution(&[2, 4, 1], 0, &[4, 1, 0], 1, 0),
        distribution(&[2, 1, 1], 0, &[4, 0, 0], 4, 1),
        24_576,
    ),
    geometry(
        "CT-4",
        &[(Mb, 8), (Out, 128)],
        distribution(&[8, 1], 0, &[1, 0], 1, 0),
        distribution(&[4, 1], 0, &[1, 0], 2, 4),
        3584,
    ),
    geometry("D-IN16", &[(Out, 4096)], distribution(&[32], 0, &[1], 1, 0), distribution(&[1], 0, &[0], 16, 1), 126_976),
    geometry(
        "D-K",
        &[(Out, 128), (Mb, 768), (X, 8)],
        distribution(&[2, 4, 4], 0, &[4, 8, 1], 1, 0),
        distribution(&[1, 4, 8], 0, &[0, 8, 1], 1, 0),
        1_376_256,
    ),
];

/// Returns a relayout of the table.
pub(crate) fn find_geometry(name: &str) -> &'static RelayoutGeometry {
    GEOMETRIES.iter().find(|geometry| geometry.name == name).unwrap_or_else(|| panic!("{name}"))
}
