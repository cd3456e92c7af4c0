//! What lies inside of arguments and may be shared with others: pointers that lead into other arguments, and owners of one
//! object. A test sets these when all arguments are made.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use branchwise_program::usage::{Construction, Object, Question, Step, Variation, Way};
use clang_sys::*;

use super::Maker;
use super::sharing::{
    DEEPEST_PLACE, Found, Leads, MOST_PLACES, Part, Written, can_be_reached, elements, is_shared_pointer,
    is_smart_pointer, leads_to_object, places_in_class, required, same, way_to,
};
use crate::clang::{ClangType, Cursor};
use crate::containers::{spelled, standard};
use crate::functions::qualified;

/// An argument of a function that makes or changes an object, which may keep it.
pub(super) struct Lent<'u> {
    function: String,
    /// It is needed for the part with this index.
    part: usize,
    /// The type of the owner, or of what a pointer leads to.
    of: ClangType<'u>,
    /// The number of the owner, until others of the same call may share with it.
    owner: Option<usize>,
}

impl<'u> Maker<'_, 'u> {
    /// Notes that a function gets an owner, or a pointer that could lead elsewhere.
    pub(super) fn note_lent(&mut self, function: Cursor<'u>, declared: ClangType<'u>, number: usize) {
        let canonical = declared.canonical();
        let leads = matches!(canonical.kind(), CXType_LValueReference | CXType_Pointer);
        let of = if leads { canonical.pointee().canonical() } else { canonical }.unqualified();
        let owner = is_shared_pointer(of).then_some(number);
        if owner.is_some() || leads && can_be_reached(of) {
            let (function, part) = (qualified(function), self.parts.len());
            self.lent.push(Lent { function, part, of, owner });
        }
    }

    /// Lets the owners that a function is given share what they own.
    pub(super) fn share_lent(&mut self, function: Cursor<'u>) {
        let name = qualified(function);
        let owned = self.lent.iter_mut().filter_map(|lent| Some((lent.owner.take()?, lent.of)));
        let owned: Vec<(usize, ClangType<'u>)> = owned.collect();
        for (index, (later, of)) in owned.iter().enumerate() {
            for (earlier, _) in owned[..index].iter().filter(|(_, other)| same(*of, *other)) {
                let then = vec![Step::Statement(format!("{{@{later}}} = {{@{earlier}}};"))];
                let names = (format!("one owner that {name} gets"), "another one".to_owned());
                self.may_share(names, vec![Way { then, ..Way::default() }]);
            }
        }
        if !owned.is_empty() {
            self.usage.never_done.insert(format!("other owners of what {name} gets"));
        }
    }

    /// Names what functions that make or change objects could have got from other arguments.
    fn name_lent(&mut self, parts: &[Part<'u>]) {
        for Lent { function, part, of, .. } in std::mem::take(&mut self.lent) {
            let others = parts.iter().enumerate().filter(|(index, _)| *index != part).map(|(_, other)| other);
            let has_one = |other: &&Part<'u>| {
                let leads = other.leads != Leads::Value || is_smart_pointer(other.of);
                leads && (same(of, other.of) || self.can_find(of, other.of, DEEPEST_PLACE))
            };
            let named = others
                .filter(has_one)
                .map(|other| format!("ways for what {function} gets to lead into {}", other.name));
            let named: Vec<String> = named.collect();
            self.usage.never_done.extend(named);
        }
    }

    /// Lets pointers inside of arguments lead into other arguments, and lets what owns objects share these.
    pub(super) fn share_inside(&mut self, parts: &[Part<'u>]) {
        self.name_lent(parts);
        for (index, part) in parts.iter().enumerate() {
            for of in types_inside(part) {
                match is_shared_pointer(of) {
                    true => self.share_owned(of, part, &parts[index..]),
                    false => self.lead_into(of, part, parts.iter().enumerate().filter(|other| other.0 != index)),
                }
            }
        }
    }

    /// Lets the pointers of a type lead into other arguments.
    fn lead_into<'p>(
        &mut self,
        pointer: ClangType<'u>,
        part: &Part<'u>,
        others: impl Iterator<Item = (usize, &'p Part<'u>)>,
    ) where
        'u: 'p,
    {
        let wanted = pointer.pointee().canonical();
        for (_, other) in others.filter(|(_, other)| can_be_led_into(part, other)) {
            let mut ways = Vec::new();
            for place in self.places(pointer, part) {
                for target in self.places(wanted, other) {
                    ways.push(leading(place.clone(), target, wanted, other.is_constant()));
                }
            }
            self.may_share((part.name.clone(), other.name.clone()), ways);
        }
    }

    /// Lets the owners of a type in an argument share what they own with each other, and with those in later arguments.
    fn share_owned(&mut self, owner: ClangType<'u>, part: &Part<'u>, others: &[Part<'u>]) {
        let (own, same_again) = (self.places(owner, part), self.places(owner, part));
        let mut ways = Vec::new();
        for (index, left) in own.iter().enumerate() {
            let later = same_again.iter().skip(index).enumerate();
            for (_, right) in later.filter(|(distance, right)| *distance > 0 || !right.steps.is_empty()) {
                ways.push(self.sharing((owner, part.is_constant()), left, right));
            }
        }
        self.may_share((format!("one owner in {}", part.name), "another one".to_owned()), ways);
        for other in others.iter().skip(1) {
            let mut ways = Vec::new();
            for left in &own {
                for right in self.places(owner, other) {
                    ways.push(self.sharing((owner, part.is_constant()), left, &right));
                }
            }
            self.may_share((part.name.clone(), other.name.clone()), ways);
        }
    }

    /// The first owner gets what the second one has. What it had stays alive: other arguments may lead there.
    fn sharing(&mut self, (owner, constant): (ClangType<'u>, bool), left: &Found, right: &Found) -> Way {
        let (number, class) = (self.next_object(), spelled(owner));
        let ways = vec![Construction::of(&class, Vec::new(), &format!("({})", left.lvalue))];
        let name = "owner_before".to_owned();
        let kept = Object { number, name, class: class.clone(), choice: None, ways, may_be_null: false };
        let place = match constant {
            true => format!("const_cast<{class} &>({})", left.lvalue),
            false => left.lvalue.clone(),
        };
        let assignment = format!("{place} = {};", right.lvalue);
        let (steps, requires) = both(left, right);
        Way { steps, requires, then: vec![Step::Object(kept), Step::Statement(assignment)], ..Way::default() }
    }

    fn may_share(&mut self, (left, right): (String, String), mut others: Vec<Way>) {
        if others.is_empty() {
            return;
        }
        if others.len() > MOST_PLACES {
            others.truncate(MOST_PLACES);
            self.usage.never_done.insert(format!("other ways for {left} to lead into {right}"));
        }
        let choice = self.choice(format!("what {left} shares"));
        let ways = [Way::default()].into_iter().chain(others).collect();
        self.usage.steps.push(Step::Variation(Variation {
            question: Question::Shares(left, right),
            choice,
            object: None,
            ways,
        }));
    }

    /// Where an object of a type is found in an argument.
    fn places(&mut self, wanted: ClangType<'u>, part: &Part<'u>) -> Vec<Found> {
        let mut found = Vec::new();
        let root = Found { lvalue: part.lvalue(), requires: required(part), steps: Vec::new(), converted: false };
        self.find(wanted, (part.of, true), root, DEEPEST_PLACE, &mut found);
        found
    }
}

/// Whether a pointer in one argument can lead into another. Among inputs the session decides that.
fn can_be_led_into(part: &Part<'_>, other: &Part<'_>) -> bool {
    let inputs = matches!((part.written, other.written), (Written::Input(_), Written::Input(_)));
    !inputs && (other.leads != Leads::Value || is_smart_pointer(other.of))
}

fn leading(place: Found, target: Found, wanted: ClangType<'_>, constant: bool) -> Way {
    let (steps, requires) = both(&place, &target);
    let pointer = way_to(target, wanted).pointer;
    let pointer = match constant && !wanted.is_const() {
        true => format!("const_cast<{} *>({pointer})", spelled(wanted)),
        false => pointer,
    };
    let then = vec![Step::Statement(format!("{} = {pointer};", place.lvalue))];
    Way { steps, requires, then, ..Way::default() }
}

/// What must be asked and must hold for two places.
fn both(left: &Found, right: &Found) -> (Vec<Step>, String) {
    let steps = left.steps.iter().chain(&right.steps).cloned().collect();
    let requires: Vec<&str> = left.requires.iter().chain(&right.requires).map(String::as_str).collect();
    (steps, requires.join(" && "))
}

/// The types of the pointers and shared owners in an argument, each once.
fn types_inside<'u>(part: &Part<'u>) -> Vec<ClangType<'u>> {
    let mut types = Vec::new();
    add_types(part.of, DEEPEST_PLACE, &mut types);
    types
}

fn add_types<'u>(of: ClangType<'u>, depth: usize, types: &mut Vec<ClangType<'u>>) {
    let of = of.canonical();
    let is_one = leads_to_object(of) || is_shared_pointer(of);
    if is_one && !of.is_const() && !types.iter().any(|known| same(*known, of)) {
        types.push(of);
    }
    let Some(below) = depth.checked_sub(1) else { return };
    let inner: Vec<ClangType<'u>> = match standard(of.unqualified()) {
        Some(kind) => elements(of, &kind),
        None if leads_to_object(of) => vec![of.pointee()],
        None => places_in_class(of).into_iter().map(|(_, of)| of).collect(),
    };
    inner.into_iter().for_each(|of| add_types(of, below, types));
}
