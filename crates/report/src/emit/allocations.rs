//! Allocations that fail as a test says: the file under test calls functions of the tests instead of the C library's.

use std::collections::BTreeSet;

use branchwise_program::map::{FeedOrigin, Map};
use branchwise_replay::TestCase;

use crate::file_report::FileReport;

/// What allocates, each with its definition in the tests.
const FUNCTIONS: [(&str, &str); 9] = [
    ("malloc", MALLOC),
    ("calloc", CALLOC),
    ("realloc", REALLOC),
    ("reallocarray", REALLOCARRAY),
    ("aligned_alloc", ALIGNED_ALLOC),
    ("memalign", MEMALIGN),
    ("posix_memalign", POSIX_MEMALIGN),
    ("strdup", STRDUP),
    ("strndup", STRNDUP),
];

/// Whether an allocation fails in a test.
pub fn fails(map: &Map, case: &TestCase) -> bool {
    let feeds = map.feeds.values().zip(&case.feeds);
    feeds
        .filter(|(feed, _)| feed.origin == FeedOrigin::AllocationFails)
        .any(|(_, values)| values.iter().any(|value| value.bytes.iter().any(|&byte| byte != 0)))
}

/// Whether an allocation fails in any emitted test.
pub fn any_fails(file: &FileReport) -> bool {
    let mut tests = file.report.functions.iter().flat_map(|unit| &unit.tests);
    tests.any(|test| is_emitted(file, &test.case) && fails(file.map, &test.case))
}

/// Other files that the tests are linked with are compiled on their own, and call the C library: a test in which an
/// allocation fails could then be another one.
pub fn is_emitted(file: &FileReport, case: &TestCase) -> bool {
    file.linked.is_empty() || !fails(file.map, case)
}

/// Those that the unit does not define itself.
fn replaced(map: &Map) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let own: BTreeSet<&str> = map.functions.values().map(|function| function.name.as_str()).collect();
    FUNCTIONS.iter().filter(move |(name, _)| !own.contains(name))
}

/// Lines before the file under test, its headers among it, and lines behind it.
pub fn renamings(file: &FileReport) -> (String, String) {
    if !any_fails(file) {
        return (String::new(), String::new());
    }
    let define = |(name, _): &(&str, &str)| format!("#define {name} branchwise_try_{name}\n");
    let forget = |(name, _): &(&str, &str)| format!("\n#undef {name}");
    (replaced(file.map).map(define).collect(), replaced(file.map).map(forget).collect())
}

/// The functions that the file under test calls instead.
pub fn definitions(file: &FileReport) -> String {
    if !any_fails(file) {
        return String::new();
    }
    let defined: String = replaced(file.map).map(|(_, definition)| *definition).collect();
    // The others are made of these.
    let basic = [("malloc", MALLOC), ("realloc", REALLOC)];
    let missing = basic.iter().filter(|(name, _)| !replaced(file.map).any(|(replaced, _)| replaced == name));
    let missing: String = missing.map(|(_, definition)| *definition).collect();
    format!("{FAILURE}{missing}{defined}")
}

const FAILURE: &str = "
/* Allocations of the file under test fail where a test says so, and for more than 256 MiB. */
static struct branchwise_feed branchwise_allocation_fails;
extern int *branchwise_errno(void) __asm__(\"__errno_location\");

static int branchwise_allocation_does_fail(size_t size)
{
    _Bool fails = 1;
    if (size <= (size_t)256 << 20)
        branchwise_take(&branchwise_allocation_fails, &fails, sizeof fails);
    if (fails)
        *branchwise_errno() = 12; /* ENOMEM */
    return fails;
}
";

const MALLOC: &str = "
extern void *branchwise_real_malloc(size_t size) __asm__(\"malloc\");
void *branchwise_try_malloc(size_t size)
{
    return branchwise_allocation_does_fail(size) ? NULL : branchwise_real_malloc(size);
}
";

const CALLOC: &str = "
extern void *branchwise_real_calloc(size_t count, size_t size) __asm__(\"calloc\");
void *branchwise_try_calloc(size_t count, size_t size)
{
    size_t bytes = size && count > (size_t)-1 / size ? (size_t)-1 : count * size;
    return branchwise_allocation_does_fail(bytes) ? NULL : branchwise_real_calloc(count, size);
}
";

const REALLOC: &str = "
extern void *branchwise_real_realloc(void *object, size_t size) __asm__(\"realloc\");
void *branchwise_try_realloc(void *object, size_t size)
{
    if (!(object && !size) && branchwise_allocation_does_fail(size))
        return NULL;
    return branchwise_real_realloc(object, size);
}
";

const REALLOCARRAY: &str = "
void *branchwise_try_reallocarray(void *object, size_t count, size_t size)
{
    return branchwise_try_realloc(object, size && count > (size_t)-1 / size ? (size_t)-1 : count * size);
}
";

const ALIGNED_ALLOC: &str = "
extern void *branchwise_real_aligned_alloc(size_t alignment, size_t size) __asm__(\"aligned_alloc\");
void *branchwise_try_aligned_alloc(size_t alignment, size_t size)
{
    return branchwise_allocation_does_fail(size) ? NULL : branchwise_real_aligned_alloc(alignment, size);
}
";

const MEMALIGN: &str = "
extern void *branchwise_real_memalign(size_t alignment, size_t size) __asm__(\"memalign\");
void *branchwise_try_memalign(size_t alignment, size_t size)
{
    return branchwise_allocation_does_fail(size) ? NULL : branchwise_real_memalign(alignment, size);
}
";

const POSIX_MEMALIGN: &str = "
extern int branchwise_real_posix_memalign(void **to, size_t alignment, size_t size) __asm__(\"posix_memalign\");
int branchwise_try_posix_memalign(void **to, size_t alignment, size_t size)
{
    int fits = alignment && !(alignment & (alignment - 1)) && alignment % sizeof(void *) == 0;
    if (fits && branchwise_allocation_does_fail(size))
        return 12; /* ENOMEM */
    return branchwise_real_posix_memalign(to, alignment, size);
}
";

const STRDUP: &str = "
char *branchwise_try_strdup(const char *text)
{
    size_t size = __builtin_strlen(text) + 1, at;
    char *copy = branchwise_try_malloc(size);
    for (at = 0; copy && at < size; at++)
        copy[at] = text[at];
    return copy;
}
";

const STRNDUP: &str = "
char *branchwise_try_strndup(const char *text, size_t most)
{
    size_t size = 0, at;
    char *copy;
    while (size < most && text[size])
        size++;
    copy = branchwise_try_malloc(size + 1);
    for (at = 0; copy && at < size; at++)
        copy[at] = text[at];
    if (copy)
        copy[size] = 0;
    return copy;
}
";
