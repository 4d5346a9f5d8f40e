//! Random lists of any length: live ranges of twenty operations on average, sizes up to 64 sticks, weights up to 5.

use scratchpad::{
    Capacity, Instance,
    pack::{Rectangle, compute_max_load},
};
use std::fmt::Write;

/// Returns a generator of random numbers below a limit. The sequence is equal on every machine.
pub(crate) fn random_generator(mut state: u64) -> impl FnMut(usize) -> usize {
    move |n| {
        // SplitMix64 (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 20) as usize % n
    }
}

/// Returns the CSV file of `n` random buffers, and the maximum number of bytes live at once.
pub(crate) fn generate_live_ranges(n: usize) -> (String, i64) {
    let mut below = random_generator(n as u64);
    let mut text = "id,lower,upper,size,weight\n".to_owned();
    let mut live_ranges = Vec::new();
    for buffer in 0..n {
        let start = below(n);
        let mut end = start + 1;
        while below(20) > 0 {
            end += 1;
        }
        let (bytes, weight) = (128 * (1 + below(64)), 1 + below(5));
        writeln!(text, "b{buffer},{start},{end},{bytes},{weight}").unwrap();
        live_ranges.push(Rectangle { lower: start as i64, upper: end as i64, size: bytes as i64 });
    }
    (text, compute_max_load(&live_ranges))
}

/// Returns the instance of a CSV file. The LX has `hundredths` percent of `load`, the bytes live at once.
pub(crate) fn build_instance(text: &str, load: i64, hundredths: i64) -> Instance {
    let bytes = load * hundredths / 100 / 128 * 128;
    Instance::from_csv(text, Capacity { bytes, alignment: 128 }).unwrap()
}
