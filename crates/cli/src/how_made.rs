//! How the results of a run were made, as the report says it.

use std::path::Path;

use branchwise_generate::{Settings, Undefined};
use branchwise_results::{Budget, ConfigFile, Options, Run, Source};
use branchwise_tools::{LARGEST_TEXT, read_limited};

use crate::arguments::GenerateArguments;
use crate::config::Config;
use crate::schedule::GeneratedFile;

/// Returns the versions and options of a run whose files are not read yet.
pub fn before(arguments: &GenerateArguments, config: &Config, config_path: Option<&Path>, settings: &Settings) -> Run {
    let wanted = &settings.wanted;
    let options = Options {
        criteria: settings.criteria.iter().map(|criterion| criterion.name().to_owned()).collect(),
        scope: settings.scope.name().to_owned(),
        strategy: settings.strategy.name().to_owned(),
        aim: settings.aim.name().to_owned(),
        findings: settings.findings.name().to_owned(),
        forbid_undefined: settings.undefined == Undefined::Forbid,
        seed: settings.seed,
        budget: settings.steps.map_or(Budget::Time(settings.time.as_secs_f64()), Budget::Steps),
        memory_megabytes: settings.memory_megabytes,
        k: settings.k,
        data_dependence: settings.data_dependence,
        attack: arguments.attack,
        measure: settings.measure,
        set_statics: arguments.set_statics,
        assume: settings.accepted.keys(),
        functions: arguments.functions.clone(),
        goals: wanted.places.iter().map(ToString::to_string).collect(),
        paths: wanted.paths.clone(),
        instances: arguments.instances.clone(),
        allow_calls: config.allowed_calls().into_iter().collect(),
        external_solver: settings.external_solver.as_ref().map(|solver| solver.name().to_owned()),
        config: config_path.map(config_file),
    };
    Run { branchwise: env!("CARGO_PKG_VERSION").to_owned(), compiler: String::new(), options, sources: Vec::new() }
}

/// A file that cannot be read any more was read a moment ago; its hash stays empty.
fn config_file(path: &Path) -> ConfigFile {
    let sha256 = read_limited(path, LARGEST_TEXT).map(|text| branchwise_results::sha256(&text)).unwrap_or_default();
    ConfigFile { path: path.display().to_string(), sha256 }
}

/// Adds the compiler and the sources, as they were when they were read.
pub fn with_sources(run: &Run, files: &[GeneratedFile]) -> Run {
    let compiler = files.first().map(|file| file.report.replay.compiler.clone());
    Run { compiler: compiler.unwrap_or_default(), sources: files.iter().map(source).collect(), ..run.clone() }
}

fn source(file: &GeneratedFile) -> Source {
    Source {
        path: file.source.path.display().to_string(),
        flags: file.source.flags.clone(),
        sha256: file.sha256.clone(),
        fingerprint: file.fingerprint.clone(),
    }
}
