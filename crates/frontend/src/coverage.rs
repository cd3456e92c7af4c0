//! What llvm-cov will count. Clang itself is asked for the coverage mapping of the unmarked file: which conditions it
//! reports, where, and which it folds to constants. So markers and llvm-cov cannot disagree about what exists.

use std::collections::HashMap;

/// The branch regions of one function.
#[derive(Debug, Default)]
pub(crate) struct FunctionRegions {
    branches: Vec<Branch>,
    /// Where its pieces of code begin and end, in the file of its body.
    pieces: Vec<(LineColumn, LineColumn)>,
    /// Which file and place a virtual file (a macro expansion or an include) is expanded at.
    expansions: HashMap<u32, (u32, LineColumn)>,
}

pub(crate) type LineColumn = (u32, u32);

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Branch {
    pub file: u32,
    pub start: LineColumn,
    end: LineColumn,
    /// The compiler knows the outcome; llvm-cov does not count it.
    pub folded: bool,
}

impl Branch {
    fn place(&self) -> (u32, LineColumn, LineColumn) {
        (self.file, self.start, self.end)
    }
}

/// Reads what `-dump-coverage-mapping` prints, by symbol.
pub(crate) fn parse_dump(dump: &str) -> HashMap<String, FunctionRegions> {
    let mut functions: HashMap<String, FunctionRegions> = HashMap::new();
    let mut current = None;
    for line in dump.lines() {
        match line.strip_prefix("  ") {
            Some(region) => {
                let Some(function) = current.as_ref().and_then(|name| functions.get_mut(name)) else { continue };
                function.add(region);
            }
            None => {
                // Symbols with internal linkage are printed as `file.c:name:`.
                let name = line.trim_end_matches(':').rsplit(':').next().unwrap_or_default().to_owned();
                functions.entry(name.clone()).or_default();
                current = Some(name);
            }
        }
    }
    functions
}

impl FunctionRegions {
    fn add(&mut self, region: &str) {
        if let Some(rest) = region.strip_prefix("Branch,File ") {
            self.branches.extend(parse_branch(rest));
        } else if let Some(rest) = region.strip_prefix("File 0, ") {
            let range = rest.split_once(" = ").and_then(|(range, _)| range.split_once(" -> "));
            self.pieces.extend(range.and_then(|(start, end)| Some((parse_place(start)?, parse_place(end)?))));
        } else if let Some(rest) = region.strip_prefix("Expansion,File ") {
            let parsed = parse_branch(rest);
            let expanded = rest.rsplit("(Expanded file = ").next().and_then(|n| n.trim_end_matches(')').parse().ok());
            if let (Some(at), Some(expanded)) = (parsed, expanded) {
                self.expansions.insert(expanded, (at.file, at.start));
            }
        }
    }

    /// Where its body begins.
    pub fn start(&self) -> Option<LineColumn> {
        self.pieces.first().map(|(start, _)| *start)
    }

    /// The places that lead to a region, from the function's file inwards, and the region's own. Their
    /// lexicographical order is the order of the fully expanded text.
    fn path(&self, branch: &Branch) -> Vec<LineColumn> {
        let mut path = vec![branch.start];
        let mut file = branch.file;
        while let Some(&(outer, place)) = self.expansions.get(&file) {
            path.push(place);
            file = outer;
            if path.len() > self.expansions.len() + 1 {
                break;
            }
        }
        path.reverse();
        path
    }

    /// All instances of a template together: what is decided in one of them counts.
    pub fn merged<'r>(instances: impl Iterator<Item = &'r FunctionRegions>) -> Option<FunctionRegions> {
        let mut merged: Option<FunctionRegions> = None;
        for instance in instances {
            let known = merged.get_or_insert_with(FunctionRegions::default);
            for (index, branch) in instance.branches.iter().enumerate() {
                // Where they come from the argument of a macro, several stand at one place.
                let before = instance.branches[..index].iter().filter(|other| other.place() == branch.place()).count();
                let same = |other: &&mut Branch| other.place() == branch.place();
                match known.branches.iter_mut().filter(same).nth(before) {
                    Some(other) => other.folded &= branch.folded,
                    None => known.branches.push(*branch),
                }
            }
            known.expansions.extend(instance.expansions.iter().map(|(file, place)| (*file, *place)));
        }
        merged
    }

    /// How many branches begin at this place of the function's own file.
    pub fn branches_at(&self, place: LineColumn) -> usize {
        self.branches.iter().filter(|branch| branch.file == 0 && branch.start == place).count()
    }

    /// Whether a body that stands there is this function's.
    pub fn has_body_at(&self, start: LineColumn, end: LineColumn) -> bool {
        self.pieces.contains(&(start, end))
    }

    /// Where a virtual file is expanded.
    pub fn expanded_at(&self, file: u32) -> Option<(u32, LineColumn)> {
        self.expansions.get(&file).copied()
    }

    /// The branches in the order of the expanded text, enclosing ones first, with their outermost place.
    fn in_text_order(&self) -> Vec<(Vec<LineColumn>, Branch)> {
        let mut ordered: Vec<_> = self.branches.iter().map(|branch| (self.path(branch), *branch)).collect();
        ordered.sort_by(|(a_path, a), (b_path, b)| a_path.cmp(b_path).then(b.end.cmp(&a.end)));
        ordered
    }
}

/// `0, 14:7 -> 14:9 = #1, (#0 - #1)`
fn parse_branch(text: &str) -> Option<Branch> {
    let (file, rest) = text.split_once(", ")?;
    let (range, counters) = rest.split_once(" = ")?;
    let (start, end) = range.split_once(" -> ")?;
    Some(Branch {
        file: file.parse().ok()?,
        start: parse_place(start)?,
        end: parse_place(end)?,
        folded: counters == "0, 0",
    })
}

fn parse_place(text: &str) -> Option<LineColumn> {
    let (line, column) = text.split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

/// One point of the source that may have a branch region.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    /// Where it stands in the function's file (a macro: where the outermost macro is used).
    pub outermost: Option<LineColumn>,
    /// The compiler can evaluate it; tells folded regions at one place apart.
    pub constant: bool,
}

/// The region of each point; points come in the order of the expanded text. Both are usually equally many, because they
/// describe the same tree; where they are not (`typeof (a && b)` has no region), they are paired place by place.
pub(crate) fn pair(regions: &FunctionRegions, expected: &[Expected]) -> Vec<Option<Branch>> {
    let ordered = regions.in_text_order();
    let mut paired = match ordered.len() == expected.len() {
        true => ordered.iter().map(|(_, branch)| Some(*branch)).collect(),
        false => pair_by_place(&ordered, expected),
    };
    settle_folded(&mut paired, expected);
    paired
}

fn pair_by_place(ordered: &[(Vec<LineColumn>, Branch)], expected: &[Expected]) -> Vec<Option<Branch>> {
    let mut regions_at: HashMap<LineColumn, Vec<Branch>> = HashMap::new();
    for (path, branch) in ordered {
        regions_at.entry(path[0]).or_default().push(*branch);
    }
    let mut points_at: HashMap<LineColumn, Vec<usize>> = HashMap::new();
    for (index, point) in expected.iter().enumerate() {
        if let Some(place) = point.outermost {
            points_at.entry(place).or_default().push(index);
        }
    }
    let mut paired = vec![None; expected.len()];
    for (place, points) in points_at {
        let regions = regions_at.get(&place).map(Vec::as_slice).unwrap_or_default();
        if regions.len() == points.len() {
            for (index, region) in points.into_iter().zip(regions) {
                paired[index] = Some(*region);
            }
        }
    }
    paired
}

/// Regions at one place cannot be told apart by their order alone: among them, the folded ones are the constants.
fn settle_folded(paired: &mut [Option<Branch>], expected: &[Expected]) {
    let mut groups: HashMap<(u32, LineColumn), Vec<usize>> = HashMap::new();
    for (index, branch) in paired.iter().enumerate() {
        if let Some(branch) = branch {
            groups.entry((branch.file, branch.start)).or_default().push(index);
        }
    }
    for group in groups.into_values() {
        let folded = group.iter().filter(|&&i| paired[i].is_some_and(|branch| branch.folded)).count();
        let constants = group.iter().filter(|&&i| expected[i].constant).count();
        if folded == constants {
            for index in group {
                if let Some(branch) = &mut paired[index] {
                    branch.folded = expected[index].constant;
                }
            }
        }
    }
}
