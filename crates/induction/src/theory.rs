//! Terms with functions of which nothing is known but that equal arguments give equal values: memory, ghosts of recursive
//! functions, and products.
//!
//! The solver knows no functions. An application is a variable, and [`Theory::congruences`] says of any two of one function
//! that equal arguments have equal values.

use std::collections::{BTreeSet, HashMap};

use branchwise_constraints::{BinaryOp, CompareOp, TermId, Terms};

/// A function: one of which nothing is known, one that differs from another at one place, or a choice between two.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Map(u32);

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
enum MapKind {
    Unknown { base: usize },
    Stored { map: Map, key: TermId, value: TermId },
    Choice { condition: TermId, then: Map, otherwise: Map },
}

/// A function of which nothing is known.
#[derive(Debug, Clone)]
struct Base {
    width: u32,
    /// The arguments may be exchanged.
    commutes: bool,
    applications: Vec<(Vec<TermId>, TermId)>,
}

/// An operator that is taken for a function.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
enum Operator {
    Binary(BinaryOp),
    Compare(CompareOp),
}

impl Operator {
    fn commutes(self) -> bool {
        matches!(self, Operator::Binary(op) if op.is_commutative())
    }

    /// Of the result.
    fn width(self, operands: u32) -> u32 {
        if matches!(self, Operator::Compare(_)) { 1 } else { operands }
    }
}

/// By width of the operands.
type Operators = HashMap<(Operator, u32), usize>;

#[derive(Debug, Clone)]
pub(crate) struct Theory {
    pub terms: Terms,
    maps: Vec<MapKind>,
    /// Maps that are made in the same way are the same.
    known: HashMap<MapKind, Map>,
    bases: Vec<Base>,
    values: HashMap<(Map, Vec<TermId>), TermId>,
    operators: Operators,
    /// What holds of applications of operators.
    laws: Vec<TermId>,
}

impl Theory {
    pub(crate) fn new() -> Self {
        Theory {
            terms: Terms::new(),
            maps: Vec::new(),
            known: HashMap::new(),
            bases: Vec::new(),
            values: HashMap::new(),
            operators: HashMap::new(),
            laws: Vec::new(),
        }
    }

    pub(crate) fn fresh(&mut self, name: &str, width: u32) -> TermId {
        self.terms.variable(name, width)
    }

    pub(crate) fn unknown_map(&mut self, width: u32) -> Map {
        let base = self.unknown_function(width, false);
        self.map(MapKind::Unknown { base })
    }

    fn unknown_function(&mut self, width: u32, commutes: bool) -> usize {
        self.bases.push(Base { width, commutes, applications: Vec::new() });
        self.bases.len() - 1
    }

    fn map(&mut self, kind: MapKind) -> Map {
        let next = Map(u32::try_from(self.maps.len()).expect("fewer than 2^32 maps"));
        let map = *self.known.entry(kind).or_insert(next);
        if map == next {
            self.maps.push(kind);
        }
        map
    }

    /// The map that has another value at one key; at all keys where the condition does not hold, it is the same.
    pub(crate) fn stored(&mut self, map: Map, key: TermId, value: TermId) -> Map {
        self.map(MapKind::Stored { map, key, value })
    }

    pub(crate) fn choice(&mut self, condition: TermId, then: Map, otherwise: Map) -> Map {
        match self.terms.as_boolean(condition) {
            Some(true) => then,
            Some(false) => otherwise,
            None if then == otherwise => then,
            None => self.map(MapKind::Choice { condition, then, otherwise }),
        }
    }

    /// The unknown maps that a choice is between.
    pub(crate) fn parts(&self, map: Map) -> BTreeSet<Map> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![map]);
        while let Some(map) = open.pop() {
            match self.maps[map.0 as usize] {
                _ if !seen.insert(map) => {}
                MapKind::Unknown { .. } => {}
                MapKind::Stored { map, .. } => open.push(map),
                MapKind::Choice { then, otherwise, .. } => open.extend([then, otherwise]),
            }
        }
        seen.retain(|map| matches!(self.maps[map.0 as usize], MapKind::Unknown { .. }));
        seen
    }

    /// How many maps there are: no chain of stores and choices is longer.
    pub(crate) fn map_count(&self) -> usize {
        self.maps.len()
    }

    pub(crate) fn value(&mut self, map: Map, keys: &[TermId]) -> TermId {
        if let Some(&known) = self.values.get(&(map, keys.to_vec())) {
            return known;
        }
        let value = match self.maps[map.0 as usize] {
            MapKind::Unknown { base } => self.application(base, keys),
            MapKind::Stored { map, key, value } => {
                let same = self.terms.equal(key, keys[0]);
                match self.terms.as_boolean(same) {
                    Some(true) => value,
                    Some(false) => self.value(map, keys),
                    None => {
                        let before = self.value(map, keys);
                        self.terms.if_then_else(same, value, before)
                    }
                }
            }
            MapKind::Choice { condition, then, otherwise } => {
                let (then, otherwise) = (self.value(then, keys), self.value(otherwise, keys));
                self.terms.if_then_else(condition, then, otherwise)
            }
        };
        self.values.insert((map, keys.to_vec()), value);
        value
    }

    fn application(&mut self, base: usize, keys: &[TermId]) -> TermId {
        let Base { width, commutes, ref applications } = self.bases[base];
        let is_same = |known: &[TermId]| known == keys || (commutes && known.iter().rev().eq(keys));
        if let Some((_, value)) = applications.iter().find(|(known, _)| is_same(known)) {
            return *value;
        }
        let value = self.terms.variable(&format!("f{base}"), width);
        self.bases[base].applications.push((keys.to_vec(), value));
        value
    }

    /// Products, quotients and shifts of two unknowns are functions with a few laws; the rest are terms.
    pub(crate) fn binary(&mut self, op: BinaryOp, left: TermId, right: TermId) -> TermId {
        use BinaryOp::{AShr, LShr, Mul, SDiv, SRem, Shl, UDiv, URem};
        let hard = match op {
            Mul => self.terms.as_constant(left).is_none() && self.terms.as_constant(right).is_none(),
            UDiv | SDiv | URem | SRem | Shl | LShr | AShr => self.terms.as_constant(right).is_none(),
            _ => false,
        };
        if hard { self.lawful(Operator::Binary(op), left, right) } else { self.terms.binary(op, left, right) }
    }

    /// As [`Theory::binary`], and sums and bitwise operators of two unknowns are functions too.
    pub(crate) fn abstract_binary(&mut self, op: BinaryOp, left: TermId, right: TermId) -> TermId {
        use BinaryOp::{Add, And, Or, Sub, Xor};
        let unknown = self.terms.as_constant(left).is_none() && self.terms.as_constant(right).is_none();
        let plain = unknown && self.terms.width(left) > 1 && matches!(op, Add | Sub | And | Or | Xor);
        if plain { self.lawful(Operator::Binary(op), left, right) } else { self.binary(op, left, right) }
    }

    /// A comparison of which only is known what it says of equal numbers, if both are unknown.
    pub(crate) fn abstract_compare(&mut self, op: CompareOp, left: TermId, right: TermId) -> TermId {
        let unknown = self.terms.as_constant(left).is_none() && self.terms.as_constant(right).is_none();
        match op {
            CompareOp::Ult | CompareOp::Slt if unknown => self.lawful(Operator::Compare(op), left, right),
            CompareOp::Ule if unknown => self.abstract_not_less(CompareOp::Ult, left, right),
            CompareOp::Sle if unknown => self.abstract_not_less(CompareOp::Slt, left, right),
            _ => self.terms.compare(op, left, right),
        }
    }

    fn abstract_not_less(&mut self, less: CompareOp, left: TermId, right: TermId) -> TermId {
        let greater = self.lawful(Operator::Compare(less), right, left);
        self.terms.not(greater)
    }

    fn lawful(&mut self, operator: Operator, left: TermId, right: TermId) -> TermId {
        let width = self.terms.width(left);
        let base = match self.operators.get(&(operator, width)) {
            Some(&base) => base,
            None => {
                let base = self.unknown_function(operator.width(width), operator.commutes());
                self.operators.insert((operator, width), base);
                base
            }
        };
        let known = self.bases[base].applications.len();
        let result = self.application(base, &[left, right]);
        if self.bases[base].applications.len() > known {
            self.note_laws(operator, left, right, result);
        }
        result
    }

    /// What the operator does with zero, with one and with equal operands.
    fn note_laws(&mut self, operator: Operator, left: TermId, right: TermId, result: TermId) {
        use BinaryOp::{AShr, Add, And, LShr, Mul, Or, SDiv, SRem, Shl, Sub, UDiv, URem, Xor};
        let width = self.terms.width(left);
        let (zero, one) = (self.terms.constant(0, width), self.terms.constant(1, width));
        let laws: Vec<(TermId, TermId, TermId)> = match operator {
            Operator::Compare(_) => vec![(left, right, self.terms.boolean(false))],
            Operator::Binary(Mul) => {
                vec![(left, one, right), (right, one, left), (left, zero, zero), (right, zero, zero)]
            }
            Operator::Binary(UDiv | SDiv) => vec![(right, one, left)],
            Operator::Binary(URem | SRem) => vec![(right, one, zero)],
            Operator::Binary(Shl | LShr | AShr) => vec![(right, zero, left)],
            Operator::Binary(Add) => vec![(left, zero, right), (right, zero, left)],
            Operator::Binary(Sub) => vec![(right, zero, left), (left, right, zero)],
            Operator::Binary(And) => vec![(left, right, left), (left, zero, zero), (right, zero, zero)],
            Operator::Binary(Or) => vec![(left, zero, right), (right, zero, left), (left, right, left)],
            Operator::Binary(Xor) => vec![(left, zero, right), (right, zero, left), (left, right, zero)],
        };
        for (operand, other, outcome) in laws {
            let (applies, holds) = (self.terms.equal(operand, other), self.terms.equal(result, outcome));
            let law = self.terms.implies(applies, holds);
            self.laws.push(law);
        }
    }

    /// Whatever holds of all functions: equal arguments have equal values.
    pub(crate) fn congruences(&mut self) -> Vec<TermId> {
        let mut all = self.laws.clone();
        for base in 0..self.bases.len() {
            let applications = self.bases[base].applications.clone();
            for (index, (keys, value)) in applications.iter().enumerate() {
                for (earlier_keys, earlier) in &applications[..index] {
                    all.push(self.congruence((keys, *value), (earlier_keys, *earlier)));
                    if self.bases[base].commutes {
                        let turned: Vec<TermId> = earlier_keys.iter().rev().copied().collect();
                        all.push(self.congruence((keys, *value), (&turned, *earlier)));
                    }
                }
            }
        }
        all.retain(|term| self.terms.as_boolean(*term) != Some(true));
        all
    }

    fn congruence(&mut self, (keys, value): (&[TermId], TermId), (others, other): (&[TermId], TermId)) -> TermId {
        let mut same = self.terms.boolean(true);
        for (&key, &other) in keys.iter().zip(others) {
            let equal = self.terms.equal(key, other);
            same = self.terms.and(same, equal);
        }
        let equal = self.terms.equal(value, other);
        self.terms.implies(same, equal)
    }
}
