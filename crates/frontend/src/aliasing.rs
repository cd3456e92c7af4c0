//! Which rules of aliasing a file is compiled with: those of its language, or none.

use branchwise_program::aliasing::Aliasing;
use branchwise_program::map::Language;

const OFF: &str = "-fno-strict-aliasing";
const ON: &str = "-fstrict-aliasing";
/// The attribute of types to which the rules do not apply.
const ATTRIBUTE: &str = "may_alias";

/// The rules by flags, of which the last counts, and by what the user's text says of its types.
pub(crate) fn aliasing(language: Language, flags: &[String], preprocessed: &str) -> Aliasing {
    let last = flags.iter().rev().find(|flag| [OFF, ON].contains(&flag.as_str()));
    let off = last.is_some_and(|flag| flag == OFF);
    match language {
        _ if off || of_user(preprocessed).any(|line| line.contains(ATTRIBUTE)) => Aliasing::Any,
        Language::C => Aliasing::C,
        Language::Cpp => Aliasing::Cpp,
    }
}

/// The lines that do not come from headers of the system, as line markers tell.
fn of_user(preprocessed: &str) -> impl Iterator<Item = &str> {
    let mut of_system = false;
    preprocessed.lines().filter(move |line| {
        let marker = line.strip_prefix("# ").filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        match marker {
            Some(marker) => {
                let flags = marker.rsplit('"').next().unwrap_or_default();
                of_system = flags.split(' ').any(|flag| flag == "3");
                false
            }
            None => !of_system,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_flag_counts_and_only_the_users_types() {
        let flags = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let system = "# 1 \"a.c\"\n# 1 \"/usr/include/s.h\" 1 3 4\nint a __attribute__((__may_alias__));\n# 2 \"a.c\" 2\nint b;\n";
        assert_eq!(aliasing(Language::C, &flags(&[OFF, ON]), system), Aliasing::C);
        assert_eq!(aliasing(Language::Cpp, &flags(&[ON, OFF]), system), Aliasing::Any);
        let user = format!("{system}typedef int word __attribute__((may_alias));\n");
        assert_eq!(aliasing(Language::C, &[], &user), Aliasing::Any);
    }
}
