//! Plain enums that mirror the enums in ODS, by their numbers.

use crate::{
    dialect::ods::{attr, role},
    mlir::{Attribute, Context, Op, OpExt, i32_attribute, integer},
};
use machine::{DeviceFormat, Family};

/// Enum with the cases of an ODS enum, in the same order.
pub(crate) trait OdsEnum: Copy + PartialEq + 'static {
    /// All cases, in the order of ODS.
    const ALL: &'static [Self];

    /// Returns the number of the case in ODS.
    fn ods_number(self) -> i32 {
        let position = Self::ALL.iter().position(|other| *other == self).expect("ALL has every value");
        i32::try_from(position).expect("an enum has few values")
    }

    /// Returns the case with this number; `None` if ODS has no such case.
    fn from_ods_number(number: i64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

impl OdsEnum for DeviceFormat {
    const ALL: &'static [Self] = &Self::ALL;
}

impl OdsEnum for Family {
    const ALL: &'static [Self] = &Self::ALL;
}

/// Role of a buffer in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramBufferRole {
    /// Argument that the caller passes.
    Input,
    /// Constant whose elements belong to the program.
    Constant,
    /// Buffer that one launch writes and later launches read.
    Temporary,
    /// Result that the caller receives.
    Output,
}

impl OdsEnum for ProgramBufferRole {
    const ALL: &'static [Self] = &[Self::Input, Self::Constant, Self::Temporary, Self::Output];
}

impl ProgramBufferRole {
    /// Returns the role of an `sdsc.buffer`; `None` for other ops.
    #[must_use]
    pub fn from_op(buffer: Op<'_>) -> Option<Self> {
        buffer.attr(attr::ROLE).and_then(integer).and_then(Self::from_ods_number)
    }

    /// Returns the role as an attribute.
    #[must_use]
    pub fn to_attribute(self, context: &Context) -> Attribute<'_> {
        i32_attribute(context, self.ods_number())
    }

    /// Returns the keyword of the role.
    #[must_use]
    pub fn name(self) -> &'static str {
        role::NAMES[usize::try_from(self.ods_number()).expect("numbers of an enum are not negative")]
    }
}

#[cfg(test)]
mod tests {
    use super::{DeviceFormat, Family, OdsEnum, ProgramBufferRole};
    use crate::dialect::ods::{family, format, role};

    /// The names of enum cases in ODS must equal those in files and reports.
    #[test]
    fn matches_ods_cases_and_their_order() {
        assert_eq!(DeviceFormat::ALL.map(DeviceFormat::name), format::NAMES);
        assert_eq!(Family::ALL.map(|family| format!("{family:?}").to_lowercase()), family::NAMES);
        assert_eq!(role::NAMES, ["input", "constant", "temporary", "output"]);
        let roles: Vec<i32> = <ProgramBufferRole as OdsEnum>::ALL.iter().map(|role| role.ods_number()).collect();
        assert_eq!(roles, [role::INPUT, role::CONSTANT, role::TEMPORARY, role::OUTPUT]);
    }

    #[test]
    fn rejects_numbers_without_a_case() {
        assert_eq!(ProgramBufferRole::from_ods_number(3), Some(ProgramBufferRole::Output));
        assert_eq!([ProgramBufferRole::from_ods_number(4), ProgramBufferRole::from_ods_number(-1)], [None, None]);
    }
}
