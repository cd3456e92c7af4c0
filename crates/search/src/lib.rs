//! The tree of what was tried, and which prefix to try next.
//!
//! A strategy sees the map, the goals and the tree, never terms or solvers: it can be tested without them.

mod decisions;
mod depth_first;
mod directed;
mod frontier;
mod guidance;
mod tree;

pub use decisions::DecisionGraph;
pub use depth_first::{DepthFirst, Executed};
pub use directed::{Directed, Shared};
pub use frontier::{Candidate, Frontier};
pub use guidance::{Guidance, Routes};
pub use tree::{Branch, Choice, Inserted, Position, Status, Tree, TreeNodeId};
