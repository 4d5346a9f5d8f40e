//! Random choices that determine a case, and that are shrunk if it fails.
//!
//! The generator requests one number after another. All numbers are recorded, so a case is a list of numbers. A list
//! that ends early is continued with zeros, and zero is the simplest answer to every request. A shorter list, or one
//! with smaller numbers, is therefore a simpler case for every generator.

/// Source of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    /// Numbers drawn so far, or fixed numbers that answer the requests.
    numbers: Vec<usize>,
    next: usize,
    /// State of the random generator; `None` if the numbers are fixed.
    state: Option<u64>,
}

impl Choices {
    /// Returns the random numbers of a case.
    pub(crate) fn from_case(case: usize) -> Self {
        Self { numbers: vec![], next: 0, state: Some(mix(case as u64 ^ 0x5eed_0000)) }
    }

    /// Uses fixed numbers.
    pub(crate) fn from_numbers(numbers: Vec<usize>) -> Self {
        Self { numbers, next: 0, state: None }
    }

    /// Returns the numbers that answered the requests.
    pub(crate) fn into_numbers(self) -> Vec<usize> {
        self.numbers
    }

    /// Returns a number below `bound`; 0 if `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        if bound < 2 {
            return 0;
        }
        let position = self.next;
        self.next += 1;
        match &mut self.state {
            None => self.numbers.get(position).map_or(0, |number| number % bound),
            Some(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let number = (mix(*state) % bound as u64) as usize;
                self.numbers.push(number);
                number
            }
        }
    }

    /// Picks one of several items; the first is the simplest.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Returns true once in `times`; false is the simpler answer.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) + 1 == times
    }
}

/// Mixes bits (the finalizer of SplitMix64).
pub(crate) const fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Returns the simplest list that still fails, found within `most_tries` attempts.
pub(crate) fn find_simplest(
    mut numbers: Vec<usize>,
    most_tries: usize,
    mut fails: impl FnMut(&[usize]) -> bool,
) -> Vec<usize> {
    let mut left = most_tries;
    let mut try_it = |numbers: &mut Vec<usize>, simpler: Vec<usize>| {
        let is_simpler = left > 0 && simpler != *numbers && fails(&simpler);
        left = left.saturating_sub(1);
        if is_simpler {
            *numbers = simpler;
        }
        (is_simpler, left > 0)
    };
    let mut length = numbers.len().next_power_of_two();
    while length > 0 {
        let mut start = 0;
        while start < numbers.len() {
            let end = (start + length).min(numbers.len());
            let shorter = [&numbers[..start], &numbers[end..]].concat();
            let (is_gone, goes_on) = try_it(&mut numbers, shorter);
            if !goes_on {
                return numbers;
            }
            start += if is_gone { 0 } else { length };
        }
        length /= 2;
    }
    for position in 0..numbers.len() {
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            let number = numbers[position];
            for smaller in [0, 1, number / 2, number.saturating_sub(1)].into_iter().filter(|smaller| *smaller < number)
            {
                let mut simpler = numbers.clone();
                simpler[position] = smaller;
                let (is_simpler, has_tries) = try_it(&mut numbers, simpler);
                if !has_tries {
                    return numbers;
                }
                if is_simpler {
                    goes_on = true;
                    break;
                }
            }
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replays_recorded_numbers() {
        let ask = |choices: &mut Choices| (0..20).map(|bound| choices.below(bound)).collect::<Vec<_>>();
        let mut first = Choices::from_case(7);
        let answers = ask(&mut first);
        assert_eq!(ask(&mut Choices::from_numbers(first.into_numbers())), answers);
        assert_ne!(ask(&mut Choices::from_case(8)), answers);
    }

    #[test]
    fn drops_irrelevant_numbers() {
        let numbers = vec![3, 9, 1, 40, 7, 7, 8, 12];
        assert_eq!(find_simplest(numbers, 1000, |list| list.iter().any(|number| *number > 20)), [21]);
    }
}
