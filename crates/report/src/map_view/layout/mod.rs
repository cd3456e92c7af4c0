//! A layered drawing of a graph (Sugiyama, Tagawa, Toda 1981): ranks, order within ranks, coordinates, routes.
//!
//! Boxes sit in horizontal ranks. An arc that spans several ranks passes each of them in a slot of its own, and a label
//! has a slot too, so that nothing overlaps by construction: in a rank everything has its own stretch, and between
//! ranks there are only lines.

mod order;
mod position;
mod rank;
mod route;
mod slots;
mod tighten;

/// In pixels.
#[derive(Debug, Copy, Clone, PartialEq)]
pub(super) struct Size {
    pub width: f64,
    pub height: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Arc {
    pub from: usize,
    pub to: usize,
    pub label: Option<Size>,
}

/// What to lay out. The arcs of a vertex are in the order in which they shall leave it from left to right.
#[derive(Debug)]
pub(super) struct Input {
    pub boxes: Vec<Size>,
    pub arcs: Vec<Arc>,
    pub root: usize,
}

#[derive(Debug, Copy, Clone, PartialEq)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
}

#[derive(Debug, Copy, Clone, PartialEq)]
pub(super) struct Rectangle {
    pub centre: Point,
    pub size: Size,
}

#[derive(Debug, Copy, Clone, PartialEq)]
pub(super) enum Step {
    Line(Point),
    /// A cubic Bézier curve: two control points and the end.
    Curve(Point, Point, Point),
}

#[derive(Debug, Clone)]
pub(super) struct Route {
    pub start: Point,
    pub steps: Vec<Step>,
    pub label: Option<Rectangle>,
}

/// Everything lies between (0, 0) and `size`.
#[derive(Debug)]
pub(super) struct Layout {
    pub size: Size,
    pub boxes: Vec<Rectangle>,
    pub routes: Vec<Route>,
}

pub(super) fn layout(input: &Input) -> Layout {
    let ranks = rank::ranks(input);
    let mut slots = slots::slots(input, &ranks);
    order::reduce_crossings(&mut slots);
    let mut columns = position::columns(&slots);
    tighten::tighten(input, &slots, &mut columns);
    route::routes(input, &slots, &columns)
}

impl Rectangle {
    pub fn left(&self) -> f64 {
        self.centre.x - self.size.width / 2.0
    }
    pub fn right(&self) -> f64 {
        self.centre.x + self.size.width / 2.0
    }
    pub fn top(&self) -> f64 {
        self.centre.y - self.size.height / 2.0
    }
    pub fn bottom(&self) -> f64 {
        self.centre.y + self.size.height / 2.0
    }
}
