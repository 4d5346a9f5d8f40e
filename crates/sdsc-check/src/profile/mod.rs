//! Profiles: versions of the bundle format that a bundle can be checked against.
//!
//! A profile decides which members a file must have ([`members`]) and which rules apply. Release 1.0.0 and
//! torch-spyre's practice contradict each other in places; `docs/reference/bundle-format.md` lists them.

pub(super) mod members;

use std::{fmt, str::FromStr};
use strum::VariantArray as _;

/// Version of the bundle format.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, strum::VariantArray, strum::VariantNames, strum::IntoStaticStr,
)]
pub enum Profile {
    /// Specification release 1.0.0 with its JSON Schema.
    #[strum(serialize = "1.0")]
    Release1_0,
    /// torch-spyre of August 2026. The compiler writes this version by default.
    #[default]
    #[strum(serialize = "torch-spyre-2026-08")]
    TorchSpyre2026_08,
    /// torch-spyre of September 2026. Equal ops share an SDSC file.
    #[strum(serialize = "torch-spyre-2026-09")]
    TorchSpyre2026_09,
}

/// Error for an unknown profile name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected '1.0', 'torch-spyre-2026-08' or 'torch-spyre-2026-09', found '{0}'")]
pub struct UnknownProfileError(String);

impl fmt::Display for Profile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = UnknownProfileError;

    fn from_str(name: &str) -> Result<Self, UnknownProfileError> {
        let known = Self::VARIANTS.iter().find(|profile| profile.name() == name);
        known.copied().ok_or_else(|| UnknownProfileError(name.to_owned()))
    }
}

/// Labels of rules that torch-spyre follows and that release 1.0.0 lacks or replaces by weaker rules.
///
/// The release forbids two of the requirements. `sdsc_r43` and `sdsc_r82` require a fold factor of 0 for a dimension
/// smaller than a stick, and `sdsc_r64` requires integers for size symbols.
const RULES_NOT_IN_RELEASE: [&str; 45] = [
    "sdsc_r4",
    "sdsc_r6",
    "sdsc_r7",
    "sdsc_r10",
    "sdsc_r11",
    "sdsc_r12",
    "sdsc_r15",
    "sdsc_r17",
    "sdsc_r18",
    "sdsc_r19",
    "sdsc_r20",
    "sdsc_r21",
    "sdsc_r24",
    "sdsc_r30",
    "sdsc_r34",
    "sdsc_r37",
    "sdsc_r42",
    "sdsc_r43",
    "sdsc_r45",
    "sdsc_r46",
    "sdsc_r47",
    "sdsc_r49",
    "sdsc_r59",
    "sdsc_r60",
    "sdsc_r61",
    "sdsc_r63",
    "sdsc_r64",
    "sdsc_r65",
    "sdsc_r68",
    "sdsc_r74",
    "sdsc_r80",
    "sdsc_r81",
    "sdsc_r82",
    "sdsc_r83",
    "sdsc_r84",
    "sdsc_r85",
    "sdsc_r86",
    "sdsc_r88",
    "sdsc_r89",
    "sdsc_r99",
    "sdsc_r101",
    "sdsc_r102",
    "sdsc_r186",
    "sdsc_r190",
    "sdsc_r191",
];

/// Rules that torch-spyre of September 2026 breaks: executes of a shared file may have different symbol values, and
/// symbolic sizes bound loops.
const RULES_NOT_IN_2026_09: [&str; 2] = ["sdsc_r7", "sdsc_r12"];

/// Rules that only the profile of September 2026 has, instead of these.
const RULES_ONLY_IN_2026_09: [&str; 2] = ["sdsc_r120", "sdsc_r155"];

impl Profile {
    /// Returns whether the profile includes a rule of [`RULES`](crate::RULES).
    pub(super) fn includes_base_rule(self, label: &str) -> bool {
        match self {
            Self::TorchSpyre2026_08 => true,
            Self::TorchSpyre2026_09 => !RULES_NOT_IN_2026_09.contains(&label),
            Self::Release1_0 => !RULES_NOT_IN_RELEASE.contains(&label),
        }
    }

    /// Returns whether the profile includes a rule of [`RELEASE_RULES`](crate::RELEASE_RULES).
    pub(super) fn includes_added_rule(self, label: &str) -> bool {
        match self {
            Self::TorchSpyre2026_08 => false,
            Self::TorchSpyre2026_09 => RULES_ONLY_IN_2026_09.contains(&label),
            Self::Release1_0 => !RULES_ONLY_IN_2026_09.contains(&label),
        }
    }

    /// Returns whether executes of equal ops share an SDSC file. Their offsets into the same kernel arguments may
    /// differ. IBM back ends before 28 August 2026 abort on a shared file.
    #[must_use]
    pub fn shares_files(self) -> bool {
        self == Self::TorchSpyre2026_09
    }

    /// Returns whether symbolic sizes may bound loops. Other formats require constant trip counts.
    #[must_use]
    pub fn has_sized_loops(self) -> bool {
        self == Self::TorchSpyre2026_09
    }

    /// Returns whether the profile is the specification release.
    #[must_use]
    pub fn is_release(self) -> bool {
        self == Self::Release1_0
    }

    /// Returns the name of the profile in messages.
    pub(super) fn name(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RULES;

    #[test]
    fn lists_existing_rules() {
        let labels = RULES_NOT_IN_RELEASE.iter().chain(&RULES_NOT_IN_2026_09);
        let missing: Vec<_> = labels.filter(|label| !RULES.iter().any(|rule| rule.label == **label)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let is_added = |label: &&str| crate::RELEASE_RULES.iter().any(|rule| rule.label == *label);
        assert!(RULES_ONLY_IN_2026_09.iter().all(is_added));
    }

    #[test]
    fn parses_profile_names() {
        for profile in Profile::VARIANTS {
            assert_eq!(profile.to_string().parse(), Ok(*profile));
        }
        let message = "2.0".parse::<Profile>().unwrap_err().to_string();
        assert_eq!(message, "expected '1.0', 'torch-spyre-2026-08' or 'torch-spyre-2026-09', found '2.0'");
    }
}
