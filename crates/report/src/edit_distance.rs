//! Which known name a mistyped one may have meant.

/// The known name nearest to `name`, if one is near enough that a typing error explains the difference.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().max(3) / 3;
    let distances = known.into_iter().map(|candidate| (edit_distance(name, candidate), candidate));
    distances.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
fn edit_distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_missing_or_swapped_finds_the_name() {
        let known = ["classify", "main", "trityp"];
        assert_eq!(did_you_mean("clasify", known), Some("classify"));
        assert_eq!(did_you_mean("tritpy", known), Some("trityp"));
        assert_eq!(did_you_mean("Main", known), Some("main"));
        assert_eq!(did_you_mean("quicksort", known), None);
        assert_eq!(did_you_mean("f", []), None);
    }
}
