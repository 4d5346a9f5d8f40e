//! Forged results: changes true plans and certificates in every field, invents cuts, and repairs the fields that the
//! checker names. An accepted result must be a legal plan with a valid bound.

use crate::{
    BUDGET, HEADING, brute_force, corrupt::build_empty_placement, linked_instance, random, random_instance,
    read_number, verify,
};
use random::TestRng;
use scratchpad::{Buffer, ExactPlanner, Instance, ResidencyMode};
use scratchpad_verify::{VerifiedPlan, Violation};
use serde_json::{Value, json};

/// Number of results forged from one instance.
const NUM_FORGERIES: usize = 25;
/// Maximum number of repairs of fields that the checker names.
const MAX_REPAIRS: usize = 6;

/// Returns the number of instances, from `SPYRE_FORGED_INSTANCES`; 10,000 take some minutes.
fn num_instances() -> u64 {
    read_number("SPYRE_FORGED_INSTANCES").unwrap_or(150)
}

struct ResultForger<'i> {
    instance: &'i Instance,
    random: TestRng,
    /// True results of both kinds: optimal and not optimal.
    results: Vec<Value>,
}

#[test]
fn accepts_only_true_forgeries() {
    let (mut num_accepted, mut num_rejected) = (0, 0);
    for seed in 0..num_instances() {
        let instance = if seed % 3 == 0 { random_instance(seed) } else { linked_instance(seed) };
        let (text, mut least) = (random::to_json(&instance), [None, None]);
        let mut forger =
            ResultForger { results: solve_to_results(&instance), instance: &instance, random: TestRng(seed) };
        for number in 0..NUM_FORGERIES {
            let mut result = forger.forge();
            match repair_result(&mut result, &instance, &text) {
                Err(Violation::Instance(what)) => panic!("the instance is not to blame: {what}"),
                Err(_) => num_rejected += 1,
                Ok(verified) => {
                    num_accepted += 1;
                    let is_whole = verified.plan_set == "whole lives";
                    let least = *least[usize::from(is_whole)].get_or_insert_with(|| {
                        brute_force::find_min_hbm_bytes(&instance.buffers, &instance.capacity, is_whole)
                    });
                    let wrong = find_violated_property(&result, &instance, &verified, least);
                    assert_eq!(wrong, None, "seed {seed}, forgery {number}: {result}\n{text}");
                }
            }
        }
    }
    println!("{num_accepted} accepted, {num_rejected} refused");
    assert!(num_accepted > num_instances() && num_rejected > 10 * num_instances());
}

/// Number of sets of intervals that are tried as cuts of one instance, and maximum number of cuts of a certificate.
const NUM_TRIED_CUTS: usize = 250;
const MAX_CUTS: usize = 128;

/// Checks many cuts one by one. All accepted cuts together must not raise the bound of an empty plan above the optimum.
#[test]
fn keeps_bound_below_optimum_with_all_accepted_cuts() {
    let (mut num_cuts, mut num_needed) = (0, 0);
    for seed in 0..num_instances() / 5 {
        let instance = linked_instance(seed + 1_000_000);
        let text = random::to_json(&instance);
        for intervals in [ResidencyMode::Whole, ResidencyMode::Split] {
            let nothing = ExactPlanner { mode: intervals, budget: 0 }.import_placement(
                &instance.buffers,
                &instance.capacity,
                &build_empty_placement(&instance),
            );
            let mut result: Value = serde_json::from_str(&nothing.to_json(&instance, &HEADING).unwrap()).unwrap();
            result["optimal"] = json!(false);
            let least = brute_force::find_min_hbm_bytes(
                &instance.buffers,
                &instance.capacity,
                intervals == ResidencyMode::Whole,
            );
            if nothing.hbm_bytes_left <= least + 1 {
                continue;
            }
            let accepts = |result: &mut Value, bound: i64, cuts: &[Value]| {
                result["lower_bound"] = json!(bound);
                result["certificate"]["cuts"] = json!(cuts);
                verify(&result.to_string(), &text).is_ok()
            };
            let mut forger = ResultForger { results: Vec::new(), instance: &instance, random: TestRng(seed) };
            let mut cuts: Vec<Value> = Vec::new();
            for _ in 0..NUM_TRIED_CUTS {
                let cut = forger.sample_cut_around_birth();
                if cuts.len() < MAX_CUTS && !cuts.contains(&cut) && accepts(&mut result, 0, std::slice::from_ref(&cut))
                {
                    cuts.push(cut);
                }
            }
            num_cuts += cuts.len();
            num_needed += usize::from(!accepts(&mut result, least, &[]) && accepts(&mut result, least, &cuts));
            assert!(!accepts(&mut result, least + 1, &cuts), "seed {seed} {intervals:?}: {result}\n{text}");
        }
    }
    println!("{num_cuts} cuts; {num_needed} bounds need them");
    assert!(num_cuts as u64 > num_instances());
}

fn solve_to_results(instance: &Instance) -> Vec<Value> {
    let kinds = [
        (ResidencyMode::Whole, BUDGET),
        (ResidencyMode::Split, BUDGET),
        (ResidencyMode::Whole, 0),
        (ResidencyMode::Split, 0),
    ];
    let result = |(intervals, budget)| {
        let plan = ExactPlanner { mode: intervals, budget }.solve(&instance.buffers, &instance.capacity);
        serde_json::from_str(&plan.to_json(instance, &HEADING).unwrap()).unwrap()
    };
    kinds.into_iter().map(result).collect()
}

/// Repairs the fields that the checker names, with the values that it expects.
fn repair_result(result: &mut Value, instance: &Instance, text: &str) -> Result<VerifiedPlan, Violation> {
    for _ in 0..MAX_REPAIRS {
        match verify(&result.to_string(), text) {
            Err(Violation::Field { field, expected, .. }) if field == "hbm_bytes_left" => {
                let claims_best = result["lower_bound"] == result["hbm_bytes_left"];
                let left: i64 = expected.parse().unwrap();
                result["hbm_bytes_left"] = json!(left);
                result["lower_bound"] = if claims_best { json!(left) } else { result["lower_bound"].clone() };
            }
            Err(Violation::Field { field, expected, .. }) if field == "optimal" => {
                result["optimal"] = json!(expected == "true")
            }
            Err(Violation::Field { field, .. }) if field.starts_with("addresses") || field.starts_with("reasons") => {
                let intervals = result["stays"].as_array().unwrap().clone();
                for buffer in &instance.buffers {
                    let of_buffer = intervals.iter().filter(|interval| interval["buffer"] == json!(buffer.name));
                    let first = of_buffer
                        .min_by_key(|interval| interval["start"].as_u64())
                        .map(|interval| interval["address"].clone());
                    let reason = buffer.barred.as_ref().map_or("no room".to_owned(), ToString::to_string);
                    result["reasons"].as_object_mut().unwrap().remove(&buffer.name);
                    if first.is_none() {
                        result["reasons"][&buffer.name] = json!(reason);
                    }
                    result["addresses"][&buffer.name] = json!(first);
                }
            }
            other => return other,
        }
    }
    verify(&result.to_string(), text)
}

/// Returns a property that an accepted result violates, or `None`.
fn find_violated_property(result: &Value, instance: &Instance, verified: &VerifiedPlan, least: i64) -> Option<String> {
    let Instance { buffers, capacity, .. } = instance;
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let intervals: Vec<_> = result["stays"].as_array().unwrap().iter().collect();
    let parsed = intervals.iter().map(|interval| {
        let buffer = buffers.iter().position(|buffer| json!(buffer.name) == interval["buffer"]).unwrap();
        (buffer, number(&interval["start"])..number(&interval["end"]), interval["address"].as_i64().unwrap())
    });
    let everything = buffers.iter().filter(|buffer| buffer.barred.is_none()).count();
    let is_peak_true =
        |bound: i64| intervals.len() == everything && bound <= brute_force::find_min_peak(buffers, capacity.alignment);
    let conditions = [
        ("the plan is legal", brute_force::is_legal(buffers, capacity, parsed)),
        ("no plan leaves less than the bound", verified.lower_bound <= least),
        ("no plan leaves less than the best", verified.hbm_bytes_left >= least),
        ("what is optimal is at the bound", !verified.optimal || verified.hbm_bytes_left == least),
        ("the plans are those of the result", result["among"] == json!(verified.plan_set)),
        ("everything is in the smallest LX", verified.peak_bound.is_none_or(is_peak_true)),
    ];
    conditions.iter().find(|one| !one.1).map(|one| format!("{}: {verified:?}, {least}", one.0))
}

impl ResultForger<'_> {
    fn forge(&mut self) -> Value {
        let (plan, proof) =
            (self.random.sample_below(self.results.len()), self.random.sample_below(self.results.len()));
        let mut result = self.results[plan].clone();
        // Often takes the proof of another result, mostly of one with the same kind.
        if self.random.sample_below(4) > 0 {
            let same = if self.random.sample_below(8) > 0 { plan % 2 } else { proof % 2 };
            result["certificate"] = self.results[same].clone()["certificate"].take();
        }
        // Most forgeries claim to be optimal.
        let left = result["hbm_bytes_left"].as_i64().unwrap();
        let claimed = if self.random.sample_below(4) > 0 { left } else { left - self.random.sample_below(6) as i64 };
        result["lower_bound"] = json!(claimed);
        for _ in 0..self.random.sample_below(4) {
            match self.random.sample_below(10) {
                0 => self.change_prices(&mut result),
                1 => self.change_intervals(&mut result),
                2 => self.change_kind(&mut result),
                3 => self.change_multipliers(&mut result),
                4 => self.claim_peak(&mut result),
                5 => self.swap_numbers(&mut result),
                6 | 7 => self.change_cut(&mut result),
                _ => self.invent_cut(&mut result),
            }
        }
        result["optimal"] = json!(result["lower_bound"] == result["hbm_bytes_left"]);
        result
    }

    fn sample_buffer(&mut self) -> &Buffer {
        &self.instance.buffers[self.random.sample_below(self.instance.buffers.len())]
    }

    /// Samples an interval between two uses of a buffer, mostly the whole live range.
    fn sample_interval(&mut self) -> Value {
        let whole = self.random.sample_below(3) > 0;
        let (one, other) = (self.random.next_u64() as usize, self.random.next_u64() as usize);
        let buffer = self.sample_buffer();
        let time = |number: usize| buffer.uses[number % buffer.uses.len()].time;
        let (start, end) =
            if whole { (buffer.live_range().start, buffer.live_range().end) } else { (time(one), time(other) + 1) };
        json!({"buffer": buffer.name, "start": start, "end": end})
    }

    /// Samples intervals that are live when some buffer is born, with random reuses and absent links.
    fn sample_cut_around_birth(&mut self) -> Value {
        let birth = self.sample_buffer().live_range().start as u64;
        // Small cuts are the strongest.
        let (n, mut intervals) = ([2, 2, 2, 2, 3, 3, 4, 5][self.random.sample_below(8)], Vec::<Value>::new());
        for _ in 0..20 {
            let interval = self.sample_interval();
            let covers = interval["start"].as_u64() <= Some(birth) && Some(birth) < interval["end"].as_u64();
            if covers && intervals.len() < n && intervals.iter().all(|other| other["buffer"] != interval["buffer"]) {
                intervals.push(interval);
            }
        }
        self.build_cut(&intervals)
    }

    fn change_prices(&mut self, result: &mut Value) {
        let certificate = &mut result["certificate"];
        let prices: Vec<(u64, i64)> = serde_json::from_value(certificate["prices"].clone()).unwrap();
        let mut prices: std::collections::BTreeMap<u64, i64> = prices.into_iter().collect();
        let scale = certificate["scale"].as_i64().unwrap();
        match self.random.sample_below(4) {
            0 => certificate["scale"] = json!([1, 2, 16, scale * 2][self.random.sample_below(4)]),
            1 => {
                prices.insert(self.random.sample_below(6) as u64, scale * self.random.sample_below(9) as i64 / 2);
            }
            2 => prices.values_mut().for_each(|price| *price *= 2),
            _ => {
                prices.pop_first();
            }
        }
        result["certificate"]["prices"] = json!(prices.into_iter().collect::<Vec<_>>());
    }

    fn change_intervals(&mut self, result: &mut Value) {
        let address = self.random.sample_below(self.instance.capacity.bytes as usize + 1) as i64;
        let mut new = self.sample_interval();
        new["address"] = json!(address / self.instance.capacity.alignment * self.instance.capacity.alignment);
        let intervals = result["stays"].as_array_mut().unwrap();
        let at = self.random.sample_below(intervals.len() + 1);
        match self.random.sample_below(3) {
            0 if at < intervals.len() => intervals[at]["address"] = new["address"].clone(),
            1 if at < intervals.len() => drop(intervals.remove(at)),
            _ => intervals.push(new),
        }
    }

    fn change_kind(&mut self, result: &mut Value) {
        let is_whole = self.random.sample_below(2) == 0;
        result["certificate"]["whole_lives"] = json!(is_whole);
        if self.random.sample_below(4) > 0 {
            result["among"] = json!(if is_whole { "whole lives" } else { "split stays" });
        }
    }

    fn change_multipliers(&mut self, result: &mut Value) {
        let mut multipliers: Vec<(usize, Vec<(String, i64)>)> = Vec::new();
        for time in 0..5 {
            let n = self.random.sample_below(4);
            let multiplier = |forger: &mut Self| {
                let bytes = forger.random.sample_below(9) as i64;
                (forger.sample_buffer().name.clone(), bytes)
            };
            multipliers.push((time, (0..n).map(|_| multiplier(self)).collect()));
        }
        multipliers.retain(|one| !one.1.is_empty());
        let certificate = &mut result["certificate"];
        certificate["rents"] = json!(multipliers);
        if self.random.sample_below(4) > 0 {
            (certificate["prices"], certificate["cuts"]) = (json!([]), json!([]));
        }
    }

    fn claim_peak(&mut self, result: &mut Value) {
        let bytes = self.instance.capacity.bytes;
        result["peak"] = json!({"bytes": bytes, "lower_bound": bytes - self.random.sample_below(4) as i64});
    }

    fn swap_numbers(&mut self, result: &mut Value) {
        let mut pointers = Vec::new();
        for part in ["certificate", "stays"] {
            crate::corrupt::collect_leaf_pointers(&result[part], &format!("/{part}"), &mut pointers);
        }
        pointers.retain(|pointer| result.pointer(pointer).unwrap().is_number());
        if pointers.is_empty() {
            return;
        }
        let [one, other] = [0, 1].map(|_| pointers[self.random.sample_below(pointers.len())].clone());
        let (first, second) = (result.pointer(&one).unwrap().clone(), result.pointer(&other).unwrap().clone());
        *result.pointer_mut(&one).unwrap() = second;
        *result.pointer_mut(&other).unwrap() = first;
    }

    /// Removes a member of a cut, or adds one.
    fn change_cut(&mut self, result: &mut Value) {
        let (interval, name) = (self.sample_interval(), self.sample_buffer().name.clone());
        let cuts = result["certificate"]["cuts"].as_array_mut().unwrap();
        if cuts.is_empty() {
            return self.invent_cut(result);
        }
        let at = self.random.sample_below(cuts.len());
        let key = ["stays", "stays", "mergers", "absent"][self.random.sample_below(4)];
        let mut list = cuts[at][key].as_array().cloned().unwrap_or_default();
        match self.random.sample_below(4) {
            0 => list.push(if key == "stays" { interval } else { json!(name) }),
            _ if list.is_empty() => {}
            _ => drop(list.remove(self.random.sample_below(list.len()))),
        }
        cuts[at][key] = json!(list);
    }

    /// Adds a cut of some random intervals.
    fn invent_cut(&mut self, result: &mut Value) {
        let mut intervals: Vec<Value> = Vec::new();
        for _ in 0..2 + self.random.sample_below(4) {
            let interval = self.sample_interval();
            if intervals.iter().all(|other| other["buffer"] != interval["buffer"]) || self.random.sample_below(4) == 0 {
                intervals.push(interval);
            }
        }
        let cut = self.build_cut(&intervals);
        result["certificate"]["cuts"].as_array_mut().unwrap().push(cut);
    }

    /// Builds a cut of these intervals, with random reuses among them and random links outside LX.
    fn build_cut(&mut self, intervals: &[Value]) -> Value {
        let (mut mergers, mut absent): (Vec<[String; 2]>, Vec<String>) = (Vec::new(), Vec::new());
        for (index, buffer) in self.instance.buffers.iter().enumerate() {
            let is_in = |buffer: &Buffer| intervals.iter().any(|interval| interval["buffer"] == json!(buffer.name));
            let parent = (0..self.instance.buffers.len()).find(|&parent| {
                let is_double = mergers.iter().any(|pair| pair[1] == self.instance.buffers[parent].name);
                let buffers = &self.instance.buffers;
                is_in(&buffers[parent])
                    && !is_double
                    && buffer.in_place_parents.contains(&parent)
                    && scratchpad::can_reuse_in_place(buffers, index, parent)
            });
            match parent {
                Some(parent) if is_in(buffer) && self.random.sample_below(2) == 0 => {
                    mergers.push([buffer.name.clone(), self.instance.buffers[parent].name.clone()]);
                }
                _ if !is_in(buffer) && buffer.live_range().len() == 1 && self.random.sample_below(3) == 0 => {
                    absent.push(buffer.name.clone())
                }
                _ => {}
            }
        }
        json!({"stays": intervals, "mergers": mergers, "absent": absent})
    }
}
