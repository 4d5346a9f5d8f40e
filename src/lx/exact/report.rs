//! The result of a plan as JSON, with its certificate (docs/lx-planning.md).

use super::solve::{Plan, StayInLx};
use crate::lx::{Buffer, Capacity, Instance};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct File<'a> {
    planner: &'a str,
    capacity: i64,
    alignment: i64,
    /// The address of the first stay.
    addresses: BTreeMap<&'a str, Option<i64>>,
    reasons: BTreeMap<&'a str, String>,
    stays: Vec<Stay<'a>>,
    hbm_bytes_left: i64,
    lower_bound: i64,
    optimal: bool,
    steps: u64,
    seconds: f64,
    timed_out: bool,
    certificate: Certificate<'a>,
}

#[derive(Serialize)]
struct Stay<'a> {
    buffer: &'a str,
    start: usize,
    end: usize,
    address: i64,
}

#[derive(Serialize)]
struct Certificate<'a> {
    whole_lives: bool,
    scale: i64,
    prices: &'a [(usize, i64)],
    cuts: Vec<Cut<'a>>,
}

#[derive(Serialize)]
struct Cut<'a> {
    stays: Vec<Crowded<'a>>,
    mergers: Vec<(&'a str, &'a str)>,
}

#[derive(Serialize)]
struct Crowded<'a> {
    buffer: &'a str,
    start: usize,
    end: usize,
}

impl Plan {
    /// The text of `RESULT.json`; `seconds` is what the planner took.
    ///
    /// # Errors
    /// When the text cannot be made.
    pub fn to_json(&self, instance: &Instance, seconds: f64) -> Result<String, serde_json::Error> {
        let Instance { buffers, capacity, .. } = instance;
        let name = |buffer: usize| buffers[buffer].name.as_str();
        let mut addresses: BTreeMap<&str, Option<i64>> = buffers.iter().map(|buffer| (buffer.name.as_str(), None)).collect();
        for stay in self.stays.iter().rev() {
            addresses.insert(name(stay.buffer), Some(stay.address));
        }
        let is_placed = |index: usize| self.stays.iter().any(|stay| stay.buffer == index);
        let reasons = (0..buffers.len()).filter(|&index| !is_placed(index));
        let stay = |stay: &StayInLx| Stay { buffer: name(stay.buffer), start: stay.start, end: stay.end, address: stay.address };
        let cut = |cut: &super::solve::CertifiedCut| Cut {
            stays: cut.stays.iter().map(|&(buffer, start, end)| Crowded { buffer: name(buffer), start, end }).collect(),
            mergers: cut.mergers.iter().map(|&(child, parent)| (name(child), name(parent))).collect(),
        };
        let file = File {
            planner: "exact",
            capacity: capacity.bytes,
            alignment: capacity.alignment,
            addresses,
            reasons: reasons.map(|index| (name(index), reason(&buffers[index], capacity))).collect(),
            stays: self.stays.iter().map(stay).collect(),
            hbm_bytes_left: self.hbm_bytes_left,
            lower_bound: self.lower_bound,
            optimal: self.optimal,
            steps: self.steps,
            seconds,
            timed_out: self.timed_out,
            certificate: Certificate {
                whole_lives: self.certificate.whole_lives,
                scale: self.certificate.scale,
                prices: &self.certificate.prices,
                cuts: self.certificate.cuts.iter().map(cut).collect(),
            },
        };
        serde_json::to_string_pretty(&file)
    }
}

fn reason(buffer: &Buffer, capacity: &Capacity) -> String {
    match &buffer.barred {
        Some(barred) => barred.to_string(),
        None if buffer.bytes > capacity.bytes => format!("it needs {} bytes and LX has {}", buffer.bytes, capacity.bytes),
        None => "others save more HBM bytes in its place, or it saves none".to_owned(),
    }
}
