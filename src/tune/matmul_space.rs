//! Test data from the time model: 16,128 plans of a matmul and its elementwise consumer, all of which are evaluated.

use super::{
    Shard, TunePoint, TuneSpace,
    search::{BoundedCost, PointEvaluator, Rejection, TuneSearchRequest, search},
    space::tests::numbered_dimension,
};
use cost::{Dim, ModeledCost, Objective, OpKind, TileOp, TileOperand, extract_features};
use machine::Target;

const TARGET: Target = Target::spyre();
/// Numbers of rows, columns, and reduced elements.
const SIZES: [i64; 3] = [4096, 2048, 1024];
/// Number of tile counts of rows, and of columns.
const NUM_TILE_COUNTS: usize = 8;

/// Tile counts and core splits of a matmul and a consumer in the same loops: one over rows and one over columns, in
/// either nesting order.
struct MatmulSpace {
    /// Slices of rows, columns and the reduction, 32 in total.
    splits: Vec<[i64; 3]>,
}

/// Plan of the matmul and its consumer.
struct MatmulPlan {
    tiles: [i64; 2],
    split: [i64; 3],
    /// Slices of rows and columns of the consumer.
    after: [i64; 2],
    is_columns_outside: bool,
}

impl MatmulSpace {
    fn new() -> Self {
        let powers = || (0..6).map(|exponent| 1_i64 << exponent);
        let splits =
            powers().flat_map(|rows| powers().map(move |columns| [rows, columns, 32 / (rows * columns).min(32)]));
        Self { splits: splits.filter(|split| split.iter().product::<i64>() == 32).collect() }
    }

    fn space(&self) -> TuneSpace {
        let splits = numbered_dimension("split", self.splits.len(), 0);
        TuneSpace::new(vec![
            numbered_dimension("rows", NUM_TILE_COUNTS, 0),
            numbered_dimension("columns", NUM_TILE_COUNTS, 0),
            splits,
            numbered_dimension("behind", 6, 0),
            numbered_dimension("order", 2, 0),
        ])
    }

    fn plan(&self, point: &TunePoint) -> MatmulPlan {
        let of_rows = 1 << point.0[3];
        MatmulPlan {
            tiles: [1 << point.0[0], 1 << point.0[1]],
            split: self.splits[point.0[2]],
            after: [of_rows, 32 / of_rows],
            is_columns_outside: point.0[4] == 1,
        }
    }
}

impl MatmulPlan {
    /// Creates a tile of a tensor that has the dimensions `dims`.
    fn build_operand(&self, buffer: usize, dims: &[usize], is_in_lx: bool) -> TileOperand {
        let tiles: i64 = dims.iter().filter_map(|dim| self.tiles.get(*dim)).product();
        let elements: i64 = dims.iter().map(|dim| SIZES[*dim]).product();
        let mut advances = vec![dims.contains(&0), dims.contains(&1)];
        if self.is_columns_outside {
            advances.reverse();
        }
        TileOperand {
            buffer,
            is_kernel_input: buffer < 2,
            is_output: buffer >= 2,
            is_in_lx,
            tile_bytes: 2 * elements / tiles,
            element_bytes: 2,
            moved_by: dims.to_vec(),
            stick: dims.last().copied(),
            inner: dims.first().copied(),
            advances,
            ..TileOperand::default()
        }
    }

    fn cost(&self) -> ModeledCost {
        let mut trips = self.tiles.to_vec();
        if self.is_columns_outside {
            trips.reverse();
        }
        let [rows, columns] = [0, 1].map(|dim| SIZES[dim] / self.tiles[dim]);
        let dim = |extent, slices, is_reduced| Dim { extent, slices, is_reduced };
        // The intermediate value is in LX if it fits, and if each core has the same slice of it in both ops.
        let is_in_lx =
            self.split == [self.after[0], self.after[1], 1] && 2 * rows * columns / 32 <= TARGET.lx_bytes / 2;
        let [m, n, k] = self.split;
        let product = TileOp {
            kind: OpKind::Matmul,
            is_reduction: true,
            dims: vec![dim(rows, m, false), dim(columns, n, false), dim(SIZES[2], k, true)],
            trips: trips.clone(),
            operands: vec![
                self.build_operand(0, &[0, 2], false),
                self.build_operand(1, &[2, 1], false),
                self.build_operand(2, &[0, 1], is_in_lx),
            ],
            is_irregular: false,
            shuffle: None,
        };
        let read = TileOperand { is_output: false, ..self.build_operand(2, &[0, 1], is_in_lx) };
        let after = TileOp {
            dims: vec![dim(rows, self.after[0], false), dim(columns, self.after[1], false)],
            trips,
            operands: vec![read, self.build_operand(3, &[0, 1], false)],
            ..TileOp::default()
        };
        let costs = extract_features(&[product.to_op_shape(), after.to_op_shape()]);
        let add = |sum: ModeledCost, cost: ModeledCost| ModeledCost {
            ns: sum.ns + cost.ns,
            hbm_bytes: sum.hbm_bytes + cost.hbm_bytes,
        };
        costs.iter().map(|op| ModeledCost::from_op(op, &TARGET.time)).fold(ModeledCost::default(), add)
    }
}

impl PointEvaluator for MatmulSpace {
    fn find_violation(&self, point: &TunePoint) -> Option<Rejection> {
        let MatmulPlan { tiles, split, after, .. } = self.plan(point);
        // Rows are split individually, columns in sticks.
        let fits = |dim: usize, granule: i64, slices: i64| SIZES[dim] % (tiles[dim] * granule * slices) == 0;
        let is_even = fits(0, 1, split[0]) && fits(1, 64, split[1]) && fits(0, 1, after[0]) && fits(1, 64, after[1]);
        (!is_even).then(|| Rejection { reason: "uneven".to_owned(), message: String::new() })
    }

    fn compute_cost(&self, point: &TunePoint) -> Result<BoundedCost, Rejection> {
        Ok(BoundedCost { cost: self.plan(point).cost(), bound: ModeledCost::default() })
    }
}

#[test]
fn finds_best_plan_of_matmul_by_local_search() {
    let product = MatmulSpace::new();
    let space = product.space();
    assert_eq!(space.size(), 16_128);
    let best = |budget: usize, seed: u64| {
        let request = TuneSearchRequest {
            objective: Objective::Time,
            budget,
            relative_tolerance: 0.0,
            seed,
            shard: Shard::WHOLE,
            starts: Vec::new(),
        };
        let found = search(&space, &product, &request, &|| false, &mut |_| {});
        (found.is_exhaustive, found.num_compiled, found.ranked[0].cost, found.ranked.len())
    };
    let (is_exhaustive, _, all, num_ranked) = best(20_000, 0);
    assert!(is_exhaustive && num_ranked > 2000, "{num_ranked} points");
    for seed in 0..8 {
        let (is_exhaustive, n_compiled, cost, _) = best(2000, seed);
        assert!(!is_exhaustive && n_compiled <= 2000);
        assert_eq!(cost, all, "seed {seed}");
    }
}
