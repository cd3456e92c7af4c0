//! Allocations that may fail: whether each does is an input.

use branchwise_program::map::{Feed, FeedOrigin};
use branchwise_program::types::{Type, TypeKind};

use crate::Unit;

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
