//! The linear layer never contradicts enumeration, nor the chain that ends in SMT.

use crate::common;

use branchwise_constraints::linear::{LinearAnswer, LinearGap, LinearLimits, LinearQuery, LinearSolved, decide};
use branchwise_constraints::{
    Answer, CompareOp, Evaluator, Formula, Model, Solver, SolverSettings, TermId, Terms, VariableId, evaluate,
};
use common::{Construction, Pair, Step, mask, steps};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// How conditions are put together; each is counted modulo what there is.
#[derive(Clone, Debug)]
enum Recipe {
    Condition(u8),
    All(Vec<Recipe>),
    Any(Vec<Recipe>),
}

fn recipes() -> impl Strategy<Value = Recipe> {
    any::<u8>().prop_map(Recipe::Condition).prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Recipe::All),
            prop::collection::vec(inner, 0..4).prop_map(Recipe::Any),
        ]
    })
}

fn formula(recipe: &Recipe, conditions: &[TermId]) -> Formula {
    match recipe {
        Recipe::Condition(number) => Formula::Condition(conditions[*number as usize % conditions.len()]),
        Recipe::All(parts) => Formula::All(parts.iter().map(|part| formula(part, conditions)).collect()),
        Recipe::Any(parts) => Formula::Any(parts.iter().map(|part| formula(part, conditions)).collect()),
    }
}

/// Operators that keep sums linear, comparisons, extensions and choices, as `common` numbers them.
const LINEAR_OPERATORS: [u8; 24] =
    [0, 0, 0, 1, 1, 2, 10, 13, 14, 15, 16, 17, 13, 14, 15, 16, 17, 18, 19, 20, 24, 28, 29, 27];

fn linear_steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    steps(most).prop_map(|steps| {
        let linear = |step: Step| {
            let opcode = LINEAR_OPERATORS[step.opcode as usize % LINEAR_OPERATORS.len()];
            // A product is one by a constant, and the low bits are what is taken out.
            let third = if opcode == 2 || opcode == 10 { step.operands[2] / 3 * 3 } else { step.operands[2] };
            let second = if opcode == 24 { 0 } else { step.operands[1] };
            Step { opcode, operands: [step.operands[0], second, third], ..step }
        };
        steps.into_iter().map(linear).collect()
    })
}

/// Every comparison, and a bit of what is not boolean.
fn conditions(construction: &mut Construction) -> Vec<TermId> {
    let pairs: Vec<Pair> = construction.pairs.clone();
    let boolean = |pair: &&Pair| pair.width == 1;
    match pairs.iter().filter(boolean).count() {
        0 => pairs.iter().map(|pair| construction.fitted(pair, 1, false).term).collect(),
        _ => pairs.iter().filter(boolean).map(|pair| pair.term).collect(),
    }
}

struct Sample {
    terms: Terms,
    formula: Formula,
    domain: Vec<TermId>,
}

fn sample(widths: &[u32], steps: &[Step], recipe: &Recipe, domain: Option<u8>) -> Sample {
    let mut construction = Construction::new(widths, &vec![[0; 4]; widths.len()]);
    construction.run(steps);
    let conditions = conditions(&mut construction);
    let domain = domain.map(|number| conditions[number as usize % conditions.len()]);
    Sample { formula: formula(recipe, &conditions), terms: construction.terms, domain: domain.into_iter().collect() }
}

fn models(terms: &Terms) -> impl Iterator<Item = Model> + '_ {
    let ids: Vec<VariableId> = (0..terms.variable_count()).map(VariableId::from_index).collect();
    let bits: u32 = ids.iter().map(|&id| terms.variable_width(id)).sum();
    (0..1_u128 << bits).map(move |mut word| {
        let value = |&id: &VariableId| {
            let width = terms.variable_width(id);
            let value = word & mask(width);
            word >>= width;
            (id, value)
        };
        ids.iter().map(value).collect()
    })
}

impl Sample {
    fn holds(&self, model: &Model) -> bool {
        let mut evaluator = Evaluator::new();
        self.domain.iter().all(|&term| evaluator.evaluate(&self.terms, model, term) == 1)
            && self.formula.holds(&self.terms, model, &mut evaluator)
    }

    fn decide(&self) -> LinearSolved {
        let hint = Model::new();
        let query = LinearQuery { terms: &self.terms, formula: &self.formula, domain: &self.domain, hint: &hint };
        decide(&query, &LinearLimits::default())
    }

    /// By enumeration and by SMT.
    fn check(&mut self) -> Result<LinearAnswer, TestCaseError> {
        let answer = self.decide().answer;
        let expected = models(&self.terms).any(|model| self.holds(&model));
        match &answer {
            LinearAnswer::Model(model) => prop_assert!(self.holds(model), "{}", self.text()),
            LinearAnswer::Infeasible(evidence) => prop_assert!(!expected, "{evidence:?}: {}", self.text()),
            // A solution may be rejected only because of what is not linear in the domain.
            LinearAnswer::NoLinearSolution { why } => {
                prop_assert!(*why != LinearGap::Domain || !self.domain.is_empty(), "{}", self.text());
            }
            LinearAnswer::NotLinear | LinearAnswer::Unknown(_) => {}
        }
        let term = self.formula.term(&mut self.terms);
        let query = [self.domain.clone(), vec![term]].concat();
        let solved = Solver::new(SolverSettings::default()).check(&self.terms, &query, &Model::new());
        match solved.answer {
            Answer::Sat(_) => prop_assert!(!matches!(answer, LinearAnswer::Infeasible(_)), "{}", self.text()),
            Answer::Unsat(_) => prop_assert!(!matches!(answer, LinearAnswer::Model(_)), "{}", self.text()),
            Answer::Unknown(_) => {}
        }
        Ok(answer)
    }

    fn text(&self) -> String {
        let domain: Vec<String> = self.domain.iter().map(|&term| self.terms.display(term).to_string()).collect();
        format!("{} within {domain:?}", self.formula.display(&self.terms))
    }
}

/// `left operator right + constant`, of 3 bits; the right side is a constant alone if it is the left one again.
#[derive(Clone, Debug)]
struct Comparison {
    operator: usize,
    left: usize,
    right: usize,
    constant: u128,
    negated: bool,
}

fn comparisons() -> impl Strategy<Value = Comparison> {
    (0..5_usize, 0..4_usize, 0..4_usize, 0..8_u128, any::<bool>())
        .prop_map(|(operator, left, right, constant, negated)| Comparison { operator, left, right, constant, negated })
}

/// Many choices together, about as often without a model as with one: what makes the search go back.
fn clauses() -> impl Strategy<Value = Vec<Vec<Vec<Comparison>>>> {
    let path = prop::collection::vec(comparisons(), 1..4);
    prop::collection::vec(prop::collection::vec(path, 2..4), 6..24)
}

fn tight_sample(clauses: &[Vec<Vec<Comparison>>]) -> Sample {
    let mut terms = Terms::new();
    let x: Vec<TermId> = (0..4).map(|number| terms.variable(&format!("x{number}"), 3)).collect();
    let mut condition = |comparison: &Comparison| {
        let constant = terms.constant(comparison.constant, 3);
        let right = match comparison.left == comparison.right {
            true => constant,
            false => terms.add(x[comparison.right], constant),
        };
        let term = terms.compare(CompareOp::ALL[comparison.operator], x[comparison.left], right);
        Formula::Condition(if comparison.negated { terms.not(term) } else { term })
    };
    let mut paths = |clause: &Vec<Vec<Comparison>>| -> Vec<Formula> {
        clause.iter().map(|path| Formula::All(path.iter().map(&mut condition).collect())).collect()
    };
    // Every third clause asks in its first alternative for the two before it as well.
    let mut all = Vec::new();
    for (place, clause) in clauses.iter().enumerate() {
        let mut alternatives = paths(clause);
        if place % 3 == 2 {
            let mut nested = all.split_off(all.len() - 2);
            nested.push(alternatives.swap_remove(0));
            alternatives.push(Formula::All(nested));
        }
        all.push(Formula::Any(alternatives));
    }
    Sample { formula: Formula::All(all), terms, domain: Vec::new() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn tight_formulas(clauses in clauses()) {
        let decided = matches!(tight_sample(&clauses).check()?, LinearAnswer::Model(_) | LinearAnswer::Infeasible(_));
        prop_assert!(decided);
    }

    #[test]
    fn linear_formulas(steps in linear_steps(14), recipe in recipes(), domain in any::<Option<u8>>()) {
        sample(&[4, 4, 3], &steps, &recipe, domain).check()?;
    }

    #[test]
    fn all_kinds_of_formulas(steps in steps(14), recipe in recipes(), domain in any::<Option<u8>>()) {
        sample(&[5, 4], &steps, &recipe, domain).check()?;
    }

    /// Up to 128 bits: too many models to enumerate, but nothing may panic and models are evaluated.
    #[test]
    fn wide_numbers(steps in linear_steps(20), recipe in recipes(), domain in any::<Option<u8>>()) {
        let mut sample = sample(&[64, 128, 96, 33], &steps, &recipe, domain);
        let answer = sample.decide().answer;
        if let LinearAnswer::Model(model) = &answer {
            prop_assert!(sample.holds(model));
        }
        let term = sample.formula.term(&mut sample.terms);
        let query = [sample.domain.clone(), vec![term]].concat();
        let solved = Solver::new(SolverSettings::default()).check(&sample.terms, &query, &Model::new());
        prop_assert!(!(solved.answer.is_sat() && matches!(answer, LinearAnswer::Infeasible(_))), "{}", sample.text());
        prop_assert!(!(solved.answer.is_unsat() && matches!(answer, LinearAnswer::Model(_))), "{}", sample.text());
    }
}

/// Differences of numbers that are far from their bounds: only the simplex method sees that `a < b < c < a` is impossible.
/// In each clause one path holds at the point that all are built around.
fn differences() -> impl Strategy<Value = (Vec<u128>, Vec<Vec<Vec<Comparison>>>)> {
    let path = prop::collection::vec(comparisons(), 1..4);
    let clauses = prop::collection::vec(prop::collection::vec(path, 2..4), 6..20);
    (prop::collection::vec(10_000..10_006_u128, 4), clauses)
}

fn planted_sample(point: &[u128], clauses: &[Vec<Vec<Comparison>>]) -> Sample {
    let mut terms = Terms::new();
    let x: Vec<TermId> = (0..4).map(|number| terms.variable(&format!("x{number}"), 32)).collect();
    let most = terms.constant(20_000, 32);
    let domain = x.iter().map(|&x| terms.unsigned_less(x, most)).collect();
    let ids: Vec<VariableId> = x.iter().filter_map(|&x| terms.variable_id(x)).collect();
    let planted: Model = ids.into_iter().zip(point.iter().copied()).collect();
    let mut all = Vec::new();
    for (place, clause) in clauses.iter().enumerate() {
        let mut paths = Vec::new();
        for (number, path) in clause.iter().enumerate() {
            let mut conditions = Vec::new();
            for comparison in path {
                let constant = terms.constant(comparison.constant.wrapping_sub(4), 32);
                let other = if comparison.left == comparison.right { 0 } else { comparison.right };
                let right = terms.add(x[other], constant);
                let term = terms.compare(CompareOp::ALL[comparison.operator], x[comparison.left], right);
                let holds = evaluate(&terms, &planted, term) == 1;
                let negated = if number == place % 2 { !holds } else { comparison.negated };
                conditions.push(Formula::Condition(if negated { terms.not(term) } else { term }));
            }
            paths.push(Formula::All(conditions));
        }
        all.push(Formula::Any(paths));
    }
    let sample = Sample { formula: Formula::All(all), terms, domain };
    assert!(sample.holds(&planted));
    sample
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn planted_models_are_found((point, clauses) in differences()) {
        let sample = planted_sample(&point, &clauses);
        let answer = sample.decide().answer;
        prop_assert!(matches!(answer, LinearAnswer::Model(_)), "{answer:?}: {}", sample.text());
    }
}

/// The properties above would hold for a layer that never answers.
#[test]
fn most_linear_formulas_are_decided() {
    let mut runner = TestRunner::deterministic();
    let strategy = (linear_steps(14), recipes(), any::<Option<u8>>());
    let (mut satisfiable, mut refuted, mut open) = (0, 0, 0);
    for _ in 0..600 {
        let (steps, recipe, domain) = strategy.new_tree(&mut runner).expect("a sample").current();
        match sample(&[4, 4, 3], &steps, &recipe, domain).decide().answer {
            LinearAnswer::Model(_) => satisfiable += 1,
            LinearAnswer::Infeasible(_) => refuted += 1,
            _ => open += 1,
        }
    }
    assert!(satisfiable > 300 && refuted > 100 && open < 20, "{satisfiable} {refuted} {open}");
}

#[test]
fn tight_formulas_are_of_both_kinds() {
    let mut runner = TestRunner::deterministic();
    let (mut satisfiable, mut refuted) = (0, 0);
    for _ in 0..300 {
        let clauses = clauses().new_tree(&mut runner).expect("a sample").current();
        match tight_sample(&clauses).decide().answer {
            LinearAnswer::Model(_) => satisfiable += 1,
            LinearAnswer::Infeasible(_) => refuted += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(satisfiable > 50 && refuted > 50, "{satisfiable} {refuted}");
}
