//! Allocations that may fail: whether each does is an input.

use branchwise_program::code::Code;
use branchwise_program::map::{Feed, FeedOrigin};
use branchwise_program::types::{Type, TypeKind};

use crate::Unit;

/// What the models of `malloc()` and its like ask first.
const ALLOCATION_FAILS: &str = "__bw_allocation_fails";

/// Tells whether lowered code calls `malloc()` or its like.
pub fn allocates(code: &Code) -> bool {
    code.function_named(ALLOCATION_FAILS).is_some()
}

/// Every call of malloc() and its like takes the next value of a feed, and fails where it is 1.
pub fn let_allocations_fail(unit: &mut Unit) {
    let kind = TypeKind::Integer { bits: 1, signed: false, character: false };
    let type_id = unit.map.types.push(Type { kind, spelling: "_Bool".to_owned(), size: 1, alignment: 1 });
    let feed =
        unit.map.feeds.push(Feed { name: "malloc() fails".to_owned(), type_id, origin: FeedOrigin::AllocationFails });
    // The native runtime finds the feed by this.
    let definition = format!("\nconst unsigned __bw_allocation_feed = {};\n", feed.0);
    unit.marked += &definition;
    unit.plain += &definition;
}
