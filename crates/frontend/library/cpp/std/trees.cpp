/* The red-black trees of map and set. Their shape decides which elements a comparison sees, so it must be that of the real
 * ones: the insertion and deletion of Cormen, Leiserson, Rivest and Stein, where a node with two children is replaced by its
 * successor. The header node has the root as parent, the first node to the left and the last to the right. */
#include "std.h"

#include <bits/stl_tree.h>

namespace {

using node = std::_Rb_tree_node_base;
using link = node *node::*;

constexpr link LEFT = &node::_M_left, RIGHT = &node::_M_right;
constexpr auto RED = std::_S_red, BLACK = std::_S_black;

node *neighbour(node *from, link down, link other) noexcept {
    if (from->*down) {
        from = from->*down;
        while (from->*other) from = from->*other;
        return from;
    }
    node *above = from->_M_parent;
    while (from == above->*down) from = above, above = above->_M_parent;
    /* The header of a tree with one node is above its root and below it. */
    return from->*down == above ? from : above;
}

void replace_child(node *old, node *by, node *&root) noexcept {
    node *parent = old->_M_parent;
    if (old == root) root = by;
    else if (parent->_M_left == old) parent->_M_left = by;
    else parent->_M_right = by;
}

/* The child on the other side of `side` comes up, `pivot` goes down to `side`. */
void rotate(node *pivot, link side, link other, node *&root) noexcept {
    node *up = pivot->*other;
    pivot->*other = up->*side;
    if (up->*side) (up->*side)->_M_parent = pivot;
    up->_M_parent = pivot->_M_parent;
    replace_child(pivot, up, root);
    up->*side = pivot;
    pivot->_M_parent = up;
}

bool is_black(const node *looked_at) noexcept { return !looked_at || looked_at->_M_color == BLACK; }

/* One step up of the insertion: the parent of `red` is red and on side `side`. */
node *recolour_or_rotate(node *red, link side, link other, node *&root) noexcept {
    node *above = red->_M_parent->_M_parent, *uncle = above->*other;
    if (!is_black(uncle)) {
        red->_M_parent->_M_color = BLACK;
        uncle->_M_color = BLACK;
        above->_M_color = RED;
        return above;
    }
    if (red == red->_M_parent->*other) {
        red = red->_M_parent;
        rotate(red, side, other, root);
    }
    red->_M_parent->_M_color = BLACK;
    above->_M_color = RED;
    rotate(above, other, side, root);
    return red;
}

/* One step up of the deletion: the subtree on `side` of `parent` lacks a black node. True: it has one now. */
bool take_from_sibling(node *&parent, link side, link other, node *&root) noexcept {
    node *sibling = parent->*other;
    if (sibling->_M_color == RED) {
        sibling->_M_color = BLACK;
        parent->_M_color = RED;
        rotate(parent, side, other, root);
        sibling = parent->*other;
    }
    if (is_black(sibling->*side) && is_black(sibling->*other)) {
        sibling->_M_color = RED;
        return false;
    }
    if (is_black(sibling->*other)) {
        (sibling->*side)->_M_color = BLACK;
        sibling->_M_color = RED;
        rotate(sibling, other, side, root);
        sibling = parent->*other;
    }
    sibling->_M_color = parent->_M_color;
    parent->_M_color = BLACK;
    (sibling->*other)->_M_color = BLACK;
    rotate(parent, side, other, root);
    return true;
}

void restore_black(node *at, node *parent, node *&root) noexcept {
    while (at != root && is_black(at)) {
        bool left = at == parent->_M_left;
        if (take_from_sibling(parent, left ? LEFT : RIGHT, left ? RIGHT : LEFT, root)) break;
        at = parent;
        parent = parent->_M_parent;
    }
    if (at) at->_M_color = BLACK;
}

/* `successor` takes the place and the colour of `removed`, which has two children. */
node *put_successor(node *removed, node *successor, node *&root) noexcept {
    node *child = successor->_M_right, *parent = successor;
    if (successor != removed->_M_right) {
        parent = successor->_M_parent;
        if (child) child->_M_parent = parent;
        parent->_M_left = child;
        successor->_M_right = removed->_M_right;
        removed->_M_right->_M_parent = successor;
    }
    successor->_M_left = removed->_M_left;
    removed->_M_left->_M_parent = successor;
    replace_child(removed, successor, root);
    successor->_M_parent = removed->_M_parent;
    std::swap(successor->_M_color, removed->_M_color);
    return parent;
}

/* The only child, if any, of `removed` takes its place. */
void put_child(node *removed, node *child, node &header, node *&root) noexcept {
    if (child) child->_M_parent = removed->_M_parent;
    replace_child(removed, child, root);
    if (header._M_left == removed)
        header._M_left = removed->_M_right ? node::_S_minimum(child) : removed->_M_parent;
    if (header._M_right == removed)
        header._M_right = removed->_M_left ? node::_S_maximum(child) : removed->_M_parent;
}

}

namespace std {

/* The last node's successor is the header; the header's predecessor is the last node. */
node *_Rb_tree_increment(node *from) noexcept { return neighbour(from, RIGHT, LEFT); }
const node *_Rb_tree_increment(const node *from) noexcept { return neighbour(const_cast<node *>(from), RIGHT, LEFT); }

node *_Rb_tree_decrement(node *from) noexcept {
    bool header = from->_M_color == RED && from->_M_parent->_M_parent == from;
    return header ? from->_M_right : neighbour(from, LEFT, RIGHT);
}
const node *_Rb_tree_decrement(const node *from) noexcept { return _Rb_tree_decrement(const_cast<node *>(from)); }

void _Rb_tree_insert_and_rebalance(const bool left, node *added, node *parent, node &header) noexcept {
    node *&root = header._M_parent;
    added->_M_parent = parent;
    added->_M_left = added->_M_right = nullptr;
    added->_M_color = RED;
    if (left) {
        /* Of the header too: this makes the first node of an empty tree its leftmost one. */
        parent->_M_left = added;
        if (parent == &header) header._M_parent = header._M_right = added;
        else if (parent == header._M_left) header._M_left = added;
    } else {
        parent->_M_right = added;
        if (parent == header._M_right) header._M_right = added;
    }
    while (added != root && added->_M_parent->_M_color == RED) {
        bool under_left = added->_M_parent == added->_M_parent->_M_parent->_M_left;
        added = recolour_or_rotate(added, under_left ? LEFT : RIGHT, under_left ? RIGHT : LEFT, root);
    }
    root->_M_color = BLACK;
}

node *_Rb_tree_rebalance_for_erase(node *const removed, node &header) noexcept {
    node *&root = header._M_parent;
    node *child, *parent;
    if (removed->_M_left && removed->_M_right) {
        node *successor = node::_S_minimum(removed->_M_right);
        child = successor->_M_right;
        parent = put_successor(removed, successor, root);
    } else {
        child = removed->_M_left ? removed->_M_left : removed->_M_right;
        parent = removed->_M_parent;
        put_child(removed, child, header, root);
    }
    if (removed->_M_color == BLACK) restore_black(child, parent, root);
    return removed;
}

}
