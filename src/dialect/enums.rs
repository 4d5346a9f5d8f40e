//! Plain values that are enums in ODS, by the numbers that they have there.

use crate::{
    bundle::Arrangement,
    dialect::ods::{attr, role},
    mlir::{Attribute, Context, Op, OpExt, i32_attribute, integer},
};
use machine::{DeviceFormat, Family};

/// A value that is one of an enum of ODS, which has the same values in the same order.
pub(super) trait Enumerated: Copy + PartialEq + 'static {
    /// Every value, in the order of ODS.
    const ALL: &'static [Self];

    /// The number of the value in ODS.
    fn number(self) -> i32 {
        let position = Self::ALL.iter().position(|other| *other == self).expect("ALL has every value");
        i32::try_from(position).expect("an enum has few values")
    }

    /// The value of a number; none for a number that ODS does not have either.
    fn of_number(number: i64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

impl Enumerated for DeviceFormat {
    const ALL: &'static [Self] = &Self::ALL;
}

impl Enumerated for Family {
    const ALL: &'static [Self] = &Self::ALL;
}

impl Enumerated for Arrangement {
    const ALL: &'static [Self] = &Self::ALL;
}

/// Role of a buffer in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Argument that the caller passes.
    Input,
    /// Constant whose elements belong to the program.
    Constant,
    /// Buffer that one launch writes and later launches read.
    Temporary,
    /// Result that the caller receives.
    Output,
}

impl Enumerated for Role {
    const ALL: &'static [Self] = &[Self::Input, Self::Constant, Self::Temporary, Self::Output];
}

impl Role {
    /// The role that a `sdsc.buffer` says; none for other ops.
    #[must_use]
    pub fn of(buffer: Op<'_>) -> Option<Self> {
        buffer.attr(attr::ROLE).and_then(integer).and_then(Self::of_number)
    }

    /// The attribute that says it.
    #[must_use]
    pub fn attribute(self, context: &Context) -> Attribute<'_> {
        i32_attribute(context, self.number())
    }

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        role::NAMES[usize::try_from(self.number()).expect("numbers of an enum are not negative")]
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrangement, DeviceFormat, Enumerated, Family, Role};
    use crate::dialect::ods::{arrangement, family, format, role};

    /// The names of enum values in ODS must be those in files and reports.
    #[test]
    fn ods_has_the_same_values_in_the_same_order() {
        assert_eq!(DeviceFormat::ALL.map(DeviceFormat::name), format::NAMES);
        assert_eq!(Arrangement::ALL.map(Arrangement::name), arrangement::NAMES);
        assert_eq!(Family::ALL.map(|family| format!("{family:?}").to_lowercase()), family::NAMES);
        assert_eq!(role::NAMES, ["input", "constant", "temporary", "output"]);
        let roles: Vec<i32> = <Role as Enumerated>::ALL.iter().map(|role| role.number()).collect();
        assert_eq!(roles, [role::INPUT, role::CONSTANT, role::TEMPORARY, role::OUTPUT]);
    }

    #[test]
    fn a_number_without_a_value_is_none() {
        assert_eq!(Role::of_number(3), Some(Role::Output));
        assert_eq!([Role::of_number(4), Role::of_number(-1)], [None, None]);
    }
}
