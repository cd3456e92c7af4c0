//! Flags that nobody should take from a stranger: those that load code into the compiler or write to other places.
//!
//! Flags come from `compile_commands.json` and from stored suites, which their user may not have read. Confinement keeps
//! what they do inside; this names them.

use std::fmt;

/// The harm that a flag can do.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Harm {
    /// Without the flag the file may mean something else, so it cannot be read at all.
    LoadsCode,
    /// The file means the same without the flag.
    WritesElsewhere,
}

impl Harm {
    /// Returns the rest of a sentence about a flag.
    pub fn words(self) -> &'static str {
        match self {
            Harm::LoadsCode => "it loads code into the compiler, or makes it run other programs or read other flags",
            Harm::WritesElsewhere => "it writes files",
        }
    }
}

/// A flag that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedFlag {
    /// With its value.
    pub flag: String,
    pub harm: Harm,
}

impl fmt::Display for RefusedFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the flag '{}' is refused: {}", self.flag, self.harm.words())
    }
}

/// Flags, without those that are refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckedFlags {
    pub kept: Vec<String>,
    pub refused: Vec<RefusedFlag>,
}

impl CheckedFlags {
    /// Returns the flag for which the file cannot be read.
    pub fn obstacle(&self) -> Option<&RefusedFlag> {
        self.refused.iter().find(|refused| refused.harm == Harm::LoadsCode)
    }
}

/// Sorts out the flags that load code or write elsewhere.
pub fn check_flags(flags: &[String]) -> CheckedFlags {
    let mut checked = CheckedFlags::default();
    let mut rest = flags.iter().peekable();
    while let Some(flag) = rest.next() {
        let value = if takes_value(flag) { rest.next() } else { None };
        match harm(flag, value.map(String::as_str)) {
            Some(harm) => {
                let flag = std::iter::once(flag).chain(value).map(String::as_str).collect::<Vec<_>>().join(" ");
                checked.refused.push(RefusedFlag { flag, harm });
            }
            None => checked.kept.extend(std::iter::once(flag).chain(value).cloned()),
        }
    }
    checked
}

/// Flags whose value is the next word, as far as that matters here: a word that looks like a flag may be a value, and the
/// other way round.
const WITH_VALUE: &[&str] = &[
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xanalyzer",
    "-mllvm",
    "-B",
    "-I",
    "-D",
    "-U",
    "-L",
    "-F",
    "-l",
    "-T",
    "-u",
    "-z",
    "-x",
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-A",
    "-arch",
    "-target",
    "-include",
    "-imacros",
    "-include-pch",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "--sysroot",
    "-iframework",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-wrapper",
    "--config",
    "-specs",
    "--specs",
    "-resource-dir",
    "-ivfsoverlay",
    "-vfsoverlay",
    "--serialize-diagnostics",
    "-serialize-diagnostics",
    "-index-store-path",
    "-dumpdir",
    "-dumpbase",
    "-dumpbase-ext",
    "-gen-cdb-fragment-path",
    "-ccc-gcc-name",
    "-ccc-install-dir",
    "-gcc-toolchain",
    "-dependency-file",
    "-load",
    "-plugin",
    "-add-plugin",
    "--param",
    "--prefix",
    "--output",
    "--for-linker",
    "--for-assembler",
];

fn takes_value(flag: &str) -> bool {
    WITH_VALUE.contains(&flag)
}

/// Beginnings of flags that load code, name programs, or name files with further flags.
const LOADING: &[&str] = &[
    "-fplugin",
    "-fpass-plugin",
    "-load",
    "-plugin",
    "-add-plugin",
    "--prefix",
    "-fuse-ld",
    "--ld-path",
    "-wrapper",
    "-specs",
    "--specs",
    "--config",
    "-ccc-",
    "-gcc-toolchain",
    "--gcc-toolchain",
    "--gcc-install-dir",
    "-resource-dir",
    "-no-integrated-as",
    "-fno-integrated-as",
    "-include-pch",
    "-fmodule-file",
    "-fprebuilt-module-path",
    "-ivfsoverlay",
    "-vfsoverlay",
    "-cc1",
    "--driver-mode",
    "--cuda-path",
    "--rocm-path",
    "--hip-path",
    "--ptxas-path",
    "--dxv-path",
    "--hipspv-pass-plugin",
    "@",
];

/// Beginnings of flags that write to files of their own choice.
const WRITING: &[&str] = &[
    "-save-stats",
    "--save-stats",
    "-save-temps",
    "--save-temps",
    "-ftime-trace",
    "-fdump-",
    "-dumpdir",
    "-dumpbase",
    "-fcrash-diagnostics-dir",
    "-gen-cdb-fragment-path",
    "--serialize-diagnostics",
    "-serialize-diagnostics",
    "-fdiagnostics-add-output",
    "-fdiagnostics-set-output",
    "-foptimization-record-file",
    "-fsave-optimization-record",
    "-fproc-stat-report",
    "-fcs-profile",
    "-fmemory-profile",
    "-fmodules-cache-path",
    "-fmodules",
    "-fthinlto-index",
    "-fstack-usage",
    "-gsplit-dwarf",
    "-index-store-path",
    "-fsymbol-graph",
    "-emit-symbol-graph",
    "--symbol-graph-dir",
    "-extract-api",
    "-ast-dump",
    "-dependency-",
    "-header-include-file",
    "-stats-file",
    "-diagnostic-log-file",
    "-opt-record-file",
    "-module-dependency-dir",
    "-mrecompile",
    "--analyze",
    "-emit-pch",
    "-emit-pth",
    "-emit-ast",
    "--precompile",
];

/// Words for the linker that are kept; every other one is refused.
const FOR_LINKER: &[&str] = &[
    "-l",
    "-L",
    "-rpath",
    "--rpath",
    "-R",
    "-z",
    "-u",
    "--undefined",
    "--defsym",
    "--wrap",
    "--gc-sections",
    "--no-gc-sections",
    "--as-needed",
    "--no-as-needed",
    "--start-group",
    "--end-group",
    "--whole-archive",
    "--no-whole-archive",
    "--build-id",
    "--hash-style",
    "--export-dynamic",
    "-E",
    "-O",
    "-s",
    "-S",
    "-x",
    "-N",
    "--sort-",
    "--relax",
    "--no-relax",
    "--enable-new-dtags",
    "--disable-new-dtags",
    "-Bsymbolic",
    "-Bstatic",
    "-Bdynamic",
    "--allow-",
    "--no-allow-",
    "--no-undefined",
    "--unresolved-symbols",
    "--warn-",
    "--no-warn-",
    "--fatal-warnings",
    "--no-fatal-warnings",
    "-soname",
    "-h",
    "-no-pie",
    "-pie",
    "--exclude-libs",
    "--demangle",
];

fn harm(flag: &str, value: Option<&str>) -> Option<Harm> {
    let begins = |heads: &[&str], word: &str| heads.iter().any(|head| word.starts_with(head));
    // The compiler looks for names of files with flags in every word.
    let hidden = value.filter(|word| word.starts_with('@') || !for_others(flag) && begins(LOADING, word));
    match flag {
        _ if hidden.is_some() => Some(Harm::LoadsCode),
        "-mllvm" => Some(harm_in_llvm(value.unwrap_or_default())),
        "-B" => Some(Harm::LoadsCode),
        _ if for_others(flag) => value.map_or(Some(Harm::WritesElsewhere), |word| harm_for_others(flag, word)),
        _ if let Some((option, word)) = flag.split_once('=')
            && for_others(option) =>
        {
            harm_for_others(option, word)
        }
        // Others hand words to other programs too, or take the next word for themselves.
        _ if flag.starts_with("-X") && flag.len() > 2 => Some(Harm::LoadsCode),
        _ if let Some(words) = flag.strip_prefix("-Wl,") => words.split(',').find_map(harm_in_linker),
        _ if let Some(words) = flag.strip_prefix("-Wp,") => words.split(',').find_map(|word| harm(word, None)),
        _ if let Some(words) = flag.strip_prefix("-mllvm=") => Some(harm_in_llvm(words)),
        _ if flag.starts_with("-Wa,") => Some(Harm::WritesElsewhere),
        _ if flag.starts_with("-B") || begins(LOADING, flag) || names_arch_tool(flag) => Some(Harm::LoadsCode),
        _ if begins(WRITING, flag) => Some(Harm::WritesElsewhere),
        _ => None,
    }
}

/// Whether a flag hands a word, the next or one behind `=`, to a program behind the driver.
fn for_others(option: &str) -> bool {
    let options =
        ["-Xclang", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xanalyzer", "--for-linker", "--for-assembler"];
    options.contains(&option)
}

fn harm_for_others(option: &str, word: &str) -> Option<Harm> {
    match option {
        "-Xclang" => harm_in_compiler(word),
        "-Xlinker" | "--for-linker" => harm_in_linker(word),
        "-Xpreprocessor" => harm(word, None),
        _ => Some(Harm::WritesElsewhere),
    }
}

/// Whether a flag names a program that says which other processors there are.
fn names_arch_tool(flag: &str) -> bool {
    let option = flag.split('=').next().unwrap_or(flag);
    option.starts_with("--") && option.ends_with("-arch-tool")
}

/// A word for the compiler behind the driver, which has many more flags.
fn harm_in_compiler(word: &str) -> Option<Harm> {
    if word == "-o" || word.starts_with("-emit") { Some(Harm::WritesElsewhere) } else { harm(word, None) }
}

fn harm_in_llvm(option: &str) -> Harm {
    if option.trim_start_matches('-').starts_with("load") { Harm::LoadsCode } else { Harm::WritesElsewhere }
}

/// The values of flags that are kept do not begin with a dash.
fn harm_in_linker(word: &str) -> Option<Harm> {
    let loads = ["-plugin", "--plugin", "-dynamic-linker", "--dynamic-linker", "-I", "@", "-fini", "-init"];
    if loads.iter().any(|head| word.starts_with(head)) {
        Some(Harm::LoadsCode)
    } else if !word.starts_with('-') || FOR_LINKER.iter().any(|head| word.starts_with(head)) {
        None
    } else {
        Some(Harm::WritesElsewhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(flags: &str) -> CheckedFlags {
        check_flags(&flags.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn refused(flags: &str) -> Vec<(String, Harm)> {
        check(flags).refused.into_iter().map(|refused| (refused.flag, refused.harm)).collect()
    }

    #[test]
    fn flags_that_load_code_are_named_with_their_values() {
        for flag in [
            "-fplugin=./evil.so",
            "-fpass-plugin=evil.so",
            "-fplugin-arg-evil-x",
            "-Xclang -load",
            "-Xclang -fplugin=evil.so",
            "-Xclang -add-plugin",
            "-B /tmp/bin",
            "-B/tmp/bin",
            "--prefix=/tmp/bin",
            "-wrapper /tmp/x",
            "-fuse-ld=/tmp/ld",
            "--ld-path=/tmp/ld",
            "-specs=/tmp/x",
            "--config /tmp/x",
            "--config=/tmp/x",
            "-mllvm -load=x.so",
            "--gcc-toolchain=/tmp",
            "-fno-integrated-as",
            "-Wl,-plugin,/tmp/x.so",
            "-Wl,-z,now,-plugin,/tmp/x.so",
            "-Xlinker -plugin",
            "-Wl,@/tmp/flags",
            "@/tmp/flags",
            "-ccc-gcc-name x",
            "-Xclang=-load",
            "-Xclang=-fplugin=evil.so",
            "-Xlinker=-plugin",
            "--for-linker=-plugin",
            "--for-linker -plugin",
            "-Xpreprocessor=-fplugin=evil.so",
            "-Xarch_host",
            "-Xarch_x86_64",
            "-Xoffload-linker",
            "-Xopenmp-target=x86_64",
            "--amdgpu-arch-tool=/tmp/x",
            "--nvptx-arch-tool=/tmp/x",
            "--driver-mode=cl",
            "-D @/tmp/flags",
            "-D -fplugin=x",
        ] {
            assert_eq!(refused(flag), [(flag.to_owned(), Harm::LoadsCode)], "{flag}");
        }
    }

    #[test]
    fn flags_that_write_elsewhere_are_named_with_their_values() {
        for flag in [
            "-Wl,-Map=/tmp/map",
            "-Wl,-Map,/tmp/map",
            "-Wl,-z,now,-Map=x",
            "-Xlinker -Map=/tmp/map",
            "-Wl,-o,/tmp/x",
            "-Wl,--dependency-file=x",
            "-save-stats",
            "-save-stats=obj",
            "--save-stats=cwd",
            "-ftime-trace=/tmp/x",
            "-fcrash-diagnostics-dir=/tmp",
            "--serialize-diagnostics /tmp/x",
            "-fsave-optimization-record",
            "-foptimization-record-file=/tmp/x",
            "-fproc-stat-report=/tmp/x",
            "-Xclang -dependency-file",
            "-Xclang -o",
            "-mllvm -info-output-file=/tmp/x",
            "-Wa,-a=/tmp/x",
            "-fmodules-cache-path=/tmp/x",
            "-dumpdir /tmp/x",
            "-Xclang=-o",
            "-Xlinker=-Map=/tmp/map",
            "-Xassembler=-a=/tmp/x",
            "-Xassembler -a=/tmp/x",
            "--save-temps",
        ] {
            assert_eq!(refused(flag), [(flag.to_owned(), Harm::WritesElsewhere)], "{flag}");
        }
    }

    #[test]
    fn usual_flags_are_kept() {
        let usual = "-Iinc -I inc -DX=-fplugin=x -std=c99 -Wall -Wextra -m32 -fno-strict-aliasing -pthread \
                     -include config.h -isystem /usr/include/x --sysroot=/opt/x --target=arm-none-eabi -lm -L/opt/lib \
                     -Wl,-rpath,/opt/lib -Wl,--gc-sections -Wl,-z,relro -fsanitize=address -march=native -ffunction-sections \
                     -fbracket-depth=1000 -fno-access-control -Wp,-DX=1 -Xclang -fno-pch-timestamp -Xclang=-fno-pch-timestamp -Xlinker -Bsymbolic -g -O2";
        let usual = usual.split_whitespace().collect::<Vec<_>>().join(" ");
        let checked = check(&usual);
        assert_eq!(checked.refused, []);
        assert_eq!(checked.kept.join(" "), usual);
    }
}
