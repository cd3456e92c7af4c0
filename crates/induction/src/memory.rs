//! Memory as terms: a map for each field of an array, a term for each cell, and what is not followed.

use std::collections::BTreeMap;

use branchwise_constraints::TermId;
use branchwise_program::GlobalId;
use branchwise_program::code::Width;

use crate::proof::{Unit, narrowed};
use crate::regions::{Changes, Field};
use crate::theory::{Map, Theory};

/// Widths of accesses to memory that is not followed; what others read may be anything.
const WIDTHS: [Width; 4] = [8, 16, 32, 64];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    /// By the address of the element; addresses of elements in narrow form.
    pub fields: BTreeMap<Field, Map>,
    pub cells: BTreeMap<Field, TermId>,
    /// By address, for each of [`WIDTHS`]. A store makes all of it unknown.
    other: [Map; 4],
}

impl Memory {
    /// Any memory.
    pub(crate) fn unknown(theory: &mut Theory, unit: Unit<'_>, array: GlobalId) -> Self {
        let mut memory = Memory { fields: BTreeMap::new(), cells: BTreeMap::new(), other: unknown_other(theory) };
        let (cells, fields) =
            unit.regions.all_fields().map(|(field, _)| field).partition(|field| unit.regions.stride(field.object) == 0);
        memory.forget(theory, unit, array, &Changes { cells, fields, other: false });
        memory
    }

    /// What changed may hold anything now.
    pub(crate) fn forget(&mut self, theory: &mut Theory, unit: Unit<'_>, array: GlobalId, changes: &Changes) {
        for &field in &changes.cells {
            self.cells.insert(field, theory.fresh("cell", unit.regions.width(field)));
        }
        for &field in &changes.fields {
            let is_link = field.object == array && unit.regions.leads_to_own_array(field);
            let width = if is_link { narrowed(unit, array).1 } else { unit.regions.width(field) };
            self.fields.insert(field, theory.unknown_map(width));
        }
        if changes.other {
            self.forget_other(theory);
        }
    }

    pub(crate) fn forget_other(&mut self, theory: &mut Theory) {
        self.other = unknown_other(theory);
    }

    pub(crate) fn other(&self, theory: &mut Theory, address: TermId, width: Width) -> TermId {
        match WIDTHS.iter().position(|known| *known == width) {
            Some(index) => theory.value(self.other[index], &[address]),
            None => theory.fresh("read", width),
        }
    }

    /// This memory where the condition holds, else the other.
    pub(crate) fn choice(&self, theory: &mut Theory, condition: TermId, otherwise: &Memory) -> Memory {
        let fields =
            self.fields.iter().map(|(field, map)| (*field, theory.choice(condition, *map, otherwise.fields[field])));
        let fields = fields.collect();
        let cells = self
            .cells
            .iter()
            .map(|(field, value)| (*field, theory.terms.if_then_else(condition, *value, otherwise.cells[field])));
        let cells = cells.collect();
        let other = [0, 1, 2, 3].map(|index| theory.choice(condition, self.other[index], otherwise.other[index]));
        Memory { fields, cells, other }
    }

    /// Whether an observer that looks at these cells sees the same in both.
    pub(crate) fn looks_like(&self, other: &Memory, cells: &[Field]) -> bool {
        let same = |field: &Field| self.cells.get(field) == other.cells.get(field);
        self.fields == other.fields && self.other == other.other && cells.iter().all(same)
    }
}

fn unknown_other(theory: &mut Theory) -> [Map; 4] {
    WIDTHS.map(|width| theory.unknown_map(width))
}
