use std::fmt::Write;

use branchwise_program::map::Map;

use super::layout::{self, Layout, Point, Rectangle, Route, Size, Step, layout};
use super::picture::{Line, Picture, Shape, Tone, Vertex, pictures};
use super::{Graph, Selection};

/// A drawing that needs no other program than a browser; several functions stand below each other.
pub fn svg(map: &Map, selection: impl Into<Selection>, graph: Graph) -> String {
    let placed = |(_, picture): (_, Picture)| {
        let layout = place(&picture);
        (picture, layout)
    };
    page(&pictures(map, selection.into(), graph).into_iter().map(placed).collect::<Vec<_>>())
}

pub(super) fn of_picture(picture: Picture) -> String {
    let layout = place(&picture);
    page(&[(picture, layout)])
}

const CHARACTER: f64 = 7.25;
const LINE_HEIGHT: f64 = 16.0;
const PADDING: Size = Size { width: 12.0, height: 6.0 };
/// Text beyond this many characters is cut; the whole of it shows under the pointer.
const LONGEST: usize = 56;
const TITLE: f64 = 34.0;

const STYLE: &str = "\
text{font:12px 'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}\
.title{font-weight:bold}.number{fill:#8c959f}\
.box{fill:#f6f8fa;stroke:#57606a}.rounded{fill:#ddf4ff;stroke:#0969da}.hexagon{fill:#fff8c5;stroke:#9a6700}\
.marked{stroke-width:2.5}.faded{opacity:.5;stroke-dasharray:4 3}\
.arc{fill:none;stroke:#57606a;stroke-width:1.2}.arc.marked{stroke-width:2.8}\
.arc.true{stroke:#1a7f37}.arc.false{stroke:#cf222e}.arc.case{stroke:#0550ae}\
text.true{fill:#1a7f37}text.false{fill:#cf222e}text.case{fill:#0550ae}";

/// The text as it is drawn: one line, cut where it is very long.
fn shown(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// East Asian characters take two columns in fixed-width fonts.
fn width(text: &str) -> f64 {
    text.chars().map(|c| if c >= '\u{1100}' && c != '…' && c != '→' { 2.0 } else { 1.0 }).sum::<f64>() * CHARACTER
}

fn number_width(lines: &[Line]) -> f64 {
    let digits = |line: &Line| line.number.map_or(0, |number| number.to_string().len() + 2);
    lines.iter().map(digits).max().unwrap_or(0) as f64 * CHARACTER
}

fn box_size(vertex: &Vertex) -> Size {
    let text = vertex.lines.iter().map(|line| width(&shown(&line.text))).fold(0.0, f64::max);
    let points = if vertex.shape == Shape::Hexagon { 12.0 } else { 0.0 };
    Size {
        width: (text + number_width(&vertex.lines) + 2.0 * (PADDING.width + points)).max(48.0),
        height: vertex.lines.len() as f64 * LINE_HEIGHT + 2.0 * PADDING.height,
    }
}

/// Where everything in the picture goes.
pub(super) fn place(picture: &Picture) -> Layout {
    let label = |label: &String| Size { width: width(&shown(label)) + 6.0, height: LINE_HEIGHT };
    let arc =
        |arc: &super::picture::Arc| layout::Arc { from: arc.from, to: arc.to, label: arc.label.as_ref().map(label) };
    layout(&layout::Input {
        boxes: picture.vertices.iter().map(box_size).collect(),
        arcs: picture.arcs.iter().map(arc).collect(),
        root: picture.root,
    })
}

// Writing to a string cannot fail.
fn page(pictures: &[(Picture, Layout)]) -> String {
    let title_width = |picture: &Picture| width(&picture.title) + 40.0;
    let right = pictures.iter().map(|(picture, layout)| layout.size.width.max(title_width(picture)));
    let (right, bottom) = (
        right.fold(80.0, f64::max).ceil(),
        pictures.iter().map(|(_, layout)| TITLE + layout.size.height).sum::<f64>().ceil(),
    );
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{right}\" height=\"{bottom}\" viewBox=\"0 0 {right} {bottom}\">"
    );
    let _ = writeln!(out, "<style>{STYLE}</style>\n{}", arrow_heads());
    let _ = writeln!(out, "<rect width=\"{right}\" height=\"{bottom}\" fill=\"white\"/>");
    let mut top = 0.0;
    for (picture, layout) in pictures {
        let _ = writeln!(
            out,
            "<text class=\"title\" x=\"16\" y=\"{}\">{}</text>",
            number(top + 22.0),
            escaped(&picture.title)
        );
        let _ = writeln!(out, "<g transform=\"translate(0 {})\">", number(top + TITLE));
        draw(&mut out, picture, layout);
        out.push_str("</g>\n");
        top += TITLE + layout.size.height;
    }
    out.push_str("</svg>\n");
    out
}

const TONES: [(Tone, &str, &str); 4] = [
    (Tone::Plain, "plain", "#57606a"),
    (Tone::True, "true", "#1a7f37"),
    (Tone::False, "false", "#cf222e"),
    (Tone::Case, "case", "#0550ae"),
];

fn tone_name(tone: Tone) -> &'static str {
    TONES.iter().find(|(it, ..)| *it == tone).map_or("plain", |(_, name, _)| name)
}

fn arrow_heads() -> String {
    let head = |(_, name, colour): &(Tone, &str, &str)| {
        format!(
            "<marker id=\"{name}\" markerUnits=\"userSpaceOnUse\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8.5\" refY=\"4\" \
             orient=\"auto\"><path d=\"M0 0L9 4L0 8Z\" fill=\"{colour}\"/></marker>"
        )
    };
    format!("<defs>{}</defs>", TONES.iter().map(head).collect::<String>())
}

/// Lines first, so that boxes and labels stay readable on top of them.
fn draw(out: &mut String, picture: &Picture, layout: &Layout) {
    for (arc, route) in picture.arcs.iter().zip(&layout.routes) {
        let tone = tone_name(arc.tone);
        let marked = if arc.marked { " marked" } else { "" };
        let path = path(route);
        let _ = writeln!(out, "<path class=\"arc {tone}{marked}\" marker-end=\"url(#{tone})\" d=\"{path}\"/>");
    }
    for (arc, route) in picture.arcs.iter().zip(&layout.routes) {
        if let (Some(label), Some(place)) = (&arc.label, &route.label) {
            draw_label(out, &shown(label), tone_name(arc.tone), place);
        }
    }
    for (vertex, place) in picture.vertices.iter().zip(&layout.boxes) {
        draw_box(out, vertex, place);
    }
}

fn path(route: &Route) -> String {
    let point = |point: &Point| format!("{} {}", number(point.x), number(point.y));
    let mut path = format!("M{}", point(&route.start));
    for step in &route.steps {
        match step {
            Step::Line(end) => path.push_str(&format!("L{}", point(end))),
            Step::Curve(first, second, end) => {
                path.push_str(&format!("C{} {} {}", point(first), point(second), point(end)));
            }
        }
    }
    path
}

fn draw_label(out: &mut String, label: &str, tone: &str, place: &Rectangle) {
    let (x, y) = (number(place.left()), number(place.top()));
    let (width, height) = (number(place.size.width), number(place.size.height));
    let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"white\"/>");
    let (x, y) = (number(place.centre.x), number(place.centre.y + 4.0));
    let _ =
        writeln!(out, "<text class=\"{tone}\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", escaped(label));
}

fn draw_box(out: &mut String, vertex: &Vertex, place: &Rectangle) {
    let marked = if vertex.marked { " marked" } else { "" };
    let faded = if vertex.faded { " class=\"faded\"" } else { "" };
    let whole: Vec<String> = vertex.lines.iter().map(|line| escaped(&line.text)).collect();
    let _ = writeln!(out, "<g{faded}><title>{}: {}</title>", escaped(&vertex.name), whole.join("\n"));
    let _ = writeln!(out, "{}", outline(vertex.shape, marked, place));
    let numbers = number_width(&vertex.lines);
    let points = if vertex.shape == Shape::Hexagon { 12.0 } else { 0.0 };
    for (index, line) in vertex.lines.iter().enumerate() {
        let y = number(place.top() + PADDING.height + LINE_HEIGHT * index as f64 + 12.0);
        let left = place.left() + PADDING.width + points;
        if let Some(of_source) = line.number {
            let x = number(left + numbers - 2.0 * CHARACTER);
            let _ = writeln!(out, "<text class=\"number\" x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{of_source}</text>");
        }
        let x = number(left + numbers);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(&shown(&line.text)));
    }
    out.push_str("</g>\n");
}

fn outline(shape: Shape, marked: &str, place: &Rectangle) -> String {
    let (left, right, top, bottom) = (place.left(), place.right(), place.top(), place.bottom());
    let rectangle = |class: &str, radius: f64| {
        let (width, height) = (number(place.size.width), number(place.size.height));
        let (x, y) = (number(left), number(top));
        format!(
            "<rect class=\"{class}{marked}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>"
        )
    };
    match shape {
        Shape::Box => rectangle("box", 2.0),
        Shape::Rounded => rectangle("rounded", 14.0),
        Shape::Hexagon => {
            let corners = [
                (left + 12.0, top),
                (right - 12.0, top),
                (right, place.centre.y),
                (right - 12.0, bottom),
                (left + 12.0, bottom),
                (left, place.centre.y),
            ];
            let points: Vec<String> = corners.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
            format!("<polygon class=\"hexagon{marked}\" points=\"{}\"/>", points.join(" "))
        }
    }
}

/// One decimal, and none where it is zero: the same on every machine, and short.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_string()
}

fn escaped(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c });
    let mut out = String::with_capacity(text.len());
    for c in clean {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
