// SPDX-License-Identifier: Apache-2.0

extension Fields: ExpressibleByDictionaryLiteral {
    /// Makes a section of the given lines, in order; names may repeat.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        for (name, value) in elements { self.append(name, value) }
    }
}

extension Fields: Equatable {
    /// Two sections are equal when they have the same lines, spelled alike, in the same order.
    public static func == (left: Fields, right: Fields) -> Bool {
        left.count == right.count && zip(left.pairs, right.pairs).allSatisfy { $0 == $1 }
    }
}
