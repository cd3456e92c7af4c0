//! Which bits of a term come from memory that nobody wrote. A structure with bit-fields is written bit by bit through
//! masks, so a word may hold both; only the bits that are looked at count.

use std::collections::{HashMap, HashSet};

use branchwise_constraints::{BinaryOp, TermId, TermKind, Terms, UnaryOp, VariableId};

/// Whether the value of a term depends on one of these variables, by the bits that its operators let through.
pub(super) fn depends_on(terms: &Terms, variables: &HashSet<VariableId>, term: TermId) -> bool {
    let occurs = |term: TermId| terms.variables(term).iter().any(|variable| variables.contains(variable));
    if variables.is_empty() || !occurs(term) {
        return false;
    }
    let mut seen: HashMap<TermId, u128> = HashMap::new();
    let mut open = vec![(term, ones(terms.width(term)))];
    while let Some((term, demanded)) = open.pop() {
        let known = seen.entry(term).or_default();
        if demanded & !*known == 0 || !occurs(term) {
            continue;
        }
        *known |= demanded;
        if let TermKind::Variable(_) = terms.kind(term) {
            return true;
        }
        demanded_of_operands(terms, term, demanded, &mut open);
    }
    false
}

fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// Which bits of its operands decide the demanded bits of a term; all of them where the operator mixes bits.
fn demanded_of_operands(terms: &Terms, term: TermId, demanded: u128, open: &mut Vec<(TermId, u128)>) {
    match *terms.kind(term) {
        TermKind::Unary(UnaryOp::Not, operand) => open.push((operand, demanded)),
        TermKind::Binary(BinaryOp::And, left, right) => {
            masked(terms, left, right, |mask| demanded & mask, demanded, open)
        }
        TermKind::Binary(BinaryOp::Or, left, right) => {
            masked(terms, left, right, |mask| demanded & !mask, demanded, open)
        }
        TermKind::Binary(BinaryOp::Xor, left, right) => open.extend([(left, demanded), (right, demanded)]),
        TermKind::Binary(op @ (BinaryOp::Shl | BinaryOp::LShr), left, right) => {
            shifted(terms, op, left, right, demanded, open)
        }
        TermKind::IfThenElse { condition, then, otherwise } => {
            open.extend([(condition, 1), (then, demanded), (otherwise, demanded)])
        }
        TermKind::Extract { term, low } => open.push((term, demanded << low)),
        TermKind::Concat { high, low } => {
            let width = terms.width(low);
            open.extend([(high, demanded >> width), (low, demanded & ones(width))]);
        }
        TermKind::ZeroExtend(operand) => open.push((operand, demanded & ones(terms.width(operand)))),
        ref kind => open.extend(kind.operands().map(|operand| (operand, ones(terms.width(operand))))),
    }
}

fn masked(
    terms: &Terms,
    left: TermId,
    right: TermId,
    through: impl Fn(u128) -> u128,
    demanded: u128,
    open: &mut Vec<(TermId, u128)>,
) {
    match (terms.as_constant(left), terms.as_constant(right)) {
        (Some(mask), _) => open.push((right, through(mask))),
        (_, Some(mask)) => open.push((left, through(mask))),
        _ => open.extend([(left, demanded), (right, demanded)]),
    }
}

fn shifted(terms: &Terms, op: BinaryOp, value: TermId, by: TermId, demanded: u128, open: &mut Vec<(TermId, u128)>) {
    let width = terms.width(value);
    match terms.as_constant(by) {
        Some(by) if by < u128::from(width) && op == BinaryOp::Shl => open.push((value, demanded >> by)),
        Some(by) if by < u128::from(width) => open.push((value, (demanded << by) & ones(width))),
        _ => open.extend([(value, ones(width)), (by, ones(width))]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_hides_what_nobody_wrote() {
        let mut terms = Terms::new();
        let garbage = terms.variable("garbage", 32);
        let written = terms.variable("written", 32);
        let variables: HashSet<VariableId> = terms.variable_id(garbage).into_iter().collect();
        let (low, high) = (terms.constant(0xffff, 32), terms.constant(0xffff_0000, 32));
        let kept = terms.binary(BinaryOp::And, garbage, high);
        let stored = terms.binary(BinaryOp::And, written, low);
        let word = terms.binary(BinaryOp::Or, kept, stored);
        let read_low = terms.binary(BinaryOp::And, word, low);
        let read_high = terms.binary(BinaryOp::And, word, high);
        assert!(depends_on(&terms, &variables, word));
        assert!(!depends_on(&terms, &variables, read_low));
        assert!(depends_on(&terms, &variables, read_high));
    }
}
