/// How boxes are searched. The default is what decided most in the least time (`benches/boxes.rs`).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct BoxTactics {
    pub split: SplittingOrder,
    pub traversal: Traversal,
    pub filtering: Filtering,
}

/// Which variable of a box is split.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum SplittingOrder {
    /// The one with the most values.
    Widest,
    /// The one with the most values (as a logarithm) times its occurrences.
    #[default]
    Heaviest,
    /// One after the other, as Sy and Deville do.
    InTurn,
    /// The one that occurs most often; among equals the one with the most values.
    MostUsed,
}

/// Which box is split.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Traversal {
    /// The one whose middle is nearest to a solution.
    #[default]
    Nearest,
    /// The newest one, as Sy and Deville do.
    DepthFirst,
}

/// What is taken from a box before it is split.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Filtering {
    /// What bounds exclude, from the variables up and from the constraints down.
    #[default]
    Contraction,
    /// Also both ends of each variable, as long as contraction shows that there is nothing in an eighth of it: Sy and
    /// Deville's box consistency.
    BothEnds,
}
