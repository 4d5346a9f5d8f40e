//! Loops over one core's points, in chunks along one dimension in which every tensor is evenly spaced.

use super::{HOLE, TensorPlan};

/// Offset tables of a tensor, or of an array of the simulator, by dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OffsetTables<'t> {
    pub(crate) offsets: &'t [Vec<i64>],
    pub(crate) uniform_run_lengths: &'t [usize],
}

/// Loop nest over one core's points.
#[derive(Clone, Debug)]
pub(crate) struct PointLoopNest<'t> {
    tracks: Vec<OffsetTables<'t>>,
    sizes: Vec<usize>,
    outer: Vec<usize>,
    inner: Option<usize>,
    chunk: usize,
}

/// Strided run of a tensor's elements in a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StridedRun {
    /// Offset of the first element from the start of the core's slice, in elements.
    pub(crate) offset: i64,
    /// Distance of two elements, in elements.
    pub(crate) stride: i64,
    /// Number of elements of the chunk within the tensor; the others are beyond its end.
    pub(crate) valid: usize,
}

/// Chunk of consecutive points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointChunk<'w> {
    /// One run for each tensor.
    pub(crate) lanes: &'w [StridedRun],
    pub(crate) length: usize,
    /// First point, by dimension.
    pub(crate) position: &'w [usize],
    /// Dimension along the chunk.
    pub(crate) inner: Option<usize>,
}

impl<'t> PointLoopNest<'t> {
    /// Returns loops over `dims`, the last of them fastest, in chunks along `inner`.
    pub(crate) fn new(tracks: Vec<OffsetTables<'t>>, sizes: &[usize], dims: &[usize], inner: Option<usize>) -> Self {
        let moves = |dim: usize| sizes[dim] > 1 || tracks.iter().any(|track| track.offsets[dim] != [0]);
        let outer = dims.iter().copied().filter(|dim| Some(*dim) != inner && moves(*dim)).collect();
        let even = inner.map(|inner| tracks.iter().fold(0, |all, track| gcd(all, track.uniform_run_lengths[inner])));
        let chunk = match (even, inner) {
            // 0 means all positions.
            (Some(0), Some(inner)) => sizes[inner].min(MAX_CHUNK_POINTS),
            (Some(even), _) => even.min(MAX_CHUNK_POINTS),
            (None, _) => 1,
        };
        Self { tracks, sizes: sizes.to_vec(), outer, inner, chunk: chunk.max(1) }
    }

    /// Visits every chunk in order.
    pub(crate) fn for_each_chunk(&self, mut visit: impl FnMut(PointChunk<'_>)) {
        let mut position = vec![0usize; self.sizes.len()];
        let mut lanes = vec![StridedRun::default(); self.tracks.len()];
        let length = self.inner.map_or(1, |inner| self.sizes[inner]);
        loop {
            let bases: Vec<i64> = self.tracks.iter().map(|track| self.base_offset(track, &position)).collect();
            for start in (0..length).step_by(self.chunk) {
                let count = self.chunk.min(length - start);
                for ((lane, track), base) in lanes.iter_mut().zip(&self.tracks).zip(&bases) {
                    *lane = self.strided_run(track, *base, start, count);
                }
                if let Some(inner) = self.inner {
                    position[inner] = start;
                }
                visit(PointChunk { lanes: &lanes, length: count, position: &position, inner: self.inner });
            }
            if !self.advance(&mut position) {
                return;
            }
        }
    }

    fn base_offset(&self, track: &OffsetTables<'_>, position: &[usize]) -> i64 {
        let mut sum = 0;
        for dim in &self.outer {
            match track.offsets[*dim][position[*dim]] {
                HOLE => return HOLE,
                offset => sum += offset,
            }
        }
        sum
    }

    fn strided_run(&self, track: &OffsetTables<'_>, base: i64, start: usize, count: usize) -> StridedRun {
        let Some(inner) = self.inner else {
            return StridedRun { offset: base, stride: 0, valid: usize::from(base != HOLE) };
        };
        let table = &track.offsets[inner][start..start + count];
        if base == HOLE || table[0] == HOLE {
            return StridedRun::default();
        }
        // A tensor has one end, so the holes of a chunk are at its end.
        let valid = if table[count - 1] == HOLE { table.partition_point(|offset| *offset != HOLE) } else { count };
        StridedRun { offset: base + table[0], stride: if valid > 1 { table[1] - table[0] } else { 0 }, valid }
    }

    fn advance(&self, position: &mut [usize]) -> bool {
        for dim in self.outer.iter().rev() {
            position[*dim] += 1;
            if position[*dim] < self.sizes[*dim] {
                return true;
            }
            position[*dim] = 0;
        }
        false
    }
}

/// Maximum length of a chunk, and length of the kernels' buffers.
pub(crate) const MAX_CHUNK_POINTS: usize = 4096;

fn gcd(left: usize, right: usize) -> usize {
    if right == 0 { left } else { gcd(right, left % right) }
}

impl TensorPlan {
    pub(crate) fn offset_tables(&self) -> OffsetTables<'_> {
        OffsetTables { offsets: &self.offsets, uniform_run_lengths: &self.uniform_run_lengths }
    }
}

/// Builds the offset tables of a dense row-major array over the dimensions `dims`. The other dimensions have stride 0.
pub(crate) fn build_dense_tables(sizes: &[usize], dims: &[usize]) -> Vec<Vec<i64>> {
    let mut tables: Vec<Vec<i64>> = sizes.iter().map(|size| vec![0; *size]).collect();
    let mut stride = 1;
    for dim in dims.iter().rev() {
        tables[*dim] = (0..sizes[*dim] as i64).map(|at| at * stride).collect();
        stride *= sizes[*dim] as i64;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_points_into_chunks_even_in_every_table() {
        let a = vec![vec![0, 64], (0..128).map(|c| c / 64 * 128 + c % 64).collect()];
        let b = build_dense_tables(&[2, 128], &[0, 1]);
        let tracks = vec![
            OffsetTables { offsets: &a, uniform_run_lengths: &[0, 64] },
            OffsetTables { offsets: &b, uniform_run_lengths: &[0, 0] },
        ];
        let mut seen = Vec::new();
        PointLoopNest::new(tracks, &[2, 128], &[0, 1], Some(1))
            .for_each_chunk(|piece| seen.push((piece.length, piece.lanes[0].offset, piece.lanes[1].offset)));
        assert_eq!(seen, [(64, 0, 0), (64, 128, 64), (64, 64, 128), (64, 192, 192)]);
    }

    #[test]
    fn accepts_any_offset_of_single_position() {
        let a = vec![vec![128], vec![3]];
        let mut seen = Vec::new();
        PointLoopNest::new(vec![OffsetTables { offsets: &a, uniform_run_lengths: &[1, 1] }], &[1, 1], &[0, 1], Some(1))
            .for_each_chunk(|piece| seen.push(piece.lanes[0].offset));
        assert_eq!(seen, [131]);
    }

    #[test]
    fn truncates_chunk_at_end_of_tensor() {
        let a = vec![vec![0, 1, 2, HOLE], vec![0, 4, HOLE]];
        let mut seen = Vec::new();
        PointLoopNest::new(vec![OffsetTables { offsets: &a, uniform_run_lengths: &[0, 0] }], &[4, 3], &[0, 1], Some(0))
            .for_each_chunk(|piece| seen.push(piece.lanes[0]));
        let lane = |offset| StridedRun { offset, stride: 1, valid: 3 };
        assert_eq!(seen, [lane(0), lane(4), StridedRun::default()]);
    }
}
