//! Prints the map and the marked text of a C file: `cargo run --example map -- FILE [FLAGS]`.

use std::path::PathBuf;

use branchwise_frontend::{Source, Toolchain, analyse};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().unwrap_or_default());
    let flags: Vec<String> = arguments.collect();
    let unit = Toolchain::find().and_then(|toolchain| analyse(&toolchain, &Source { path: &path, flags: &flags }));
    match unit {
        Ok(unit) => println!("{:#?}\n{}\n----\n{}", unit.map, unit.marked, unit.plain),
        Err(error) => eprintln!("{error}\nHint: {:?}", error.hint()),
    }
}
