/// A directed graph on the vertices 0, 1, …, stored as one array of targets.
///
/// Parallel edges and self loops are allowed. The successors of a vertex keep the order in which they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digraph {
    /// The successors of `v` are `targets[starts[v]..starts[v + 1]]`.
    starts: Vec<usize>,
    targets: Vec<usize>,
}

impl Digraph {
    pub fn new(vertices: usize, edges: &[(usize, usize)]) -> Self {
        let mut starts = vec![0; vertices + 1];
        for &(from, _) in edges {
            starts[from + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let mut free = starts.clone();
        let mut targets = vec![0; edges.len()];
        for &(from, to) in edges {
            targets[free[from]] = to;
            free[from] += 1;
        }
        Digraph { starts, targets }
    }

    pub fn vertex_count(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn successors(&self, vertex: usize) -> &[usize] {
        &self.targets[self.starts[vertex]..self.starts[vertex + 1]]
    }

    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.vertex_count()).flat_map(|from| self.successors(from).iter().map(move |&to| (from, to)))
    }

    /// The same graph with every edge turned round.
    pub fn reversed(&self) -> Digraph {
        let turned: Vec<_> = self.edges().map(|(from, to)| (to, from)).collect();
        Digraph::new(self.vertex_count(), &turned)
    }

    /// For each vertex, whether a path leads to it from `root`.
    pub fn reachable_from(&self, root: usize) -> Vec<bool> {
        let mut reached = vec![false; self.vertex_count()];
        reached[root] = true;
        let mut waiting = vec![root];
        while let Some(vertex) = waiting.pop() {
            for &next in self.successors(vertex) {
                if !reached[next] {
                    reached[next] = true;
                    waiting.push(next);
                }
            }
        }
        reached
    }

    /// A depth-first search from `root`: the vertices in preorder and, in the same order, the position of each one's
    /// parent in that list (the root is its own parent).
    pub(super) fn depth_first(&self, root: usize) -> (Vec<usize>, Vec<usize>) {
        let mut order = vec![root];
        let mut parents = vec![0];
        let mut seen = vec![false; self.vertex_count()];
        seen[root] = true;
        let mut stack = vec![(0, self.successors(root).iter())];
        while let Some((position, rest)) = stack.last_mut() {
            let parent = *position;
            match rest.find(|next| !seen[**next]) {
                None => {
                    stack.pop();
                }
                Some(&next) => {
                    seen[next] = true;
                    order.push(next);
                    parents.push(parent);
                    stack.push((order.len() - 1, self.successors(next).iter()));
                }
            }
        }
        (order, parents)
    }

    /// The strongly connected component of each vertex. Components are numbered so that an edge never leads to a
    /// component with a higher number (Tarjan 1972, without recursion: functions may have any number of nodes).
    pub fn components(&self) -> Vec<usize> {
        let mut search = ComponentSearch::new(self);
        for root in 0..self.vertex_count() {
            search.visit(root);
        }
        search.component
    }
}

const NONE: usize = usize::MAX;

struct ComponentSearch<'g> {
    graph: &'g Digraph,
    number: Vec<usize>,
    low: Vec<usize>,
    component: Vec<usize>,
    open: Vec<usize>,
    numbered: usize,
    components: usize,
}

impl<'g> ComponentSearch<'g> {
    fn new(graph: &'g Digraph) -> Self {
        let none = vec![NONE; graph.vertex_count()];
        let (number, low, component) = (none.clone(), none.clone(), none);
        ComponentSearch { graph, number, low, component, open: Vec::new(), numbered: 0, components: 0 }
    }

    fn visit(&mut self, root: usize) {
        if self.number[root] != NONE {
            return;
        }
        self.enter(root);
        let mut stack = vec![(root, 0)];
        while let Some((vertex, next)) = stack.last_mut() {
            let vertex = *vertex;
            let Some(&target) = self.graph.successors(vertex).get(*next) else {
                stack.pop();
                self.leave(vertex);
                if let Some((parent, _)) = stack.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[vertex]);
                }
                continue;
            };
            *next += 1;
            if self.number[target] == NONE {
                self.enter(target);
                stack.push((target, 0));
            } else if self.component[target] == NONE {
                self.low[vertex] = self.low[vertex].min(self.number[target]);
            }
        }
    }

    fn enter(&mut self, vertex: usize) {
        self.number[vertex] = self.numbered;
        self.low[vertex] = self.numbered;
        self.numbered += 1;
        self.open.push(vertex);
    }

    fn leave(&mut self, vertex: usize) {
        if self.low[vertex] != self.number[vertex] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.component[member] = self.components;
            if member == vertex {
                break;
            }
        }
        self.components += 1;
    }
}
