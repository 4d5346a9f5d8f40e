//! Result of the exact planner as JSON, with its certificate (`docs/reference/certificates.md`).

use super::solve::{LxInterval, ScratchpadPlan};
use crate::{Capacity, Instance};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct ResultFile<'a> {
    planner: &'a str,
    capacity: i64,
    alignment: i64,
    /// Address in bytes of the first interval of each buffer; `None` for a buffer in HBM.
    addresses: BTreeMap<&'a str, Option<i64>>,
    reasons: BTreeMap<&'a str, &'a str>,
    stays: Vec<ReportInterval<'a>>,
    hbm_bytes_left: i64,
    lower_bound: i64,
    optimal: bool,
    /// Set of plans that the bound covers.
    among: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak: Option<MinimumLxBytes>,
    steps: u64,
    seconds: f64,
    timed_out: bool,
    certificate: ReportCertificate<'a>,
}

/// Result of the search for the smallest LX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MinimumLxBytes {
    /// Size of LX, in bytes, for which addresses were found.
    pub bytes: i64,
    /// Lower bound, in bytes: no plan exists in a smaller LX.
    pub lower_bound: i64,
}

/// Fields of a result file in addition to the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportHeader<'a> {
    /// Name of the planner.
    pub planner: &'a str,
    /// Planning time in seconds.
    pub seconds: f64,
    /// Result of the search for the smallest LX, if it was requested.
    pub peak: Option<MinimumLxBytes>,
}

#[derive(Serialize)]
struct ReportInterval<'a> {
    buffer: &'a str,
    start: usize,
    end: usize,
    address: i64,
}

#[derive(Serialize)]
struct ReportCertificate<'a> {
    whole_lives: bool,
    scale: i64,
    prices: &'a [(usize, i64)],
    cuts: Vec<ReportCut<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rents: Vec<(usize, Vec<(&'a str, i64)>)>,
}

#[derive(Serialize)]
struct ReportCut<'a> {
    stays: Vec<ReportCutInterval<'a>>,
    mergers: Vec<(&'a str, &'a str)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    absent: Vec<&'a str>,
}

#[derive(Serialize)]
struct ReportCutInterval<'a> {
    buffer: &'a str,
    start: usize,
    end: usize,
}

impl ScratchpadPlan {
    /// Returns the name of the set of plans that the bound covers.
    #[must_use]
    pub const fn plan_set(&self) -> &'static str {
        if self.certificate.whole_live_ranges { "whole lives" } else { "split stays" }
    }

    /// Serializes the plan and its certificate as the text of `RESULT.json`.
    ///
    /// # Errors
    /// Returns the error of the serializer.
    pub fn to_json(&self, instance: &Instance, heading: &ReportHeader<'_>) -> Result<String, serde_json::Error> {
        let Instance { buffers, capacity: Capacity { bytes, alignment }, .. } = instance;
        let name = |buffer: usize| buffers[buffer].name.as_str();
        let mut addresses: BTreeMap<&str, Option<i64>> =
            buffers.iter().map(|buffer| (buffer.name.as_str(), None)).collect();
        for interval in self.intervals.iter().rev() {
            addresses.insert(name(interval.buffer), Some(interval.address));
        }
        let reasons =
            self.reasons.iter().enumerate().filter_map(|(index, reason)| Some((name(index), reason.as_deref()?)));
        let interval = |interval: &LxInterval| ReportInterval {
            buffer: name(interval.buffer),
            start: interval.start,
            end: interval.end,
            address: interval.address,
        };
        let cut = |cut: &super::solve::CertifiedCut| ReportCut {
            stays: cut
                .intervals
                .iter()
                .map(|&(buffer, start, end)| ReportCutInterval { buffer: name(buffer), start, end })
                .collect(),
            mergers: cut.mergers.iter().map(|&(child, parent)| (name(child), name(parent))).collect(),
            absent: cut.absent.iter().map(|&buffer| name(buffer)).collect(),
        };
        let rented = |(time, multipliers): &(usize, Vec<(usize, i64)>)| {
            (*time, multipliers.iter().map(|&(buffer, bytes)| (name(buffer), bytes)).collect())
        };
        let file = ResultFile {
            planner: heading.planner,
            capacity: *bytes,
            alignment: *alignment,
            addresses,
            reasons: reasons.collect(),
            stays: self.intervals.iter().map(interval).collect(),
            hbm_bytes_left: self.hbm_bytes_left,
            lower_bound: self.lower_bound,
            optimal: self.optimal && heading.peak.is_none_or(|peak| peak.bytes == peak.lower_bound),
            among: self.plan_set(),
            peak: heading.peak,
            steps: self.steps,
            seconds: heading.seconds,
            timed_out: self.timed_out,
            certificate: ReportCertificate {
                whole_lives: self.certificate.whole_live_ranges,
                scale: self.certificate.scale,
                prices: &self.certificate.prices,
                cuts: self.certificate.cuts.iter().map(cut).collect(),
                rents: self.certificate.multipliers.iter().map(rented).collect(),
            },
        };
        serde_json::to_string_pretty(&file)
    }
}
