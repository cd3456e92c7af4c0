//! How a test calls a function of C++: which values it needs, and what it makes of them. The driver and the emitted tests
//! are written from the same description.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use branchwise_program::map::{Feed, FeedOrigin, NoDriver};
use branchwise_program::types::{Type, TypeKind};
use branchwise_program::usage::{Calls, Construction, Object, Observer, RESULT, Step, Usage};
use branchwise_program::{FeedId, IdVec};
use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::classes;
use crate::containers::{is_copied, spelled, standard};
use crate::ctypes::Types;
use crate::drivers::{observable_result, variable_of};
use crate::functions::{befriended_by, is_method, qualified};
use crate::instances::{Called, Instance, member_name};
use crate::objects::{Concrete, Factory, Hidden, Known, Making, Returns};
use crate::observers;

mod inside;
mod library;
mod questions;
mod sharing;

use inside::Lent;
pub(crate) use questions::Questions;
use sharing::{Leads, Part, Written, can_be_reached};

/// Objects inside objects are made down to this depth.
const DEEPEST: usize = 3;

/// Objects that are arguments of others are made in no more ways than this: ways inside ways are too many.
const MOST_NESTED_WAYS: usize = 3;

/// A value that a test gives, by the type that its variable has.
#[derive(Clone)]
pub(crate) struct Given<'u> {
    pub name: String,
    pub declared: ClangType<'u>,
}

/// By class, depth and the smart pointer that holds the object.
pub(crate) type UsableConstructors<'u> = HashMap<(String, usize, Option<String>), Vec<Option<Cursor<'u>>>>;

/// Where descriptions put what they ask for.
pub(crate) struct Workshop<'w, 'u> {
    /// The classes of the unit.
    pub classes: &'w [Cursor<'u>],
    /// By the identity of an abstract class: the generated one that is derived from it.
    pub derived: &'w BTreeMap<String, String>,
    /// Instances of templates that tests call directly.
    pub instances: &'w [Instance<'w, 'u>],
    /// The function can tell how many owners an object has.
    pub sees_owners: bool,
    /// What it asks of the library that the standard leaves open.
    pub left_open: BTreeSet<String>,
    /// The variables that it may change or look at.
    pub variables: Vec<Cursor<'u>>,
    /// Tests may call what is not public.
    pub opens_classes: bool,
    /// The constructors that tests can call, by the name of a class and the depth at which its objects are made.
    pub usable: &'w mut UsableConstructors<'u>,
    pub types: &'w mut Types<'u>,
    pub feeds: &'w mut IdVec<FeedId, Feed>,
}

/// How a test calls a function: the description, the values that it gives, and what the call returns.
pub(crate) type Call<'u> = (Usage, Vec<Given<'u>>, ClangType<'u>);

/// What a call of the function needs, and how it is written; `Err` says why a test cannot call it.
pub(crate) fn usage<'u>(function: Cursor<'u>, shop: Workshop<'_, 'u>) -> Result<Call<'u>, NoDriver> {
    let mut called = shop.instances.iter().filter_map(|instance| Some((instance.text, instance.called(function)?)));
    let called = called.next();
    match hidden(function, called.is_some(), shop.opens_classes) {
        Some(why) => Err(NoDriver::Hidden(why.to_owned())),
        None => usage_of(function, called, shop).map_err(NoDriver::Lacking),
    }
}

/// Why nothing but other functions of the program can call it. Parts of the language that have no name are in the way of a
/// test, and what is not public.
fn hidden(function: Cursor<'_>, is_instance: bool, opens_classes: bool) -> Option<&'static str> {
    let of_class = is_method(function.kind());
    match function.kind() {
        CXCursor_LambdaExpr => return Some("a lambda is called by the function that makes it"),
        CXCursor_FunctionTemplate if !is_instance => return Some(TEMPLATE),
        _ if of_class && !function.is_public() && !opens_classes => {
            return Some("it is not public: what calls it is tested");
        }
        _ if of_class && !opens_classes && !function.semantic_parent().is_some_and(observers::is_open) => {
            return Some("its class is not public: what uses it is tested");
        }
        CXCursor_Constructor if function.semantic_parent().is_some_and(Cursor::is_abstract_record) => {
            return Some("its class is abstract: what constructs a derived class is tested");
        }
        _ => {}
    }
    let written_in = befriended_by(function).or_else(|| function.semantic_parent());
    let mut scope = written_in.filter(|_| !is_instance);
    while let Some(inner) = scope {
        if matches!(inner.kind(), CXCursor_ClassTemplate | CXCursor_ClassTemplatePartialSpecialization) {
            return Some(TEMPLATE);
        }
        if is_code(inner.kind()) {
            return Some("it belongs to a function");
        }
        scope = inner.semantic_parent();
    }
    None
}

const TEMPLATE: &str = "a template runs as the instances that others call";

fn usage_of<'u>(
    function: Cursor<'u>,
    called: Option<(&str, Called<'u>)>,
    shop: Workshop<'_, 'u>,
) -> Result<Call<'u>, String> {
    let mut maker = Maker {
        shop,
        given: Vec::new(),
        usage: Usage::default(),
        objects: 0,
        optional: 0,
        changed: Vec::new(),
        made: None,
        substituted: Vec::new(),
        parts: Vec::new(),
        lent: Vec::new(),
    };
    let (call, result) = match called {
        Some((text, Called::Function(of))) => {
            maker.usage.instance = Some(text.to_owned());
            let call = format!("{text}({})", maker.arguments_of(function, of, DEEPEST)?);
            (call, of.function_result())
        }
        Some((text, Called::Method(of))) => {
            maker.usage.instance = Some(text.to_owned());
            let itself = Concrete::itself(of.declaration());
            let call = maker.method(function, (&itself, of))?;
            maker.substituted = itself.arguments;
            (call, maker.substitute(function.result_type()))
        }
        Some((text, Called::Member(of))) => {
            maker.usage.instance = Some(text.to_owned());
            (maker.member_template(function, text, of)?, of.function_result())
        }
        None => (maker.call(function)?, function.result_type()),
    };
    let call = maker.share_arguments(call);
    maker.usage.left_open = maker.shop.left_open.clone();
    let observers = maker.observers(function, result);
    let must_be_used = function.must_be_used();
    Ok((Usage { call, observers, must_be_used, ..maker.usage }, maker.given, result))
}

/// Objects of a class are always ones of classes that are derived from it.
fn is_only_base(class: Cursor<'_>) -> bool {
    class.is_abstract_record() || classes::is_base_of_its_argument(class)
}

fn is_code(kind: CXCursorKind) -> bool {
    crate::functions::is_function(kind) || kind == CXCursor_LambdaExpr
}

struct Maker<'w, 'u> {
    shop: Workshop<'w, 'u>,
    given: Vec<Given<'u>>,
    /// Its steps are those being written.
    usage: Usage,
    objects: usize,
    /// How many choices stand around what is being written: whether it runs at all is the test's choice then.
    optional: usize,
    /// The objects that the call can change, by their number and the type by which it knows them.
    changed: Vec<(usize, ClangType<'u>)>,
    /// The type of the object that the call makes.
    made: Option<ClangType<'u>>,
    /// The arguments of the tested call, and the object that it belongs to.
    parts: Vec<Part<'u>>,
    /// What functions that make or change objects are given.
    lent: Vec<Lent<'u>>,
    /// What the parameters of the template are whose members are being described.
    substituted: Vec<ClangType<'u>>,
}

/// How far a description had come.
struct Mark {
    usage: Usage,
    given: usize,
    feeds: usize,
    objects: usize,
    lent: usize,
}

impl<'u> Maker<'_, 'u> {
    fn mark(&self) -> Mark {
        let (given, feeds, objects) = (self.given.len(), self.shop.feeds.len(), self.objects);
        Mark { usage: self.usage.clone(), given, feeds, objects, lent: self.lent.len() }
    }

    fn back_to(&mut self, mark: Mark) {
        self.usage = mark.usage;
        self.given.truncate(mark.given);
        self.shop.feeds.truncate(mark.feeds);
        self.objects = mark.objects;
        self.lent.truncate(mark.lent);
    }

    /// The number of an object that comes to be described.
    fn next_object(&mut self) -> usize {
        self.objects += 1;
        self.objects - 1
    }

    /// Does something as a whole or not at all.
    fn attempt<T>(&mut self, make: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        let mark = self.mark();
        let made = make(self);
        if made.is_err() {
            self.back_to(mark);
        }
        made
    }

    /// Steps that are kept apart from those around them; `optional`: a test need not take them, or takes them often.
    fn apart<T>(
        &mut self,
        optional: bool,
        make: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<(Vec<Step>, T), String> {
        let around = std::mem::take(&mut self.usage.steps);
        self.optional += usize::from(optional);
        let made = make(self);
        self.optional -= usize::from(optional);
        let steps = std::mem::replace(&mut self.usage.steps, around);
        made.map(|made| (steps, made))
    }

    fn call(&mut self, function: Cursor<'u>) -> Result<String, String> {
        match function.kind() {
            CXCursor_FunctionDecl => {
                let name = match befriended_by(function) {
                    Some(_) => function.spelling(),
                    None => qualified(function),
                };
                Ok(format!("{name}({})", self.arguments(function, DEEPEST)?))
            }
            kind if is_method(kind) => {
                let class = function.semantic_parent().ok_or("its class is not known")?;
                self.method(function, (&Concrete::itself(class), class.clang_type()))
            }
            _ => Err("it is no function that a test can call".to_owned()),
        }
    }

    /// The arguments of an instance of a function template, by the names of its parameters.
    fn arguments_of(&mut self, template: Cursor<'u>, of: ClangType<'u>, depth: usize) -> Result<String, String> {
        let named: Vec<Cursor<'u>> =
            template.children().into_iter().filter(|child| child.kind() == CXCursor_ParmDecl).collect();
        let mut arguments = Vec::new();
        for (index, declared) in of.function_parameters().into_iter().enumerate() {
            let name = named.get(index).map(|parameter| parameter.spelling()).filter(|name| !name.is_empty());
            let name = name.unwrap_or_else(|| format!("argument_{}", index + 1));
            arguments.push(self.argument(&name, declared, depth)?);
        }
        Ok(arguments.join(", "))
    }

    /// A call of a method that is a template, as the instance with this name and type.
    fn member_template(&mut self, method: Cursor<'u>, text: &str, of: ClangType<'u>) -> Result<String, String> {
        let class = method.semantic_parent().ok_or("its class is not known")?;
        let of_unit = if is_only_base(class) { self.concrete(class) } else { vec![Concrete::itself(class)] };
        let object = self.receiver(&of_unit, class.clang_type(), Known::exactly(class))?;
        if !method.is_const_method() {
            self.changed.push((object, class.clang_type()));
        }
        let arguments = self.arguments_of(method, of, DEEPEST)?;
        Ok(format!("{{@{object}}}.{}({arguments})", member_name(text)))
    }

    /// A call of a method of a class, which has this type.
    fn method(&mut self, method: Cursor<'u>, (itself, of): (&Concrete<'u>, ClangType<'u>)) -> Result<String, String> {
        let (class, name) = (itself.class, &itself.name);
        match method.kind() {
            CXCursor_Constructor => {
                (self.usage.constructs, self.made) = (Some(name.clone()), Some(of));
                Ok(format!("({name}({}))", self.own_arguments(method, itself)?))
            }
            CXCursor_Destructor => {
                if classes::constructors(class).is_empty() {
                    return Err(format!("no constructor of `{name}` that a test could call"));
                }
                let only = std::slice::from_ref(itself);
                let object = self.object_of(only, &classes::variable(class), DEEPEST, Known::exactly(class))?;
                self.usage.destroys = Some(object);
                Ok(String::new())
            }
            _ if method.is_static_method() => {
                Ok(format!("{name}::{}({})", method.spelling(), self.own_arguments(method, itself)?))
            }
            _ => {
                let instance = of.declaration();
                let exact = !class.is_abstract_record() && !classes::is_base_of_its_argument(instance);
                let class = if classes::is_base_of_its_argument(instance) { instance } else { class };
                let of_unit = if exact { vec![itself.clone()] } else { self.concrete(class) };
                let known = Known { class, may_be_null: false, holder: None, name: Some(name.clone()) };
                let object = self.receiver(&of_unit, of, known)?;
                if !method.is_const_method() {
                    self.changed.push((object, of));
                }
                let arguments = self.own_arguments(method, itself)?;
                // The method of this class, not one that redefines it.
                let scope = if exact { String::new() } else { format!("{name}::") };
                Ok(format!("{{@{object}}}.{scope}{}({arguments})", method.spelling()))
            }
        }
    }

    /// The object that a method is called on.
    fn receiver(&mut self, of: &[Concrete<'u>], known_as: ClangType<'u>, known: Known<'u>) -> Result<usize, String> {
        let (first, name) = (self.usage.steps.len(), classes::variable(known.class));
        let object = self.object_of(of, &name, DEEPEST, known)?;
        let (written, steps) = (Written::Object(object), first..self.usage.steps.len());
        let of = known_as.canonical().unqualified();
        self.parts.push(Part { name, written, of, qualified: of, leads: Leads::Receiver, steps });
        Ok(object)
    }

    /// The arguments of a method of a class that may be an instance of a template.
    fn own_arguments(&mut self, method: Cursor<'u>, of: &Concrete<'u>) -> Result<String, String> {
        self.substituting(&of.arguments, |maker| maker.arguments(method, DEEPEST))
    }

    fn substituting<T>(&mut self, arguments: &[ClangType<'u>], make: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.substituted, arguments.to_vec());
        let made = make(self);
        self.substituted = around;
        made
    }

    /// A type of a template's member in its instance, where it is a parameter of the template or a reference to one.
    fn substitute(&self, declared: ClangType<'u>) -> ClangType<'u> {
        let canonical = declared.canonical();
        let reference = matches!(canonical.kind(), CXType_LValueReference | CXType_RValueReference);
        let target = if reference { canonical.pointee().canonical() } else { canonical };
        let spelling = target.unqualified().spelling();
        let number = spelling.trim_start_matches("const ").strip_prefix("type-parameter-0-");
        let argument = number.and_then(|number| self.substituted.get(number.parse::<usize>().ok()?));
        argument.copied().unwrap_or(declared)
    }

    fn arguments(&mut self, function: Cursor<'u>, depth: usize) -> Result<String, String> {
        let mut arguments = Vec::new();
        for (index, parameter) in function.arguments().into_iter().enumerate() {
            let name = match parameter.spelling() {
                name if name.is_empty() => format!("argument_{}", index + 1),
                name => name,
            };
            let declared = self.substitute(parameter.clang_type());
            let number = self.objects;
            arguments.push(self.argument(&name, declared, depth)?);
            if !self.is_argument(depth) {
                self.note_lent(function, declared, number);
            }
        }
        self.share_lent(function);
        Ok(arguments.join(", "))
    }

    /// An argument of the tested call may lead into others.
    fn argument(&mut self, name: &str, declared: ClangType<'u>, depth: usize) -> Result<String, String> {
        if !self.is_argument(depth) {
            return self.own_argument(name, declared, depth);
        }
        let first = self.usage.steps.len();
        let (inputs, objects) = (self.given.len(), self.objects);
        let text = self.own_argument(name, declared, depth)?;
        let steps = first..self.usage.steps.len();
        let written = match self.given.len() > inputs && self.objects == objects {
            true => Written::Input(inputs),
            false => Written::Object(objects),
        };
        let canonical = declared.canonical();
        let (leads, of) = match canonical.kind() {
            CXType_LValueReference => (Leads::Reference, canonical.pointee()),
            CXType_RValueReference => (Leads::Receiver, canonical.pointee()),
            CXType_Pointer => (Leads::Pointer, canonical.pointee()),
            _ => (Leads::Value, canonical),
        };
        let qualified = of.canonical();
        let of = qualified.unqualified();
        let leads = if can_be_reached(of) { leads } else { Leads::Receiver };
        self.parts.push(Part { name: name.to_owned(), written, of, qualified, leads, steps });
        Ok(text)
    }

    /// What is made at this depth is an argument of the tested call, and no part of one.
    fn is_argument(&self, depth: usize) -> bool {
        depth == DEEPEST && self.optional == 0
    }

    /// An argument that leads into no other.
    fn own_argument(&mut self, name: &str, declared: ClangType<'u>, depth: usize) -> Result<String, String> {
        let canonical = declared.canonical();
        let reference = matches!(canonical.kind(), CXType_LValueReference | CXType_RValueReference);
        let target = if reference { canonical.pointee() } else { canonical };
        let moved = |value: String| match canonical.kind() {
            CXType_RValueReference if standard(target).is_some() => format!("std::move({value})"),
            CXType_RValueReference => format!("static_cast<{} &&>({value})", spelled(target)),
            _ => value,
        };
        if is_plain(target) {
            let value = self.value(name, declared)?;
            return Ok(moved(if reference { format!("*{value}") } else { value }));
        }
        let pointed = (target.kind() == CXType_Pointer).then(|| target.pointee().canonical());
        if let Some((to, kind)) = pointed.filter(|_| !reference).and_then(|to| Some((to, standard(to)?))) {
            // A function that looks whether there is one goes one way only.
            self.usage.never_done.insert(format!("a null pointer for {name}"));
            let object = self.of_library(to, &kind, name, depth)?;
            return Ok(format!("{{&{object}}}"));
        }
        if let Some(kind) = standard(target) {
            let object = self.of_library(target, &kind, name, depth)?;
            self.note_changed(object, canonical, depth);
            // What cannot be copied is moved to where it is needed. So is what the function asks for other owners.
            let alone = self.shop.sees_owners && sharing::is_shared_pointer(target);
            if alone && !self.is_argument(depth) {
                self.add_owners(object, name, &spelled(target));
            }
            return Ok(match reference || is_copied(target) && !alone {
                true => moved(format!("{{@{object}}}")),
                false => format!("std::move({{@{object}}})"),
            });
        }
        let of = pointed.unwrap_or(target).canonical();
        let class = of.declaration();
        if of.kind() != CXType_Record || class.in_system_header() {
            return Err(format!("a test cannot make a `{}` yet", declared.spelling()));
        }
        match pointed {
            Some(_) if reference => Err(format!("a test cannot make a `{}` yet", declared.spelling())),
            Some(_) => {
                let known = Known { class, may_be_null: true, holder: None, name: None };
                Ok(format!("{{&{}}}", self.object_of(&self.concrete(class), name, depth, known)?))
            }
            None => {
                let of = if reference { self.concrete(class) } else { vec![Concrete::itself(class)] };
                if !reference && classes::is_base_of_its_argument(class) {
                    return Err(format!("there are no objects of `{}` alone", qualified(class)));
                }
                let object = self.object_of(&of, name, depth, Known::exactly(class))?;
                self.note_changed(object, canonical, depth);
                Ok(match reference || is_copied(target) {
                    true => moved(format!("{{@{object}}}")),
                    false => format!("static_cast<{} &&>({{@{object}}})", spelled(target)),
                })
            }
        }
    }

    /// The tested call itself can change what a reference lets it.
    fn note_changed(&mut self, object: usize, declared: ClangType<'u>, depth: usize) {
        let changeable = declared.kind() == CXType_LValueReference && !declared.pointee().is_const();
        if changeable && depth == DEEPEST && self.optional == 0 {
            self.changed.push((object, declared.pointee()));
        }
    }

    /// What a test looks at after a call of the function.
    fn observers(&mut self, function: Cursor<'u>, result: ClangType<'u>) -> Vec<Observer> {
        let types = &mut *self.shop.types;
        let mut observers = match function.kind() {
            CXCursor_Destructor => return Vec::new(),
            CXCursor_Constructor => match self.made {
                Some(class) => observers::of_object(class, RESULT, None, types),
                None => Vec::new(),
            },
            _ if observable_result(result).is_some() => Vec::new(),
            _ => observers::of_result(result, types),
        };
        for (object, of) in &self.changed {
            observers.extend(observers::of_object(*of, &format!("{{@{object}}}"), Some(*object), types));
        }
        observers
    }

    /// A value that the test gives: an input where every test needs it, or else what a feed holds.
    fn value(&mut self, name: &str, declared: ClangType<'u>) -> Result<String, String> {
        if self.optional == 0 {
            let taken = self.given.iter().filter(|given| given.name == name).count();
            let name = if taken == 0 { name.to_owned() } else { format!("{name}_{}", self.given.len()) };
            self.given.push(Given { name, declared });
            return Ok(format!("{{{}}}", self.given.len() - 1));
        }
        let variable = variable_of(declared)?;
        let type_id = self.shop.types.parameter_id(declared);
        let feed = self.shop.feeds.push(Feed { name: name.to_owned(), type_id, origin: FeedOrigin::Object });
        self.usage.steps.push(Step::Value { feed, declared: variable });
        Ok(format!("{{#{}}}", feed.0))
    }

    /// A feed whose values are small numbers.
    fn choice(&mut self, name: String) -> FeedId {
        self.number(name, (8, false, "unsigned char"))
    }

    /// A feed whose values are numbers of a type.
    fn number(&mut self, name: String, (bits, signed, spelling): (u32, bool, &str)) -> FeedId {
        let kind = TypeKind::Integer { bits, signed, character: false };
        let known = self.shop.types.table.iter().find(|(_, of)| of.kind == kind).map(|(id, _)| id);
        let size = u64::from(bits / 8);
        let number = Type { kind, spelling: spelling.to_owned(), size, alignment: size };
        let type_id = known.unwrap_or_else(|| self.shop.types.table.push(number));
        self.shop.feeds.push(Feed { name, type_id, origin: FeedOrigin::Object })
    }

    /// The classes of which an object may be that is known as one of this class.
    fn concrete(&self, class: Cursor<'u>) -> Vec<Concrete<'u>> {
        let class = class.definition().unwrap_or(class);
        let of_unit = classes::concrete(class, self.shop.classes);
        match self.shop.derived.get(&class.usr()).filter(|_| of_unit.is_empty()) {
            Some(name) => vec![Concrete { class, name: name.clone(), generated: true, arguments: Vec::new() }],
            None => of_unit.into_iter().map(Concrete::itself).collect(),
        }
    }

    /// An object of one of these classes that a constructor makes and that methods of its class have changed.
    fn object_of(
        &mut self,
        of: &[Concrete<'u>],
        name: &str,
        depth: usize,
        Known { class, may_be_null, holder, name: class_name }: Known<'u>,
    ) -> Result<usize, String> {
        let depth = depth.checked_sub(1).ok_or("its objects are nested too deeply")?;
        let number = self.next_object();
        let known_as_base = classes::is_base_of_its_argument(class);
        let calls_behind = of.len() == 1 && !may_be_null && holder.is_none() && !known_as_base;
        let making = |optional: bool, hidden: Option<Hidden>| {
            let holder = holder.clone();
            Making { number, depth, optional, holder, calls_behind, hidden }
        };
        if classes::can_be_derived_from(class) {
            self.usage.open.insert(classes::name(class));
        }
        let mut wanted = Vec::new();
        for concrete in of {
            if classes::has_hidden_state(concrete.class) {
                self.usage.not_public.insert(concrete.name.clone());
            }
            let mut usable = self.usable_ways(concrete, &making(true, None));
            if depth + 1 < DEEPEST && usable.len() > MOST_NESTED_WAYS {
                usable.truncate(MOST_NESTED_WAYS);
                self.usage.left_out.insert(format!("other constructors of {}", concrete.name));
            }
            wanted.extend(usable.into_iter().map(|way| (concrete, way)));
        }
        let several = may_be_null || holder.is_some() || wanted.len() > 1;
        let choice = several.then(|| self.choice(format!("how {name} is made")));
        let mut ways = Vec::new();
        for (concrete, constructor) in wanted {
            let hidden = concrete.hidden_behind(class).filter(|_| holder.is_some());
            ways.push(self.way(concrete, constructor, &making(several, hidden))?);
            if concrete.generated {
                let base = qualified(concrete.class);
                self.usage.never_done.insert(format!("exceptions and changes that methods of a {base} make"));
                self.usage.derived.insert(concrete.name.clone());
            }
        }
        if ways.is_empty() {
            return Err(match of {
                [] if !class.is_abstract_record() => {
                    format!("no class that is derived from `{}` has objects that a test could make", qualified(class))
                }
                [] => format!(
                    "`{}` is abstract, and no class of the file that is derived from it is not",
                    qualified(class)
                ),
                _ => format!("no constructor of `{}` that a test could call", qualified(class)),
            });
        }
        if let Some(class) = &holder {
            ways.push(Construction::of(class, Vec::new(), "{}"));
        }
        let behind = making(several, None);
        let (name, class) = (name.to_owned(), holder.or(class_name).unwrap_or_else(|| classes::name(class)));
        self.usage.steps.push(Step::Object(Object { number, name, class, choice, ways, may_be_null }));
        if let ([only], true) = (of, calls_behind) {
            self.substituting(&only.arguments, |maker| maker.call_methods(only, &behind));
        }
        Ok(number)
    }

    /// The constructors with which an object can be made; `None` is the one that nobody declares. Asked once for each
    /// class and depth: classes with many constructors are the arguments of each other's.
    fn usable_ways(&mut self, of: &Concrete<'u>, making: &Making) -> Vec<Option<Cursor<'u>>> {
        let key = (of.name.clone(), making.depth, making.holder.clone());
        if let Some(known) = self.shop.usable.get(&key) {
            return known.clone();
        }
        let mut usable = Vec::new();
        for constructor in of.constructors() {
            let factory = constructor.and_then(|constructor| Factory::of(constructor, of.class));
            if factory.is_some_and(|factory| !factory.fits(making.holder.as_deref())) {
                continue;
            }
            let mark = self.mark();
            if self.construction_arguments(of, constructor, making).is_ok() {
                usable.push(constructor);
            }
            self.back_to(mark);
        }
        self.shop.usable.insert(key, usable.clone());
        usable
    }

    /// What comes before the construction, and its arguments.
    fn construction_arguments(
        &mut self,
        of: &Concrete<'u>,
        constructor: Option<Cursor<'u>>,
        making: &Making,
    ) -> Result<(Vec<Step>, String), String> {
        self.apart(making.optional, |maker| match constructor {
            Some(constructor) => maker.substituting(&of.arguments, |maker| maker.arguments(constructor, making.depth)),
            None => Ok(String::new()),
        })
    }

    fn way(
        &mut self,
        of: &Concrete<'u>,
        constructor: Option<Cursor<'u>>,
        making: &Making,
    ) -> Result<Construction, String> {
        let factory = constructor.and_then(|constructor| Factory::of(constructor, of.class));
        let mut way = match factory {
            Some(factory) => self.made_by(&factory, of, making)?,
            None => {
                let (before, arguments) = self.construction_arguments(of, constructor, making)?;
                let initializer = if arguments.is_empty() { "{}".to_owned() } else { format!("({arguments})") };
                match &making.holder {
                    Some(holder) => Construction::of(holder, before, &format!("(new {}{initializer})", of.name)),
                    None => Construction::of(&of.name, before, &initializer),
                }
            }
        };
        (way.after, ()) = self.apart(making.optional, |maker| {
            maker.set_members(of.class, making);
            if !making.calls_behind {
                maker.substituting(&of.arguments, |maker| maker.call_methods(of, making));
            }
            Ok(())
        })?;
        Ok(way)
    }

    /// An object that a function of its class makes, for want of a constructor that a test could call.
    fn made_by(&mut self, factory: &Factory<'u>, of: &Concrete<'u>, making: &Making) -> Result<Construction, String> {
        let holder = making.holder.as_deref();
        let (before, (class, initializer, borrowed)) = self.apart(making.optional, |maker| {
            let arguments = maker.arguments(factory.function, making.depth)?;
            let call = format!("{}::{}({arguments})", of.name, factory.function.spelling());
            Ok(match (&factory.returns, holder) {
                (Returns::Smart(pointer), None) => {
                    let number = maker.next_object();
                    let name = classes::variable(of.class);
                    maker.whole((number, &format!("{name}_pointer"), spelled(*pointer)), format!("({call})"));
                    (of.name.as_str(), format!("{{@{number}}}.get()"), true)
                }
                (Returns::Smart(_), Some(holder)) => (holder, format!("({call})"), false),
                (Returns::Value, Some(holder)) => (holder, format!("(new {}({call}))", of.name), false),
                (Returns::Value, None) => (of.name.as_str(), format!("({call})"), false),
                (Returns::Reference, _) => (of.name.as_str(), format!("&{call}"), true),
                (Returns::Pointer, _) => (of.name.as_str(), call, true),
            })
        })?;
        Ok(Construction { borrowed, ..Construction::of(class, before, &initializer) })
    }

    /// Public members get any value.
    fn set_members(&mut self, class: Cursor<'u>, making: &Making) {
        for member in class.clang_type().fields() {
            let (of, name) = (member.clang_type(), member.spelling());
            let canonical = of.canonical();
            let assignable = !canonical.is_const()
                && !matches!(canonical.kind(), CXType_LValueReference | CXType_RValueReference | CXType_ConstantArray);
            if !member.is_public() || !assignable || name.is_empty() {
                continue;
            }
            let _ = self.attempt(|maker| {
                let value = maker.argument(&name, of, making.depth)?;
                maker.usage.steps.push(Step::Statement(format!("{}{name} = {value};", making.member())));
                Ok(())
            });
        }
    }

    /// Any calls of public methods that can change the object.
    fn call_methods(&mut self, of: &Concrete<'u>, making: &Making) {
        let class = of.class;
        let name = if of.generated { qualified(class) } else { of.name.clone() };
        // Objects that are made for others stay as they were constructed: sequences inside sequences are too many.
        if making.depth + 1 < DEEPEST {
            self.usage.constructed.insert(name);
            return;
        }
        self.usage.called.insert(name);
        let choice = self.choice(format!("calls on {}", classes::variable(class)));
        let mut ways = Vec::new();
        for method in classes::changing_methods(class).into_iter().chain(classes::changing_templates(class)) {
            let made = self.attempt(|maker| maker.apart(true, |maker| maker.call_of(method, making)));
            match made {
                Ok((steps, ())) => ways.push(steps),
                Err(_) => drop(self.usage.left_out.insert(qualified(method))),
            }
        }
        if !ways.is_empty() {
            self.usage.steps.push(Step::Calls(Calls { choice, ways }));
        }
    }

    /// The same of a method that is a template, as an instance that is known.
    fn call_of_template(&mut self, template: Cursor<'u>, making: &Making) -> Result<(), String> {
        let known = self.shop.instances.iter().find_map(|instance| match instance.called(template)? {
            Called::Member(of) => Some((member_name(instance.text), of)),
            Called::Function(_) | Called::Method(_) => None,
        });
        let (name, of) = known.ok_or("no instance is known")?;
        let arguments = self.arguments_of(template, of, making.depth)?;
        let call = format!("{}{name}({arguments})", making.member());
        self.usage.steps.push(Step::Statement(statement(&call, template)));
        Ok(())
    }

    fn call_of(&mut self, method: Cursor<'u>, making: &Making) -> Result<(), String> {
        if method.kind() == CXCursor_FunctionTemplate {
            return self.call_of_template(method, making);
        }
        let arguments = self.arguments(method, making.depth)?;
        let call = classes::call_text(method, &making.target(), &making.member(), &arguments);
        let call = call.ok_or("an operator that tests do not call")?;
        self.usage.steps.push(Step::Statement(statement(&call, method)));
        Ok(())
    }
}

/// A call of which nobody uses the result.
fn statement(call: &str, function: Cursor<'_>) -> String {
    match function.must_be_used() {
        true => format!("static_cast<void>({call});"),
        false => format!("{call};"),
    }
}

fn is_number(of: ClangType<'_>) -> bool {
    crate::ctypes::is_arithmetic(of)
}

/// A type that C has too: what a test gives are its bytes.
pub(crate) fn is_plain(of: ClangType<'_>) -> bool {
    plain_within(of, &mut Vec::new())
}

fn plain_within(of: ClangType<'_>, open: &mut Vec<String>) -> bool {
    let of = of.canonical();
    match of.kind() {
        CXType_Pointer if of.pointee().canonical().kind() == CXType_Void => true,
        CXType_Pointer if of.pointee().canonical().kind() == CXType_FunctionProto => {
            let function = of.pointee().canonical();
            let result = function.function_result().canonical();
            let returns = result.kind() == CXType_Void || plain_within(result, open);
            returns && function.function_parameters().into_iter().all(|parameter| plain_within(parameter, open))
        }
        CXType_Pointer => plain_within(of.pointee(), open),
        CXType_ConstantArray | CXType_IncompleteArray => plain_within(of.element(), open),
        CXType_Record if of.declaration().spelling() == "_IO_FILE" => true,
        CXType_Record if standard(of).is_some() => false,
        CXType_Record => {
            let key = of.declaration().usr();
            if open.contains(&key) {
                return true;
            }
            open.push(key);
            let public = |field: &Cursor<'_>| field.is_public() && plain_within(field.clang_type(), open);
            of.is_pod() && of.size().is_some() && of.fields().iter().all(public)
        }
        _ => is_number(of),
    }
}
