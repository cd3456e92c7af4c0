//! The classes of a C++ file: what they inherit and redefine, and which methods a call may reach.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use branchwise_program::hierarchy::{Class, Method};
use branchwise_program::map::{Map, Place};
use serde_json::{Value, json};

use super::picture::{Arc, Line, Picture, Shape, Tone, Vertex};
use super::{dot, svg, words};

/// The classes of a map, ready to be shown.
pub struct Classes<'m> {
    map: &'m Map,
    /// Calls that may reach several methods.
    dispatches: Vec<Dispatch<'m>>,
    /// The methods that redefine a method, directly or not.
    redefined: BTreeMap<&'m str, BTreeSet<&'m str>>,
}

struct Dispatch<'m> {
    caller: &'m str,
    place: Place,
    methods: BTreeSet<&'m str>,
}

impl<'m> Classes<'m> {
    pub fn of(map: &'m Map) -> Self {
        let redefined = redefined(&map.classes);
        Classes { map, dispatches: dispatches(map, &redefined), redefined }
    }

    pub fn dot(&self) -> String {
        dot::of_picture(self.picture())
    }

    pub fn svg(&self) -> String {
        svg::of_picture(self.picture())
    }

    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        for class in &self.map.classes {
            let place = format!("{}:{}", words::file(self.map, class.place.file), class.place.line);
            let _ = writeln!(out, "{} — {place}", heading(class));
            for method in &class.methods {
                let _ = writeln!(out, "{}", format!("  {:40}  {}", shown(method), self.relations(method)).trim_end());
            }
        }
        if self.map.classes.is_empty() {
            out.push_str("no classes\n");
        }
        if !self.dispatches.is_empty() {
            out.push_str("calls that may reach several methods\n");
        }
        for Dispatch { caller, place, methods } in &self.dispatches {
            let _ = writeln!(out, "  {}:{} in {caller}(): {}", place.line, place.column, listed(methods));
        }
        out
    }

    pub fn json(&self) -> Value {
        let method = |method: &Method| {
            let redefined: Vec<&str> = self.redefined_by(method).collect();
            json!({
                "name": method.name, "virtual": method.is_virtual, "pure": method.is_pure,
                "redefines": method.redefines, "redefined_by": redefined,
            })
        };
        let class = |class: &Class| {
            let bases = class.bases.iter();
            let bases: Vec<Value> = bases
                .map(|base| json!({ "name": base.name, "virtual": base.is_virtual, "public": base.is_public }))
                .collect();
            let methods: Vec<Value> = class.methods.iter().map(method).collect();
            json!({
                "name": class.name, "file": words::file(self.map, class.place.file), "line": class.place.line,
                "abstract": class.is_abstract, "bases": bases, "methods": methods,
            })
        };
        let dispatch = |Dispatch { caller, place, methods }: &Dispatch<'_>| json!({ "function": caller, "line": place.line, "column": place.column, "methods": methods });
        json!({
            "classes": self.map.classes.iter().map(class).collect::<Vec<_>>(),
            "calls": self.dispatches.iter().map(dispatch).collect::<Vec<_>>(),
        })
    }

    fn redefined_by(&self, method: &Method) -> impl Iterator<Item = &'m str> {
        self.redefined.get(method.name.as_str()).into_iter().flatten().copied()
    }

    fn relations(&self, method: &Method) -> String {
        let mut relations = Vec::new();
        if !method.redefines.is_empty() {
            relations.push(format!("redefines {}", method.redefines.join(", ")));
        }
        let by: BTreeSet<&str> = self.redefined_by(method).collect();
        if !by.is_empty() {
            relations.push(format!("redefined by {}", listed(&by)));
        }
        relations.join("; ")
    }

    /// From a class to what it inherits, and from a function to the classes whose methods its calls may reach.
    fn picture(&self) -> Picture {
        let classes = &self.map.classes;
        let mut vertices: Vec<Vertex> =
            classes.iter().enumerate().map(|(number, class)| drawn(class, number)).collect();
        let mut arcs = Vec::new();
        for (from, class) in classes.iter().enumerate() {
            for base in &class.bases {
                let bare = base.name.split('<').next().unwrap_or_default();
                let Some(to) = classes.iter().position(|other| other.name.split('<').next() == Some(bare)) else {
                    continue;
                };
                let label = base.is_virtual.then(|| "virtual".to_owned());
                arcs.push(Arc { from, to, label, tone: Tone::Plain, marked: false });
            }
        }
        let mut callers: BTreeMap<&str, usize> = BTreeMap::new();
        for Dispatch { caller, place, methods } in &self.dispatches {
            let from = *callers.entry(caller).or_insert_with(|| {
                let lines = vec![Line { number: Some(place.line), text: format!("{caller}()") }];
                let name = format!("f{}", vertices.len());
                vertices.push(Vertex { name, shape: Shape::Rounded, lines, marked: false, faded: false });
                vertices.len() - 1
            });
            let reached = |class: &Class| class.methods.iter().any(|method| methods.contains(method.name.as_str()));
            for to in (0..classes.len()).filter(|&to| reached(&classes[to])) {
                let known = arcs.iter().any(|arc| (arc.from, arc.to) == (from, to));
                if !known {
                    let label = Some(format!("line {}", place.line));
                    arcs.push(Arc { from, to, label, tone: Tone::Case, marked: true });
                }
            }
        }
        Picture { title: "classes".to_owned(), vertices, arcs, root: 0 }
    }
}

/// Constructors and destructors that run at the same place redefine nothing of each other.
fn dispatches<'m>(map: &'m Map, redefined: &BTreeMap<&'m str, BTreeSet<&'m str>>) -> Vec<Dispatch<'m>> {
    let mut found = Vec::new();
    for function in map.functions.values() {
        let mut sites: BTreeMap<Place, BTreeSet<&str>> = BTreeMap::new();
        for call in &function.calls {
            sites.entry(call.place).or_default().extend(call.callee.as_deref());
        }
        for (place, called) in sites {
            let by = |method: &&'m str| Some((*method, redefined.get(method)?));
            let widest = called.iter().filter_map(by).max_by_key(|(_, by)| by.intersection(&called).count());
            let Some((method, by)) = widest else { continue };
            let methods: BTreeSet<&str> = by.intersection(&called).copied().chain([method]).collect();
            if methods.len() > 1 {
                found.push(Dispatch { caller: &function.name, place, methods });
            }
        }
    }
    found
}

fn redefined(classes: &[Class]) -> BTreeMap<&str, BTreeSet<&str>> {
    let methods: BTreeMap<&str, &Method> =
        classes.iter().flat_map(|class| &class.methods).map(|method| (method.name.as_str(), method)).collect();
    let mut redefined: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for method in methods.values() {
        let mut open: Vec<&str> = method.redefines.iter().map(String::as_str).collect();
        while let Some(base) = open.pop() {
            if redefined.entry(base).or_default().insert(&method.name) {
                open.extend(methods.get(base).into_iter().flat_map(|base| base.redefines.iter().map(String::as_str)));
            }
        }
    }
    redefined
}

fn heading(class: &Class) -> String {
    let base = |base: &branchwise_program::hierarchy::Base| {
        let words = [(base.is_virtual, "virtual "), (!base.is_public, "not public ")];
        let words: String = words.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect();
        format!("{words}{}", base.name)
    };
    let bases: Vec<String> = class.bases.iter().map(base).collect();
    let bases = if bases.is_empty() { String::new() } else { format!(" : {}", bases.join(", ")) };
    let abstract_ = if class.is_abstract { " (abstract)" } else { "" };
    format!("class {}{bases}{abstract_}", class.name)
}

fn shown(method: &Method) -> String {
    let before = if method.is_virtual { "virtual " } else { "" };
    let behind = if method.is_pure { " = 0" } else { "" };
    format!("{before}{}{behind}", method.name)
}

fn drawn(class: &Class, number: usize) -> Vertex {
    let mut lines = vec![Line { number: Some(class.place.line), text: heading(class) }];
    lines.extend(class.methods.iter().map(|method| Line { number: None, text: shown(method) }));
    Vertex { name: format!("c{number}"), shape: Shape::Box, lines, marked: class.is_abstract, faded: false }
}

fn listed(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(", ")
}
