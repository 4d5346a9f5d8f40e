//! The search for what a program leaves open: knobs of kernels, and what may move into them.
//!
//! Definitions:
//! * A [`Space`] has a *dimension* for each thing that is left open, with the choices that it has; a [`Point`] takes one choice of each. The
//!   *untuned* point is what a compilation takes if nobody asks for anything else. It is judged first, so what is found is never worse.
//! * A [`Judge`] refuses a point by a rule, without compiling it, or says what the program costs with it.
//! * Points are compared by the objective, then by the other half of the cost, then by how few choices differ from the untuned point, then in
//!   the order of the choices. So there is one best point, whoever looks at them and in whatever order.
//!
//! Method: all points where there are no more than the budget, else walks from the untuned point and from random ones. Points are judged by
//! many threads, a batch at a time, and what is decided between batches depends on the costs alone; so the answer does not depend on threads or clocks.
//! `docs/measurements/tuning.md` has figures.
//!
//! | file | what |
//! |---|---|
//! | `space.rs` | what is left open |
//! | `search.rs` | judges points in batches, all of them if they are few |
//! | `walk.rs` | the walks where they are many |
//! | `random.rs` | random numbers that are the same on every machine |
//! | `shard.rs` | a part of the work, for one machine of several |
//! | `entry.rs` | what a search found and what it was for, as a line of a cache |
//! | `cache.rs` | folders of such lines: found again, added to, put together |
//! | `merge.rs` | what the entries of several machines come to together |
//! | `product.rs` | for a test: walks beside all points of a product, by the model of time |

mod cache;
mod entry;
mod merge;
#[cfg(test)]
mod product;
mod random;
mod search;
mod shard;
mod space;
mod walk;

pub use cache::{Cache, Looked, Placed, append, read_folder};
pub use entry::{Answer, Entry, Key, Ranked, Terms};
pub use merge::{Merged, merge};
pub use search::{Candidate, Found, Judge, Measured, Progress, Rejection, Request, Stop, search};
pub use shard::Shard;
pub use space::{Dimension, Point, Space};
