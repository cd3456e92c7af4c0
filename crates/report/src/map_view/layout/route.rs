//! Heights of ranks, ports at boxes, and the lines between.

use super::slots::Slots;
use super::{Input, Layout, Point, Rectangle, Route, Size, Step};

const MARGIN: f64 = 16.0;
/// Between ranks: at least this, and more where lines run far to the side, so that they do not lie on each other.
const RANK_GAP: f64 = 26.0;
const WIDEST_RANK_GAP: f64 = 90.0;
const SLANT: f64 = 0.05;
/// Between ports of a box, and from the outer ones to its corners.
const PORT_GAP: f64 = 12.0;
const CORNER: f64 = 12.0;
/// The last stretch before a box is straight, so that the arrow head points along the line.
const RUN_IN: f64 = 8.0;

pub(super) fn routes(input: &Input, slots: &Slots, columns: &[f64]) -> Layout {
    let bands = bands(input, slots, columns);
    let ports = ports(input, slots, columns);
    let router = Router { input, slots, columns, bands: &bands, ports: &ports };
    let boxes: Vec<Rectangle> = (0..slots.boxes).map(|slot| router.rectangle(slot)).collect();
    let routes: Vec<Route> = (0..input.arcs.len()).map(|arc| router.route(arc)).collect();
    let right = (0..columns.len()).map(|slot| columns[slot] + slots.sizes[slot].width / 2.0).fold(0.0, f64::max);
    let bottom = bands.last().map_or(0.0, |band| band.bottom + band.gap);
    Layout { size: Size { width: right + 2.0 * MARGIN, height: bottom }, boxes, routes }
}

/// The stretch of a rank from top to bottom, and the gap below it.
struct Band {
    top: f64,
    bottom: f64,
    gap: f64,
}

fn bands(input: &Input, slots: &Slots, columns: &[f64]) -> Vec<Band> {
    // Gap i is above rank i; the last one is below all ranks, and both outer ones hold only turns.
    let mut gaps = vec![RANK_GAP; slots.ranks.len() + 1];
    let mut widen = |gap: usize, slant: f64| {
        gaps[gap] = gaps[gap].max((RANK_GAP + SLANT * slant).min(WIDEST_RANK_GAP));
    };
    for slot in 0..slots.rank.len() {
        for &below in &slots.down[slot] {
            widen(slots.rank[below], (columns[slot] - columns[below]).abs());
        }
    }
    for (index, arc) in input.arcs.iter().enumerate().filter(|(index, _)| slots.upward[*index]) {
        if let [first, .., last] | [first @ last] = slots.of_arc[index][..] {
            widen(slots.rank[first] + 1, (columns[first] - columns[arc.from]).abs());
            widen(slots.rank[last], (columns[last] - columns[arc.to]).abs());
        }
    }
    let mut bands: Vec<Band> = Vec::new();
    for (index, rank) in slots.ranks.iter().enumerate() {
        let height = rank.iter().map(|slot| slots.sizes[*slot].height).fold(0.0, f64::max);
        let top = bands.last().map_or(gaps[0], |band| band.bottom + band.gap);
        bands.push(Band { top, bottom: top + height, gap: gaps[index + 1] });
    }
    bands
}

/// Where each arc leaves its source and meets its target.
struct Ports {
    source: Vec<f64>,
    target: Vec<f64>,
}

fn ports(input: &Input, slots: &Slots, columns: &[f64]) -> Ports {
    let mut out = vec![Vec::new(); slots.boxes];
    let mut into = vec![Vec::new(); slots.boxes];
    for (index, arc) in input.arcs.iter().enumerate() {
        out[arc.from].push(index);
        into[arc.to].push(index);
    }
    let mut ports = Ports { source: vec![0.0; input.arcs.len()], target: vec![0.0; input.arcs.len()] };
    for (slot, arcs) in out.iter().enumerate() {
        let wish = |arc: &usize| columns[*slots.of_arc[*arc].first().unwrap_or(&input.arcs[*arc].to)];
        let wishes: Vec<(f64, usize)> = arcs.iter().map(|arc| (wish(arc), *arc)).collect();
        spread(columns[slot], slots.sizes[slot].width, wishes, &mut ports.source);
    }
    for (slot, arcs) in into.iter().enumerate() {
        let wish = |arc: &usize| slots.of_arc[*arc].last().map_or(ports.source[*arc], |bend| columns[*bend]);
        let wishes: Vec<(f64, usize)> = arcs.iter().map(|arc| (wish(arc), *arc)).collect();
        spread(columns[slot], slots.sizes[slot].width, wishes, &mut ports.target);
    }
    ports
}

/// Each arc as close as possible to the column where it would run straight, in order and apart.
fn spread(centre: f64, width: f64, mut wishes: Vec<(f64, usize)>, ports: &mut [f64]) {
    wishes.sort_by(|left, right| left.0.total_cmp(&right.0));
    let reach = (width / 2.0 - CORNER).max(0.0);
    let (left, right) = (centre - reach, centre + reach);
    let between = wishes.len().saturating_sub(1).max(1) as f64;
    let gap = PORT_GAP.min(2.0 * reach / between);
    let count = wishes.len();
    let mut free = left;
    for (index, (wish, arc)) in wishes.into_iter().enumerate() {
        let latest = right - gap * (count - 1 - index) as f64;
        let port = wish.max(free).min(latest);
        ports[arc] = port;
        free = port + gap;
    }
}

struct Router<'a> {
    input: &'a Input,
    slots: &'a Slots,
    columns: &'a [f64],
    bands: &'a [Band],
    ports: &'a Ports,
}

impl Router<'_> {
    fn band(&self, slot: usize) -> &Band {
        &self.bands[self.slots.rank[slot]]
    }

    fn rectangle(&self, slot: usize) -> Rectangle {
        let band = self.band(slot);
        let centre = Point { x: MARGIN + self.columns[slot], y: (band.top + band.bottom) / 2.0 };
        Rectangle { centre, size: self.slots.sizes[slot] }
    }

    /// At the end of its rank where the arc comes from: close to the condition that it belongs to.
    fn label(&self, arc: usize) -> Option<Rectangle> {
        let slot = self.slots.label[arc]?;
        let mut label = self.rectangle(slot);
        let (band, half) = (self.band(slot), label.size.height / 2.0);
        label.centre.y = if self.slots.upward[arc] { band.bottom - half } else { band.top + half };
        Some(label)
    }

    fn route(&self, index: usize) -> Route {
        let arc = &self.input.arcs[index];
        let source = Point { x: MARGIN + self.ports.source[index], y: self.rectangle(arc.from).bottom() };
        let target = Point { x: MARGIN + self.ports.target[index], y: self.rectangle(arc.to).top() };
        let mut pen = Pen::new(source);
        pen.line(Point { y: self.band(arc.from).bottom, ..source });
        let entrance = Point { y: self.band(arc.to).top, ..target };
        if self.slots.upward[index] {
            self.upwards(index, entrance, &mut pen);
        } else {
            for &slot in &self.slots.of_arc[index] {
                let (x, band) = (MARGIN + self.columns[slot], self.band(slot));
                pen.glide(Point { x, y: band.top });
                pen.line(Point { x, y: band.bottom });
            }
            pen.glide(Point { y: entrance.y - RUN_IN, ..entrance });
        }
        pen.line(target);
        Route { start: source, steps: pen.steps, label: self.label(index) }
    }

    /// Round below the source, up beside the loop, round above the target.
    fn upwards(&self, index: usize, entrance: Point, pen: &mut Pen) {
        let arc = &self.input.arcs[index];
        let below = self.band(arc.from).gap;
        let above = match self.slots.rank[arc.to].checked_sub(1) {
            Some(rank) => self.bands[rank].gap,
            None => self.bands[0].top,
        };
        for (station, &slot) in self.slots.of_arc[index].iter().enumerate() {
            let (x, band) = (MARGIN + self.columns[slot], self.band(slot));
            let bottom = Point { x, y: band.bottom };
            if station == 0 {
                pen.turn(bottom, 0.9 * below)
            } else {
                pen.glide(bottom)
            }
            pen.line(Point { x, y: band.top });
        }
        pen.turn(entrance, -0.9 * above);
    }
}

struct Pen {
    at: Point,
    steps: Vec<Step>,
}

impl Pen {
    fn new(at: Point) -> Self {
        Pen { at, steps: Vec::new() }
    }

    fn line(&mut self, to: Point) {
        if self.at == to {
            return;
        }
        // Two straight pieces in one column are one.
        match self.steps.last_mut() {
            Some(Step::Line(end)) if end.x == to.x => *end = to,
            _ => self.steps.push(Step::Line(to)),
        }
        self.at = to;
    }

    /// From vertical to vertical.
    fn glide(&mut self, to: Point) {
        if (self.at.x - to.x).abs() < 0.5 {
            return self.line(Point { x: self.at.x, y: to.y });
        }
        let middle = (self.at.y + to.y) / 2.0;
        let (first, second) = (Point { x: self.at.x, y: middle }, Point { x: to.x, y: middle });
        self.steps.push(Step::Curve(first, second, to));
        self.at = to;
    }

    /// A bow of this depth (below for a positive one) to a point at the same height.
    fn turn(&mut self, to: Point, depth: f64) {
        let (first, second) = (Point { x: self.at.x, y: self.at.y + depth }, Point { x: to.x, y: to.y + depth });
        self.steps.push(Step::Curve(first, second, to));
        self.at = to;
    }
}
