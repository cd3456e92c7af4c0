//! Contraction loses no value, whatever the operator. Each is a graph of its own: the operator on variables, of all the
//! widths that it may have, and on one variable twice. Values are all pairs of corners, then random ones; ranges are random
//! ones that hold the values of operands and result, so that bounds go both ways. What comes out must hold the values.
//! `BRANCHWISE_SOUNDNESS=N` takes N times as many random values.

use super::float_range::{FloatRange, bits, infinity, place_of};
use super::library_tests::{Random, cases};
use super::propagation::Propagation;
use super::range::Range;
use crate::floats::{FloatOp, float_value};
use crate::library::MathFunction;
use crate::model::node_value;
use crate::semantics;
use crate::smt::wire::{Graph, GraphNode};
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, UnaryOp, VariableId};

/// Those of C's types, the bits of structures and what is beside a limit.
const WIDTHS: [u32; 10] = [1, 7, 8, 16, 31, 32, 48, 63, 64, 128];

const FLOATS: [u32; 2] = [32, 64];

/// Which of the tests below goes through the kind. There is no other arm: a kind that is new must be given to one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Family {
    Leaf,
    Integers,
    Casts,
    Floats,
    Library,
}

fn family(kind: TermKind) -> Family {
    match kind {
        TermKind::Constant(_) | TermKind::Variable(_) => Family::Leaf,
        TermKind::Unary(..) | TermKind::Binary(..) | TermKind::Compare(..) | TermKind::IfThenElse { .. } => {
            Family::Integers
        }
        TermKind::Extract { .. } | TermKind::Concat { .. } | TermKind::ZeroExtend(_) | TermKind::SignExtend(_) => {
            Family::Casts
        }
        TermKind::Float(FloatOp::Library(_), ..) => Family::Library,
        TermKind::Float(..) => Family::Floats,
    }
}

/// The widths of operands and result. Without an arm for the rest, as above.
pub(super) fn float_widths(op: FloatOp) -> Vec<(u32, u32)> {
    use FloatOp::*;
    match op {
        Add | Sub | Mul | Div | Sqrt | Floor | Ceil | Trunc | RoundEven | RoundAway | FusedMultiplyAdd | Library(_) => {
            FLOATS.map(|width| (width, width)).to_vec()
        }
        Equal | Less | LessOrEqual | Unordered => FLOATS.map(|width| (width, 1)).to_vec(),
        Convert => vec![(32, 64), (64, 32)],
        FromSigned | FromUnsigned => WIDTHS.into_iter().flat_map(|from| FLOATS.map(|to| (from, to))).collect(),
        ToSigned | ToUnsigned => WIDTHS.into_iter().flat_map(|to| FLOATS.map(|from| (from, to))).collect(),
    }
}

/// An operator on variables of these widths; its operands are their numbers.
fn graph(operands: &[u32], kind: TermKind, width: u32) -> Graph {
    let variable = |(number, &width)| GraphNode { kind: TermKind::Variable(VariableId(number)), width };
    let mut nodes: Vec<GraphNode> = (0_u32..).zip(operands).map(variable).collect();
    nodes.push(GraphNode { kind, width });
    Graph { nodes, variable_count: operands.len() as u32, constraints: Vec::new() }
}

const A: TermId = TermId(0);
const B: TermId = TermId(1);
const C: TermId = TermId(2);

fn integers() -> Vec<Graph> {
    let mut graphs = Vec::new();
    for width in WIDTHS {
        graphs.extend(UnaryOp::ALL.map(|op| graph(&[width], TermKind::Unary(op, A), width)));
        for (widths, b) in [(&[width, width][..], B), (&[width][..], A)] {
            graphs.extend(BinaryOp::ALL.map(|op| graph(widths, TermKind::Binary(op, A, b), width)));
            graphs.extend(CompareOp::ALL.map(|op| graph(widths, TermKind::Compare(op, A, b), 1)));
        }
        let choice = TermKind::IfThenElse { condition: A, then: B, otherwise: C };
        graphs.push(graph(&[1, width, width], choice, width));
    }
    graphs
}

/// Between all pairs of widths: longer with and without a sign, shorter from three places, and put together.
fn casts() -> Vec<Graph> {
    let mut graphs = Vec::new();
    for (narrow, wide) in WIDTHS.into_iter().flat_map(|a| WIDTHS.map(|b| (a, b))) {
        if narrow < wide {
            graphs.push(graph(&[narrow], TermKind::ZeroExtend(A), wide));
            graphs.push(graph(&[narrow], TermKind::SignExtend(A), wide));
            let places = [0, (wide - narrow) / 2, wide - narrow];
            graphs.extend(places.map(|low| graph(&[wide], TermKind::Extract { term: A, low }, narrow)));
        }
        if narrow + wide <= 128 {
            graphs.push(graph(&[narrow, wide], TermKind::Concat { high: A, low: B }, narrow + wide));
        }
        if 2 * narrow == wide {
            graphs.push(graph(&[narrow], TermKind::Concat { high: A, low: A }, wide));
        }
    }
    graphs
}

/// The operator at all its widths, on different variables and on equal ones.
fn float_operator(op: FloatOp) -> Vec<Graph> {
    let operands: &[[Option<TermId>; 2]] = match op.arity() {
        1 => &[[None, None]],
        2 => &[[Some(B), None], [Some(A), None]],
        _ => &[[Some(B), Some(C)], [Some(A), Some(B)], [Some(B), Some(A)], [Some(A), Some(A)]],
    };
    let mut graphs = Vec::new();
    for (from, to) in float_widths(op) {
        for &[b, c] in operands {
            let variables = 1 + [b, c].into_iter().flatten().map(TermId::index).max().unwrap_or(0);
            graphs.push(graph(&vec![from; variables], TermKind::Float(op, A, b, c), to));
        }
    }
    graphs
}

/// What decides about wrap-around: limits with and without a sign, distances of shifts, and what is beside them.
fn integer_corners(width: u32) -> Vec<u128> {
    let [least, distance] = [semantics::signed_minimum(width), u128::from(width)];
    let near = |value: u128| [value.wrapping_sub(1), value, value.wrapping_add(1)];
    let mut corners: Vec<u128> = [0, least, distance, u128::MAX, 3].into_iter().flat_map(near).collect();
    corners.iter_mut().for_each(|value| *value = semantics::truncate(*value, width));
    corners.sort_unstable();
    corners.dedup();
    corners
}

/// Of both signs: zero, the smallest and the greatest number with and without a full exponent, what does not fit integers,
/// infinity, and NaN, quiet and signalling.
fn float_corners(width: u32) -> Vec<u128> {
    let encode = |value: f64| bits(place_of(value, width), width);
    let infinity = infinity(width) as u128;
    let digits = if width == 64 { 52 } else { 23 };
    let normal = 1_u128 << digits;
    let patterns = [0, 1, normal - 1, normal, infinity - 1, infinity, infinity + 1, infinity | (normal >> 1)];
    let limits = [0.5, 1.0, 3.0, 2_f64.powi(31), 2_f64.powi(32), 2_f64.powi(63), 2_f64.powi(64)];
    let numbers = limits.into_iter().flat_map(|limit| [encode(limit) - 1, encode(limit)]);
    let positive: Vec<u128> = patterns.into_iter().chain(numbers).collect();
    let negative = positive.iter().map(|value| value | semantics::signed_minimum(width));
    positive.iter().copied().chain(negative).collect()
}

/// Ranges about values, as contraction has them: of the bits and, if the node is a float, of the floats.
fn around(random: &mut Random, value: u128, width: u32, is_float: bool) -> (Range, Option<FloatRange>) {
    let full = Range::full(width);
    let range = match random.below(4) {
        0 => full,
        1 => Range::point(value, width),
        _ => random.integers_around(value, width),
    };
    let float = is_float.then(|| match random.below(4) {
        0 => FloatRange::full(width),
        _ => random.around(value, width),
    });
    // Bounds of the bits of a float, beside those of its order, are rare.
    let range = if is_float && random.below(4) > 0 { full } else { range };
    (range, float)
}

/// One evaluation: the values of variables and result, ranges about them, and contraction both ways.
fn check(random: &mut Random, initial: &Propagation<'_>, variables: &[u128]) {
    let nodes = &initial.graph.nodes;
    let node = nodes.last().expect("an operator");
    let known = |term: TermId| Ok::<_, ()>(variables[term.index()]);
    let result = node_value(&node.kind, node.width, known, |term| nodes[term.index()].width, |_| 0);
    let values: Vec<u128> = variables.iter().copied().chain(result).collect();
    let mut propagation = initial.clone();
    let mut ranges = Vec::new();
    for (place, &value) in values.iter().enumerate() {
        let (range, float) = around(random, value, nodes[place].width, initial.floats[place].is_some());
        ranges.push((range, float));
        let assumed = propagation.assume(TermId(place as u32), range, float);
        assert!(assumed.is_some(), "{:?}: {value:#x} is in both {range:?} and {float:?}", node.kind);
    }
    let context = || format!("{:?} to {} bits: {values:x?} in {ranges:?}", node.kind, node.width);
    assert!(propagation.contract().is_some(), "{}", context());
    for (place, &value) in values.iter().enumerate() {
        let float = propagation.floats[place];
        let kept = propagation.ranges[place].contains(value) && float.is_none_or(|float| float.contains(value));
        assert!(kept, "{}: node {place} became {:?} and {float:?}", context(), propagation.ranges[place]);
    }
}

/// All combinations of corners, then random values. How many evaluations that were.
fn check_all(graphs: &[Graph], seed: u64, random_values: u64) -> u64 {
    let mut random = Random(seed);
    let mut evaluations = 0;
    for graph in graphs {
        let initial = Propagation::new(graph);
        let variables = &graph.nodes[..graph.variable_count as usize];
        let is_float: Vec<bool> = initial.floats.iter().map(Option::is_some).collect();
        let corners = |place: usize| match is_float[place] {
            true => float_corners(variables[place].width),
            false => integer_corners(variables[place].width),
        };
        let corners: Vec<Vec<u128>> = (0..variables.len()).map(corners).collect();
        let combinations: usize = corners.iter().map(Vec::len).product();
        for number in 0..combinations {
            let mut rest = number;
            let mut digit = |corners: &Vec<u128>| {
                let value = corners[rest % corners.len()];
                rest /= corners.len();
                value
            };
            let values: Vec<u128> = corners.iter().map(&mut digit).collect();
            check(&mut random, &initial, &values);
        }
        for _ in 0..cases(random_values) {
            let value = |(place, node): (usize, &GraphNode)| match is_float[place] {
                true => random.float(node.width),
                false => random.integer(node.width),
            };
            let values: Vec<u128> = variables.iter().enumerate().map(value).collect();
            check(&mut random, &initial, &values);
        }
        evaluations += combinations as u64 + cases(random_values);
    }
    evaluations
}

/// What a conversion makes of a NaN is an integer; that its bits are read as a float says nothing of the NaN.
#[test]
fn integers_may_be_read_as_floats() {
    for (op, from, to) in [FloatOp::ToSigned, FloatOp::ToUnsigned]
        .into_iter()
        .flat_map(|op| FLOATS.into_iter().flat_map(move |from| FLOATS.map(|to| (op, from, to))))
    {
        let mut graph = graph(&[from], TermKind::Float(op, A, None, None), to);
        graph.nodes.push(GraphNode { kind: TermKind::Float(FloatOp::Floor, B, None, None), width: to });
        for nan in [infinity(from) as u128 + 1, bits(-1, from) | (infinity(from) as u128 + 1)] {
            let integer = float_value(op, from, to, &[nan]);
            let floor = float_value(FloatOp::Floor, to, to, &[integer]);
            let mut propagation = Propagation::new(&graph);
            let number = FloatRange::of_bits(Range::point(integer, to)).and_then(FloatRange::without_nan);
            assert!(propagation.assume(B, Range::full(to), number).is_some() && propagation.contract().is_some());
            let kept = propagation.floats[0].is_some_and(|float| float.contains(nan));
            assert!(kept, "{op:?} from {from} to {to}");
            assert!(propagation.assume(A, Range::point(nan, from), None).is_some());
            assert!(propagation.contract().is_some_and(|()| propagation.ranges[2].contains(floor)));
        }
    }
}

fn assert_family(graphs: &[Graph], expected: Family) {
    let families = graphs.iter().flat_map(|graph| graph.nodes.last()).map(|node| family(node.kind));
    assert!(families.into_iter().all(|family| family == expected));
}

#[test]
fn integers_lose_no_value() {
    let graphs = integers();
    assert_family(&graphs, Family::Integers);
    let evaluations = check_all(&graphs, 51, 2500);
    assert!(evaluations > 1_000_000, "{evaluations} evaluations of {} operators", graphs.len());
}

#[test]
fn casts_lose_no_value() {
    let graphs = casts();
    assert_family(&graphs, Family::Casts);
    let evaluations = check_all(&graphs, 52, 2500);
    assert!(evaluations > 750_000, "{evaluations} evaluations of {} operators", graphs.len());
}

#[test]
fn float_operators_lose_no_value() {
    let graphs: Vec<Graph> = FloatOp::PLAIN.into_iter().flat_map(float_operator).collect();
    assert_family(&graphs, Family::Floats);
    let evaluations = check_all(&graphs, 53, 6000);
    assert!(evaluations > 1_000_000, "{evaluations} evaluations of {} operators", graphs.len());
}

#[test]
fn library_functions_lose_no_value() {
    let functions = MathFunction::ALL.iter().map(|&function| FloatOp::Library(function));
    let graphs: Vec<Graph> = functions.flat_map(float_operator).collect();
    assert_family(&graphs, Family::Library);
    let evaluations = check_all(&graphs, 54, 2000);
    assert!(evaluations > 150_000, "{evaluations} evaluations of {} functions", graphs.len());
}
