//! C declarations from types.

use branchwise_program::TypeId;
use branchwise_program::types::{TypeKind, TypeTable};

/// `int *name[3]` for a variable of this type.
pub fn declaration(types: &TypeTable, type_id: TypeId, name: &str) -> String {
    declare(types, type_id, name.to_owned(), false)
}

/// As [`declaration`], of a constant.
pub fn constant_declaration(types: &TypeTable, type_id: TypeId, name: &str) -> String {
    declare(types, type_id, name.to_owned(), true)
}

/// `int *name` for a pointer to this type.
pub fn pointer_declaration(types: &TypeTable, target: TypeId, name: &str) -> String {
    let is_array = is(types, target, |kind| matches!(kind, TypeKind::Array { .. }));
    declaration(types, target, &if is_array { format!("(*{name})") } else { format!("*{name}") })
}

/// `int (*)[3]`: the type alone, for a cast.
pub fn type_name(types: &TypeTable, type_id: TypeId) -> String {
    declaration(types, type_id, "")
}

/// Wraps the declarator from the inside out, the way C reads it.
fn declare(types: &TypeTable, type_id: TypeId, declarator: String, constant: bool) -> String {
    let Some(of) = types.get(type_id) else { return base("unsigned char", &declarator, constant) };
    match &of.kind {
        TypeKind::Array { element, count } => {
            let count = count.map(|count| count.to_string()).unwrap_or_default();
            declare(types, *element, format!("{declarator}[{count}]"), constant)
        }
        TypeKind::Pointer { target, .. } if is(types, *target, |kind| *kind == TypeKind::Function) => {
            function_pointer(&of.spelling, &declarator)
        }
        TypeKind::Pointer { target, constant: constant_target, .. } => {
            let starred = format!("{}{declarator}", if constant { "*const " } else { "*" });
            let is_array = is(types, *target, |kind| matches!(kind, TypeKind::Array { .. }));
            let starred = if is_array { format!("({starred})") } else { starred };
            declare(types, *target, starred, *constant_target)
        }
        _ => base(&of.spelling, &declarator, constant),
    }
}

fn is(types: &TypeTable, type_id: TypeId, test: impl Fn(&TypeKind) -> bool) -> bool {
    types.get(type_id).is_some_and(|of| test(&of.kind))
}

/// A declaration from a type as C spells it.
pub fn named(spelling: &str, declarator: &str) -> String {
    match spelling.find('[').filter(|_| spelling.ends_with(']')) {
        _ if spelling.ends_with('*') => format!("{spelling}{declarator}"),
        Some(at) => base(&spelling[..at], &format!("{declarator}{}", &spelling[at..]), false),
        None => function_pointer(spelling, declarator),
    }
}

/// Function types keep no structure here, but the pointer's spelling has a place for the name.
fn function_pointer(spelling: &str, declarator: &str) -> String {
    match spelling.find("(*") {
        Some(at) => format!("{}{declarator}{}", &spelling[..at + 2], &spelling[at + 2..]),
        None => base(spelling, declarator, false),
    }
}

fn base(spelling: &str, declarator: &str, constant: bool) -> String {
    let qualifier = if constant { "const " } else { "" };
    let space = if declarator.is_empty() { "" } else { " " };
    format!("{qualifier}{spelling}{space}{declarator}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use branchwise_program::types::Type;

    fn add(types: &mut TypeTable, spelling: &str, kind: TypeKind) -> TypeId {
        types.push(Type { kind, spelling: spelling.to_owned(), size: 8, alignment: 8 })
    }

    fn pointer(target: TypeId, constant: bool) -> TypeKind {
        TypeKind::Pointer { target, constant, declared_count: None }
    }

    #[test]
    fn declarators_nest_as_c_reads_them() {
        let mut types = TypeTable::new();
        let char_type = add(&mut types, "char", TypeKind::Integer { bits: 8, signed: true, character: true });
        let string = add(&mut types, "const char *", pointer(char_type, true));
        let strings = add(&mut types, "const char *[2]", TypeKind::Array { element: string, count: Some(2) });
        let to_array = add(&mut types, "", pointer(strings, false));
        let constant_strings = add(&mut types, "const char *const *", pointer(string, true));
        let function = add(&mut types, "int (int)", TypeKind::Function);
        let handler = add(&mut types, "int (*)(int)", pointer(function, false));
        assert_eq!(declaration(&types, strings, "argv"), "const char *argv[2]");
        assert_eq!(declaration(&types, to_array, "p"), "const char *(*p)[2]");
        assert_eq!(declaration(&types, constant_strings, "p"), "const char *const *p");
        assert_eq!(declaration(&types, handler, "f"), "int (*f)(int)");
        assert_eq!(constant_declaration(&types, strings, "argv"), "const char *const argv[2]");
        assert_eq!(type_name(&types, to_array), "const char *(*)[2]");
    }
}
