//! What the shared library of C++ does beyond the test, by the names of its functions as people write them. None of them has a
//! model, so a path ends at a call; a native run ends there too.

use super::Acts;

/// The beginnings of names, with what those functions have to do with the world.
pub const SCOPES: &[(&str, Acts)] = &[
    ("std::filesystem::", Acts::Acts),
    ("std::thread::_M_start_thread", Acts::Acts),
    ("std::thread::hardware_concurrency", Acts::Reads),
    ("std::chrono::_V2::system_clock::now", Acts::Reads),
    ("std::chrono::_V2::steady_clock::now", Acts::Reads),
    ("std::random_device::", Acts::Reads),
];

/// Parts of those scopes that compute with names alone.
const PURE: [&str; 4] = [
    "std::filesystem::__cxx11::path",
    "std::filesystem::path",
    "std::filesystem::__cxx11::filesystem_error",
    "std::filesystem::filesystem_error",
];

/// What a function of this name has to do with the world.
pub(super) fn acts(name: &str) -> Acts {
    let begins = |scope: &&str| name.starts_with(*scope);
    let scope = SCOPES.iter().find(|(scope, _)| begins(scope));
    scope.filter(|_| !PURE.iter().any(begins)).map_or(Acts::No, |(_, acts)| *acts)
}
