//! Prints the register code of bitcode files, and on standard error how much of it there is:
//! `cargo run -p branchwise-frontend --example lower -- [--count] [--verify] FILE.bc…`
//! (`--verify` is for code without markers, as there is no map here)

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use branchwise_frontend::lower::lower_bitcode;
use branchwise_program::code::{Code, Instruction};
use branchwise_program::map::Map;
use branchwise_program::{Program, verify};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count_only = arguments.iter().any(|argument| argument == "--count");
    let verified = arguments.iter().any(|argument| argument == "--verify");
    for path in arguments.iter().filter(|argument| !argument.starts_with("--")) {
        let start = Instant::now();
        match lower_bitcode(Path::new(path)) {
            Ok(code) => {
                eprintln!("{path}: {} in {:.3} s", summary(&code), start.elapsed().as_secs_f64());
                if !count_only {
                    print!("{code:#}");
                }
                if verified && let Err(error) = verify(&Program { map: Map::default(), code }) {
                    eprintln!("{path}: {error}");
                }
            }
            Err(error) => eprintln!("{error}"),
        }
    }
}

fn summary(code: &Code) -> String {
    let blocks: Vec<_> = code.functions.values().flat_map(|function| function.blocks.values()).collect();
    let instructions: usize = blocks.iter().map(|block| block.instructions.len()).sum();
    let mut unsupported: BTreeMap<&str, usize> = BTreeMap::new();
    for instruction in blocks.iter().flat_map(|block| &block.instructions) {
        if let Instruction::Unsupported { what } = instruction {
            *unsupported.entry(what).or_default() += 1;
        }
    }
    format!(
        "{} functions, {} globals, {} blocks, {instructions} instructions, unsupported {unsupported:?}",
        code.functions.len(),
        code.globals.len(),
        blocks.len()
    )
}
