//! Generates programs that compose lists of indices and read tables with them, and computes NumPy's results.

use super::array::{Array, IndexArray};

/// Inclusive bounds of the integers of a list.
pub(crate) type InclusiveBounds = [i64; 2];

/// Drawn numbers; 0 after the last one, so that a shorter list is a simpler program.
pub(crate) struct RecipeNumbers<'a> {
    numbers: std::slice::Iter<'a, u16>,
}

impl<'a> RecipeNumbers<'a> {
    pub(crate) fn new(numbers: &'a [u16]) -> Self {
        Self { numbers: numbers.iter() }
    }

    /// Returns a number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(self.numbers.next().copied().unwrap_or(0)) % n
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// Definition of a list of indices or booleans in terms of earlier lists.
#[derive(Clone, Debug)]
pub(crate) enum ListDefinition {
    /// Argument of the function.
    Argument,
    /// Constants.
    Known(Vec<i64>),
    Slice {
        offsets: Vec<usize>,
        strides: Vec<usize>,
    },
    Row(usize),
    Reverse(usize),
    Transpose,
    Reshape,
    Join(usize),
    Stack(usize),
    Sort {
        dim: usize,
        is_descending: bool,
    },
    Add(i64),
    Multiply(i64),
    Divide(i64),
    Clip(InclusiveBounds),
    Plus,
    Minimum,
    /// The first list where it is below a number, and the second elsewhere.
    WhereBelow(i64),
    /// The first list where an argument holds, and the second elsewhere.
    WhereMask,
    SumUp(usize),
    /// Positions of the largest numbers in the rows of an argument.
    ArgMax,
    /// `i < 0 ? i + n : i`.
    Normalize(i64),
}

/// A list with its operands, shape and bounds.
#[derive(Clone, Debug)]
pub(crate) struct ListStep {
    pub(crate) list: ListDefinition,
    pub(crate) inputs: Vec<usize>,
    pub(crate) shape: Vec<usize>,
    pub(crate) bounds: InclusiveBounds,
    /// Number of the spelling in the program, if there are several.
    pub(crate) spelling: usize,
}

/// Kind of table read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableRead {
    /// `t[i]`, of rows.
    Rows,
    /// `t[i]`, of elements.
    Elements,
    /// `t[:, i]`.
    Columns,
    /// `t[i, j]`.
    Pairs,
    /// `np.take_along_axis(t, i, 1)`.
    AlongRows,
    /// `x[b, i[b]]` of batches of rows.
    LastToken,
    /// A page for one index: `t[i]` by a slice at a runtime offset.
    Page,
    /// The list itself is the result.
    List,
}

/// Generated program.
#[derive(Clone, Debug)]
pub(crate) struct IndexProgram {
    pub(crate) steps: Vec<ListStep>,
    pub(crate) read: TableRead,
    /// Lists with which the table is read.
    pub(crate) indices: Vec<usize>,
    pub(crate) table: Vec<usize>,
    pub(crate) integer: &'static str,
    pub(crate) float: &'static str,
    /// Whether the indices are wrapped and clamped before the read, as producers write it.
    pub(crate) is_clamped: bool,
    /// Whether a list is read inside the body, or is an operand of the op.
    pub(crate) is_extracted: bool,
}

/// Maximum number of integers of a list.
const MAX_ELEMENTS: usize = 160;

/// Largest integer: the 16-bit format represents all integers up to 1,024.
const MAX_INTEGER: i64 = 200;

impl IndexProgram {
    pub(crate) fn new(numbers: &[u16]) -> Self {
        let mut draws = RecipeNumbers::new(numbers);
        let read = draws.pick(&[
            TableRead::Rows,
            TableRead::Rows,
            TableRead::Pairs,
            TableRead::Elements,
            TableRead::LastToken,
            TableRead::Page,
            TableRead::AlongRows,
            TableRead::Columns,
            TableRead::Rows,
            TableRead::List,
        ]);
        let (integer, float) = (draws.pick(&["i32", "i64"]), draws.pick(&["f16", "f16", "f16", "f32"]));
        let (is_clamped, is_extracted) = (draws.below(3) == 1, draws.below(2) == 1);
        let mut program = Self {
            steps: Vec::new(),
            read,
            indices: Vec::new(),
            table: Vec::new(),
            integer,
            float,
            is_clamped,
            is_extracted,
        };
        let num_steps = 1 + draws.below(5);
        program.add_argument(&mut draws);
        for _ in 0..num_steps {
            program.add_step(&mut draws);
        }
        program.add_read(&mut draws);
        program
    }

    fn push(
        &mut self,
        list: ListDefinition,
        inputs: &[usize],
        shape: &[usize],
        bounds: InclusiveBounds,
        draws: &mut RecipeNumbers<'_>,
    ) -> usize {
        let spelling = draws.below(3);
        self.steps.push(ListStep { list, inputs: inputs.to_vec(), shape: shape.to_vec(), bounds, spelling });
        self.steps.len() - 1
    }

    fn add_argument(&mut self, draws: &mut RecipeNumbers<'_>) -> usize {
        let bound = draws.pick(&[7, 3, 31, 12, 63]);
        let shape: &[usize] = draws.pick(&[
            &[9],
            &[5],
            &[2],
            &[33],
            &[1],
            &[64],
            &[2, 9],
            &[3, 4],
            &[5, 2],
            &[2, 32],
            &[4, 1],
            &[100],
            &[1, 6],
            &[3, 33],
        ]);
        self.push(ListDefinition::Argument, &[], shape, [0, bound], draws)
    }

    /// Adds an argument of a shape.
    fn argument_like(&mut self, shape: &[usize], draws: &mut RecipeNumbers<'_>) -> usize {
        let bound = draws.pick(&[7, 3, 31]);
        self.push(ListDefinition::Argument, &[], shape, [0, bound], draws)
    }

    /// Returns a list of a shape: an earlier one or a new argument.
    fn list_like(&mut self, shape: &[usize], draws: &mut RecipeNumbers<'_>) -> usize {
        let like: Vec<usize> = (0..self.steps.len()).filter(|&step| self.steps[step].shape == shape).collect();
        match draws.below(like.len() + 1) {
            0 => self.argument_like(shape, draws),
            one => like[one - 1],
        }
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each kind of list")]
    fn add_step(&mut self, draws: &mut RecipeNumbers<'_>) -> usize {
        // Mostly the last list, so that a program is a chain; sometimes an earlier one.
        let from = if draws.below(4) == 3 { draws.below(self.steps.len()) } else { self.steps.len() - 1 };
        let ListStep { shape, bounds: [low, high], .. } = self.steps[from].clone();
        let rank = shape.len();
        let dim = draws.below(rank);
        let num_elements: usize = shape.iter().product();
        let kind = draws.below(17);
        match kind {
            0 | 1 => {
                let (mut offsets, mut sizes, mut strides) = (vec![0; rank], shape.clone(), vec![1; rank]);
                offsets[dim] = draws.below(shape[dim]);
                let left = shape[dim] - offsets[dim];
                strides[dim] = if draws.below(4) == 3 { 2 } else { 1 };
                sizes[dim] = 1 + draws.below(left.div_ceil(strides[dim]));
                self.push(ListDefinition::Slice { offsets, strides }, &[from], &sizes, [low, high], draws)
            }
            2 if rank > 1 => {
                self.push(ListDefinition::Row(draws.below(shape[0])), &[from], &shape[1..], [low, high], draws)
            }
            3 => self.push(ListDefinition::Reverse(dim), &[from], &shape, [low, high], draws),
            4 if rank == 2 => self.push(ListDefinition::Transpose, &[from], &[shape[1], shape[0]], [low, high], draws),
            5 => {
                let shapes: Vec<Vec<usize>> = match rank {
                    1 => [1, 2, 3, 4]
                        .into_iter()
                        .filter(|rows| num_elements.is_multiple_of(*rows))
                        .map(|rows| vec![rows, num_elements / rows])
                        .collect(),
                    _ => vec![vec![num_elements]],
                };
                let to = &shapes[draws.below(shapes.len())];
                self.push(ListDefinition::Reshape, &[from], to, [low, high], draws)
            }
            6 | 7 if num_elements < MAX_ELEMENTS => {
                let mut like = shape.clone();
                like[dim] = 1 + draws.below(9);
                let other = self.list_like(&like, draws);
                let [other_low, other_high] = self.steps[other].bounds;
                let mut joined = shape.clone();
                joined[dim] += like[dim];
                let inputs = if draws.below(2) == 0 { [from, other] } else { [other, from] };
                self.push(
                    ListDefinition::Join(dim),
                    &inputs,
                    &joined,
                    [low.min(other_low), high.max(other_high)],
                    draws,
                )
            }
            8 if shape[dim] > 1 => {
                // Shifted to the right, with a constant first, as the inputs of a decoder.
                let mut sizes = shape.clone();
                sizes[dim] -= 1;
                let first = self.push(
                    ListDefinition::Slice { offsets: vec![0; rank], strides: vec![1; rank] },
                    &[from],
                    &sizes,
                    [low, high],
                    draws,
                );
                let mut one = shape.clone();
                one[dim] = 1;
                let start = i64::try_from(draws.below(3)).unwrap();
                let known = self.push(
                    ListDefinition::Known(vec![start; one.iter().product()]),
                    &[],
                    &one,
                    [start, start],
                    draws,
                );
                self.push(ListDefinition::Join(dim), &[known, first], &shape, [low.min(start), high.max(start)], draws)
            }
            9 if num_elements < MAX_ELEMENTS && rank == 1 => {
                let other = self.list_like(&shape, draws);
                let [other_low, other_high] = self.steps[other].bounds;
                let dim = draws.below(2);
                let mut stacked = shape.clone();
                stacked.insert(dim, 2);
                self.push(
                    ListDefinition::Stack(dim),
                    &[from, other],
                    &stacked,
                    [low.min(other_low), high.max(other_high)],
                    draws,
                )
            }
            10 => self.push(
                ListDefinition::Sort { dim, is_descending: draws.below(3) == 2 },
                &[from],
                &shape,
                [low, high],
                draws,
            ),
            11 => self.add_arithmetic(from, draws),
            12 => {
                let other = self.list_like(&shape, draws);
                let [other_low, other_high] = self.steps[other].bounds;
                match draws.below(2) {
                    0 if high + other_high <= MAX_INTEGER && low + other_low >= -MAX_INTEGER => self.push(
                        ListDefinition::Plus,
                        &[from, other],
                        &shape,
                        [low + other_low, high + other_high],
                        draws,
                    ),
                    _ => self.push(
                        ListDefinition::Minimum,
                        &[from, other],
                        &shape,
                        [low.min(other_low), high.min(other_high)],
                        draws,
                    ),
                }
            }
            13 | 14 => {
                let other = self.list_like(&shape, draws);
                let [other_low, other_high] = self.steps[other].bounds;
                let limit = low + i64::try_from(draws.below(6)).unwrap();
                let list = if kind == 13 { ListDefinition::WhereBelow(limit) } else { ListDefinition::WhereMask };
                self.push(list, &[from, other], &shape, [low.min(other_low), high.max(other_high)], draws)
            }
            15 if low >= 0 && high * i64::try_from(shape[dim]).unwrap() <= MAX_INTEGER => {
                let most = high * i64::try_from(shape[dim]).unwrap();
                self.push(ListDefinition::SumUp(dim), &[from], &shape, [low, most], draws)
            }
            16 => self.push(ListDefinition::ArgMax, &[], &[draws.pick(&[5, 1, 9, 33])], [0, 6], draws),
            _ => self.add_arithmetic(from, draws),
        }
    }

    fn add_arithmetic(&mut self, from: usize, draws: &mut RecipeNumbers<'_>) -> usize {
        let ListStep { shape, bounds: [low, high], .. } = self.steps[from].clone();
        let number = i64::try_from(draws.below(5)).unwrap();
        let (list, bounds) = match draws.below(4) {
            0 if high + number <= MAX_INTEGER => (ListDefinition::Add(number), [low + number, high + number]),
            1 if high * 2 <= MAX_INTEGER && low >= 0 => (ListDefinition::Multiply(2), [low * 2, high * 2]),
            2 if low >= 0 => (ListDefinition::Divide(number + 2), [low / (number + 2), high / (number + 2)]),
            3 if low >= 0 => (ListDefinition::Add(-number), [low - number, high - number]),
            _ => (ListDefinition::Clip([0, 5]), [low.clamp(0, 5), high.clamp(0, 5)]),
        };
        self.push(list, &[from], &shape, bounds, draws)
    }

    /// Returns the list for reads of a table of `rows` rows: negative indices are first converted to rows.
    fn convert_to_rows(&mut self, list: usize, draws: &mut RecipeNumbers<'_>) -> (usize, usize) {
        let ListStep { shape, bounds: [low, high], .. } = self.steps[list].clone();
        let rows = usize::try_from(high.max(-low - 1).max(0)).unwrap() + 1 + draws.below(3);
        let last = i64::try_from(rows).unwrap();
        if low >= 0 {
            return (list, rows);
        }
        let (list_kind, bounds) = match draws.below(2) {
            0 => (ListDefinition::Normalize(last), [0, last - 1]),
            _ => (ListDefinition::Clip([0, last - 1]), [0, high.max(0)]),
        };
        (self.push(list_kind, &[list], &shape, bounds, draws), rows)
    }

    fn add_read(&mut self, draws: &mut RecipeNumbers<'_>) {
        let columns = draws.pick(&[64, 70, 7, 128, 33]);
        let mut list = self.steps.len() - 1;
        if self.read == TableRead::Page {
            // One entry of the list.
            while self.steps[list].shape.len() > 1 {
                let shape = self.steps[list].shape.clone();
                let bounds = self.steps[list].bounds;
                list = self.push(ListDefinition::Row(draws.below(shape[0])), &[list], &shape[1..], bounds, draws);
            }
        }
        if self.read == TableRead::LastToken && self.steps[list].shape.len() > 1 {
            self.read = TableRead::Rows;
        }
        if self.read == TableRead::AlongRows && self.steps[list].shape.len() != 2 {
            self.read = TableRead::Columns;
        }
        let (list, rows) = self.convert_to_rows(list, draws);
        let shape = self.steps[list].shape.clone();
        self.indices = vec![list];
        self.table = match self.read {
            TableRead::Rows | TableRead::Page => vec![rows, columns],
            TableRead::Elements => vec![rows],
            TableRead::Columns => vec![3, rows],
            TableRead::AlongRows => vec![shape[0], rows],
            TableRead::LastToken => vec![shape[0], rows, columns],
            TableRead::Pairs => {
                let other = self.list_like(&shape, draws);
                let (other, other_rows) = self.convert_to_rows(other, draws);
                self.indices.push(other);
                vec![rows, other_rows]
            }
            TableRead::List => Vec::new(),
        };
    }
}

/// Inputs of a program, by the number of the step that an argument belongs to.
pub(crate) struct IndexInputs {
    pub(crate) lists: Vec<Option<IndexArray>>,
    pub(crate) table: Array<f64>,
}

/// Returns the numbers in which the step `ArgMax` searches for maxima.
pub(crate) fn arg_max_numbers(step: usize, rows: usize) -> Array<f64> {
    Array::build(&[rows, 7], |at| ((at[0] * 5 + at[1] * 11 + step * 3) % 13) as f64)
}

/// Returns the booleans by which the step `WhereMask` selects.
pub(crate) fn where_mask(step: usize, shape: &[usize]) -> Array<bool> {
    let mut count = step;
    Array::build(shape, |_| {
        count = (count * 7 + 3) % 101;
        count % 5 < 2
    })
}

impl IndexProgram {
    /// Evaluates all lists.
    pub(crate) fn evaluate_lists(&self, inputs: &IndexInputs) -> Vec<IndexArray> {
        let mut lists: Vec<IndexArray> = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            let of = |input: usize| &lists[step.inputs[input]];
            let all = || step.inputs.iter().map(|&input| lists[input].clone()).collect::<Vec<_>>();
            let list = match &step.list {
                ListDefinition::Argument => inputs.lists[number].clone().unwrap(),
                ListDefinition::Known(elements) => IndexArray { shape: step.shape.clone(), elements: elements.clone() },
                ListDefinition::Slice { offsets, strides } => of(0).slice(offsets, &step.shape, strides),
                ListDefinition::Row(row) => of(0).row(*row),
                ListDefinition::Reverse(dim) => of(0).reverse(*dim),
                ListDefinition::Transpose => of(0).transpose(),
                ListDefinition::Reshape => of(0).reshape(&step.shape),
                ListDefinition::Join(dim) => Array::concatenate(&all(), *dim),
                ListDefinition::Stack(dim) => Array::stack(&all(), *dim),
                ListDefinition::Sort { dim, is_descending } => of(0).sort(*dim, *is_descending),
                ListDefinition::Add(number) => of(0).map(|element| element + number),
                ListDefinition::Multiply(number) => of(0).map(|element| element * number),
                ListDefinition::Divide(number) => of(0).map(|element| element.div_euclid(*number)),
                ListDefinition::Clip([low, high]) => of(0).map(|element| element.clamp(*low, *high)),
                ListDefinition::Plus => of(0).zip_with(of(1), |one, other| one + other),
                ListDefinition::Minimum => of(0).zip_with(of(1), i64::min),
                ListDefinition::WhereBelow(limit) => {
                    of(0).zip_with(of(1), |one, other| if one < *limit { one } else { other })
                }
                ListDefinition::WhereMask => {
                    let mask = where_mask(number, &step.shape);
                    let both = of(0).zip_with(of(1), |one, other| (one, other));
                    both.zip_with(&mask, |(one, other), holds| if holds { one } else { other })
                }
                ListDefinition::SumUp(dim) => of(0).cumsum(*dim),
                ListDefinition::ArgMax => arg_max_numbers(number, step.shape[0]).argmax(),
                ListDefinition::Normalize(rows) => {
                    of(0).map(|element| if element < 0 { element + rows } else { element })
                }
            };
            assert_eq!(list.shape, step.shape, "{:?}", step.list);
            lists.push(list);
        }
        lists
    }

    /// Returns the result; `None` if an index is out of bounds, where NumPy raises an error.
    pub(crate) fn evaluate(&self, inputs: &IndexInputs) -> Option<Array<f64>> {
        let lists = self.evaluate_lists(inputs);
        let of = |position: usize| &lists[self.indices[position]];
        let (list, table) = (of(0), &inputs.table);
        let dims: &[usize] = match self.read {
            TableRead::List => return Some(list.map(|element| element as f64)),
            TableRead::Rows | TableRead::Elements | TableRead::Page | TableRead::Pairs => &[0],
            TableRead::Columns | TableRead::AlongRows | TableRead::LastToken => &[1],
        };
        let is_row = |list: &IndexArray, dim: usize| {
            list.elements.iter().all(|&row| (0..table.shape[dim] as i64).contains(&row))
        };
        if !is_row(list, dims[0]) || (self.read == TableRead::Pairs && !is_row(of(1), 1)) {
            return None;
        }
        let index = |list: &IndexArray, point: &[usize]| list.get(point) as usize;
        let rank = list.shape.len();
        Some(match self.read {
            TableRead::Rows => Array::build(&[list.shape.as_slice(), &[table.shape[1]]].concat(), |at| {
                table.get(&[index(list, &at[..rank]), at[rank]])
            }),
            TableRead::Page => {
                Array::build(&[1, table.shape[1]], |at| table.get(&[index(list, &[list.shape[0] - 1]), at[1]]))
            }
            TableRead::Elements => list.map(|row| table.get(&[row as usize])),
            TableRead::Columns => {
                Array::build(&[&[3], list.shape.as_slice()].concat(), |at| table.get(&[at[0], index(list, &at[1..])]))
            }
            TableRead::Pairs => list.zip_with(of(1), |row, column| table.get(&[row as usize, column as usize])),
            TableRead::AlongRows => Array::build(&list.shape, |at| table.get(&[at[0], index(list, &at)])),
            TableRead::LastToken => {
                Array::build(&[list.shape[0], table.shape[2]], |at| table.get(&[at[0], index(list, &at[..1]), at[1]]))
            }
            TableRead::List => unreachable!("returned above"),
        })
    }
}
