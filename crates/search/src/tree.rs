//! The tree of explored paths: inner nodes are undecided points, each with the status of every alternative.

use std::rc::Rc;

use branchwise_program::FunctionId;
use branchwise_program::map::Event;

/// A node of the tree.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeNodeId(pub u32);

/// An undecided point of a path, as the search sees it.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Index into `branches`.
    pub taken: usize,
    pub branches: Vec<Branch>,
    /// Where the functions on the call stack stand, innermost last.
    pub positions: Rc<[Position]>,
}

/// One way to go on.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub struct Branch {
    /// The marker outcome that it is, if it is one.
    pub event: Option<Event>,
    /// It ends the path with a fault.
    pub fault: bool,
    /// It ends the path at a bound: that it can be reached matters, not what it reaches.
    pub cut: bool,
    /// The path has gone another way at the same marker before.
    pub mixed: bool,
    /// Its condition is about floats, and likely to cost.
    pub hard: bool,
}

/// A function on the call stack and the last event in it.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub struct Position {
    pub function: FunctionId,
    pub after: Option<Event>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Status {
    /// Nobody went there yet.
    Open,
    Explored,
    /// No input goes there.
    Refuted,
    /// The solver gave no answer.
    Unsolved,
    /// Other alternatives show all that it can show.
    Skipped,
}

#[derive(Debug, Clone)]
struct TreeNode {
    parent: Option<(TreeNodeId, usize)>,
    branches: Vec<Branch>,
    status: Vec<Status>,
    children: Vec<Option<TreeNodeId>>,
    positions: Rc<[Position]>,
    depth: u32,
}

/// Grows by whole paths.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Vec<TreeNode>,
}

/// Where a path lies in the tree.
#[derive(Debug, Clone)]
pub struct Inserted {
    /// One for each choice of the path.
    pub nodes: Vec<TreeNodeId>,
    /// The first of `nodes` that is new.
    pub first_new: usize,
}

impl Tree {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a path. The choices of two paths agree as long as they go the same way: execution is deterministic.
    pub fn insert(&mut self, choices: &[Choice]) -> Inserted {
        let mut inserted = Inserted { nodes: Vec::with_capacity(choices.len()), first_new: choices.len() };
        let mut parent = None;
        for (index, choice) in choices.iter().enumerate() {
            let known = match parent {
                None => (!self.nodes.is_empty()).then_some(TreeNodeId(0)),
                Some((node, taken)) => self.node(node).children[taken],
            };
            let node = known.unwrap_or_else(|| self.add(parent, choice));
            if known.is_none() {
                inserted.first_new = inserted.first_new.min(index);
            }
            self.nodes[node.0 as usize].status[choice.taken] = Status::Explored;
            inserted.nodes.push(node);
            parent = Some((node, choice.taken));
        }
        inserted
    }

    /// The nodes of a path that is in the tree, by the branches that it takes; those that are there of one that is not.
    pub fn nodes_along(&self, taken: impl IntoIterator<Item = usize>) -> Vec<TreeNodeId> {
        let mut next = (!self.nodes.is_empty()).then_some(TreeNodeId(0));
        let mut along = Vec::new();
        for branch in taken {
            let Some(node) = next else { break };
            along.push(node);
            next = self.node(node).children.get(branch).copied().flatten();
        }
        along
    }

    fn add(&mut self, parent: Option<(TreeNodeId, usize)>, choice: &Choice) -> TreeNodeId {
        let id = TreeNodeId(self.nodes.len() as u32);
        let depth = parent.map_or(0, |(node, _)| self.node(node).depth + 1);
        self.nodes.push(TreeNode {
            parent,
            branches: choice.branches.clone(),
            status: vec![Status::Open; choice.branches.len()],
            children: vec![None; choice.branches.len()],
            positions: choice.positions.clone(),
            depth,
        });
        if let Some((node, taken)) = parent {
            self.nodes[node.0 as usize].children[taken] = Some(id);
        }
        id
    }

    fn node(&self, id: TreeNodeId) -> &TreeNode {
        &self.nodes[id.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn parent(&self, id: TreeNodeId) -> Option<(TreeNodeId, usize)> {
        self.node(id).parent
    }

    pub fn branches(&self, id: TreeNodeId) -> &[Branch] {
        &self.node(id).branches
    }

    pub fn positions(&self, id: TreeNodeId) -> &[Position] {
        &self.node(id).positions
    }

    pub fn depth(&self, id: TreeNodeId) -> u32 {
        self.node(id).depth
    }

    pub fn status(&self, id: TreeNodeId, branch: usize) -> Status {
        self.node(id).status[branch]
    }

    pub fn set_status(&mut self, id: TreeNodeId, branch: usize, status: Status) {
        self.nodes[id.0 as usize].status[branch] = status;
    }
}
