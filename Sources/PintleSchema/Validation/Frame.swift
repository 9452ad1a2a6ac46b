// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A schema that is being applied to a value.
struct Frame {
    let node: Int
    let value: Parameter
    /// How the value was reached from that of the frame below; nil where both have the same.
    let token: PointerToken?
    /// Whether what is wrong is told; otherwise only the verdict is asked, and the first fault ends the work.
    let reports: Bool
    /// Whether somebody will ask which members and items were looked at.
    let tracks: Bool
    /// Whether the value is that of the frame below, whose findings then count there too.
    let isInPlace: Bool

    /// The keyword under way.
    var keyword = 0
    /// Of the keyword under way: the member, item or schema that is next.
    var cursor = 0
    /// Of `properties` and its kin: which of the rules for the member is next, and whether one of them was for it.
    var rule = 0
    var isMatched = false
    /// Of the keyword under way: how many schemas or items held.
    var passed = 0

    var isValid = true
    /// The first fault, where it is not reported.
    var fault: Fault?
    /// Why the branches of the keyword under way did not hold; the first few.
    var branchFaults: [Fault] = []
    var evaluated = Evaluated()

    init(
        node: Int, value: Parameter, token: PointerToken? = nil, reports: Bool, tracks: Bool, isInPlace: Bool = false
    ) {
        self.node = node
        self.value = value
        self.token = token
        self.reports = reports
        self.tracks = tracks
        self.isInPlace = isInPlace
    }
}

/// A keyword that a value breaks. Sentences are made of it only where one is read.
struct Fault {
    let node: Int
    let keyword: Int
    let value: Parameter
    /// The way to the value from that of the frame that keeps the fault, the last step first.
    var tokens: [PointerToken] = []
    /// How many schemas or items held, where that matters.
    var passed = 0
    /// Why each branch does not hold, where there are branches.
    var branches: [Fault] = []
}

/// Which members or items the keywords of a schema have looked at (core §11).
struct Evaluated {
    /// All before this one.
    private var prefix = 0
    private var others: Set<Int> = []

    /// How much there is to copy.
    var weight: Int { self.others.count }

    func contains(_ index: Int) -> Bool { index < self.prefix || self.others.contains(index) }

    mutating func insert(_ index: Int) {
        if index == self.prefix {
            self.prefix += 1
        } else if index > self.prefix {
            self.others.insert(index)
        }
    }

    mutating func formUnion(_ other: Evaluated) {
        self.prefix = max(self.prefix, other.prefix)
        self.others.formUnion(other.others)
    }
}
