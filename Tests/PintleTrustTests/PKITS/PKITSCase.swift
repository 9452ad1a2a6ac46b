// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// One path of the suite, and its expected outcome.
struct PKITSCase: Sendable, CustomTestStringConvertible {
    enum Expectation: String {
        case valid, invalid, list
    }

    /// Intended differences between Pintle and the suite.
    enum Exception: String {
        /// DSA keys are weak, and were never in server certificates.
        case dsa
        /// Revocation is not checked if the issuer has no list. The suite wants its certificates refused.
        case issuerWithoutList
        /// Lists for some certificates, for some reasons, of other issuers, or signed with a key that is not on the path
        /// cannot be used, so the path is refused.
        case otherKindOfList
        /// Delta lists cannot be given; the complete list alone says the opposite.
        case deltaList
    }

    let number: String
    let expectation: Expectation
    let exception: Exception?
    /// The file of the certificate, without its ending.
    let leaf: String

    var testDescription: String { "\(self.number) \(self.leaf)" }

    private init(_ line: Substring) throws {
        let words = line.split(separator: " ").map(String.init)
        guard words.count >= 3, let expectation = Expectation(rawValue: words[1]),
            let test = words[0].split(separator: ".").last
        else { throw TestFailure("no case: \(line)") }
        self.number = words[0]
        self.expectation = expectation
        self.leaf = "\(words[2])Test\(test)EE"
        self.exception = words.count > 3 ? Exception(rawValue: words[3]) : nil
    }

    static func all() throws -> [PKITSCase] {
        try self.table.split(separator: "\n").map { try PKITSCase($0) }
    }

    /// True if the path is valid without any lists.
    var holdsWithoutLists: Bool { self.expectation != .invalid && self.exception != .dsa }

    /// True if the path is valid with all lists of the suite except the delta lists.
    var holdsWithLists: Bool {
        switch self.exception {
        case .issuerWithoutList: true
        case .otherKindOfList, .dsa: false
        case .deltaList: self.expectation == .list
        case nil: self.expectation == .valid
        }
    }
}
