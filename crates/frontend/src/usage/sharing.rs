//! Arguments that lead into others: a reference to a member, to an element, to what a smart pointer owns, or to the same
//! object. What a test does then is described after all arguments, as further ways to come to the later of two.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::ops::Range;

use branchwise_program::usage::{Construction, Object, Question, Reached, Step, Variation, Way};
use clang_sys::*;

use super::{Maker, is_plain};
use crate::clang::{ClangType, Cursor};
use crate::classes::is_derived;
use crate::containers::{Standard, spelled, standard};
use crate::drivers::is_unspellable;
use crate::functions::{is_function, qualified};

/// More places in an argument to which another leads are not tried.
pub(super) const MOST_PLACES: usize = 8;

/// Members of members are looked at down to this depth.
pub(super) const DEEPEST_PLACE: usize = 3;

/// An argument, or the object that a method belongs to.
pub(super) struct Part<'u> {
    pub name: String,
    pub written: Written,
    /// The canonical type of what it leads to, or of itself.
    pub of: ClangType<'u>,
    /// The same with its qualifiers.
    pub qualified: ClangType<'u>,
    pub leads: Leads,
    /// The steps that make it.
    pub steps: Range<usize>,
}

/// How the call writes an argument.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) enum Written {
    Input(usize),
    Object(usize),
}

/// Whether other arguments can be found in it, and it in them.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) enum Leads {
    Reference,
    /// It may be null.
    Pointer,
    /// Others lead into it, and it into none: an object that a method is called on, or that is moved from.
    Receiver,
    /// It has a value of its own; only what that owns can be shared.
    Value,
}

/// Where one argument can be found in another.
#[derive(Clone)]
pub(super) struct Found {
    pub lvalue: String,
    pub requires: Vec<String>,
    pub steps: Vec<Step>,
    /// The type there is not the wanted one, but may stand for it.
    pub converted: bool,
}

impl<'u> Part<'u> {
    /// Whether the call can get at it through another argument too.
    fn can_lead(&self) -> bool {
        match self.leads {
            Leads::Reference | Leads::Pointer => true,
            Leads::Receiver => false,
            Leads::Value => is_shared_pointer(self.of) || is_view(self.of),
        }
    }

    /// It leads to what cannot be changed through it.
    pub fn is_constant(&self) -> bool {
        self.qualified.is_const()
    }

    /// What it is called in the texts: an object that is not null.
    pub fn lvalue(&self) -> String {
        match self.written {
            Written::Input(index) if self.leads == Leads::Value => format!("{{{index}}}"),
            Written::Input(index) => format!("(*{{{index}}})"),
            Written::Object(number) => format!("{{@{number}}}"),
        }
    }

    fn pointer(&self) -> String {
        match self.written {
            Written::Input(index) => format!("{{{index}}}"),
            Written::Object(number) => format!("{{&{number}}}"),
        }
    }
}

impl<'u> Maker<'_, 'u> {
    /// Lets arguments lead into others. What contains others is made first.
    pub(super) fn share_arguments(&mut self, call: String) -> String {
        let mut parts = std::mem::take(&mut self.parts);
        let inside = |part: &Part<'u>, other: &Part<'u>| {
            let below = || stands_for(other.of, part.of) && without_sign(part.of).is_none() || views(part.of, other.of);
            part.can_lead() && !same(part.of, other.of) && (below() || self.can_find(part.of, other.of, DEEPEST_PLACE))
        };
        let ranks: Vec<usize> =
            parts.iter().map(|part| parts.iter().filter(|other| inside(part, other)).count()).collect();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|&index| ranks[index]);
        let steps = std::mem::take(&mut self.usage.steps);
        // The object that a destructor is called for is no argument.
        let of_none = |at: &usize| !parts.iter().any(|part| part.steps.contains(at));
        self.usage.steps = (0..steps.len()).filter(of_none).map(|at| steps[at].clone()).collect();
        let mut call = call;
        for (position, &index) in order.iter().enumerate() {
            let own = steps[parts[index].steps.clone()].to_vec();
            let mut ways = match parts[index].can_lead() {
                true => self.ways_into(&parts, index, &order[..position]),
                false => Vec::new(),
            };
            ways.extend(self.variables_as(&parts[index]));
            match ways.is_empty() {
                true => self.usage.steps.extend(own),
                false => call = self.vary(call, &mut parts[index], own, ways),
            }
            self.keep_owners(&parts[index]);
        }
        self.share_inside(&parts);
        call
    }

    /// The ways in which an argument leads into one of those that are made before it, with the names of these.
    fn ways_into(&mut self, parts: &[Part<'u>], index: usize, before: &[usize]) -> Vec<(String, Way)> {
        let wanted = &parts[index];
        let mut ways = Vec::new();
        for other in before.iter().map(|&other| &parts[other]) {
            if matches!((wanted.written, other.written), (Written::Input(_), Written::Input(_))) {
                continue;
            }
            if other.leads == Leads::Value && !is_smart_pointer(other.of) && !is_view(other.of) {
                continue;
            }
            if is_view(wanted.of) {
                ways.extend(self.views_of(wanted, other));
                continue;
            }
            if wanted.leads == Leads::Value || (is_shared_pointer(wanted.of) && other.leads == Leads::Value) {
                ways.extend(self.copy_of(wanted, other));
                continue;
            }
            let mut found = Vec::new();
            let root = Found { lvalue: other.lvalue(), requires: required(other), steps: Vec::new(), converted: false };
            self.find(wanted.qualified, (other.of, other.leads != Leads::Value), root, DEEPEST_PLACE, &mut found);
            if found.len() > MOST_PLACES {
                found.truncate(MOST_PLACES);
                self.usage.never_done.insert(format!("other ways for {} to lead into {}", wanted.name, other.name));
            }
            ways.extend(found.into_iter().map(|found| (other.name.clone(), way_to(found, wanted.qualified))));
        }
        ways
    }

    /// The ways in which an argument that is an object is, or lies in, a variable of the unit. What only the unit can name, tests
    /// cannot pass.
    fn variables_as(&mut self, wanted: &Part<'u>) -> Vec<(String, Way)> {
        let mut ways = Vec::new();
        if matches!(wanted.written, Written::Input(_)) || wanted.leads == Leads::Value {
            return ways;
        }
        for variable in self.shop.variables.clone() {
            let (name, of) = (qualified(variable), variable.clang_type().canonical());
            if !stands_for(of, wanted.of) && !self.can_find(wanted.of, of, DEEPEST_PLACE) {
                continue;
            }
            if !wanted.can_lead() || !can_be_named(variable) {
                self.usage.never_done.insert(format!("ways for {} to lead into {name}", wanted.name));
                continue;
            }
            let root = Found { lvalue: name.clone(), requires: Vec::new(), steps: Vec::new(), converted: false };
            let mut found = Vec::new();
            self.find(wanted.qualified, (of, true), root, DEEPEST_PLACE, &mut found);
            ways.extend(found.into_iter().map(|found| (name.clone(), way_to(found, wanted.qualified))));
        }
        ways
    }

    /// A view of a part of a text in another argument, or of what another view shows.
    fn views_of(&mut self, wanted: &Part<'u>, other: &Part<'u>) -> Vec<(String, Way)> {
        let mut found = Vec::new();
        let root = Found { lvalue: other.lvalue(), requires: required(other), steps: Vec::new(), converted: false };
        self.find(wanted.qualified, (other.of, true), root, DEEPEST_PLACE, &mut found);
        let view = |maker: &mut Self, found: Found| {
            let (start, length) =
                (maker.choice("where a view begins".to_owned()), maker.choice("its length".to_owned()));
            let number = |feed| Step::Value { feed, declared: "unsigned char ".to_owned() };
            let text = format!("({VIEW}({}).substr({{#{}}}, {{#{}}}))", found.lvalue, start.0, length.0);
            let (made, pointer) = maker.view(&wanted.name, text);
            let then = vec![number(start), number(length), made];
            let requires = found.requires.join(" && ");
            (other.name.clone(), Way { steps: found.steps, requires, then, pointer })
        };
        found.into_iter().map(|found| view(self, found)).collect()
    }

    /// A view as an object of its own, and a pointer to it.
    fn view(&mut self, name: &str, initializer: String) -> (Step, String) {
        let (number, class, name) = (self.next_object(), VIEW.to_owned(), format!("{name}_view"));
        let ways = vec![Construction::of(VIEW, Vec::new(), &initializer)];
        let view = Object { number, name, class, choice: None, ways, may_be_null: false };
        (Step::Object(view), format!("{{&{number}}}"))
    }

    /// A smart pointer to what another one owns too.
    fn copy_of(&mut self, wanted: &Part<'u>, other: &Part<'u>) -> Option<(String, Way)> {
        if !same(wanted.of, other.of) {
            return None;
        }
        let number = self.next_object();
        let way = Construction::of(&spelled(wanted.of), Vec::new(), &format!("({})", other.lvalue()));
        let copy = Object {
            number,
            name: wanted.name.clone(),
            class: spelled(wanted.of),
            choice: None,
            ways: vec![way],
            may_be_null: false,
        };
        let way = Way { steps: vec![Step::Object(copy)], pointer: format!("{{&{number}}}"), ..Way::default() };
        Some((other.name.clone(), way))
    }

    /// The call with an argument that comes in several ways, the first of which makes it by its own steps.
    fn vary(&mut self, call: String, part: &mut Part<'u>, own: Vec<Step>, ways: Vec<(String, Way)>) -> String {
        let number = self.next_object();
        let choice = self.choice(format!("where {} leads", part.name));
        let mut others: Vec<String> = ways.iter().map(|(other, _)| other.clone()).collect();
        others.dedup();
        let mut first = Way { steps: own, pointer: part.pointer(), ..Way::default() };
        if is_view(part.of) {
            let (made, pointer) = self.view(&part.name, format!("({})", part.lvalue()));
            (first.then, first.pointer) = (vec![made], pointer);
        }
        let mut all = vec![first];
        all.extend(ways.into_iter().map(|(_, way)| way));
        let of = if is_view(part.of) { VIEW.to_owned() } else { spelled(part.of) };
        let class = format!("{}{of}", if part.is_constant() { "const " } else { "" });
        self.usage.steps.push(Step::Variation(Variation {
            question: Question::Shares(part.name.clone(), others.join(", ")),
            choice,
            object: Some(Reached { number, name: part.name.clone(), class }),
            ways: all,
        }));
        let (object, pointer) = (format!("{{@{number}}}"), format!("{{&{number}}}"));
        let call = match part.written {
            Written::Input(index) => {
                let input = format!("{{{index}}}");
                call.replace(&format!("*{input}"), &object).replace(&input, &pointer)
            }
            Written::Object(own) => {
                self.changed.iter_mut().filter(|(changed, _)| *changed == own).for_each(|changed| changed.0 = number);
                call.replace(&format!("{{@{own}}}"), &object).replace(&format!("{{&{own}}}"), &pointer)
            }
        };
        part.written = Written::Object(number);
        call
    }

    /// Further owners of what a smart pointer points to, where the program can tell.
    fn keep_owners(&mut self, part: &Part<'u>) {
        let Written::Object(number) = part.written else { return };
        if part.leads == Leads::Pointer || !is_shared_pointer(part.of) {
            return;
        }
        self.add_owners(number, &part.name, &spelled(part.of));
    }

    /// Further owners of what a smart pointer points to, by its number.
    pub(super) fn add_owners(&mut self, number: usize, name: &str, class: &str) {
        let choice = self.choice(format!("other owners of {name}"));
        let mut ways = vec![Way::default()];
        for owners in 1..=MOST_OWNERS {
            let owner = |maker: &mut Self| {
                let number_of_owner = maker.next_object();
                let ways = vec![Construction::of(class, Vec::new(), &format!("({{@{number}}})"))];
                let (name, class) = (format!("{name}_owner"), class.to_owned());
                Step::Object(Object { number: number_of_owner, name, class, choice: None, ways, may_be_null: false })
            };
            ways.push(Way { steps: (0..owners).map(|_| owner(self)).collect(), ..Way::default() });
        }
        let question = match self.shop.sees_owners {
            true => Question::Owners(name.to_owned()),
            false => Question::LastingOwners(name.to_owned()),
        };
        self.usage.steps.push(Step::Variation(Variation { question, choice, object: None, ways }));
    }

    pub(super) fn can_find(&self, wanted: ClangType<'u>, of: ClangType<'u>, depth: usize) -> bool {
        let inner = |of: ClangType<'u>| {
            let of = of.canonical();
            stands_for(of, wanted) || depth > 0 && self.can_find(wanted, of, depth - 1)
        };
        match standard(of.unqualified()) {
            Some(kind) => elements(of, &kind).into_iter().any(inner),
            None if leads_to_object(of) => inner(of.pointee()),
            None => places_in_class(of).into_iter().any(|(_, of)| inner(of)),
        }
    }

    /// Finds what can stand for an object of the wanted type in another one. `itself`: the whole of it counts, too.
    pub(super) fn find(
        &mut self,
        wanted: ClangType<'u>,
        (of, itself): (ClangType<'u>, bool),
        at: Found,
        depth: usize,
        found: &mut Vec<Found>,
    ) {
        let of = of.canonical();
        if found.len() > MOST_PLACES || of.is_const() && depth < DEEPEST_PLACE && !wanted.is_const() {
            return;
        }
        if itself && stands_for(of, wanted) {
            let converted = !same(of, wanted) && of.kind() != CXType_Record;
            return found.push(Found { converted, ..at });
        }
        let Some(below) = depth.checked_sub(1) else { return };
        let Found { lvalue, requires, steps, .. } = at;
        let mut inside = |maker: &mut Self, of: ClangType<'u>, lvalue: String, more: Option<String>| {
            let requires = requires.iter().cloned().chain(more).collect();
            let at = Found { lvalue, requires, steps: steps.clone(), converted: false };
            maker.find(wanted, (of, true), at, below, found);
        };
        match standard(of.unqualified()) {
            None if leads_to_object(of) => {
                inside(self, of.pointee(), format!("(*{lvalue})"), Some(format!("{lvalue} != nullptr")));
            }
            None => {
                for (member, of) in places_in_class(of) {
                    inside(self, of, format!("{lvalue}.{member}"), None);
                }
            }
            Some(Standard::Pair { first, second }) => {
                inside(self, first, format!("{lvalue}.first"), None);
                inside(self, second, format!("{lvalue}.second"), None);
            }
            Some(Standard::Tuple { parts }) => {
                for (place, of) in parts.into_iter().enumerate() {
                    inside(self, of, format!("std::get<{place}>({lvalue})"), None);
                }
            }
            Some(Standard::Variant { alternatives }) => {
                for (place, of) in alternatives.into_iter().enumerate() {
                    let holds = format!("{lvalue}.index() == {place}");
                    inside(self, of, format!("std::get<{place}>({lvalue})"), Some(holds));
                }
            }
            Some(Standard::Optional { value }) => {
                inside(self, value, format!("(*{lvalue})"), Some(format!("{lvalue}.has_value()")));
            }
            Some(Standard::SmartPointer { target, .. }) => {
                inside(self, target, format!("(*{lvalue})"), Some(format!("{lvalue} != nullptr")));
            }
            Some(kind) => {
                let Some((element, access)) = indexed(of, &kind) else { return };
                if !self.can_find(wanted, of, below) {
                    return;
                }
                let feed = self.choice("which element".to_owned());
                let index = format!("{{#{}}}", feed.0);
                let steps = steps.into_iter().chain([Step::Value { feed, declared: "unsigned char ".to_owned() }]);
                let requires = requires.into_iter().chain([format!("{index} < {lvalue}.size()")]).collect();
                let lvalue = match access {
                    Access::Index => format!("{lvalue}[{index}]"),
                    Access::Walk(member) => format!("(*std::next({lvalue}.begin(), {index})){member}"),
                };
                let at = Found { lvalue, requires, steps: steps.collect(), converted: false };
                self.find(wanted, (element, true), at, below, found);
            }
        }
    }
}

/// Whether code of other files can name a variable that this one defines.
fn can_be_named(variable: Cursor<'_>) -> bool {
    let scope = variable.semantic_parent();
    let is_local = scope.is_some_and(|scope| is_function(scope.kind()));
    let member = scope.is_some_and(|scope| matches!(scope.kind(), CXCursor_ClassDecl | CXCursor_StructDecl));
    !is_local
        && !variable.has_internal_linkage()
        && variable.definition().is_some()
        && (!member || variable.is_public())
}

/// The class of views of texts. `spelled` names what a test makes for one: a text of its own.
const VIEW: &str = "std::string_view";

/// A test lets so many others own what a smart pointer points to.
const MOST_OWNERS: usize = 2;

/// How the elements of a container are reached.
enum Access {
    Index,
    /// From the first on; then a member of the element.
    Walk(&'static str),
}

/// The elements of a container that can be changed through references to them.
fn indexed<'u>(of: ClangType<'u>, kind: &Standard<'u>) -> Option<(ClangType<'u>, Access)> {
    match kind {
        Standard::Text => Some((of.template_arguments().first()?.canonical(), Access::Index)),
        Standard::Sequence { element, .. } => {
            let name = of.declaration().spelling();
            let bits = name == "vector" && element.canonical().kind() == CXType_Bool;
            let access = if name == "list" { Access::Walk("") } else { Access::Index };
            (!bits).then_some((*element, access))
        }
        Standard::Array { element, .. } => Some((*element, Access::Index)),
        Standard::Map { value, .. } => Some((*value, Access::Walk(".second"))),
        _ => None,
    }
}

/// The types of what one gets to directly from an object of the library.
pub(super) fn elements<'u>(of: ClangType<'u>, kind: &Standard<'u>) -> Vec<ClangType<'u>> {
    match kind {
        Standard::Text => of.template_arguments().into_iter().take(1).collect(),
        Standard::Pair { first, second } => vec![*first, *second],
        Standard::Tuple { parts } | Standard::Variant { alternatives: parts } => parts.clone(),
        Standard::Optional { value } | Standard::Map { value, .. } => vec![*value],
        Standard::SmartPointer { target, .. } => vec![*target],
        Standard::Sequence { element, .. } | Standard::Array { element, .. } => vec![*element],
        Standard::Adaptor { .. }
        | Standard::Set { .. }
        | Standard::Numbers { .. }
        | Standard::Stream { .. }
        | Standard::Function { .. } => Vec::new(),
    }
}

/// The public members of an object, and what its methods without parameters return references to, as they stand behind
/// the object and a dot. What cannot be changed through these is there only for who does not change it.
pub(super) fn places_in_class<'u>(of: ClangType<'u>) -> Vec<(String, ClangType<'u>)> {
    let class = of.declaration();
    if of.kind() != CXType_Record || class.in_system_header() {
        return Vec::new();
    }
    let field = |field: Cursor<'u>| {
        let of = field.clang_type().canonical();
        let is_object = !matches!(of.kind(), CXType_LValueReference | CXType_RValueReference | CXType_ConstantArray);
        let usable = field.is_public() && field.bit_width().is_none() && is_object && !field.spelling().is_empty();
        usable.then(|| (field.spelling(), of))
    };
    let method = |method: Cursor<'u>| {
        let result = method.result_type().canonical();
        let gives = method.kind() == CXCursor_CXXMethod && method.is_public() && !method.is_deleted();
        let plain = !method.is_static_method() && method.arguments().is_empty() && method.definition().is_some();
        let named = !method.spelling().starts_with("operator");
        let leads = result.kind() == CXType_LValueReference;
        (gives && plain && named && leads).then(|| (format!("{}()", method.spelling()), result.pointee().canonical()))
    };
    let fields = of.fields().into_iter().filter_map(field);
    let methods = class.definition().unwrap_or(class).children().into_iter().filter_map(method);
    fields.chain(methods).collect()
}

pub(super) fn required(part: &Part<'_>) -> Vec<String> {
    match part.leads {
        Leads::Pointer => vec![format!("{} != nullptr", part.pointer())],
        Leads::Reference | Leads::Receiver | Leads::Value => Vec::new(),
    }
}

pub(super) fn way_to(found: Found, wanted: ClangType<'_>) -> Way {
    let pointer = match found.converted {
        true if wanted.is_const() => format!("reinterpret_cast<const {} *>(&{})", spelled(wanted), found.lvalue),
        true => format!("reinterpret_cast<{} *>(&{})", spelled(wanted), found.lvalue),
        false => format!("&{}", found.lvalue),
    };
    Way { steps: found.steps, requires: found.requires.join(" && "), pointer, ..Way::default() }
}

pub(super) fn is_smart_pointer(of: ClangType<'_>) -> bool {
    matches!(standard(of.unqualified()), Some(Standard::SmartPointer { .. }))
}

/// Whether it shows a text that something else owns.
fn is_view(of: ClangType<'_>) -> bool {
    is_text(of) && of.declaration().spelling() == "basic_string_view"
}

fn is_text(of: ClangType<'_>) -> bool {
    matches!(standard(of.unqualified()), Some(Standard::Text))
}

/// Whether a view can show a part of what has a type.
fn views(view: ClangType<'_>, of: ClangType<'_>) -> bool {
    is_view(view) && is_text(of)
}

/// Whether a pointer of this type can be kept by several owners.
pub(super) fn is_shared_pointer(of: ClangType<'_>) -> bool {
    matches!(standard(of.unqualified()), Some(Standard::SmartPointer { unique: false, .. }))
}

pub(super) fn same(left: ClangType<'_>, right: ClangType<'_>) -> bool {
    left.canonical().unqualified().spelling() == right.canonical().unqualified().spelling()
}

/// Whether an object of a type may be reached as one of another: the same, a base, or the same number with another sign.
pub(super) fn stands_for(of: ClangType<'_>, wanted: ClangType<'_>) -> bool {
    let is_class = |of: ClangType<'_>| of.kind() == CXType_Record && !of.declaration().in_system_header();
    let derived = || is_class(of) && is_class(wanted) && is_derived(of.declaration(), wanted.declaration());
    same(of, wanted)
        || views(wanted, of)
        || derived()
        || without_sign(of).is_some_and(|of| Some(of) == without_sign(wanted))
}

/// The signed one of two types of whole numbers that may be reached as each other.
fn without_sign(of: ClangType<'_>) -> Option<CXTypeKind> {
    match of.canonical().kind() {
        CXType_Short | CXType_UShort => Some(CXType_Short),
        CXType_Int | CXType_UInt => Some(CXType_Int),
        CXType_Long | CXType_ULong => Some(CXType_Long),
        CXType_LongLong | CXType_ULongLong => Some(CXType_LongLong),
        _ => None,
    }
}

/// Whether it is a pointer to what a test can name.
pub(super) fn leads_to_object(of: ClangType<'_>) -> bool {
    of.kind() == CXType_Pointer && can_be_reached(of.pointee())
}

/// Whether the driver can declare a pointer to it.
pub(super) fn can_be_reached(of: ClangType<'_>) -> bool {
    let of = of.canonical();
    let odd = matches!(of.kind(), CXType_Void | CXType_FunctionProto | CXType_ConstantArray | CXType_IncompleteArray);
    let to_function = of.kind() == CXType_Pointer && of.pointee().canonical().kind() == CXType_FunctionProto;
    let complete = is_plain(of) || of.kind() == CXType_Record;
    let spelling = of.spelling();
    let writable = !spelling.contains("volatile") && !is_unspellable(&spelling);
    !odd && !to_function && complete && writable && of.size().is_some()
}
