//! Validation of a compilation by executing it on elements of finite fields.
//!
//! The imported program is interpreted, the written files are executed on the simulated machine, on the same random arguments, and every
//! element of every result must be equal: no tolerance. If it is not, the program is interpreted after each phase to say which one changed
//! it. `docs/referee.md` says what this proves and what it does not.
//!
//! | file | what |
//! |---|---|
//! | `draw` | random arguments |
//! | `difference` | where two executions differ |
//! | `degree` | how likely it is that a draw hides a difference |
//! | `files` | the written files on the simulated machine |
//! | `phases` | one compilation, validated before anything is written |
//! | `snapshot`, `each` | what functions compute before and after a pass |

mod degree;
mod difference;
mod draw;
mod each;
mod files;
mod phases;
mod snapshot;

use difference::undefined;
pub use difference::{Difference, difference};
pub use draw::arguments;
pub use each::observe;
pub use phases::{Verdict, compile_validated};
pub use snapshot::Snapshot;

/// Draws of random arguments and random functions. In every third one zero is the largest number, so that what a maximum begins with shows.
pub const DRAWS: u64 = 3;

/// Programs with more element operations in one execution are executed in one draw only.
pub const MOST_STEPS: u64 = 1 << 32;

/// Programs with more are not executed.
pub const MOST_STEPS_OF_ONE_DRAW: u64 = 1 << 35;

/// The draws in which a program of so many element operations is executed: of one draw alone, that in which zero is the largest number.
/// None if it is too large.
#[must_use]
pub fn draws_for(element_operations: u64) -> Option<std::ops::Range<u64>> {
    match () {
        () if element_operations <= MOST_STEPS => Some(0..DRAWS),
        () if element_operations <= MOST_STEPS_OF_ONE_DRAW => Some(DRAWS - 1..DRAWS),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_program_is_executed_in_the_draw_that_shows_what_a_maximum_begins_with() {
        assert_eq!(draws_for(MOST_STEPS), Some(0..DRAWS));
        assert_eq!(draws_for(MOST_STEPS + 1), Some(2..3));
        assert_eq!((draws_for(MOST_STEPS_OF_ONE_DRAW), draws_for(MOST_STEPS_OF_ONE_DRAW + 1)), (Some(2..3), None));
    }
}
