//! Lower bound on the traffic of matmuls between slow and fast memory, for every order of computation: the red-blue
//! pebble game.

/// Returns the minimum number of elements that matmuls with `multiply_adds` in total move between slow memory and a
/// fast memory of `fast_elements`.
///
/// Partition an execution into spans that move `2 S` elements each, for a fast memory of `S` elements. A span can use
/// at most `3 S` elements of the two operands and the result: `S` that were resident, and `2 S` that are loaded or
/// stored. With `a`, `b` and `c` elements of the three tensors a matmul performs at most `sqrt(a * b * c)`
/// multiply-adds (Loomis and Whitney), which is maximal for `a = b = c = S`: `S^1.5`. So `n` multiply-adds need at
/// least `n / S^1.5` spans, the last of which may be short: at least `2 n / sqrt(S) - 2 S` elements. Matmuls without a
/// common operand share the `3 S` elements; by Hölder's inequality their total is also at most `S^1.5`, so their
/// multiply-adds add up.
///
/// The bound requires that all three tensors are loaded from slow memory or stored to it. An operand that is computed,
/// or a result that is used at once, may be created and consumed within a span. Such a matmul is not counted.
#[must_use]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a bound, rounded down")]
pub fn min_moved_elements(multiply_adds: i64, fast_elements: i64) -> i64 {
    if fast_elements < 1 {
        return 0;
    }
    let needed = 2.0 * multiply_adds as f64 / (fast_elements as f64).sqrt() - 2.0 * fast_elements as f64;
    // The quotient may have been rounded up by a relative error of 2^-52.
    ((needed * (1.0 - 1e-12)) as i64).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Returns the number of elements that a fast memory of `fast` elements moves for `[m, k] x [k, n]` in tiles, with
    /// optimal eviction: the element whose next use is latest leaves (Belady). `order` is the loop order of m, n and k,
    /// for the loops over tiles and for those over the points of a tile.
    fn count_moved_in_tiles(sizes: [usize; 3], tile: [usize; 3], order: [usize; 3], fast: usize) -> i64 {
        let mut uses: Vec<[(usize, usize, usize); 3]> = Vec::new();
        let mut tiles = vec![[0; 3]];
        for axis in order {
            let starts = |at: &[usize; 3]| {
                let at = *at;
                (0..sizes[axis]).step_by(tile[axis]).map(move |start| {
                    let mut at = at;
                    at[axis] = start;
                    at
                })
            };
            tiles = tiles.iter().flat_map(starts).collect();
        }
        for [m, n, k] in tiles {
            for i in m..(m + tile[0]).min(sizes[0]) {
                for j in n..(n + tile[1]).min(sizes[1]) {
                    uses.extend((k..(k + tile[2]).min(sizes[2])).map(|l| [(0, i, l), (1, l, j), (2, i, j)]));
                }
            }
        }
        let mut next: BTreeMap<(usize, usize, usize), Vec<usize>> = BTreeMap::new();
        for (time, elements) in uses.iter().enumerate().rev() {
            elements.iter().for_each(|element| next.entry(*element).or_default().push(time));
        }
        // Elements in fast memory; for elements of the result, whether they must still be stored.
        let (mut there, mut moved, mut seen) = (BTreeMap::new(), 0, std::collections::BTreeSet::new());
        for elements in &uses {
            for element in elements {
                next.get_mut(element).unwrap().pop();
                if !there.contains_key(element) {
                    // A new element of the result is not loaded.
                    moved += i64::from(element.0 < 2 || seen.contains(element));
                    if there.len() == fast {
                        let is_free = |other: &&(usize, usize, usize)| !elements.contains(other);
                        let last = there
                            .keys()
                            .filter(is_free)
                            .max_by_key(|other| next[*other].last().copied().unwrap_or(usize::MAX));
                        let last = *last.unwrap();
                        moved += i64::from(there.remove(&last) == Some(true));
                    }
                }
                seen.insert(*element);
                there.insert(*element, element.0 == 2 || there.get(element) == Some(&true));
            }
        }
        moved + i64::try_from(there.values().filter(|is_new| **is_new).count()).unwrap()
    }

    #[test]
    fn bounds_traffic_of_all_orders_and_tilings() {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for (sizes, fast) in [([8, 8, 8], 4), ([9, 9, 9], 12), ([10, 6, 8], 9), ([4, 12, 12], 16), ([10, 10, 10], 24)] {
            let multiply_adds = i64::try_from(sizes.iter().product::<usize>()).unwrap();
            let needed = min_moved_elements(multiply_adds, i64::try_from(fast).unwrap());
            let mut least = i64::MAX;
            for order in orders {
                for tile in [[1, 1, 1], [2, 2, 1], [3, 2, 1], [3, 3, 1], [4, 4, 1], [5, 5, 1], [2, 1, 4], [1, 4, 2]] {
                    least = least.min(count_moved_in_tiles(sizes, tile, order, fast));
                }
            }
            assert!(needed <= least, "{sizes:?} with {fast} elements: {least} were enough, the bound is {needed}");
            assert!(
                least <= 3 * needed + 6 * i64::try_from(fast).unwrap(),
                "{sizes:?} with {fast}: {needed} says little beside {least}"
            );
        }
    }

    #[test]
    fn returns_zero_for_matmuls_that_fit() {
        assert_eq!((min_moved_elements(1000, 10_000), min_moved_elements(1000, 0)), (0, 0));
        let of_lx = 32 * 1_625_344 / 2;
        assert!(min_moved_elements(2048 * 2048 * 2048, of_lx) < 3 * 2048 * 2048);
        assert!(min_moved_elements(16_384 * 16_384 * 16_384, of_lx) > 3 * 16_384 * 16_384);
    }
}
