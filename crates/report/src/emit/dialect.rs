//! How the expectations of a test are written: with `assert`, for GoogleTest or for Catch2.

use branchwise_program::types::Type;

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Dialect {
    Assert,
    GoogleTest,
    Catch2,
}

impl Dialect {
    /// Two expressions that must be equal; `of` is the type of the first where it is known.
    pub fn equal(self, actual: &str, expected: &str, of: Option<&Type>) -> String {
        let boolean = of.is_some_and(|of| of.as_integer().is_some_and(|(bits, _)| bits == 1));
        let expected = if self == Dialect::Assert { expected.to_owned() } else { unsigned(expected, of) };
        match (self, expected.as_str()) {
            (Dialect::GoogleTest, "true" | "1") if boolean => format!("EXPECT_TRUE({actual});"),
            (Dialect::GoogleTest, "false" | "0") if boolean => format!("EXPECT_FALSE({actual});"),
            (Dialect::Catch2, "true" | "1") if boolean => format!("CHECK({actual});"),
            (Dialect::Catch2, "false" | "0") if boolean => format!("CHECK_FALSE({actual});"),
            (Dialect::GoogleTest, expected) => format!("EXPECT_EQ({actual}, {});", protected(expected)),
            (Dialect::Assert, expected) => format!("assert({actual} == {});", protected(expected)),
            (Dialect::Catch2, expected) => format!("CHECK({actual} == {});", protected(expected)),
        }
    }

    pub fn holds(self, expression: &str) -> String {
        match self {
            Dialect::Assert => format!("assert({expression});"),
            Dialect::GoogleTest => format!("EXPECT_TRUE({expression});"),
            Dialect::Catch2 => format!("CHECK({expression});"),
        }
    }

    /// The statement that expects a call to throw, where the framework has one; `class` is what it throws, if it has a name.
    pub fn throws(self, call: &str, class: Option<&str>) -> Option<String> {
        match (self, class) {
            (Dialect::Assert, _) => None,
            (Dialect::GoogleTest, Some(class)) => Some(format!("EXPECT_THROW({call}, {class});")),
            (Dialect::GoogleTest, None) => Some(format!("EXPECT_ANY_THROW({call});")),
            (Dialect::Catch2, Some(class)) => Some(format!("CHECK_THROWS_AS({call}, {class});")),
            (Dialect::Catch2, None) => Some(format!("CHECK_THROWS({call});")),
        }
    }
}

/// Frameworks compare by functions, where a plain number has the wrong sign for the compiler.
fn unsigned(expected: &str, of: Option<&Type>) -> String {
    let is_unsigned = of.and_then(Type::as_integer).is_some_and(|(bits, signed)| !signed && bits >= 32);
    let is_number = !expected.is_empty() && expected.bytes().all(|byte| byte.is_ascii_digit());
    if is_unsigned && is_number { format!("{expected}u") } else { expected.to_owned() }
}

/// Commas in braces part the arguments of a macro.
fn protected(expected: &str) -> String {
    let parts = expected.contains(['{', '<']) && expected.contains(',');
    if parts { format!("({expected})") } else { expected.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use branchwise_program::types::TypeKind;

    fn unsigned_type(bits: u32) -> Type {
        let kind = TypeKind::Integer { bits, signed: false, character: false };
        Type { kind, spelling: String::new(), size: 8, alignment: 8 }
    }

    #[test]
    fn frameworks_get_what_they_compare_without_warnings() {
        let count = unsigned_type(64);
        assert_eq!(Dialect::GoogleTest.equal("v.size()", "3", Some(&count)), "EXPECT_EQ(v.size(), 3u);");
        assert_eq!(Dialect::Assert.equal("v.size()", "3", Some(&count)), "assert(v.size() == 3);");
        assert_eq!(Dialect::Catch2.equal("v", "std::vector<int>{1, 2}", None), "CHECK(v == (std::vector<int>{1, 2}));");
        let flag = unsigned_type(1);
        assert_eq!(Dialect::GoogleTest.equal("s.empty()", "false", Some(&flag)), "EXPECT_FALSE(s.empty());");
        assert_eq!(Dialect::Catch2.equal("s.empty()", "true", Some(&flag)), "CHECK(s.empty());");
    }

    #[test]
    fn what_is_thrown_is_named_where_it_has_a_name() {
        let named = Dialect::GoogleTest.throws("f()", Some("std::out_of_range"));
        assert_eq!(named.as_deref(), Some("EXPECT_THROW(f(), std::out_of_range);"));
        assert_eq!(Dialect::Catch2.throws("f()", None).as_deref(), Some("CHECK_THROWS(f());"));
    }
}
