//! The text form, the normal forms worth relying on, and very deep terms.

use branchwise_constraints::{BinaryOp, CompareOp, Model, Solver, SolverSettings, TermId, Terms, evaluate};
use expect_test::{Expect, expect};

fn check(build: impl FnOnce(&mut Terms, TermId, TermId) -> TermId, expected: Expect) {
    let mut terms = Terms::new();
    let (i, j) = (terms.variable("i", 32), terms.variable("j", 32));
    let term = build(&mut terms, i, j);
    expected.assert_eq(&terms.display(term).to_string());
}

#[test]
fn infix_text() {
    check(
        |t, i, j| {
            let sum = t.add(i, j);
            t.signed_less_or_equal(sum, i)
        },
        expect!["(i + j) <=s i"],
    );
    check(
        |t, i, j| {
            let p = t.mul(i, j);
            t.binary(BinaryOp::UDiv, p, i)
        },
        expect!["(i * j) /u i"],
    );
    check(
        |t, i, j| {
            let c = t.signed_less(i, j);
            t.if_then_else(c, i, j)
        },
        expect!["ite(i <s j, i, j)"],
    );
    check(|t, i, _| t.neg(i), expect!["-i"]);
    check(
        |t, i, _| {
            let low = t.truncate(i, 8);
            t.sign_extend(low, 32)
        },
        expect!["sext32(i[7:0])"],
    );
    check(
        |t, i, _| {
            let c = t.constant(0xdead_beef, 32);
            t.xor(i, c)
        },
        expect!["i ^ 0xdeadbeef"],
    );
}

#[test]
fn comparisons_with_constants() {
    let compare = |op, value: u128| {
        move |t: &mut Terms, i, _| {
            let c = t.constant(value, 32);
            t.compare(op, i, c)
        }
    };
    check(compare(CompareOp::Sle, 10), expect!["i <s 11"]);
    check(compare(CompareOp::Ult, 1), expect!["i == 0"]);
    check(compare(CompareOp::Ule, u128::MAX), expect!["true"]);
    check(
        |t, i, _| {
            let c = t.constant(10, 32);
            t.signed_greater(i, c)
        },
        expect!["i >s 10"],
    );
    check(
        |t, i, _| {
            let c = t.constant(10, 32);
            let less = t.signed_less_or_equal(i, c);
            t.not(less)
        },
        expect!["i >s 10"],
    );
    check(
        |t, i, _| {
            let c = t.constant(0, 32);
            t.not_equal(i, c)
        },
        expect!["i != 0"],
    );
}

#[test]
fn what_c_makes_of_booleans_and_chars() {
    // `(i < j) != 0`, as the compiler writes it.
    check(
        |t, i, j| {
            let less = t.signed_less(i, j);
            let value = t.zero_extend(less, 32);
            let zero = t.constant(0, 32);
            t.not_equal(value, zero)
        },
        expect!["i <s j"],
    );
    // `(char)(c + 1) == 'b'` with the promotion to int in between.
    check(
        |t, i, _| {
            let c = t.truncate(i, 8);
            let promoted = t.sign_extend(c, 32);
            let one = t.constant(1, 32);
            let sum = t.add(promoted, one);
            let narrow = t.truncate(sum, 8);
            let b = t.constant(98, 8);
            t.equal(narrow, b)
        },
        expect!["i[7:0] == 97"],
    );
    // Stored byte by byte, loaded again.
    check(
        |t, i, _| {
            let bytes: Vec<TermId> = (0..4).map(|n| t.extract(i, 8 * n, 8)).collect();
            bytes[1..].iter().fold(bytes[0], |low, &high| t.concat(high, low))
        },
        expect!["i"],
    );
    // `flag ? 3 : 4` compared with 3.
    check(
        |t, i, j| {
            let flag = t.equal(i, j);
            let (three, four) = (t.constant(3, 32), t.constant(4, 32));
            let choice = t.if_then_else(flag, three, four);
            t.equal(choice, three)
        },
        expect!["i == j"],
    );
}

#[test]
fn sums_are_collected() {
    check(
        |t, i, j| {
            let c = t.constant(3, 32);
            let (a, b) = (t.add(i, c), t.add(j, c));
            let sum = t.add(a, b);
            t.sub(sum, j)
        },
        expect!["i + 6"],
    );
    check(
        |t, i, _| {
            let (three, seven) = (t.constant(3, 32), t.constant(7, 32));
            let sum = t.sub(i, three);
            t.equal(sum, seven)
        },
        expect!["i == 10"],
    );
    check(|t, i, _| t.add(i, i), expect!["i << 1"]);
}

/// `v = i == n ? n : v`, a hundred thousand times.
fn deep_chain(terms: &mut Terms, index: TermId, start: TermId) -> TermId {
    (0..100_000u128).fold(start, |chain, number| {
        let number = terms.constant(number, 32);
        let chosen = terms.equal(index, number);
        let cell = terms.add(number, number);
        terms.if_then_else(chosen, cell, chain)
    })
}

#[test]
fn a_deep_chain_of_choices_does_not_overflow_the_stack() {
    let mut terms = Terms::new();
    let (index, start) = (terms.variable("index", 32), terms.variable("start", 32));
    let chain = deep_chain(&mut terms, index, start);
    let model: Model = [(terms.variable_id(index).expect("a variable"), 12)].into_iter().collect();
    assert_eq!(evaluate(&terms, &model, chain), 24);
    assert_eq!(terms.variables(chain).len(), 2);
    expect!["ite(index == 0x1869f, 0x30d3e, ite(index == 0x1869e, 0x30d3c, ite(…"]
        .assert_eq(&terms.display(chain).at_most(30).to_string());
}

#[test]
fn long_sums_of_many_variables_are_solved() {
    for length in [300, 5000] {
        let mut terms = Terms::new();
        let cells: Vec<TermId> = (0..length).map(|_| terms.variable("cell", 32)).collect();
        let sum = cells[1..].iter().fold(cells[0], |sum, &cell| terms.add(sum, cell));
        assert_eq!(terms.variables(sum).len(), length);
        let total = terms.constant(17, 32);
        let constraint = terms.equal(sum, total);
        let mut solver = Solver::new(SolverSettings::default());
        let solved = solver.check(&terms, &[constraint], &Model::new());
        assert!(solved.answer.is_sat(), "{length}: {:?}", solved.answer);
    }
}
