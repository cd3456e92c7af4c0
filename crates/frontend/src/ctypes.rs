//! Copies C types with their layout out of libclang, one id for each canonical type.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::HashMap;

use branchwise_program::TypeId;
use branchwise_program::types::{Field, Type, TypeKind, TypeTable};
use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::drivers::is_unspellable;
use crate::functions::qualified;
use crate::signatures::Signature;
use crate::taken_for::TakenFor;

#[derive(Default)]
pub(crate) struct Types<'u> {
    pub table: TypeTable,
    ids: HashMap<String, TypeId>,
    /// Of every function type in the table; an error names the type that cannot be written down.
    pub signatures: HashMap<TypeId, Result<Signature, String>>,
    /// The types of the unit's functions, by name.
    pub functions: HashMap<String, TypeId>,
    /// What pointers to `void` point to.
    taken_for: TakenFor<'u>,
}

impl<'u> Types<'u> {
    pub fn new(taken_for: TakenFor<'u>) -> Types<'u> {
        Types { taken_for, ..Types::default() }
    }

    pub fn id(&mut self, clang_type: ClangType<'_>) -> TypeId {
        let canonical = clang_type.canonical().unqualified();
        let key = type_key(canonical);
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        // The id exists before the fields are looked at: a list's node mentions itself.
        let id = self.table.push(Type {
            kind: TypeKind::Void,
            spelling: if is_stream(canonical) { "FILE".to_owned() } else { canonical.spelling() },
            size: canonical.size().unwrap_or(0),
            alignment: alignment(canonical),
        });
        self.ids.insert(key, id);
        let kind = self.kind(canonical);
        if kind == TypeKind::Function {
            let signature = Signature::of(canonical, self);
            self.signatures.insert(id, signature);
        }
        self.table[id].kind = kind;
        id
    }

    pub fn void(&mut self) -> TypeId {
        if let Some(&id) = self.ids.get("void") {
            return id;
        }
        let id = self.table.push(Type { kind: TypeKind::Void, spelling: "void".to_owned(), size: 0, alignment: 16 });
        self.ids.insert("void".to_owned(), id);
        id
    }

    /// The type of a parameter, where a pointer to `void` points to what it is taken for.
    pub fn of_parameter(&mut self, parameter: Cursor<'_>) -> TypeId {
        self.taken(parameter).unwrap_or_else(|| self.parameter_id(parameter.clang_type()))
    }

    /// The same of a member or variable.
    pub fn of_variable(&mut self, variable: Cursor<'_>) -> TypeId {
        self.taken(variable).unwrap_or_else(|| self.id(variable.clang_type()))
    }

    fn taken(&mut self, declaration: Cursor<'_>) -> Option<TypeId> {
        self.taken_for.object(declaration).map(|object| self.any_pointer(object))
    }

    /// The type of a parameter after adjustment; `T name[N]` keeps its N.
    pub fn parameter_id(&mut self, declared: ClangType<'_>) -> TypeId {
        if matches!(declared.canonical().kind(), CXType_FunctionProto | CXType_FunctionNoProto) {
            return self.function_pointer(declared);
        }
        if let Some(element) = variable_element(declared) {
            return self.any_pointer(element);
        }
        if matches!(declared.canonical().kind(), CXType_LValueReference | CXType_RValueReference) {
            return self.reference(declared.canonical().pointee());
        }
        let Some(element) = array_element(declared) else { return self.id(declared) };
        let declared_count = declared.canonical().array_count();
        let canonical_element = declared.canonical().element();
        // A qualifier of an array (through a typedef) is one of its elements.
        let constant = canonical_element.is_const() || declared.is_const();
        let target = self.id(element);
        let qualifier = if constant && !canonical_element.is_const() { "const " } else { "" };
        let spelling = pointer_spelling(&format!("{qualifier}{}", canonical_element.spelling()));
        let key = format!("{spelling} of {declared_count:?} {constant} {}", target.0);
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let kind = TypeKind::Pointer { target, constant, declared_count };
        let id = self.table.push(Type { kind, spelling, size: 8, alignment: 8 });
        self.ids.insert(key, id);
        id
    }

    /// A reference is a pointer to exactly one object.
    fn reference(&mut self, target_type: ClangType<'_>) -> TypeId {
        let (target, constant) = (self.id(target_type), target_type.canonical().is_const());
        let spelling = pointer_spelling(&target_type.canonical().spelling());
        let key = format!("{spelling} to one {constant} {}", target.0);
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let kind = TypeKind::Pointer { target, constant, declared_count: Some(1) };
        let id = self.table.push(Type { kind, spelling, size: 8, alignment: 8 });
        self.ids.insert(key, id);
        id
    }

    /// A pointer to elements that is written as `void *`, as their type depends on other parameters or is not declared.
    fn any_pointer(&mut self, element: ClangType<'_>) -> TypeId {
        let (target, constant) = (self.id(element), element.canonical().is_const());
        let key = format!("void * to {constant} {}", target.0);
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let kind = TypeKind::Pointer { target, constant, declared_count: None };
        let id = self.table.push(Type { kind, spelling: "void *".to_owned(), size: 8, alignment: 8 });
        self.ids.insert(key, id);
        id
    }

    /// An array type that the unit need not mention.
    pub fn array_of(&mut self, element: ClangType<'_>, count: u64) -> TypeId {
        let target = self.id(element);
        let spelling = format!("{}[{count}]", self.table[target].spelling);
        if let Some(&id) = self.ids.get(&spelling) {
            return id;
        }
        let Type { size, alignment, .. } = self.table[target];
        let kind = TypeKind::Array { element: target, count: Some(count) };
        let id = self.table.push(Type { kind, spelling: spelling.clone(), size: count * size, alignment });
        self.ids.insert(spelling, id);
        id
    }

    /// An array of so many bytes.
    pub fn bytes(&mut self, count: u64) -> TypeId {
        let spelling = format!("unsigned char[{count}]");
        if let Some(&id) = self.ids.get(&spelling) {
            return id;
        }
        let kind = TypeKind::Array { element: self.byte(), count: Some(count) };
        let id = self.table.push(Type { kind, spelling: spelling.clone(), size: count, alignment: 1 });
        self.ids.insert(spelling, id);
        id
    }

    /// 0 or 1, in a byte.
    pub fn truth(&mut self) -> TypeId {
        let spelling = "_Bool".to_owned();
        if let Some(&id) = self.ids.get(&spelling) {
            return id;
        }
        let kind = TypeKind::Integer { bits: 1, signed: false, character: false };
        let id = self.table.push(Type { kind, spelling: spelling.clone(), size: 1, alignment: 1 });
        self.ids.insert(spelling, id);
        id
    }

    /// C++ has another word for what [`Types::truth`] has made.
    pub fn spell_truth(&mut self, word: &str) {
        if let Some(&id) = self.ids.get("_Bool") {
            self.table[id].spelling = word.to_owned();
        }
    }

    fn byte(&mut self) -> TypeId {
        let spelling = "unsigned char".to_owned();
        if let Some(&id) = self.ids.get(&spelling) {
            return id;
        }
        let kind = TypeKind::Integer { bits: 8, signed: false, character: true };
        let id = self.table.push(Type { kind, spelling: spelling.clone(), size: 1, alignment: 1 });
        self.ids.insert(spelling, id);
        id
    }

    /// Gives structures without a name one that C can write: the type of a variable, or of a member of a structure
    /// that has a name.
    pub fn name_unnamed(&mut self, declarations: &[Cursor<'_>]) {
        for variable in declarations.iter().filter(|cursor| cursor.kind() == CXCursor_VarDecl) {
            if let Some(type_id) = self.known(variable.clang_type()) {
                self.name_as(type_id, &variable.spelling());
            }
        }
        let mut named = 0;
        // Naming one structure may name those in it.
        while named < self.named_records().len() {
            let records = self.named_records();
            named = records.len();
            for (record, fields) in records {
                for field in fields.iter().filter(|field| !field.name.is_empty() && field.bit_field.is_none()) {
                    self.name_as(field.type_id, &format!("(({record} *)0)->{}", field.name));
                }
            }
        }
    }

    fn named_records(&self) -> Vec<(String, Vec<Field>)> {
        let record = |of: &Type| match &of.kind {
            TypeKind::Record { fields: Some(fields), .. } if !is_unspellable(&of.spelling) => {
                Some((of.spelling.clone(), fields.clone()))
            }
            _ => None,
        };
        self.table.values().filter_map(record).collect()
    }

    /// Names what an expression of this type has, or leads to.
    fn name_as(&mut self, type_id: TypeId, expression: &str) {
        let of = &self.table[type_id];
        match &of.kind {
            TypeKind::Record { .. } if is_unspellable(&of.spelling) => {
                self.table[type_id].spelling = format!("__typeof__({expression})");
            }
            TypeKind::Array { element, .. } => self.name_as(*element, &format!("{expression}[0]")),
            TypeKind::Pointer { target, .. } => self.name_as(*target, &format!("(*{expression})")),
            _ => {}
        }
    }

    /// The id of a type that the table has already.
    pub fn known(&self, clang_type: ClangType<'_>) -> Option<TypeId> {
        self.ids.get(&type_key(clang_type.canonical().unqualified())).copied()
    }

    /// A parameter written as a function is a pointer to it.
    fn function_pointer(&mut self, declared: ClangType<'_>) -> TypeId {
        let written = declared.canonical().spelling();
        let spelling = written.replacen('(', "(*)(", 1);
        if let Some(&id) = self.ids.get(&spelling) {
            return id;
        }
        let kind = TypeKind::Pointer { target: self.id(declared), constant: false, declared_count: None };
        let id = self.table.push(Type { kind, spelling: spelling.clone(), size: 8, alignment: 8 });
        self.ids.insert(spelling, id);
        id
    }

    fn kind(&mut self, canonical: ClangType<'_>) -> TypeKind {
        match canonical.kind() {
            CXType_Void => TypeKind::Void,
            CXType_Bool => TypeKind::Integer { bits: 1, signed: false, character: false },
            CXType_Float | CXType_Double => TypeKind::Float { bits: bits(canonical) },
            CXType_Pointer => self.pointer(canonical.pointee()),
            CXType_ConstantArray => self.array(canonical, canonical.array_count()),
            CXType_IncompleteArray | CXType_VariableArray => self.array(canonical, None),
            CXType_Record if is_stream(canonical) => TypeKind::Stream,
            CXType_Record => self.record(canonical),
            CXType_Enum => enumeration(canonical.declaration()),
            CXType_FunctionProto | CXType_FunctionNoProto => TypeKind::Function,
            kind => integer(kind, canonical).unwrap_or_else(|| TypeKind::Unsupported(canonical.spelling())),
        }
    }

    fn pointer(&mut self, target: ClangType<'_>) -> TypeKind {
        let constant = target.canonical().is_const();
        TypeKind::Pointer { target: self.id(target), constant, declared_count: None }
    }

    fn array(&mut self, canonical: ClangType<'_>, count: Option<u64>) -> TypeKind {
        TypeKind::Array { element: self.id(canonical.element()), count }
    }

    fn record(&mut self, canonical: ClangType<'_>) -> TypeKind {
        let declaration = canonical.declaration();
        let union = declaration.kind() == CXCursor_UnionDecl;
        let fields = canonical.size().is_some().then(|| {
            let fields = canonical.fields();
            fields.into_iter().map(|field| self.field(field)).collect()
        });
        TypeKind::Record { union, fields }
    }

    fn field(&mut self, field: Cursor<'_>) -> Field {
        let name = field.spelling();
        let unnamed = field.is_anonymous() || name.contains('(');
        Field {
            name: if unnamed { String::new() } else { name },
            type_id: self.of_variable(field),
            offset_bits: field.field_offset().unwrap_or(0),
            bit_field: field.bit_width(),
        }
    }
}

/// The C library's `FILE`.
fn is_stream(canonical: ClangType<'_>) -> bool {
    let declaration = canonical.declaration();
    declaration.spelling() == "_IO_FILE" && declaration.in_system_header()
}

/// What a `void *` points to may be anything: it is aligned for everything.
fn alignment(canonical: ClangType<'_>) -> u64 {
    if canonical.kind() == CXType_Void { 16 } else { canonical.alignment().unwrap_or(1).max(1) }
}

/// Two records can be spelled alike (in different scopes); their declarations differ. `const` below the top matters.
fn type_key(canonical: ClangType<'_>) -> String {
    match canonical.kind() {
        CXType_Record | CXType_Enum => canonical.declaration().usr() + &canonical.spelling(),
        _ => canonical.spelling(),
    }
}

fn bits(canonical: ClangType<'_>) -> u32 {
    8 * canonical.size().unwrap_or(0) as u32
}

fn integer(kind: CXTypeKind, canonical: ClangType<'_>) -> Option<TypeKind> {
    let (signed, character) = match kind {
        CXType_Char_S | CXType_SChar => (true, true),
        CXType_Char_U | CXType_UChar => (false, true),
        CXType_Short | CXType_Int | CXType_Long | CXType_LongLong | CXType_Int128 | CXType_WChar => (true, false),
        CXType_UShort | CXType_UInt | CXType_ULong | CXType_ULongLong | CXType_UInt128 => (false, false),
        _ => return None,
    };
    Some(TypeKind::Integer { bits: bits(canonical), signed, character })
}

fn enumeration(declaration: Cursor<'_>) -> TypeKind {
    let underlying = declaration.enum_integer_type().canonical();
    let (bits, signed) = promoted_or_own(underlying);
    let declaration = declaration.definition().unwrap_or(declaration);
    let constants = declaration.children().into_iter().filter(|child| child.kind() == CXCursor_EnumConstantDecl);
    let name = |constant: Cursor<'_>| match constant.is_cpp() {
        true => qualified(constant),
        false => constant.spelling(),
    };
    let constants = constants.map(|constant| (name(constant), constant.enum_value(signed))).collect();
    TypeKind::Enumeration { bits, signed, constants }
}

fn promoted_or_own(canonical: ClangType<'_>) -> (u32, bool) {
    match integer(canonical.kind(), canonical) {
        Some(TypeKind::Integer { bits, signed, .. }) => (bits, signed),
        _ => (32, false),
    }
}

/// Bits and sign of an integer type after C's promotion.
pub(crate) fn promoted_integer(clang_type: ClangType<'_>) -> (u32, bool) {
    let canonical = clang_type.canonical();
    let (bits, signed) = match canonical.kind() {
        CXType_Enum => promoted_or_own(canonical.declaration().enum_integer_type().canonical()),
        _ => promoted_or_own(canonical),
    };
    if bits < 32 { (32, true) } else { (bits, signed) }
}

/// Numbers, as opposed to pointers and what becomes one.
pub(crate) fn is_arithmetic(clang_type: ClangType<'_>) -> bool {
    let kind = clang_type.canonical().kind();
    kind == CXType_Enum || (CXType_Bool..=CXType_LongDouble).contains(&kind)
}

/// Whole numbers that may be sizes.
pub(crate) fn is_integer(canonical: ClangType<'_>) -> bool {
    (CXType_Char_U..=CXType_Int128).contains(&canonical.kind())
}

/// The element type of a parameter that is written as an array.
pub(crate) fn array_element(declared: ClangType<'_>) -> Option<ClangType<'_>> {
    let canonical_kind = declared.canonical().kind();
    let is_array = matches!(canonical_kind, CXType_ConstantArray | CXType_IncompleteArray | CXType_VariableArray);
    // The element of the type as written keeps the user's typedef names.
    is_array.then(|| match declared.element() {
        element if element.kind() != CXType_Invalid => element,
        _ => declared.canonical().element(),
    })
}

/// The elements behind a parameter that points to arrays whose length is known only at run time.
pub(crate) fn variable_element(declared: ClangType<'_>) -> Option<ClangType<'_>> {
    let canonical = declared.canonical();
    let mut target = match canonical.kind() {
        CXType_Pointer => canonical.pointee(),
        _ => array_element(declared)?,
    };
    let varies = |target: ClangType<'_>| {
        let kind = target.canonical().kind();
        kind == CXType_VariableArray || kind == CXType_ConstantArray && target.canonical().size().is_none()
    };
    varies(target).then_some(())?;
    while varies(target) {
        target = target.canonical().element();
    }
    Some(target)
}

fn pointer_spelling(target: &str) -> String {
    match target.split_once('[') {
        Some((element, dimensions)) => format!("{}(*)[{dimensions}", element.trim_end().to_owned() + " "),
        None if target.ends_with('*') => format!("{target}*"),
        None => format!("{target} *"),
    }
}
