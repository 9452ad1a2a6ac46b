// SPDX-License-Identifier: Apache-2.0

/// A doubly linked list of numbered places in the order of their last use. Each change takes constant time.
@usableFromInline
package struct RecencyChain: Sendable {
    /// A link between the places, from the oldest to the newest; in free places `newer` is the next free one.
    private struct Link: Sendable {
        var older: Int?
        var newer: Int?
    }

    private var links: [Link] = []
    @usableFromInline package private(set) var oldest: Int?
    private var newest: Int?
    private var free: Int?

    @usableFromInline package init() {}

    /// Takes a free place and makes it the newest: one that was removed before, or the next number.
    @usableFromInline
    package mutating func add() -> Int {
        let place: Int
        if let free = self.free {
            place = free
            self.free = self.links[free].newer
        } else {
            place = self.links.count
            self.links.append(Link())
        }
        self.append(place)
        return place
    }

    /// Makes a place the newest.
    @usableFromInline
    package mutating func use(_ place: Int) {
        guard place != self.newest else { return }
        self.detach(place)
        self.append(place)
    }

    /// Frees a place.
    @usableFromInline
    package mutating func remove(_ place: Int) {
        self.detach(place)
        self.links[place] = Link(newer: self.free)
        self.free = place
    }

    private mutating func append(_ place: Int) {
        self.links[place] = Link(older: self.newest)
        if let newest { self.links[newest].newer = place } else { self.oldest = place }
        self.newest = place
    }

    private mutating func detach(_ place: Int) {
        let link = self.links[place]
        if let older = link.older { self.links[older].newer = link.newer } else { self.oldest = link.newer }
        if let newer = link.newer { self.links[newer].older = link.older } else { self.newest = link.older }
    }
}
