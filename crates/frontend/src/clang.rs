//! A small safe face on libclang: units, cursors, types and places. Nothing here knows what they are read for.

use std::ffi::{CStr, CString};
use std::os::raw::c_char;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, OnceLock};

use branchwise_tools::VERSION;
use clang_sys::*;

use crate::FrontendError;

/// One parsed translation unit; cursors and types borrowed from it live as long as it does.
pub(crate) struct ParsedUnit {
    index: CXIndex,
    unit: CXTranslationUnit,
    cpp: bool,
}

#[derive(Copy, Clone)]
pub(crate) struct Cursor<'u> {
    raw: CXCursor,
    unit: &'u ParsedUnit,
}

#[derive(Copy, Clone)]
pub(crate) struct ClangType<'u> {
    pub raw: CXType,
    unit: &'u ParsedUnit,
}

/// A place as one of libclang's views of a location gives it; `offset` counts bytes from the start of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub file: Option<PathBuf>,
    pub line: u32,
    pub column: u32,
    pub offset: u32,
}

/// libclang keeps the loaded library per thread; every thread that parses calls this first.
pub(crate) fn load_library() -> Result<(), FrontendError> {
    static LIBRARY: OnceLock<Result<Arc<SharedLibrary>, String>> = OnceLock::new();
    let missing = |cause: String| FrontendError::ToolMissing { tool: "libclang".into(), cause };
    let library = LIBRARY.get_or_init(load_once).as_ref().map_err(|cause| missing(cause.clone()))?;
    set_library(Some(library.clone()));
    let version = text(unsafe { clang_getClangVersion() });
    match version.contains(&format!("version {VERSION}.")) {
        true => Ok(()),
        false => Err(missing(format!("found {version}, need version {VERSION}"))),
    }
}

/// clang-sys searches by itself and may find another version; the folder of the right one is tried first.
fn load_once() -> Result<Arc<SharedLibrary>, String> {
    let folder = format!("/usr/lib/llvm-{VERSION}/lib");
    let library = format!("{folder}/libclang-{VERSION}.so.1");
    if std::env::var_os("LIBCLANG_PATH").is_none() && Path::new(&library).exists() {
        // SAFETY: runs once, before any other use of libclang, and no other part of the program writes the environment.
        unsafe { std::env::set_var("LIBCLANG_PATH", library) };
    }
    load_manually().map(Arc::new)
}

fn text(raw: CXString) -> String {
    // SAFETY: the string is owned by us and disposed of exactly once, after it was copied.
    unsafe {
        let pointer = clang_getCString(raw);
        let copy =
            if pointer.is_null() { String::new() } else { CStr::from_ptr(pointer).to_string_lossy().into_owned() };
        clang_disposeString(raw);
        copy
    }
}

impl ParsedUnit {
    /// Parses a file, or `contents` under its name. Errors of the user's code come back as clang's messages.
    pub fn parse(path: &Path, contents: Option<&str>, arguments: &[String]) -> Result<ParsedUnit, FrontendError> {
        let failed = |cause: String| FrontendError::ToolFailed { tool: "libclang".into(), cause };
        let c_string = |value: &str| CString::new(value).map_err(|_| failed(format!("NUL byte in argument {value:?}")));
        let name = c_string(&path.to_string_lossy())?;
        let arguments = arguments.iter().map(|a| c_string(a)).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<*const c_char> = arguments.iter().map(|a| a.as_ptr()).collect();
        let mut unsaved: Vec<CXUnsavedFile> = contents
            .iter()
            .map(|contents| CXUnsavedFile {
                Filename: name.as_ptr(),
                Contents: contents.as_ptr().cast(),
                Length: contents.len() as _,
            })
            .collect();
        let index = unsafe { clang_createIndex(0, 0) };
        let mut unit = ptr::null_mut();
        // SAFETY: every pointer outlives the call; libclang copies what it keeps.
        let code = unsafe {
            clang_parseTranslationUnit2(
                index,
                name.as_ptr(),
                pointers.as_ptr(),
                pointers.len() as i32,
                unsaved.as_mut_ptr(),
                unsaved.len() as u32,
                CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing,
                &mut unit,
            )
        };
        if code == CXError_Crashed {
            // What is left of the unit cannot be used, not even to be freed.
            return Err(FrontendError::Crashed { path: path.to_owned(), how: "its parser ended".to_owned() });
        }
        if code != CXError_Success || unit.is_null() {
            unsafe { clang_disposeIndex(index) };
            return Err(failed(format!("parsing {} ended with code {code}", path.display())));
        }
        let cpp = arguments.iter().any(|argument| argument.to_bytes().starts_with(b"c++"));
        let parsed = ParsedUnit { index, unit, cpp };
        match parsed.errors() {
            messages if messages.is_empty() => Ok(parsed),
            messages => Err(FrontendError::DoesNotCompile { path: path.to_owned(), messages }),
        }
    }

    /// The messages of severity error and above, as clang prints them.
    fn errors(&self) -> String {
        let mut messages = String::new();
        unsafe {
            for number in 0..clang_getNumDiagnostics(self.unit) {
                let diagnostic = clang_getDiagnostic(self.unit, number);
                if clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error {
                    messages += &text(clang_formatDiagnostic(diagnostic, clang_defaultDiagnosticDisplayOptions()));
                    messages.push('\n');
                    messages += &requests(diagnostic);
                }
                clang_disposeDiagnostic(diagnostic);
            }
        }
        messages
    }

    pub fn root(&self) -> Cursor<'_> {
        Cursor { raw: unsafe { clang_getTranslationUnitCursor(self.unit) }, unit: self }
    }
}

impl Drop for ParsedUnit {
    fn drop(&mut self) {
        unsafe {
            clang_disposeTranslationUnit(self.unit);
            clang_disposeIndex(self.index);
        }
    }
}

extern "C" fn push_child(cursor: CXCursor, _parent: CXCursor, data: CXClientData) -> CXChildVisitResult {
    // SAFETY: `data` is the vector that `children` passes in, alive during the visit.
    unsafe { (*data.cast::<Vec<CXCursor>>()).push(cursor) };
    CXChildVisit_Continue
}

extern "C" fn push_field(cursor: CXCursor, data: CXClientData) -> CXVisitorResult {
    // SAFETY: as in `push_child`.
    unsafe { (*data.cast::<Vec<CXCursor>>()).push(cursor) };
    CXVisit_Continue
}

impl<'u> Cursor<'u> {
    fn with(self, raw: CXCursor) -> Cursor<'u> {
        Cursor { raw, unit: self.unit }
    }

    fn present(self, raw: CXCursor) -> Option<Cursor<'u>> {
        (unsafe { clang_Cursor_isNull(raw) } == 0).then(|| self.with(raw))
    }

    fn typed(self, raw: CXType) -> ClangType<'u> {
        ClangType { raw, unit: self.unit }
    }

    pub fn kind(self) -> CXCursorKind {
        self.raw.kind
    }

    pub fn children(self) -> Vec<Cursor<'u>> {
        let mut raw: Vec<CXCursor> = Vec::new();
        unsafe { clang_visitChildren(self.raw, push_child, (&raw mut raw).cast()) };
        raw.into_iter().map(|child| self.with(child)).collect()
    }

    pub fn spelling(self) -> String {
        text(unsafe { clang_getCursorSpelling(self.raw) })
    }

    pub fn clang_type(self) -> ClangType<'u> {
        self.typed(unsafe { clang_getCursorType(self.raw) })
    }

    pub fn result_type(self) -> ClangType<'u> {
        self.typed(unsafe { clang_getCursorResultType(self.raw) })
    }

    pub fn referenced(self) -> Option<Cursor<'u>> {
        self.present(unsafe { clang_getCursorReferenced(self.raw) })
    }

    pub fn definition(self) -> Option<Cursor<'u>> {
        self.present(unsafe { clang_getCursorDefinition(self.raw) })
    }

    pub fn canonical(self) -> Cursor<'u> {
        self.with(unsafe { clang_getCanonicalCursor(self.raw) })
    }

    /// The class or namespace that it belongs to.
    pub fn semantic_parent(self) -> Option<Cursor<'u>> {
        self.present(unsafe { clang_getCursorSemanticParent(self.raw) })
    }

    /// Where it is written: a class for a friend that is defined in it.
    pub fn lexical_parent(self) -> Option<Cursor<'u>> {
        self.present(unsafe { clang_getCursorLexicalParent(self.raw) })
    }

    pub fn is_cpp(self) -> bool {
        self.unit.cpp
    }

    /// Its name in the object code is its name.
    pub fn is_extern_c(self) -> bool {
        self.mangled() == self.spelling()
    }

    pub fn is_const_method(self) -> bool {
        unsafe { clang_CXXMethod_isConst(self.raw) != 0 }
    }

    pub fn is_static_method(self) -> bool {
        unsafe { clang_CXXMethod_isStatic(self.raw) != 0 }
    }

    pub fn is_virtual_method(self) -> bool {
        unsafe { clang_CXXMethod_isVirtual(self.raw) != 0 }
    }

    pub fn is_pure_virtual(self) -> bool {
        unsafe { clang_CXXMethod_isPureVirtual(self.raw) != 0 }
    }

    /// Of the mention of a base class.
    pub fn is_virtual_base(self) -> bool {
        unsafe { clang_isVirtualBase(self.raw) != 0 }
    }

    pub fn is_private(self) -> bool {
        unsafe { clang_getCXXAccessSpecifier(self.raw) == CX_CXXPrivate }
    }

    pub fn is_abstract_record(self) -> bool {
        unsafe { clang_CXXRecord_isAbstract(self.raw) != 0 }
    }

    pub fn is_deleted(self) -> bool {
        unsafe { clang_CXXMethod_isDeleted(self.raw) != 0 }
    }

    /// Of a method: `= default`, or made by the compiler.
    pub fn is_defaulted(self) -> bool {
        unsafe { clang_CXXMethod_isDefaulted(self.raw) != 0 }
    }

    pub fn is_copy(self) -> bool {
        unsafe { clang_CXXConstructor_isCopyConstructor(self.raw) != 0 }
    }

    pub fn is_copy_or_move(self) -> bool {
        self.is_copy() || unsafe { clang_CXXConstructor_isMoveConstructor(self.raw) != 0 }
    }

    /// `operator=` whose parameter is an rvalue reference.
    pub fn is_move_assignment(self) -> bool {
        let of = self.arguments().first().map(|parameter| parameter.clang_type().canonical().kind());
        self.spelling() == "operator=" && of == Some(CXType_RValueReference)
    }

    /// Declared `[[nodiscard]]`.
    pub fn must_be_used(self) -> bool {
        self.children().iter().any(|child| child.kind() == CXCursor_WarnUnusedResultAttr)
    }

    pub fn is_public(self) -> bool {
        unsafe { clang_getCXXAccessSpecifier(self.raw) == CX_CXXPublic }
    }

    /// What this is an instance of.
    pub fn template(self) -> Option<Cursor<'u>> {
        self.present(unsafe { clang_getSpecializedCursorTemplate(self.raw) })
    }

    /// The methods of base classes that this one redefines, directly.
    pub fn overridden(self) -> Vec<Cursor<'u>> {
        let (mut first, mut count) = (ptr::null_mut(), 0);
        // SAFETY: libclang fills in an array of this length, which is copied and then handed back.
        unsafe {
            clang_getOverriddenCursors(self.raw, &mut first, &mut count);
            let raw: Vec<CXCursor> = (0..count as usize).map(|index| *first.add(index)).collect();
            clang_disposeOverriddenCursors(first);
            raw.into_iter().map(|cursor| self.with(cursor)).collect()
        }
    }

    pub fn is_definition(self) -> bool {
        unsafe { clang_isCursorDefinition(self.raw) != 0 }
    }

    pub fn is_expression(self) -> bool {
        unsafe { clang_isExpression(self.raw.kind) != 0 }
    }

    pub fn is_statement(self) -> bool {
        unsafe { clang_isStatement(self.raw.kind) != 0 }
    }

    pub fn is_variadic(self) -> bool {
        unsafe { clang_Cursor_isVariadic(self.raw) != 0 }
    }

    pub fn is_inline(self) -> bool {
        unsafe { clang_Cursor_isFunctionInlined(self.raw) != 0 }
    }

    pub fn storage_class(self) -> CX_StorageClass {
        unsafe { clang_Cursor_getStorageClass(self.raw) }
    }

    pub fn has_internal_linkage(self) -> bool {
        unsafe { clang_getCursorLinkage(self.raw) == CXLinkage_Internal }
    }

    pub fn is_thread_local(self) -> bool {
        unsafe { clang_getCursorTLSKind(self.raw) != CXTLS_None }
    }

    pub fn mangled(self) -> String {
        text(unsafe { clang_Cursor_getMangling(self.raw) })
    }

    pub fn is_anonymous(self) -> bool {
        unsafe { clang_Cursor_isAnonymous(self.raw) != 0 }
    }

    pub fn arguments(self) -> Vec<Cursor<'u>> {
        let count = unsafe { clang_Cursor_getNumArguments(self.raw) }.max(0);
        (0..count).map(|i| self.with(unsafe { clang_Cursor_getArgument(self.raw, i as u32) })).collect()
    }

    pub fn binary_operator(self) -> CXBinaryOperatorKind {
        unsafe { clang_getCursorBinaryOperatorKind(self.raw) }
    }

    pub fn unary_operator(self) -> CXUnaryOperatorKind {
        unsafe { clang_getCursorUnaryOperatorKind(self.raw) }
    }

    pub fn initializer(self) -> Option<Cursor<'u>> {
        self.present(unsafe { clang_Cursor_getVarDeclInitializer(self.raw) })
    }

    pub fn enum_value(self, signed: bool) -> i128 {
        match signed {
            true => i128::from(unsafe { clang_getEnumConstantDeclValue(self.raw) }),
            false => i128::from(unsafe { clang_getEnumConstantDeclUnsignedValue(self.raw) }),
        }
    }

    pub fn enum_integer_type(self) -> ClangType<'u> {
        self.typed(unsafe { clang_getEnumDeclIntegerType(self.raw) })
    }

    pub fn bit_width(self) -> Option<u32> {
        u32::try_from(unsafe { clang_getFieldDeclBitWidth(self.raw) }).ok()
    }

    pub fn field_offset(self) -> Option<u64> {
        u64::try_from(unsafe { clang_Cursor_getOffsetOfField(self.raw) }).ok()
    }

    pub fn is_assembly(self) -> bool {
        [CXCursor_AsmStmt, CXCursor_MSAsmStmt].contains(&self.kind())
    }

    /// The value of an integer constant expression; `None` for anything else.
    pub fn evaluate(self) -> Option<i128> {
        unsafe {
            let result = clang_Cursor_Evaluate(self.raw);
            if result.is_null() {
                return None;
            }
            let unsigned = clang_EvalResult_isUnsignedInt(result) != 0;
            let value = match clang_EvalResult_getKind(result) == CXEval_Int {
                true if unsigned => Some(i128::from(clang_EvalResult_getAsUnsigned(result))),
                true => Some(i128::from(clang_EvalResult_getAsLongLong(result))),
                false => None,
            };
            clang_EvalResult_dispose(result);
            value
        }
    }

    pub fn in_system_header(self) -> bool {
        unsafe { clang_Location_isInSystemHeader(clang_getCursorLocation(self.raw)) != 0 }
    }

    pub fn start(self) -> CXSourceLocation {
        unsafe { clang_getRangeStart(clang_getCursorExtent(self.raw)) }
    }

    /// One past the last byte.
    pub fn end(self) -> CXSourceLocation {
        unsafe { clang_getRangeEnd(clang_getCursorExtent(self.raw)) }
    }

    pub fn location(self) -> CXSourceLocation {
        unsafe { clang_getCursorLocation(self.raw) }
    }

    pub fn same_as(self, other: Cursor<'_>) -> bool {
        unsafe { clang_equalCursors(self.raw, other.raw) != 0 }
    }

    /// A key for declarations, the same for every redeclaration.
    pub fn usr(self) -> String {
        text(unsafe { clang_getCursorUSR(self.canonical().raw) })
    }
}

type LocationFunction = unsafe fn(
    CXSourceLocation,
    *mut CXFile,
    *mut std::os::raw::c_uint,
    *mut std::os::raw::c_uint,
    *mut std::os::raw::c_uint,
);

fn resolve(location: CXSourceLocation, function: LocationFunction, named: bool) -> Location {
    let (mut file, mut line, mut column, mut offset) = (ptr::null_mut(), 0, 0, 0);
    unsafe { function(location, &mut file, &mut line, &mut column, &mut offset) };
    let path = (named && !file.is_null()).then(|| PathBuf::from(text(unsafe { clang_getFileName(file) })));
    Location { file: path, line, column, offset }
}

/// Where the text stands in a file: a macro's argument where it is written, anything else of a macro where it is used.
pub(crate) fn file_location(location: CXSourceLocation) -> Location {
    resolve(location, clang_getFileLocation, true)
}

/// The byte offset in the file, for text without macros.
pub(crate) fn file_offset(location: CXSourceLocation) -> u32 {
    resolve(location, clang_getFileLocation, false).offset
}

pub(crate) fn spelling_location(location: CXSourceLocation) -> Location {
    resolve(location, clang_getSpellingLocation, true)
}

/// Whether the text comes out of a macro, as body or as argument.
pub(crate) fn in_macro(location: CXSourceLocation) -> bool {
    let expansion = resolve(location, clang_getExpansionLocation, false);
    expansion != resolve(location, clang_getSpellingLocation, false)
}

/// The place that the line markers of preprocessed text give; its column is the column in that text.
pub(crate) fn presumed_location(location: CXSourceLocation) -> (PathBuf, u32, u32) {
    unsafe {
        let mut name = std::mem::zeroed();
        let (mut line, mut column) = (0, 0);
        clang_getPresumedLocation(location, &mut name, &mut line, &mut column);
        (PathBuf::from(text(name)), line, column)
    }
}

impl<'u> ClangType<'u> {
    fn with(self, raw: CXType) -> ClangType<'u> {
        ClangType { raw, unit: self.unit }
    }

    pub fn kind(self) -> CXTypeKind {
        self.raw.kind
    }

    pub fn spelling(self) -> String {
        text(unsafe { clang_getTypeSpelling(self.raw) })
    }

    pub fn canonical(self) -> ClangType<'u> {
        self.with(unsafe { clang_getCanonicalType(self.raw) })
    }

    pub fn unqualified(self) -> ClangType<'u> {
        self.with(unsafe { clang_getUnqualifiedType(self.raw) })
    }

    pub fn pointee(self) -> ClangType<'u> {
        self.with(unsafe { clang_getPointeeType(self.raw) })
    }

    /// The result of a function type.
    pub fn function_result(self) -> ClangType<'u> {
        self.with(unsafe { clang_getResultType(self.raw) })
    }

    /// The parameters of a function type, after adjustment.
    pub fn function_parameters(self) -> Vec<ClangType<'u>> {
        let count = unsafe { clang_getNumArgTypes(self.raw) }.max(0);
        (0..count).map(|index| self.with(unsafe { clang_getArgType(self.raw, index as u32) })).collect()
    }

    pub fn is_variadic_function(self) -> bool {
        unsafe { clang_isFunctionTypeVariadic(self.raw) != 0 }
    }

    pub fn element(self) -> ClangType<'u> {
        self.with(unsafe { clang_getArrayElementType(self.raw) })
    }

    pub fn array_count(self) -> Option<u64> {
        u64::try_from(unsafe { clang_getArraySize(self.raw) }).ok()
    }

    pub fn is_restrict(self) -> bool {
        unsafe { clang_isRestrictQualifiedType(self.raw) != 0 }
    }

    pub fn is_const(self) -> bool {
        unsafe { clang_isConstQualifiedType(self.raw) != 0 }
    }

    /// Bytes; `None` for incomplete types.
    pub fn size(self) -> Option<u64> {
        u64::try_from(unsafe { clang_Type_getSizeOf(self.raw) }).ok()
    }

    pub fn alignment(self) -> Option<u64> {
        u64::try_from(unsafe { clang_Type_getAlignOf(self.raw) }).ok()
    }

    pub fn declaration(self) -> Cursor<'u> {
        Cursor { raw: unsafe { clang_getTypeDeclaration(self.raw) }, unit: self.unit }
    }

    /// The types among the arguments of a template's instance.
    pub fn template_arguments(self) -> Vec<ClangType<'u>> {
        let count = unsafe { clang_Type_getNumTemplateArguments(self.raw) }.max(0);
        let argument = |index| self.with(unsafe { clang_Type_getTemplateArgumentAsType(self.raw, index as u32) });
        (0..count).map(argument).filter(|argument| argument.kind() != CXType_Invalid).collect()
    }

    /// A type that C could have: no constructors, no virtual functions.
    pub fn is_pod(self) -> bool {
        unsafe { clang_isPODType(self.raw) != 0 }
    }

    pub fn fields(self) -> Vec<Cursor<'u>> {
        let mut raw: Vec<CXCursor> = Vec::new();
        unsafe { clang_Type_visitFields(self.raw, push_field, (&raw mut raw).cast()) };
        raw.into_iter().map(|field| Cursor { raw: field, unit: self.unit }).collect()
    }
}

pub(crate) fn expansion_location(location: CXSourceLocation) -> Location {
    resolve(location, clang_getExpansionLocation, true)
}

/// The notes of a diagnostic that say which code asked for what is wrong: an instance of a template.
///
/// SAFETY: the diagnostic is alive.
unsafe fn requests(diagnostic: CXDiagnostic) -> String {
    let mut notes = String::new();
    unsafe {
        let children = clang_getChildDiagnostics(diagnostic);
        for number in 0..clang_getNumDiagnosticsInSet(children) {
            let child = clang_getDiagnosticInSet(children, number);
            let note = text(clang_formatDiagnostic(child, clang_defaultDiagnosticDisplayOptions()));
            if note.ends_with("requested here") {
                notes += &note;
                notes.push('\n');
            }
            clang_disposeDiagnostic(child);
        }
    }
    notes
}
