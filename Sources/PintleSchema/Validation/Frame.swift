// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// A schema that is being applied to a value.
struct Frame {
    let node: Int
    let value: Parameter
    /// The step from the value of the frame below to this one; nil if both frames have the same value.
    let token: PointerToken?
    /// True if faults are reported; otherwise only the verdict matters, and the first fault ends the work.
    let reports: Bool
    /// True if the evaluated members and items will be needed.
    let tracks: Bool
    /// True if the value is that of the frame below: members and items evaluated here then count there, too.
    let isInPlace: Bool

    /// The index of the current keyword.
    var keyword = 0
    /// The next member, item or schema of the current keyword.
    var cursor = 0
    /// In `properties` and its kin: the next rule for the current member. `isMatched` is true if a rule has applied to it.
    var rule = 0
    var isMatched = false
    /// The number of schemas or items that held, for the current keyword.
    var passed = 0

    var isValid = true
    /// The first fault, if faults are not reported.
    var fault: Fault?
    /// The faults of the first few branches of the current keyword that did not hold.
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

/// A keyword that a value breaks. Its sentence is made only if it is reported.
struct Fault {
    let node: Int
    let keyword: Int
    let value: Parameter
    /// The steps to the faulty value from that of the frame that keeps the fault, the last step first.
    var tokens: [PointerToken] = []
    /// The number of schemas or items that held, if the keyword counts them.
    var passed = 0
    /// The fault of each branch, if the keyword has branches.
    var branches: [Fault] = []
}

/// The members or items that the keywords of a schema have evaluated (core §11).
struct Evaluated {
    /// All indices before this one are evaluated.
    private var prefix = 0
    private var others: Set<Int> = []

    /// The number of indices that a union has to copy.
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
