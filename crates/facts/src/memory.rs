//! The objects that are followed, and those whose address is known elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use branchwise_program::CodeFunctionId;
use branchwise_program::code::Code;
use branchwise_program::padding::Padding;

use crate::contents::Contents;
use crate::number::Number;
use crate::thresholds::Thresholds;
use crate::value::{ObjectId, Targets, Value};

/// An object that is not listed may hold anything, unless it is constant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Memory {
    objects: Rc<BTreeMap<ObjectId, Rc<Contents>>>,
    /// Objects that pointers may point to which are not followed. Whatever such an object points to is one of them.
    escaped: Rc<BTreeSet<ObjectId>>,
    /// Other threads may have gone on since the call began.
    pub released: bool,
}

impl Memory {
    pub(crate) fn contents(&self, code: &Code, object: ObjectId) -> Option<Rc<Contents>> {
        if let Some(contents) = self.objects.get(&object) {
            return Some(Rc::clone(contents));
        }
        match object {
            ObjectId::Global(id) => {
                let global = &code.globals[id];
                let known = global.constant && !global.elsewhere && !global.weak && global.initializer.is_some();
                let contents = if known { Contents::image(global.size, id) } else { Contents::unknown(global.size) };
                Some(Rc::new(contents))
            }
            ObjectId::Stack(..) | ObjectId::Function(_) => None,
        }
    }

    pub(crate) fn put(&mut self, object: ObjectId, contents: Contents) {
        Rc::make_mut(&mut self.objects).insert(object, Rc::new(contents));
    }

    pub(crate) fn objects(&self) -> impl Iterator<Item = (ObjectId, &Rc<Contents>)> {
        self.objects.iter().map(|(object, contents)| (*object, contents))
    }

    /// How many objects are followed.
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn has_escaped(&self, object: ObjectId) -> bool {
        self.escaped.contains(&object)
    }

    pub(crate) fn escaped(&self) -> impl Iterator<Item = ObjectId> {
        self.escaped.iter().copied()
    }

    /// What a load reads; `None` if it always ends the path.
    pub(crate) fn load(&self, code: &Code, address: &Value, size: u64) -> Option<Value> {
        let mut loaded: Option<Value> = None;
        let mut add =
            |value: Value| loaded = Some(loaded.as_ref().map_or_else(|| value.clone(), |old| old.join(&value)));
        for (object, offset) in &address.targets.known {
            match (object, self.contents(code, *object)) {
                (ObjectId::Function(_), _) => {}
                (_, Some(contents)) => {
                    contents.load(code, offset, size).into_iter().for_each(&mut add);
                    if may_go_on(code, *object, offset, size) {
                        add(Value::any(8 * size as u32));
                    }
                    if may_be_padding(code, *object, offset, size) {
                        add(Value::any(8 * size as u32));
                    }
                }
                (_, None) => add(Value::any(8 * size as u32)),
            }
        }
        if points_elsewhere(address) {
            add(Value::any(8 * size as u32));
        }
        loaded
    }

    /// `false` if the store always ends the path.
    pub(crate) fn store(&mut self, code: &Code, address: &Value, size: u64, value: &Value) -> bool {
        let strong = address.single_target().is_some();
        let mut inside = false;
        for (object, offset) in &address.targets.known {
            if matches!(object, ObjectId::Function(_)) {
                continue;
            }
            let Some(contents) = self.contents(code, *object) else {
                inside = true;
                continue;
            };
            let mut contents = Rc::unwrap_or_clone(contents);
            inside |= may_go_on(code, *object, offset, size);
            if contents.store(code, offset, size, value, strong) {
                inside = true;
                self.put(*object, contents);
                if self.has_escaped(*object) {
                    self.escape(code, &value.targets);
                }
            }
        }
        if points_elsewhere(address) {
            inside = true;
            self.escape(code, &value.targets);
            self.havoc(code);
        }
        inside
    }

    /// A variable was written: those that may be other names of it hold anything.
    pub(crate) fn outdate_other_names(&mut self, code: &Code, object: ObjectId) {
        let ObjectId::Global(id) = object else { return };
        for &other in &code.globals[id].outside.may_be {
            let other = ObjectId::Global(other);
            if let Some(contents) = self.contents(code, other) {
                let mut contents = Rc::unwrap_or_clone(contents);
                contents.smear(code, &Targets::unknown());
                self.put(other, contents);
            }
        }
    }

    /// Bytes at an address become anything, the addresses that `targets` says among it.
    pub(crate) fn smear(&mut self, code: &Code, address: &Value, targets: &Targets) {
        for object in address.targets.known.keys() {
            let Some(contents) = self.contents(code, *object) else { continue };
            let mut contents = Rc::unwrap_or_clone(contents);
            contents.smear(code, targets);
            self.put(*object, contents);
            if self.has_escaped(*object) {
                self.escape(code, targets);
            }
        }
        if points_elsewhere(address) {
            self.escape(code, targets);
            self.havoc(code);
        }
    }

    /// Everything that may stand in the objects at an address.
    pub(crate) fn targets_behind(&self, code: &Code, address: &Value) -> Targets {
        let mut targets = Targets { known: BTreeMap::new(), unknown: points_elsewhere(address) };
        for object in address.targets.known.keys() {
            match self.contents(code, *object) {
                Some(contents) => targets.add(&contents.targets(code)),
                None => targets.unknown = true,
            }
        }
        targets
    }

    /// Pointers that are not followed may point to these objects from now on, and to all that these point to.
    pub(crate) fn escape(&mut self, code: &Code, targets: &Targets) {
        let mut open: Vec<ObjectId> = targets.known.keys().copied().collect();
        while let Some(object) = open.pop() {
            if self.escaped.contains(&object) || matches!(object, ObjectId::Function(_)) {
                continue;
            }
            Rc::make_mut(&mut self.escaped).insert(object);
            if let Some(contents) = self.contents(code, object) {
                open.extend(contents.targets(code).known.keys());
            }
        }
    }

    /// Somebody may have written whatever has escaped.
    pub(crate) fn havoc(&mut self, code: &Code) {
        for object in self.escaped.iter() {
            let Some(contents) = self.objects.get(object).filter(|contents| !contents.is_unknown()) else { continue };
            // What stood there has escaped too.
            let unknown = Contents::unknown(contents.size);
            let constant = matches!(object, ObjectId::Global(id) if code.globals[*id].constant);
            if !constant {
                Rc::make_mut(&mut self.objects).insert(*object, Rc::new(unknown));
            }
        }
    }

    /// The stack objects of a function that has returned are gone.
    pub(crate) fn leave(&mut self, function: CodeFunctionId) {
        let own = |object: &ObjectId| matches!(object, ObjectId::Stack(owner, _) if *owner == function);
        if self.objects.keys().any(own) {
            Rc::make_mut(&mut self.objects).retain(|object, _| !own(object));
        }
        if self.escaped.iter().any(own) {
            Rc::make_mut(&mut self.escaped).retain(|object| !own(object));
        }
    }

    /// What the next call from outside finds: of the variables that have not escaped, what they hold.
    pub(crate) fn kept(&self, code: &Code) -> Memory {
        let mut kept = self.clone();
        let is_variable = |object: &ObjectId| matches!(object, ObjectId::Global(_) | ObjectId::Function(_));
        // What only objects of the call point to may be reached through pointers that nobody follows.
        for (object, contents) in self.objects() {
            if !is_variable(&object) {
                kept.escape(code, &contents.targets(code));
            }
        }
        let mut result = Memory::default();
        let escaped = kept.escaped().filter(is_variable).map(|object| (object, Number::any(64)));
        let escaped = Targets { known: escaped.collect(), unknown: false };
        for (object, contents) in kept.objects().filter(|(object, _)| is_variable(object)) {
            let mut contents = match kept.has_escaped(object) {
                true => Contents::unknown(contents.size),
                false => Contents::clone(contents),
            };
            contents.keep_targets(is_variable);
            result.put(object, contents);
        }
        result.escape(code, &escaped);
        result
    }

    /// Calls from outside may write through the variables to local objects of calls that are under way.
    pub(crate) fn escape_locals_behind_variables(&mut self, code: &Code) {
        let mut locals = Targets::default();
        for (_, contents) in self.objects().filter(|(object, _)| matches!(object, ObjectId::Global(_))) {
            locals.add(&contents.targets(code));
        }
        locals.known.retain(|object, _| matches!(object, ObjectId::Stack(..)));
        self.escape(code, &locals);
    }

    pub(crate) fn restrict(&mut self, object: ObjectId, at: u64, size: u64, number: &Number) {
        if let Some(contents) = Rc::make_mut(&mut self.objects).get_mut(&object) {
            Rc::make_mut(contents).restrict(at, size, number);
        }
    }

    pub(crate) fn join(&self, code: &Code, other: &Memory) -> Memory {
        self.merge(code, other, |old, new| old.join(code, new))
    }

    pub(crate) fn widen(&self, code: &Code, next: &Memory, thresholds: &Thresholds) -> Memory {
        self.merge(code, next, |old, new| old.widen(code, new, thresholds))
    }

    fn merge(&self, code: &Code, other: &Memory, merge: impl Fn(&Contents, &Contents) -> Contents) -> Memory {
        if self == other {
            return self.clone();
        }
        let keys: BTreeSet<ObjectId> = self.objects.keys().chain(other.objects.keys()).copied().collect();
        let merged = keys.into_iter().filter_map(|object| {
            let contents = match (self.contents(code, object), other.contents(code, object)) {
                (Some(left), Some(right)) if left == right => left,
                (Some(left), Some(right)) => Rc::new(merge(&left, &right)),
                // It does not exist on the other side, where nobody can look at it.
                (Some(only), None) | (None, Some(only)) => only,
                (None, None) => return None,
            };
            Some((object, contents))
        });
        let (objects, escaped) = (Rc::new(merged.collect()), Rc::clone(&self.escaped));
        let mut memory = Memory { objects, escaped, released: self.released || other.released };
        if self.escaped != other.escaped {
            memory.escaped = Rc::new(self.escaped.union(&other.escaped).copied().collect());
            memory.escape_again(code);
        }
        memory
    }

    /// What has escaped on one side may point to what has not on the other.
    fn escape_again(&mut self, code: &Code) {
        let escaped = Rc::clone(&self.escaped);
        for object in escaped.iter() {
            if let Some(contents) = self.contents(code, *object) {
                self.escape(code, &contents.targets(code));
            }
        }
    }
}

/// The bytes of an object that belong to no member.
pub(crate) fn padding(code: &Code, object: ObjectId) -> Option<&Padding> {
    let padding = match object {
        ObjectId::Global(id) => Some(&code.globals[id].padding),
        ObjectId::Stack(function, register) => code.functions[function].padding.get(&register),
        ObjectId::Function(_) => None,
    };
    padding.filter(|padding| !padding.is_empty())
}

/// Whether an access may lie behind a variable that may be longer in the file that defines it.
fn may_go_on(code: &Code, object: ObjectId, offset: &Number, size: u64) -> bool {
    let ObjectId::Global(id) = object else { return false };
    let global = &code.globals[id];
    global.outside.goes_on && offset.unsigned_bounds().1.saturating_add(size) > global.size
}

/// Whether an access may see nothing but padding, which may hold anything.
fn may_be_padding(code: &Code, object: ObjectId, offset: &Number, size: u64) -> bool {
    let Some(padding) = padding(code, object) else { return false };
    let (modulus, rest) = offset.congruence();
    match offset.as_constant() {
        Some(at) => padding.covers(at, size),
        None if modulus > 0 && modulus.is_multiple_of(padding.period()) => padding.covers(rest, size),
        None => {
            let (low, high) = offset.unsigned_bounds();
            let step = modulus.max(1);
            let places = low..=high.min(low.saturating_add(padding.period().saturating_mul(step)));
            places.step_by(step as usize).any(|at| padding.covers(at, size))
        }
    }
}

/// It may be the address of something that is not followed. A number that is no address of anything known counts as one,
/// if it is not null.
pub(crate) fn points_elsewhere(address: &Value) -> bool {
    let null = address.number.as_constant() == Some(0);
    address.targets.unknown || (address.targets.known.is_empty() && !null)
}
