//! Products of matrices over a finite field.

use super::{
    super::{
        Arithmetic,
        residue::{P, Q, add_mod},
        residue_sums::ResidueSums,
        spent_masks::SpentMasks,
    },
    FieldElement, FiniteField, SPENT_BIT,
};

impl FiniteField {
    /// Adds the product of two row-major matrices to `out`: [`Arithmetic::multiply`].
    pub(super) fn multiply_matrices(
        &self,
        left: &[FieldElement],
        right: &[FieldElement],
        out: &mut [FieldElement],
        k: usize,
        n: usize,
    ) {
        let is_spent = |elements: &[FieldElement]| elements.iter().fold(false, |any, element| any | element.is_spent());
        let (mut first, mut second) = (Vec::with_capacity(right.len()), None);
        let (mut is_line_finite, mut right_is_spent) = (Vec::with_capacity(k), false);
        for line in right.chunks_exact(n) {
            is_line_finite.push(are_all_finite(line));
            right_is_spent |= is_spent(line);
            first.extend(line.iter().map(|element| first_residue(*element)));
        }
        let right_is_finite = is_line_finite.iter().all(|is_finite| *is_finite);
        let mut columns = None;
        let mut sums = ResidueSums::new(n);
        for (row, out) in left.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
            let is_finite = right_is_finite && are_all_finite(row) && are_all_finite(out);
            let exceptions = if is_finite { Vec::new() } else { self.sum_exceptions(row, right, out, &is_line_finite) };
            sums.add(&collect_residues(row, first_residue), &first);
            out.iter_mut()
                .zip(sums.take(P))
                .for_each(|(out, first)| out.first = add_mod(first, out.first.into(), P) as u32);
            if right_is_spent || is_spent(row) {
                let describe = |factor: &FieldElement| (factor.first == 0, factor.is_spent());
                let row = SpentMasks::new(row.iter().map(describe));
                let columns = columns.get_or_insert_with(|| SpentMasks::new_columns(right, n, describe));
                out.iter_mut()
                    .zip(columns)
                    .filter(|(_, column)| row.has_spent_product(column))
                    .for_each(|(out, _)| out.second = SPENT_BIT);
            }
            // Nothing depends on the second residue of a spent element.
            if !are_all_spent(out) {
                sums.add(
                    &collect_residues(row, second_residue),
                    second.get_or_insert_with(|| collect_residues(right, second_residue)),
                );
                for (out, second) in out.iter_mut().zip(sums.take(Q)) {
                    let second = add_mod(second, out.second_without_flag(), Q);
                    *out = FieldElement::new(out.first.into(), second, out.is_spent());
                }
            }
            for (out, exception) in out.iter_mut().zip(exceptions) {
                *out = exception.unwrap_or(*out);
            }
        }
    }

    /// Returns, for each sum, the infinity, undefined or poison that it becomes by the products of a row and a matrix;
    /// `None` if all its summands are residues. Sets the sums that have no residues to 0. A product with zero adds
    /// nothing, even if the other factor is poison.
    ///
    /// Residues do not change such a sum, so only the other products are added.
    fn sum_exceptions(
        &self,
        row: &[FieldElement],
        right: &[FieldElement],
        out: &mut [FieldElement],
        is_line_finite: &[bool],
    ) -> Vec<Option<FieldElement>> {
        let mut exceptions = vec![None; out.len()];
        for (exception, sum) in exceptions.iter_mut().zip(&mut *out).filter(|(_, sum)| !sum.is_finite()) {
            *exception = Some(std::mem::replace(sum, FieldElement::ZERO));
        }
        let lines = right.chunks_exact(out.len()).zip(is_line_finite);
        for (factor, (line, _)) in row
            .iter()
            .zip(lines)
            .filter(|(factor, (_, is_line_finite))| factor.first != 0 && !(factor.is_finite() && **is_line_finite))
        {
            for (exception, element) in exceptions.iter_mut().zip(line) {
                if element.first != 0 && !(factor.is_finite() && element.is_finite()) {
                    let product = self.mul(*factor, *element);
                    *exception = Some(exception.map_or(product, |sum| self.add(sum, product)));
                }
            }
        }
        exceptions
    }
}

/// Returns whether all elements are finite. Testing every one is faster than stopping early.
fn are_all_finite(elements: &[FieldElement]) -> bool {
    elements.iter().fold(true, |all, element| all & element.is_finite())
}

fn are_all_spent(elements: &[FieldElement]) -> bool {
    elements.iter().fold(true, |all, element| all & element.is_spent())
}

fn collect_residues(elements: &[FieldElement], part: impl Fn(FieldElement) -> u32) -> Vec<u32> {
    elements.iter().map(|element| part(*element)).collect()
}

/// Returns the first residue, or 0 for an element without residues.
const fn first_residue(element: FieldElement) -> u32 {
    if element.is_finite() { element.first } else { 0 }
}

/// Returns the second residue, or 0 if the first is 0: a zero is zero in both fields. Returns 0 for an element without
/// residues.
const fn second_residue(element: FieldElement) -> u32 {
    if element.first == 0 || !element.is_finite() { 0 } else { element.second & !SPENT_BIT }
}
