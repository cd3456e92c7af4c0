//! How native runs are confined, as the user wishes.

use branchwise_replay::{Layers, MissingLayer, Mode, Sandbox};
use clap::{Args, ValueEnum};

use crate::error::CliError;

#[derive(Debug, Args)]
pub struct SandboxArguments {
    /// How tests are confined when they run here (docs/reliability.md)
    #[arg(long, value_enum, value_name = "MODE", default_value_t = SandboxMode::Auto)]
    pub sandbox: SandboxMode,

    /// Confine them as Linux 6.1 does in a container, to see what holds there
    #[arg(long, hide = true)]
    pub old_kernel: bool,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum SandboxMode {
    /// Only with Landlock and seccomp, without which guarantees do not hold
    Require,
    /// With the best that the machine has
    Auto,
    /// Not at all: tests may do what you may
    Off,
}

impl From<SandboxMode> for Mode {
    fn from(mode: SandboxMode) -> Self {
        match mode {
            SandboxMode::Require => Self::Require,
            SandboxMode::Auto => Self::Auto,
            SandboxMode::Off => Self::Off,
        }
    }
}

impl SandboxArguments {
    /// Returns what the user asks for; an error where that is not here.
    pub fn choose(&self) -> Result<Sandbox, CliError> {
        let machine = Layers::of_this_machine();
        let machine = if self.old_kernel { machine.as_on_an_old_kernel() } else { machine };
        Sandbox::new(self.sandbox.into(), machine).map_err(|missing| missing_layers(&missing))
    }
}

fn missing_layers(missing: &[MissingLayer]) -> CliError {
    let names: Vec<String> = missing.iter().map(MissingLayer::to_string).collect();
    let error = CliError::input(format!("tests cannot be confined: {} is missing", names.join(" and ")));
    match missing.first() {
        Some(first) => error.with_hint(format!("{}; or give --sandbox auto", first.hint())),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn what_is_missing_is_an_error_of_the_machine_with_a_hint() {
        let error = missing_layers(&[MissingLayer::Filter]);
        assert_eq!(error.kind.exit() as i32, 3);
        expect![[r#"
            Error: tests cannot be confined: seccomp is missing
            Hint: seccomp needs a kernel with CONFIG_SECCOMP_FILTER; or give --sandbox auto
        "#]]
        .assert_eq(&error.to_string());
    }
}
