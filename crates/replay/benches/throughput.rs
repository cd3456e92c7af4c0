//! How fast tests run and are measured: `cargo bench -p branchwise-replay`.

#[path = "../tests/it/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use branchwise_program::FunctionId;
use branchwise_replay::{Harness, Layers, Limits, Mode, Sandbox, TestCase};
use support::*;

const FUNCTIONS: usize = 500;
const TESTS: usize = 5000;
const ROUNDS: usize = 100;
/// Tests in a batch of a round.
const PART: usize = 50;

fn main() {
    let (sample, tests, units) = sample();
    let (mut harness, time) = timed(|| sample.try_build(Default::default()).unwrap());
    println!("build, {} functions: {time:?}", FUNCTIONS + 1);
    let (_, time) = timed(|| black_box(harness.run(&tests).unwrap()));
    println!("run, one batch: {:.0} tests/s", TESTS as f64 / time.as_secs_f64());
    let (_, time) = timed(|| run_one_by_one(&mut harness, &tests[..200]));
    println!("run, a batch for each test: {:.0} tests/s", 200.0 / time.as_secs_f64());
    let (_, time) = timed(|| black_box(harness.measure(&tests).unwrap()));
    println!("measure, {TESTS} tests: {time:?}");
    let (_, time) = timed(|| black_box(harness.measure_units(&units).unwrap()));
    println!("measure_units, {FUNCTIONS} suites of 4: {time:?}");
    compare_confinement(&sample, &tests);
}

/// Confined and not, in turns, so that whatever else the machine does hits both.
fn compare_confinement(sample: &Sample, tests: &[TestCase]) {
    let best = Layers::of_this_machine();
    let kinds = [("no", Layers::NONE), ("Linux 6.1's", best.as_on_an_old_kernel()), ("all", best)];
    let build = |layers| {
        let sandbox = Sandbox { mode: Mode::Auto, layers };
        sample.try_build(Limits { sandbox, ..Limits::default() }).unwrap()
    };
    let mut harnesses = kinds.map(|(_, layers)| build(layers));
    let mut times = kinds.map(|_| [Vec::new(), Vec::new()]);
    for _ in 0..ROUNDS {
        for (harness, [many, single]) in harnesses.iter_mut().zip(&mut times) {
            many.push(timed(|| black_box(harness.run(&tests[..PART]).unwrap())).1 / PART as u32);
            single.push(timed(|| run_one_by_one(harness, &tests[..1])).1);
        }
    }
    for ((name, _), [many, single]) in kinds.iter().zip(times) {
        let [many, single] = [median(many), median(single)];
        println!("{name} layers: {many:?} a test in one batch, {single:?} a test in a batch of its own");
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    (work(), begin.elapsed())
}

fn run_one_by_one(harness: &mut Harness, tests: &[TestCase]) {
    for test in tests {
        black_box(harness.run(std::slice::from_ref(test)).unwrap());
    }
}

type Suites = Vec<(FunctionId, Vec<TestCase>)>;

fn sample() -> (Sample, Vec<TestCase>, Suites) {
    let mut code = String::from(
        "int f(int *p, int n) { int s = 0; for (int i = 0; BW(0, i < n); i++) if (BW(1, p[i] > 3)) s++; return s; }\n",
    );
    for i in 0..FUNCTIONS {
        code.push_str(&format!("int g{i}(int a) {{ if (a > {i}) return 1; return a < -{i} && a > -900; }}\n"));
    }
    let (mut sample, types) = Sample::new(&code);
    sample.conditions(2);
    let body = "int *p; int n; __bw_input(&p, 0); __bw_input(&n, 1); int r = f(p, n); __bw_output(&r, 0, sizeof r);";
    let f = sample.function("f", types.int, &[types.int_pointer, types.int], body);
    let eight = || vec![object(types.int, 8, ints(&[1, 2, 3, 4, 5, 6, 7, 8]))];
    let tests = (0..TESTS).map(|i| case(f, vec![pointer(0, 0), int(i as i32 % 8)], eight())).collect();
    let units = (0..FUNCTIONS).map(|i| {
        let g = sample.int_function(&format!("g{i}"), &types);
        (g, [1, 1000, -500, -1000].map(|value| case(g, vec![int(value)], vec![])).to_vec())
    });
    let units = units.collect();
    (sample, tests, units)
}
