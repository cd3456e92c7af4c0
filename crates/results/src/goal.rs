//! A goal, its verdict and the reasons for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Constraint;

/// One thing that a criterion wants a test to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Goal {
    /// The number of the goal within its function.
    pub id: u32,
    /// The function that the goal stands in.
    pub function: Option<String>,
    pub criterion: String,
    pub kind: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// The condition, label or statement as the user wrote it.
    pub text: String,
    /// The outcome that is wanted; null where the goal is not one of two outcomes.
    pub outcome: Option<bool>,
    pub verdict: Verdict,
    /// The tests that cover the goal.
    pub tests: Vec<u32>,
    /// The undefined behaviour that comes before the goal in every test that covers it, such as `signed overflow at 33:20`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    pub view: View,
    /// The function whose calls the verdict speaks of, where it is not the goal's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The two evaluations of a decision that show the goal together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<[String; 2]>,
    /// The constraint of the single path that was refuted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuted: Option<Constraint>,
    /// The grounds of a verdict other than `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The grounds of the verdict `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// How a goal ended.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The tests cover the goal.
    Covered,
    /// No execution takes it, under the preconditions and accepted assumptions alone.
    Infeasible,
    /// No input takes it within the bounds, and under the assumptions that nobody has accepted.
    InfeasibleWithinBounds,
    /// Nothing is known.
    Unknown,
}

impl Verdict {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Covered => "covered",
            Verdict::Infeasible => "infeasible",
            Verdict::InfeasibleWithinBounds => "infeasible_within_bounds",
            Verdict::Unknown => "unknown",
        }
    }
}

/// The calls that a verdict speaks of.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// Every call of the function.
    Unit,
    /// Calls from the function `from`, or else all calls that the file itself makes.
    Integration,
}

/// The grounds of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Evidence {
    /// No input takes the goal.
    Proved(Proof),
    /// The tests took it.
    Replayed(Replayed),
}

/// The argument that no input takes a goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// One sentence.
    pub proof: String,
    /// Paths that were executed for it.
    pub paths: u64,
    /// Beginnings of paths that were refuted for it.
    pub refuted_prefixes: u64,
    /// The statements that the proof takes for granted.
    pub assumptions: Vec<Assumption>,
    /// The shortest prefix of a path that no input takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infeasible_prefix: Option<String>,
    /// The bounds of a verdict that holds within bounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bound>,
    /// Native executions with random inputs, none of which took the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attacked: Option<u64>,
}

/// Native runs show the goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replayed {
    /// Always `replayed`.
    pub proof: String,
}

/// A statement that a proof takes for granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assumption {
    /// The stable name, in kebab case.
    pub name: String,
    /// The function, variable or condition that it is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// One sentence.
    pub text: String,
    /// The user states it, as a precondition or with `--assume`.
    #[serde(default, skip_serializing_if = "crate::function::is_false")]
    pub accepted: bool,
}

/// A limit of the search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// The limited quantity, such as `iterations of the loop at shape.c:12`.
    pub what: String,
    pub limit: u64,
}

/// Why a goal is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// One sentence.
    pub message: String,
    /// The condition that blocks, where one is known.
    pub blocking: Option<String>,
    /// Paths and queries that were spent.
    pub paths: u64,
    pub solver_calls: u64,
    /// The test that came closest.
    pub closest_test: Option<u32>,
}
