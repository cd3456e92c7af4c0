//! Local search: the point that is nearest to satisfying the constraints is moved along one variable at a time, by
//! powers of two of the smallest step (a unit in the last place of a float), as long as it gets nearer.

use super::cell::Values;
use super::effort::Effort;
use super::evaluation::Evaluation;
use crate::layers::intervals::float_range::{FloatRange, bits, bottom, infinity, is_nan, number, place, place_of};
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

    /// Points whose floats are nearly the same number, with random last bits, until one satisfies the constraints or no more
    /// than this effort is left. What only rounding makes true is so at some of them, and nothing leads there.
    pub(super) fn scatter(&mut self, reserve: u64) -> Option<Vec<u128>> {
        while self.effort.left() > reserve {
            let common = self.random_number();
            let point: Vec<u128> =
                self.cell.iter().zip(self.hint).map(|(&values, &hint)| self.alike(values, common, hint)).collect();
            self.effort.spend(self.graph.nodes.len() as u64);
            if self.evaluation.satisfies(self.graph, &point) {
                return Some(point);
            }
        }
        None
    }

    /// In the domain of a variable, of usual size, or where a unit is as large as the last place.
    fn random_number(&mut self) -> f64 {
        let values = self.cell[self.draw(self.cell.len() as u64) as usize];
        if let Some(float) = values.float.filter(FloatRange::has_numbers)
            && self.draw(2) == 0
        {
            let above_low = self.draw(float.high.abs_diff(float.low) + 1);
            return number(float.low.wrapping_add_unsigned(above_low), float.width);
        }
        let exponent = match self.draw(8) {
            0 => 50 + self.draw(6) as i32,
            1 => -(50 + self.draw(6) as i32),
            _ => self.draw(12) as i32 - 6,
        };
        let fraction = 1.0 + self.draw(1 << 52) as f64 / (1_u64 << 52) as f64;
        let sign = if self.draw(2) == 0 { 1.0 } else { -1.0 };
        sign * fraction * 2_f64.powi(exponent)
    }

    fn alike(&mut self, values: Values, common: f64, hint: u128) -> u128 {
        match values.float {
            Some(float) if self.draw(8) > 0 => {
                let place = place_of(common, float.width) + self.draw(4) as i64;
                values.nearest(bits(place.min(infinity(float.width)), float.width))
            }
            _ => {
                let labels = values.labels(hint);
                labels[self.draw(labels.len() as u64) as usize]
            }
        }
    }

    fn draw(&mut self, limit: u64) -> u64 {
        // Splitmix: the same points for the same query.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn distance(&mut self, point: &[u128]) -> f64 {
        self.effort.spend(self.graph.nodes.len() as u64);
        self.evaluation.distance(self.graph, point)
    }

    /// The hint first, then the middle, then a label of each variable drawn at random.
    fn start(&mut self, number: u64) -> Vec<u128> {
        let (cell, hint) = (self.cell, self.hint);
        let mut choose = |values: &Values, hint: u128| match number {
            0 => values.nearest(hint),
            1 => values.middle(),
            _ => {
                let labels = values.labels(hint);
                labels[self.draw(labels.len() as u64) as usize]
            }
        };
        cell.iter().zip(hint).map(|(values, &hint)| choose(values, hint)).collect()
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
