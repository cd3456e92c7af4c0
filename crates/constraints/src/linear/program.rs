//! Mixed-integer linear programs: integer columns within bounds, linear forms, and conditions on both that hold always
//! or in an alternative that a 0-1 variable stands for.

use crate::terms::TermId;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub(super) struct $name(u32);

        impl $name {
            pub(super) fn index(self) -> usize {
                self.0 as usize
            }

            pub(super) fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32"))
            }
        }
    };
}

index_type!(ColumnId);
index_type!(FormId);
index_type!(AlternativeId);
index_type!(ChoiceId);

/// How the bits of a term are read as a number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Order {
    Signed,
    Unsigned,
}

/// An integer unknown: an input, a term that is not linear and stands for itself, or a quotient.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub term: Option<TermId>,
    pub name: String,
    pub low: i128,
    pub high: i128,
}

/// Two or more columns with factors without a common divisor, the first one positive.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub terms: Vec<(ColumnId, i128)>,
    /// Within the bounds of the columns.
    pub low: i128,
    pub high: i128,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Subject {
    Column(ColumnId),
    Form(FormId),
}

/// `low ≤ subject ≤ high`, both within the range of the subject.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Bound {
    pub subject: Subject,
    pub low: i128,
    pub high: i128,
}

/// What holds together.
#[derive(Clone, Debug, Default)]
pub(super) struct Alternative {
    pub bounds: Vec<Bound>,
    pub choices: Vec<ChoiceId>,
}

/// At least one of these holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub alternatives: Vec<AlternativeId>,
}

/// A program without an objective: any solution will do.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) columns: Vec<Column>,
    pub(super) forms: Vec<Form>,
    /// The first one always holds; each other one if its 0-1 variable is 1.
    pub(super) alternatives: Vec<Alternative>,
    pub(super) choices: Vec<Choice>,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    AtMost,
    AtLeast,
}

/// `Σ factor · unknown  relation  constant`; unknowns are the columns, then the 0-1 variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub terms: Vec<(usize, i128)>,
    pub relation: Relation,
    pub constant: i128,
}

impl Program {
    /// Always holds.
    pub(super) const ROOT: AlternativeId = AlternativeId(0);

    /// How many 0-1 variables there are.
    pub fn binaries(&self) -> usize {
        self.alternatives.len() - 1
    }

    /// How many unknowns there are, with the 0-1 variables.
    pub fn unknowns(&self) -> usize {
        self.columns.len() + self.binaries()
    }

    /// The unknown that says whether the alternative is taken; none for the one that holds always.
    pub(super) fn binary(&self, alternative: AlternativeId) -> Option<usize> {
        alternative.index().checked_sub(1).map(|number| self.columns.len() + number)
    }

    pub(super) fn form_terms(&self, subject: Subject) -> Vec<(ColumnId, i128)> {
        match subject {
            Subject::Column(column) => vec![(column, 1)],
            Subject::Form(form) => self.forms[form.index()].terms.clone(),
        }
    }

    pub(super) fn range(&self, subject: Subject) -> (i128, i128) {
        match subject {
            Subject::Column(column) => (self.columns[column.index()].low, self.columns[column.index()].high),
            Subject::Form(form) => (self.forms[form.index()].low, self.forms[form.index()].high),
        }
    }

    /// The rows, Lapierre 1998, annex A, appendix C, with M for each row as large as the bounds of its columns need.
    /// None if such an M does not fit 128 bits.
    pub(super) fn rows(&self) -> Option<Vec<Row>> {
        let mut rows = Vec::new();
        for (index, alternative) in self.alternatives.iter().enumerate() {
            let binary = self.binary(AlternativeId::from_index(index));
            for bound in &alternative.bounds {
                self.push_bound_rows(bound, binary, &mut rows)?;
            }
            for choice in &alternative.choices {
                rows.push(self.choice_row(&self.choices[choice.index()], binary));
            }
        }
        Some(rows)
    }

    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        let sides = |bound: &Bound| {
            let (low, high) = self.range(bound.subject);
            usize::from(bound.low > low) + usize::from(bound.high < high)
        };
        let rows =
            |alternative: &Alternative| alternative.bounds.iter().map(sides).sum::<usize>() + alternative.choices.len();
        self.alternatives.iter().map(rows).sum()
    }

    fn push_bound_rows(&self, bound: &Bound, binary: Option<usize>, rows: &mut Vec<Row>) -> Option<()> {
        let terms: Vec<(usize, i128)> =
            self.form_terms(bound.subject).into_iter().map(|(column, factor)| (column.index(), factor)).collect();
        let (low, high) = self.range(bound.subject);
        if bound.high < high {
            // form ≤ bound + M (1 − y) with M = high − bound
            rows.push(guarded(&terms, binary, high.checked_sub(bound.high)?, Relation::AtMost, bound.high)?);
        }
        if bound.low > low {
            // form ≥ bound − M (1 − y) with M = bound − low
            rows.push(guarded(&terms, binary, low.checked_sub(bound.low)?, Relation::AtLeast, bound.low)?);
        }
        Some(())
    }

    fn choice_row(&self, choice: &Choice, parent: Option<usize>) -> Row {
        let taken = choice.alternatives.iter().filter_map(|&alternative| self.binary(alternative));
        let mut terms: Vec<(usize, i128)> = taken.map(|binary| (binary, 1)).collect();
        terms.extend(parent.map(|parent| (parent, -1)));
        Row { terms, relation: Relation::AtLeast, constant: i128::from(parent.is_none()) }
    }
}

/// The row holds where the 0-1 variable is 1, and where it is 0 it leaves `slack` more, which the form never uses up.
fn guarded(
    terms: &[(usize, i128)],
    binary: Option<usize>,
    slack: i128,
    relation: Relation,
    constant: i128,
) -> Option<Row> {
    let mut terms = terms.to_vec();
    let Some(binary) = binary else {
        return Some(Row { terms, relation, constant });
    };
    terms.push((binary, slack));
    Some(Row { terms, relation, constant: constant.checked_add(slack)? })
}
