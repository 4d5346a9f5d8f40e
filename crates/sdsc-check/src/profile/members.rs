//! Members that profiles require, forbid, or write in different ways.

use super::Profile;
use crate::report::member_pointer;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Requirement on a member, if its parent is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberDemand {
    Required,
    Optional,
    Forbidden,
    /// An object without members, if present.
    Empty,
    /// An integer, if present.
    Integer,
    /// An object, if present and not null. The types of the model read a list of the same values, too.
    Object,
    /// A string, if present.
    Text,
    /// A string, a list or an object with content, if present. The model reads an empty one as a missing one.
    NonEmpty,
}

use MemberDemand::{Empty, Forbidden, Integer, NonEmpty, Object, Optional, Required, Text};

impl MemberDemand {
    /// Returns the type of a value that has it; `None` if every type has it.
    const fn expected_type(self) -> Option<&'static str> {
        match self {
            Integer => Some("an integer"),
            Text => Some("a string"),
            Object => Some("an object"),
            Empty => Some("an object without members"),
            Required | Optional | Forbidden | NonEmpty => None,
        }
    }
}

/// Requirements on members: path (`*` for any key), requirement of torch-spyre's practice, requirement of release
/// 1.0.0. For all other members the profiles agree with the file model.
const MEMBER_DEMANDS: &[(&str, MemberDemand, MemberDemand)] = &[
    ("*/coreFoldProp_", Object, Object),
    ("*/coreletFoldProp_", Object, Object),
    ("*/sdscFolds_", Object, Object),
    ("*/debug_handle_", Object, Object),
    ("*/debug_handle_/source", Object, Object),
    ("*/debug_handle_/transform_history/*", Object, Object),
    ("*/dscs_/*/*/primaryDsInfo_/*", Object, Object),
    ("*/dscs_/*/*/scheduleTree_/*/coordinates_", Object, Object),
    ("*/dscs_/*/*/scheduleTree_/*/startAddressCoreCorelet_", Object, Object),
    ("*/dscs_/*/*/labeledDs_/*/memOrg_", Object, Object),
    ("*/dscs_/*/*/labeledDs_/*/memOrg_/*", Object, Object),
    ("*/dscs_/*/*/computeOp_/*/attributes_", Object, Object),
    ("*/sdscFoldProps_", Required, Optional),
    ("*/sdscFoldProps_", NonEmpty, Optional),
    ("*/sdscFolds_", Required, Optional),
    ("*/sdscFolds_", NonEmpty, Optional),
    ("*/numWkSlicesPerDim_", Required, Optional),
    ("*/numWkSlicesPerDim_", NonEmpty, NonEmpty),
    ("*/coreIdToWkSlice_", Required, Optional),
    ("*/coreIdToWkSlice_", NonEmpty, NonEmpty),
    ("*/ldsShareInfo_", Optional, Forbidden),
    ("*/dscs_/*/*/numCoreletsUsed_", Required, Optional),
    ("*/dscs_/*/*/coordinateMasking_", Required, Optional),
    ("*/dscs_/*/*/maskingConstId_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_", Required, Optional),
    ("*/dscs_/*/*/primaryDsInfo_", Required, Optional),
    ("*/dscs_/*/*/constantInfo_", Required, Optional),
    ("*/dscs_/*/*/dimToSymbolMapping_/*/*", Integer, Text),
    ("*/dscs_/*/*/N_/name_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/name_", Forbidden, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/name_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/symbolicDimInfo_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/maxSymbolicVolume_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/coreletSplit_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/rowSplit_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/peSfpSplit_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/coreletSplit_", Empty, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/rowSplit_", Empty, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/peSfpSplit_", Empty, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/maxSymbolicVolume_", Empty, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/name_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/symbolicDimInfo_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/maxSymbolicVolume_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/coreletSplit_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/rowSplit_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/peSfpSplit_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/coreletSplit_", Empty, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/rowSplit_", Empty, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/peSfpSplit_", Empty, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/maxSymbolicVolume_", Empty, Optional),
    ("*/dscs_/*/*/primaryDsInfo_/*/layoutDimOrder_", Required, Optional),
    ("*/dscs_/*/*/primaryDsInfo_/*/stickDimOrder_", Required, Optional),
    ("*/dscs_/*/*/primaryDsInfo_/*/stickSize_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/prev_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/ldsIdx_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/component_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/component_", NonEmpty, NonEmpty),
    ("*/dscs_/*/*/scheduleTree_/*/layoutDimOrder_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/layoutDimOrder_", NonEmpty, NonEmpty),
    ("*/dscs_/*/*/scheduleTree_/*/maxDimSizes_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/maxDimSizes_", NonEmpty, NonEmpty),
    ("*/dscs_/*/*/scheduleTree_/*/indirectAllocType_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/indirectAllocType_", NonEmpty, NonEmpty),
    ("*/dscs_/*/*/scheduleTree_/*/startAddressCoreCorelet_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/coordinates_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/nonUnifiedAllocInHBM_", Forbidden, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/isStartAddrSymbolic_", Integer, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/startAddressCoreCorelet_/data_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/startAddressCoreCorelet_/data_/*", Text, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/coordinates_/coordInfo", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/coordinates_/coordInfo", Optional, NonEmpty),
    ("*/dscs_/*/*/scheduleTree_/*/coordinates_/coreIdToWkSlice_", Required, Optional),
    ("*/dscs_/*/*/labeledDs_/*/scale_", Required, Optional),
    ("*/dscs_/*/*/labeledDs_/*/scale_", NonEmpty, NonEmpty),
    ("*/dscs_/*/*/labeledDs_/*/wordLength", Required, Optional),
    ("*/dscs_/*/*/labeledDs_/*/memOrg_/*/dsOffset", Optional, Forbidden),
    ("*/dscs_/*/*/computeOp_/*/attributes_", Required, Optional),
    ("*/dscs_/*/*/computeOp_/*/attributes_/dataFormat_", Required, Optional),
    ("*/dscs_/*/*/computeOp_/*/attributes_/dataFormat_", NonEmpty, NonEmpty),
    ("*/dscs_/*/*/computeOp_/*/attributes_/fidelity_", Required, Optional),
    ("*/dscs_/*/*/computeOp_/*/location", Required, Forbidden),
    ("*/dscs_/*/*/constantInfo_/*/data_/data_/*/*", Optional, Integer),
    ("*/dscs_/*/*/N_/paddingSizes_/*/padFront_", Required, Optional),
    ("*/dscs_/*/*/N_/paddingSizes_/*/padBack_", Required, Optional),
    ("*/dscs_/*/*/N_/paddingSizes_/*/totalSize_", Required, Optional),
    ("*/dscs_/*/*/N_/paddingSizes_/*/stride_", Required, Optional),
    ("*/dscs_/*/*/N_/paddingSizes_/*/dilation_", Required, Optional),
    ("*/dscs_/*/*/N_/paddingSizes_/*/windowDim_", Required, Optional),
    ("*/dscs_/*/*/N_/paddingSizes_/*/windowDim_", NonEmpty, NonEmpty),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/padFront_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/padBack_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/totalSize_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/stride_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/dilation_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/windowDim_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/windowDim_", NonEmpty, NonEmpty),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/padFront_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/padBack_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/totalSize_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/stride_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/dilation_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/windowDim_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/windowDim_", NonEmpty, NonEmpty),
    ("*/debug_handle_/source", Optional, Required),
    ("*/debug_handle_/aten_op", Optional, Required),
    ("*/debug_handle_/ir_chain", Optional, Required),
    ("*/debug_handle_/fused_from", Optional, Required),
    ("*/debug_handle_/transform_history", Optional, Required),
    ("*/debug_handle_/source/start_col", Optional, Required),
    ("*/debug_handle_/source/end_line", Optional, Required),
    ("*/debug_handle_/source/end_col", Optional, Required),
    ("*/debug_handle_/transform_history/*/reason", Optional, Required),
];

/// Member with a debug handle. Rows below it hold for the handles that the handle was fused from, too.
const HANDLE: &str = "debug_handle_";

/// Member of a debug handle with a list of debug handles.
const NESTED_HANDLES: &str = "fused_from";

/// Member that a profile forbids, or that is missing.
pub(in super::super) struct MemberFault {
    /// JSON pointer.
    pub(in super::super) path: String,
    pub(in super::super) message: String,
}

/// Checks the members of an SDSC file against a profile. Text that is not JSON yields no faults here.
pub(in super::super) fn find_member_faults(bytes: &[u8], profile: Profile) -> Vec<MemberFault> {
    let demand = |(path, practice, release): &(&'static str, MemberDemand, MemberDemand)| {
        let demand = if profile.is_release() { *release } else { *practice };
        (demand != Optional).then(|| (path.split('/').collect(), demand))
    };
    let rows: Vec<MemberPattern> = MEMBER_DEMANDS.iter().filter_map(demand).collect();
    let mut faults = Vec::new();
    let active = rows.iter().map(|(path, demand)| MemberState::new(path, *demand)).collect();
    let walk = MemberVisitor { active, path: String::new(), profile, faults: &mut faults };
    if walk.deserialize(&mut serde_json::Deserializer::from_slice(bytes)).is_err() {
        faults.clear();
    }
    faults
}

type MemberPattern = (Vec<&'static str>, MemberDemand);

/// Progress of a value along the path of a requirement.
#[derive(Clone, Copy)]
struct MemberState<'r> {
    path: &'r [&'static str],
    /// Number of segments of the path that lead to the value.
    num_matched: usize,
    /// Whether the value is a list of debug handles, which the path does not mention.
    is_handle_list: bool,
    demand: MemberDemand,
}

impl<'r> MemberState<'r> {
    const fn new(path: &'r [&'static str], demand: MemberDemand) -> Self {
        Self { path, num_matched: 0, is_handle_list: false, demand }
    }

    /// Returns the remaining path below the value; `None` inside a list of debug handles.
    fn rest(&self) -> Option<&'r [&'static str]> {
        if self.is_handle_list { None } else { self.path.get(self.num_matched..) }
    }

    /// Returns the state of a member of the value; `None` if the path does not lead there.
    fn enter_member(self, key: &str) -> Option<Self> {
        let Some(rest) = self.rest() else { return Some(Self { is_handle_list: false, ..self }) };
        let is_handle = self.path[..self.num_matched].last() == Some(&HANDLE);
        if is_handle && key == NESTED_HANDLES {
            return Some(Self { is_handle_list: true, ..self });
        }
        let first = rest.first()?;
        (*first == "*" || *first == key).then_some(Self { num_matched: self.num_matched + 1, ..self })
    }
}

/// Value in a file, with the requirements that may apply below it.
struct MemberVisitor<'r, 'f> {
    active: Vec<MemberState<'r>>,
    path: String,
    profile: Profile,
    faults: &'f mut Vec<MemberFault>,
}

impl<'r> MemberVisitor<'r, '_> {
    fn push_fault(&mut self, path: String, message: String) {
        self.faults.push(MemberFault { path, message });
    }

    /// Reports a value whose kind is not `found`.
    fn check_spelling(&mut self, found: MemberDemand) {
        let here = self.active.iter().filter(|state| state.rest().is_some_and(<[_]>::is_empty));
        let demands: Vec<_> = here.filter_map(|state| Some((state.demand, state.demand.expected_type()?))).collect();
        let profile = self.profile.name();
        if let Some((_, expected)) = demands.into_iter().find(|(demand, _)| *demand != found) {
            let message = format!("the value has another type; profile '{profile}' has {expected} here");
            self.push_fault(self.path.clone(), message);
        }
    }

    /// Reports an empty value where the profile has content.
    fn check_content(&mut self, is_empty: bool) {
        let mut here = self.active.iter().filter(|state| state.rest().is_some_and(<[_]>::is_empty));
        let needs_content = here.any(|state| state.demand == NonEmpty);
        if is_empty && needs_content {
            let (path, profile) = (self.path.clone(), self.profile.name());
            self.push_fault(path, format!("the value is empty; profile '{profile}' has content here"));
        }
    }

    /// Returns the requirements that apply below a member.
    fn patterns_below(&self, key: &str) -> Vec<MemberState<'r>> {
        self.active.iter().filter_map(|state| state.enter_member(key)).collect()
    }
}

impl<'de> DeserializeSeed<'de> for MemberVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for MemberVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(mut self, _: bool) -> Result<(), E> {
        self.check_spelling(Required);
        Ok(())
    }

    fn visit_i64<E: Error>(mut self, _: i64) -> Result<(), E> {
        self.check_spelling(Integer);
        Ok(())
    }

    fn visit_u64<E: Error>(mut self, _: u64) -> Result<(), E> {
        self.check_spelling(Integer);
        Ok(())
    }

    fn visit_f64<E: Error>(mut self, _: f64) -> Result<(), E> {
        self.check_spelling(Required);
        Ok(())
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        self.check_content(text.is_empty());
        self.check_spelling(Text);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        self.check_spelling(Required);
        let mut index = 0_usize;
        loop {
            let key = index.to_string();
            let active = self.patterns_below(&key);
            if active.is_empty() {
                while items.next_element::<IgnoredAny>()?.is_some() {
                    index += 1;
                }
                self.check_content(index == 0);
                return Ok(());
            }
            let walk = MemberVisitor {
                active,
                path: format!("{}/{key}", self.path),
                profile: self.profile,
                faults: &mut *self.faults,
            };
            if items.next_element_seed(walk)?.is_none() {
                self.check_content(index == 0);
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let mut seen: Vec<String> = Vec::new();
        while let Some(key) = members.next_key::<String>()? {
            let active = self.patterns_below(&key);
            if active.is_empty() {
                members.next_value::<IgnoredAny>()?;
            } else {
                let walk = MemberVisitor {
                    active,
                    path: member_pointer(&self.path, &key),
                    profile: self.profile,
                    faults: &mut *self.faults,
                };
                members.next_value_seed(walk)?;
            }
            seen.push(key);
        }
        self.check_content(seen.is_empty());
        if !seen.is_empty() {
            self.check_spelling(Object);
        }
        let profile = self.profile.name();
        let named: Vec<(&'static str, MemberDemand)> = self
            .active
            .iter()
            .filter_map(|state| match state.rest() {
                Some([key]) if *key != "*" => Some((*key, state.demand)),
                _ => None,
            })
            .collect();
        for (key, demand) in named {
            let is_there = seen.iter().any(|known| known == key);
            match (demand, is_there) {
                (Required, false) => self.push_fault(
                    member_pointer(&self.path, key),
                    format!("the member is missing; profile '{profile}' demands it"),
                ),
                (Forbidden, true) => self.push_fault(
                    member_pointer(&self.path, key),
                    format!("the member is there; profile '{profile}' has no such member"),
                ),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect_fault_texts(text: &str, profile: Profile) -> Vec<String> {
        find_member_faults(text.as_bytes(), profile)
            .into_iter()
            .map(|fault| format!("{}: {}", fault.path, fault.message))
            .collect()
    }

    #[test]
    fn reports_missing_member_of_present_parent() {
        let text = r#"{"0_add": {"dscs_": [{"add": {"computeOp_": [{"location": "Inner", "attributes_": {}}]}}]}}"#;
        let found = collect_fault_texts(text, Profile::Release1_0);
        assert_eq!(
            found,
            ["/0_add/dscs_/0/add/computeOp_/0/location: the member is there; profile '1.0' has no such member"]
        );
        let found = collect_fault_texts(text, Profile::default());
        let missing = "/0_add/dscs_/0/add/computeOp_/0/attributes_/fidelity_: the member is missing; profile 'torch-spyre-2026-08' demands it";
        assert!(found.iter().any(|fault| fault == missing), "{found:?}");
        assert!(!found.iter().any(|fault| fault.contains("paddingSizes_/")), "{found:?}");
    }

    #[test]
    fn checks_handles_that_were_fused() {
        let members = r#""source": null, "aten_op": null, "ir_chain": [], "transform_history": []"#;
        let text = |inner: &str| {
            format!(r#"{{"0_add": {{"debug_handle_": {{"id": "1", {members}, "fused_from": [{inner}]}}}}}}"#)
        };
        let nested = format!(r#"{{"id": "2", {members}, "fused_from": [{{"id": "3", {members}, "fused_from": []}}]}}"#);
        assert_eq!(collect_fault_texts(&text(&nested), Profile::Release1_0), [""; 0]);
        let lacking = nested.replace("\"3\", \"source\": null,", "\"3\", \"source\": {\"end_line\": null},");
        let found = collect_fault_texts(&text(&lacking), Profile::Release1_0);
        let at = "/0_add/debug_handle_/fused_from/0/fused_from/0/source";
        assert!(found.iter().all(|fault| fault.starts_with(at)) && found.len() == 2, "{found:?}");
        let found = collect_fault_texts(&text(r#"{"id": "2"}"#), Profile::Release1_0);
        assert_eq!(found.len(), 5, "{found:?}");
        let found = collect_fault_texts(&text(r#"{"id": "2"}"#), Profile::default());
        assert!(!found.iter().any(|fault| fault.contains("debug_handle_")), "{found:?}");
    }

    #[test]
    fn reports_empty_values() {
        let node = r#"{"component_": "", "layoutDimOrder_": [], "indirectAllocType_": "no_indirection"}"#;
        let text = format!(
            r#"{{"0_add": {{"numWkSlicesPerDim_": {{}}, "dscs_": [{{"add": {{"scheduleTree_": [{node}]}}}}]}}}}"#
        );
        let find_empty = |profile| {
            let found = collect_fault_texts(&text, profile).into_iter();
            found.filter(|fault| fault.contains("is empty")).collect::<Vec<_>>()
        };
        let node = "dscs_/0/add/scheduleTree_/0";
        let (component, order) = (format!("{node}/component_"), format!("{node}/layoutDimOrder_"));
        for profile in [Profile::Release1_0, Profile::default()] {
            let fault = |path| format!("/0_add/{path}: the value is empty; profile '{profile}' has content here");
            assert_eq!(find_empty(profile), ["numWkSlicesPerDim_", &component, &order].map(fault));
        }
    }

    #[test]
    fn checks_spelling_of_profile() {
        let text = |ids: &str| {
            format!(r#"{{"0_add": {{"dscs_": [{{"add": {{"dimToSymbolMapping_": {{"mb": [{ids}]}}}}}}]}}}}"#)
        };
        let at = "/0_add/dscs_/0/add/dimToSymbolMapping_/mb/0: the value has another type; profile";
        assert_eq!(collect_fault_texts(&text("-1"), Profile::Release1_0), [format!("{at} '1.0' has a string here")]);
        assert_eq!(collect_fault_texts(&text("\"-1\""), Profile::Release1_0), [""; 0]);
        let found = collect_fault_texts(&text("\"-1\""), Profile::TorchSpyre2026_09);
        assert!(found.contains(&format!("{at} 'torch-spyre-2026-09' has an integer here")), "{found:?}");
    }
}
