//! Local search: the point that is nearest to satisfying the constraints is moved along one variable at a time, by
//! powers of two of the smallest step (a unit in the last place of a float), as long as it gets nearer.

use super::cell::Values;
use super::effort::Effort;
use super::evaluation::Evaluation;
use crate::layers::intervals::float_range::{bits, bottom, infinity, is_nan, place};
use crate::semantics;
use crate::smt::wire::Graph;

/// How many starts there are at most.
const MOST_STARTS: u64 = 24;

pub(super) struct Descent<'s, 'a> {
    graph: &'a Graph,
    hint: &'a [u128],
    cell: &'s [Values],
    evaluation: &'s mut Evaluation,
    effort: &'s mut Effort<'a>,
    /// Of the points to start from.
    random: u64,
}

impl<'s, 'a> Descent<'s, 'a> {
    pub(super) fn new(
        graph: &'a Graph,
        hint: &'a [u128],
        cell: &'s [Values],
        evaluation: &'s mut Evaluation,
        effort: &'s mut Effort<'a>,
    ) -> Self {
        Self { graph, hint, cell, evaluation, effort, random: 1 }
    }

    /// Goes down from several points, until one satisfies the constraints or no more than this effort is left.
    pub(super) fn run(&mut self, reserve: u64) -> Option<Vec<u128>> {
        for start in 0..MOST_STARTS {
            let mut point = self.start(start);
            let mut distance = self.distance(&point);
            while distance > 0.0 && self.effort.left() > reserve {
                match self.sweep(&mut point, distance, reserve) {
                    nearer if nearer < distance => distance = nearer,
                    _ => break,
                }
            }
            if distance == 0.0 {
                return Some(point);
            }
            if self.effort.left() <= reserve {
                return None;
            }
        }
        None
    }

    fn distance(&mut self, point: &[u128]) -> f64 {
        self.effort.spend(self.graph.nodes.len() as u64);
        self.evaluation.distance(self.graph, point)
    }

    /// The hint first, then the middle, then a label of each variable drawn at random.
    fn start(&mut self, number: u64) -> Vec<u128> {
        let mut choose = |values: &Values, hint: u128| match number {
            0 => values.nearest(hint),
            1 => values.middle(),
            _ => {
                let labels = values.labels(hint);
                self.random =
                    self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                labels[(self.random >> 33) as usize % labels.len()]
            }
        };
        self.cell.iter().zip(self.hint).map(|(values, &hint)| choose(values, hint)).collect()
    }

    /// One pass over all variables and sizes of steps; the distance after it.
    fn sweep(&mut self, point: &mut [u128], distance: f64, reserve: u64) -> f64 {
        let mut nearest = distance;
        for variable in 0..point.len() {
            let values = self.cell[variable];
            let mut exponent = values.size().min(63.0) as i32;
            while exponent >= 0 && nearest > 0.0 && self.effort.left() > reserve {
                let before = point[variable];
                let mut moved = false;
                for step in [1_i128 << exponent, -(1_i128 << exponent)] {
                    let Some(value) = stepped(values, before, step) else { continue };
                    point[variable] = value;
                    let distance = self.distance(point);
                    if distance < nearest {
                        (nearest, moved) = (distance, true);
                        break;
                    }
                    point[variable] = before;
                }
                // A step that helped is tried again before smaller ones.
                exponent -= i32::from(!moved);
            }
        }
        nearest
    }
}

/// The value so many steps away, if it is in the domain.
fn stepped(values: Values, value: u128, step: i128) -> Option<u128> {
    let width = values.range.width;
    let moved = match values.float {
        Some(_) if is_nan(value, width) => return None,
        Some(_) => {
            let place = i128::from(place(value, width)) + step;
            let inside = (i128::from(bottom(width))..=i128::from(infinity(width))).contains(&place);
            inside.then(|| bits(place as i64, width))?
        }
        None => semantics::truncate(value.wrapping_add_signed(step), width),
    };
    let inside = values.range.contains(moved) && values.float.is_none_or(|float| float.contains(moved));
    inside.then_some(moved)
}
