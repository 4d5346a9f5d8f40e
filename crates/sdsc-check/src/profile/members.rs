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
    /// A string, if present.
    Text,
    /// A string, a list or an object with content, if present. The model reads an empty one as a missing one.
    NonEmpty,
}

use MemberDemand::{Empty, Forbidden, Integer, NonEmpty, Optional, Required, Text};

/// Requirements on members: path (`*` for any key), requirement of torch-spyre's practice, requirement of release
/// 1.0.0. For all other members the profiles agree with the file model.
const MEMBER_DEMANDS: &[(&str, MemberDemand, MemberDemand)] = &[
    ("*/sdscFoldProps_", Required, Optional),
    ("*/sdscFoldProps_", NonEmpty, Optional),
    ("*/sdscFolds_", Required, Optional),
    ("*/sdscFolds_", NonEmpty, Optional),
    ("*/numWkSlicesPerDim_", Required, Optional),
    ("*/numWkSlicesPerDim_", NonEmpty, Optional),
    ("*/coreIdToWkSlice_", Required, Optional),
    ("*/coreIdToWkSlice_", NonEmpty, Optional),
    ("*/ldsShareInfo_", Forbidden, Forbidden),
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
    ("*/dscs_/*/*/scheduleTree_/*/layoutDimOrder_", NonEmpty, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/maxDimSizes_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/maxDimSizes_", NonEmpty, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/indirectAllocType_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/indirectAllocType_", NonEmpty, NonEmpty),
    ("*/dscs_/*/*/scheduleTree_/*/startAddressCoreCorelet_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/coordinates_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/nonUnifiedAllocInHBM_", Forbidden, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/isStartAddrSymbolic_", Integer, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/startAddressCoreCorelet_/data_", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/startAddressCoreCorelet_/data_/*", Text, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/coordinates_/coordInfo", Required, Optional),
    ("*/dscs_/*/*/scheduleTree_/*/coordinates_/coreIdToWkSlice_", Required, Optional),
    ("*/dscs_/*/*/labeledDs_/*/scale_", Required, Optional),
    ("*/dscs_/*/*/labeledDs_/*/scale_", NonEmpty, Optional),
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
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/padFront_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/padBack_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/totalSize_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/stride_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/dilation_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/ss_/paddingSizes_/*/windowDim_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/padFront_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/padBack_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/totalSize_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/stride_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/dilation_", Required, Optional),
    ("*/dscs_/*/*/dataStageParam_/*/el_/paddingSizes_/*/windowDim_", Required, Optional),
    ("*/debug_handle_/source", Optional, Required),
    ("*/debug_handle_/aten_op", Optional, Required),
    ("*/debug_handle_/ir_chain", Optional, Required),
    ("*/debug_handle_/fused_from", Optional, Required),
    ("*/debug_handle_/transform_history", Optional, Required),
    ("*/debug_handle_/source/start_col", Optional, Required),
    ("*/debug_handle_/source/end_line", Optional, Required),
    ("*/debug_handle_/source/end_col", Optional, Required),
];

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
    let active = rows.iter().map(|(path, demand)| (path.as_slice(), *demand)).collect();
    let walk = MemberVisitor { active, path: String::new(), profile, faults: &mut faults };
    if walk.deserialize(&mut serde_json::Deserializer::from_slice(bytes)).is_err() {
        faults.clear();
    }
    faults
}

type MemberPattern = (Vec<&'static str>, MemberDemand);

/// Value in a file, with the remaining path of each requirement that may apply below it.
struct MemberVisitor<'r, 'f> {
    active: Vec<(&'r [&'static str], MemberDemand)>,
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
        let demands = self.active.iter().filter(|(rest, _)| rest.is_empty()).map(|(_, demand)| *demand);
        let expected = demands.filter(|demand| *demand != found).find_map(|demand| match demand {
            Integer => Some("an integer"),
            Text => Some("a string"),
            Empty => Some("an object without members"),
            Required | Optional | Forbidden | NonEmpty => None,
        });
        if let Some(expected) = expected {
            let (path, profile) = (self.path.clone(), self.profile.name());
            self.push_fault(path, format!("the value has another type; profile '{profile}' has {expected} here"));
        }
    }

    /// Reports an empty value where the profile has content.
    fn check_content(&mut self, is_empty: bool) {
        let needs_content = self.active.iter().any(|(rest, demand)| rest.is_empty() && *demand == NonEmpty);
        if is_empty && needs_content {
            let (path, profile) = (self.path.clone(), self.profile.name());
            self.push_fault(path, format!("the value is empty; profile '{profile}' has content here"));
        }
    }

    /// Returns the requirements that apply below a member.
    fn patterns_below(&self, key: &str) -> Vec<(&'r [&'static str], MemberDemand)> {
        self.active
            .iter()
            .filter_map(|(rest, demand)| {
                let (first, rest) = rest.split_first()?;
                (*first == "*" || *first == key).then_some((rest, *demand))
            })
            .collect()
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
        self.check_spelling(if seen.is_empty() { Empty } else { Required });
        let profile = self.profile.name();
        let named: Vec<(&'static str, MemberDemand)> = self
            .active
            .iter()
            .filter_map(|(rest, demand)| match rest {
                [key] if *key != "*" => Some((*key, *demand)),
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
    fn reports_empty_values() {
        let node = r#"{"component_": "", "layoutDimOrder_": [], "indirectAllocType_": "no_indirection"}"#;
        let text = format!(
            r#"{{"0_add": {{"numWkSlicesPerDim_": {{}}, "dscs_": [{{"add": {{"scheduleTree_": [{node}]}}}}]}}}}"#
        );
        let find_empty = |profile| {
            let found = collect_fault_texts(&text, profile).into_iter();
            found.filter(|fault| fault.contains("is empty")).collect::<Vec<_>>()
        };
        let fault =
            |path: &str, profile| format!("/0_add/{path}: the value is empty; profile '{profile}' has content here");
        let (slices, node) = ("numWkSlicesPerDim_", "dscs_/0/add/scheduleTree_/0");
        let (component, order) = (format!("{node}/component_"), format!("{node}/layoutDimOrder_"));
        assert_eq!(find_empty(Profile::Release1_0), [fault(&component, "1.0")]);
        let practice = "torch-spyre-2026-08";
        assert_eq!(find_empty(Profile::default()), [slices, &component, &order].map(|path| fault(path, practice)));
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
