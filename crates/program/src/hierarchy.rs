//! The classes of C++ files: what they inherit, which methods redefine which.

use crate::map::Place;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// With its scopes; a template's has `<…>` behind it.
    pub name: String,
    pub place: Place,
    pub is_abstract: bool,
    pub bases: Vec<Base>,
    pub methods: Vec<Method>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    pub name: String,
    pub is_virtual: bool,
    pub is_public: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// As the functions of the map are named, where one has its body.
    pub name: String,
    pub is_virtual: bool,
    pub is_pure: bool,
    /// The methods of its bases that it redefines, directly.
    pub redefines: Vec<String>,
}
