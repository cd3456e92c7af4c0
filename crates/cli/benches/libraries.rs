//! Real code nobody here wrote: every function of some well-known libraries of C and C++, 10 s each. `cargo bench -p branchwise-cli
//! --bench libraries` fetches the sources from the Debian archive (checked by their SHA-256), runs the tool on each file and
//! prints the Markdown table of `docs/benchmarks.md`; nothing here is a test. `BRANCHWISE_LIBRARIES=TEXT` takes only
//! files whose name contains the text, `BRANCHWISE_SECONDS=N` gives each function that time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

struct Library {
    name: &'static str,
    archive: &'static str,
    sha256: &'static str,
    /// The folder that the archive unpacks to.
    folder: &'static str,
    /// Those that are given together.
    runs: &'static [&'static [&'static str]],
    flags: &'static [&'static str],
}

const ARCHIVE: &str = "http://deb.debian.org/debian/pool/main/";

const LIBRARIES: [Library; 9] = [
    Library {
        name: "cJSON 1.7.15",
        archive: "c/cjson/cjson_1.7.15.orig.tar.gz",
        sha256: "5308fd4bd90cef7aa060558514de6a1a4a0819974a26e6ed13973c5f624c24b2",
        folder: "cJSON-1.7.15",
        runs: &[&["cJSON.c"]],
        flags: &[],
    },
    Library {
        name: "http-parser 2.9.4",
        archive: "h/http-parser/http-parser_2.9.4.orig.tar.gz",
        sha256: "467b9e30fd0979ee301065e70f637d525c28193449e1b13fbcb1b1fab3ad224f",
        folder: "http-parser-2.9.4",
        runs: &[&["http_parser.c"]],
        flags: &[],
    },
    Library {
        name: "libcsv 3.0.3",
        archive: "libc/libcsv/libcsv_3.0.3%2bdfsg.orig.tar.gz",
        sha256: "06fddfaca720a4be7603bad63eb1833bca5b6c5a69b42b1c518a02cda2a73aef",
        folder: "libcsv-3.0.3",
        runs: &[&["libcsv.c"]],
        flags: &[],
    },
    Library {
        name: "libb64 1.2",
        archive: "libb/libb64/libb64_1.2.orig.tar.gz",
        sha256: "747f942c6ebfc9edb2b1d4a5f45405acf88e027479476a7bcfc2609411d0f49f",
        folder: "libb64-1.2.orig",
        runs: &[&["src/cdecode.c"], &["src/cencode.c"]],
        flags: &["-Iinclude"],
    },
    Library {
        name: "liblzf 3.6",
        archive: "libl/liblzf/liblzf_3.6.orig.tar.gz",
        sha256: "9c5de01f7b9ccae40c3f619d26a7abec9986c06c36d260c179cedd04b89fb46a",
        folder: "liblzf-3.6",
        runs: &[&["lzf_d.c"]],
        flags: &[],
    },
    Library {
        name: "zlib 1.2.13",
        archive: "z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2",
        sha256: "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1",
        folder: "zlib-1.2.13.dfsg",
        runs: &[
            &["uncompr.c", "inflate.c", "inftrees.c", "inffast.c", "adler32.c", "crc32.c", "zutil.c"],
            &["deflate.c", "trees.c", "adler32.c", "crc32.c", "zutil.c"],
        ],
        flags: &[],
    },
    Library {
        name: "bzip2 1.0.8",
        archive: "b/bzip2/bzip2_1.0.8.orig.tar.gz",
        sha256: "ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269",
        folder: "bzip2-1.0.8",
        runs: &[&["bzlib.c"], &["huffman.c"]],
        flags: &[],
    },
    Library {
        name: "tinyxml2 9.0.0",
        archive: "t/tinyxml2/tinyxml2_9.0.0%2bdfsg.orig.tar.xz",
        sha256: "96510f47a5db537f70dff3e83dd71fd2180cbba4aa76c589a549467e7f34bc9b",
        folder: "tinyxml2-9.0.0",
        runs: &[&["tinyxml2.cpp"]],
        flags: &[],
    },
    Library {
        name: "jsoncpp 1.9.5",
        archive: "libj/libjsoncpp/libjsoncpp_1.9.5.orig.tar.gz",
        sha256: "f409856e5920c18d0c2fb85276e24ee607d2a09b5e7d5f0a371368903c275da2",
        folder: "jsoncpp-1.9.5",
        runs: &[&["src/lib_json/json_value.cpp", "src/lib_json/json_reader.cpp", "src/lib_json/json_writer.cpp"]],
        flags: &["-Iinclude"],
    },
];

fn main() {
    let wanted = std::env::var("BRANCHWISE_LIBRARIES").unwrap_or_default();
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!(
        "| file | functions | outcomes | covered | infeasible | within bounds | unknown | findings | disagreements | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut reasons = BTreeMap::new();
    for library in &LIBRARIES {
        let is_wanted = |files: &&&[&str]| files.iter().any(|file| file.contains(&wanted));
        let runs: Vec<&[&str]> = library.runs.iter().filter(is_wanted).copied().collect();
        if runs.is_empty() {
            continue;
        }
        let sources = fetch(library, folder.path());
        for files in runs {
            row(library, &sources, files, &mut reasons);
        }
    }
    println!("\n| why unknown | outcomes |\n|---|---|");
    for (reason, count) in reasons {
        println!("| {reason} | {count} |");
    }
}

/// The folder with the library's sources.
fn fetch(library: &Library, folder: &Path) -> PathBuf {
    let archive = folder.join("archive.tar.gz");
    let url = format!("{ARCHIVE}{}", library.archive);
    run(Command::new("curl").args(["-sSLf", "-o"]).arg(&archive).arg(&url));
    let digest = run(Command::new("sha256sum").arg(&archive));
    assert!(digest.starts_with(library.sha256), "{url} has changed: {digest}");
    run(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(folder));
    folder.join(library.folder)
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn row(library: &Library, sources: &Path, files: &[&str], reasons: &mut BTreeMap<String, u64>) {
    let seconds = std::env::var("BRANCHWISE_SECONDS").unwrap_or_else(|_| "10".to_string());
    let out = tempfile::tempdir().expect("a temporary folder");
    let started = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_branchwise"))
        .current_dir(sources)
        .args(["generate", "--json", "--quiet", "--time", &seconds, "--out"])
        .arg(out.path())
        .args(files)
        .arg("--")
        .args(library.flags)
        .output()
        .expect("branchwise runs");
    let elapsed = started.elapsed().as_secs_f64();
    let names: Vec<&str> = files.iter().map(|file| file.rsplit('/').next().unwrap_or(file)).collect();
    let name = format!("{}, {}", library.name, names.join(", "));
    let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
        println!("| {name} | exit {:?}: {} |", output.status.code(), String::from_utf8_lossy(&output.stderr));
        return;
    };
    let functions = report["functions"].as_array().map_or(&[][..], Vec::as_slice);
    let sum = |key: &str| functions.iter().filter_map(|function| function["summary"][key].as_u64()).sum::<u64>();
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {elapsed:.0} |",
        functions.len(),
        sum("goals"),
        sum("covered"),
        sum("infeasible"),
        sum("infeasible_within_bounds"),
        sum("unknown"),
        count(&report["findings"]),
        count(&report["replay"]["disagreements"]),
    );
    for goal in functions.iter().flat_map(|function| function["goals"].as_array().into_iter().flatten()) {
        if goal["verdict"] == "unknown" {
            *reasons.entry(kind_of_reason(&goal["reason"])).or_default() += 1;
        }
    }
}

/// The reason without what differs from place to place.
fn kind_of_reason(reason: &Value) -> String {
    let text = reason["message"].as_str().unwrap_or("?");
    text.split(" at ").next().unwrap_or(text).to_string()
}
