//! Checks the buffers that launches share: each within the region, whole sticks, and no byte in two live buffers at a
//! time.

use super::report::ViolationReport;
use machine::STICK_BYTES;
use sdsc_format::program::{BufferPlace, Program, Tensor};
use std::ops::Range;

/// A buffer with an assigned address.
struct PlacedBuffer<'a> {
    /// Index in the program's `buffers`.
    number: usize,
    tensor: &'a Tensor,
    place: BufferPlace,
}

impl PlacedBuffer<'_> {
    fn byte_range(&self) -> Range<i64> {
        self.place.offset..self.place.offset.saturating_add(self.tensor.bytes)
    }

    fn is_alive_with(&self, other: &Self) -> bool {
        self.place.first_launch <= other.place.last_launch && other.place.first_launch <= self.place.last_launch
    }

    fn report(&self, message: String, report: &mut ViolationReport) {
        report.report_json(format!("/buffers/{}/place", self.number), message);
    }
}

/// Checks the addresses of a program's tensors.
pub(super) fn check(program: &Program, report: &mut ViolationReport) {
    for (member, tensors) in
        [("arguments", &program.arguments), ("results", &program.results), ("constants", &program.constants)]
    {
        for (number, tensor) in tensors.iter().enumerate().filter(|(_, tensor)| tensor.place.is_some()) {
            let message =
                format!("'{}' is one of the {member}; only buffers that launches share have a place", tensor.name);
            report.report_json(format!("/{member}/{number}/place"), message);
        }
    }
    let with_place = |(number, tensor): (usize, _)| to_placed_buffer(number, tensor);
    let mut placed: Vec<PlacedBuffer<'_>> = program.buffers.iter().enumerate().filter_map(with_place).collect();
    for one in &placed {
        check_bytes(one, program.buffer_bytes, report);
        check_live_range(one, program, report);
    }
    placed.sort_by_key(|one| (one.place.offset, one.number));
    for (position, one) in placed.iter().enumerate() {
        let after = placed[position + 1..].iter().take_while(|other| other.place.offset < one.byte_range().end);
        for other in after.filter(|other| other.is_alive_with(one)) {
            let (first, second) = (&one.tensor.name, &other.tensor.name);
            other.report(
                format!("'{second}' overlaps '{first}' while both are live; a byte belongs to one buffer at a time"),
                report,
            );
        }
    }
}

fn to_placed_buffer(number: usize, tensor: &Tensor) -> Option<PlacedBuffer<'_>> {
    tensor.place.map(|place| PlacedBuffer { number, tensor, place })
}

fn check_bytes(one: &PlacedBuffer<'_>, region_bytes: i64, report: &mut ViolationReport) {
    let (Range { start, end }, name) = (one.byte_range(), &one.tensor.name);
    if start < 0 || start % STICK_BYTES != 0 {
        one.report(format!("'{name}' starts at {start}; an offset is a multiple of {STICK_BYTES} from 0"), report);
    } else if end > region_bytes {
        one.report(
            format!("'{name}' ends at {end}; the buffers that launches share have {region_bytes} bytes"),
            report,
        );
    }
}

/// Checks that every launch with a buffer as an operand is within the buffer's live range.
fn check_live_range(one: &PlacedBuffer<'_>, program: &Program, report: &mut ViolationReport) {
    let (BufferPlace { first_launch, last_launch, .. }, name) = (one.place, &one.tensor.name);
    if first_launch > last_launch || last_launch >= program.launches.len() {
        let message =
            format!("'{name}' lives from launch {first_launch} to {last_launch}; there are {}", program.launches.len());
        return one.report(message, report);
    }
    let uses = |launch: &usize| program.launches[*launch].arguments.contains(name);
    if let Some(launch) = (0..first_launch).chain(last_launch + 1..program.launches.len()).find(uses) {
        one.report(
            format!("'{name}' lives from launch {first_launch} to {last_launch}, but launch {launch} uses it"),
            report,
        );
    }
}
