//! The arguments behind a format: those of the call, or what a `va_list` lists.

use std::collections::VecDeque;

use branchwise_constraints::{CompareOp, TermId};

use crate::address::{Access, Spot};
use crate::executor::{Executor, Step};
use crate::value::{Pointer, Value};

pub(crate) enum Arguments {
    Given(VecDeque<Value>),
    /// The address of a `va_list` of the System V ABI for x86-64.
    List(Value),
}

/// Where the offsets into the register save area end; general registers come first.
const GENERAL: (u64, u64, u64) = (0, 48, 8);
const FLOATING: (u64, u64, u64) = (4, 176, 16);

impl Executor<'_, '_> {
    /// The next argument that is an integer or a pointer, of this width in bits.
    pub(crate) fn next_argument(&mut self, arguments: &mut Arguments, width: u32) -> Step<Value> {
        let value = self.next_value(arguments, GENERAL)?;
        match value {
            Value::Bits(bits) => Ok(Value::Bits(crate::value::truncate(bits, width))),
            Value::Term(term) if self.session.terms.width(term) > width => {
                let term = self.session.terms.extract(term, 0, width);
                Ok(self.term_value(term))
            }
            value => Ok(value),
        }
    }

    /// The next argument that is a `double`.
    pub(crate) fn next_float(&mut self, arguments: &mut Arguments) -> Step<Value> {
        self.next_value(arguments, FLOATING)
    }

    fn next_value(&mut self, arguments: &mut Arguments, registers: (u64, u64, u64)) -> Step<Value> {
        match arguments {
            Arguments::Given(values) => match values.pop_front() {
                Some(value) => Ok(value),
                None => self.unsupported("a format that asks for more arguments than there are"),
            },
            Arguments::List(list) => {
                let list = *list;
                self.next_listed(&list, registers)
            }
        }
    }

    fn next_listed(&mut self, list: &Value, (field, end, step): (u64, u64, u64)) -> Step<Value> {
        let at = self.load_at(list, field, 4)?;
        let Value::Bits(offset) = at else { return self.unsupported("a list of arguments at a symbolic place") };
        if offset < end {
            let area = self.load_at(list, 16, 8)?;
            let value = self.load_at(&area, offset, 8)?;
            self.store_at(list, field, 4, Value::Bits(offset + step))?;
            return Ok(value);
        }
        let area = self.load_at(list, 8, 8)?;
        let value = self.load_at(&area, 0, 8)?;
        let next = self.displaced(area, 8, None)?;
        self.store_at(list, 8, 8, next)?;
        Ok(value)
    }

    pub(crate) fn load_at(&mut self, base: &Value, offset: u64, size: u64) -> Step<Value> {
        let address = self.displaced(*base, offset, None)?;
        match self.resolve(&address, size, Access::Read)? {
            Spot::At(pointer) => Ok(self.memory.read(self.session, pointer.object, pointer.offset, size)),
            Spot::OneOf { object, offset, places } => self.read_one_of(object, offset, &places, size),
            Spot::Fixed(address) => self.read_register(address, size),
        }
    }

    pub(crate) fn store_at(&mut self, base: &Value, offset: u64, size: u64, value: Value) -> Step<()> {
        let address = self.displaced(*base, offset, None)?;
        self.write(&address, size, value)
    }

    pub(crate) fn load_byte(&mut self, base: &Value, offset: u64) -> Step<TermId> {
        let value = self.load_at(base, offset, 1)?;
        Ok(self.as_term(&value, 8))
    }

    pub(crate) fn store_byte(&mut self, base: &Value, offset: u64, byte: TermId) -> Step<()> {
        let value = self.term_value(byte);
        self.store_at(base, offset, 1, value)
    }

    /// A string that must be known, such as a format.
    pub(crate) fn known_text(&mut self, address: &Value, what: &str) -> Step<Vec<u8>> {
        let mut text = Vec::new();
        loop {
            match self.load_at(address, text.len() as u64, 1)? {
                Value::Bits(0) => return Ok(text),
                Value::Bits(byte) => text.push(byte as u8),
                _ => return self.unsupported(format!("{what} that is an input")),
            }
        }
    }

    /// The length of a string, at most `most`, as a term of 64 bits. That it has no end is a fault; where its end is,
    /// is left open.
    pub(crate) fn text_length(&mut self, address: &Value, most: Option<u64>) -> Step<TermId> {
        if most == Some(0) {
            return Ok(self.session.terms.constant(0, 64));
        }
        let Pointer { object, offset } = match self.resolve(address, 1, Access::Read)? {
            Spot::At(pointer) => pointer,
            Spot::OneOf { object, offset, .. } => {
                let offset = self.concretise(&Value::Term(offset), 64)?;
                Pointer { object, offset }
            }
            Spot::Fixed(_) => return self.unsupported("a string at a fixed address"),
        };
        let Some((size, limit)) = self.memory.get(object).map(|found| (found.size, found.symbolic_size)) else {
            return self.unsupported("a string in an object whose lifetime is over");
        };
        let mut ends = Vec::new();
        let mut outside = self.session.terms.boolean(false);
        let mut going_on = self.session.terms.boolean(true);
        let mut at = offset;
        while most.is_none_or(|most| at - offset < most) && self.session.terms.as_boolean(going_on) != Some(false) {
            let here_outside = self.is_outside(at, size, limit);
            let escapes = self.session.terms.and(going_on, here_outside);
            outside = self.session.terms.or(outside, escapes);
            if at >= size {
                break;
            }
            let byte = self.memory.read(self.session, object, at, 1);
            let byte = self.as_term(&byte, 8);
            let is_end = self.is_byte(byte, 0);
            ends.push(is_end);
            let not_end = self.session.terms.not(is_end);
            going_on = self.session.terms.and(going_on, not_end);
            at += 1;
        }
        if self.decide_fault(outside, crate::path::FaultKind::OutOfBounds)? {
            let end = limit.filter(|_| !self.unites()).map_or(size, |limit| self.evaluate(limit) as u64);
            return self.out_of_bounds(object, end);
        }
        let mut length = self.session.terms.constant(ends.len() as u128, 64);
        for (index, &is_end) in ends.iter().enumerate().rev() {
            let here = self.session.terms.constant(index as u128, 64);
            length = self.session.terms.if_then_else(is_end, here, length);
        }
        Ok(length)
    }

    fn is_outside(&mut self, at: u64, size: u64, limit: Option<TermId>) -> TermId {
        if at >= size {
            return self.session.terms.boolean(true);
        }
        let Some(limit) = limit else { return self.session.terms.boolean(false) };
        let at = self.session.terms.constant(u128::from(at), 64);
        self.session.terms.compare(CompareOp::Ule, limit, at)
    }

    /// Whether a pointer is null.
    pub(crate) fn decide_null(&mut self, pointer: &Value) -> Step<bool> {
        match pointer {
            Value::Bits(bits) => Ok(*bits == 0),
            Value::Undefined => {
                self.fail(crate::path::FaultKind::UninitialisedRead, "a pointer that was never written")
            }
            pointer => match self.pointer_compare(branchwise_program::code::CompareOp::Eq, pointer, &Value::Bits(0)) {
                Some(is_null) => self.holds(is_null),
                None => self.unsupported("a pointer made from a symbolic integer"),
            },
        }
    }
}
