// SPDX-License-Identifier: Apache-2.0

/// The reason why no more items can be read from a text that arrives in pieces. The items before are valid.
public struct TextStreamError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// An item, or a line of it, is larger than accepted.
        case tooLong = "too-long"
        /// A line is not UTF-8.
        case notUTF8 = "not-utf-8"
        /// A line is not JSON, or not JSON of the expected type.
        case invalidJSON = "invalid-json"
    }

    /// The kind of failure.
    public let code: Code
    /// The line of the problem, from 1.
    public let line: Int
    /// The problem, in words that follow `line 7: `.
    public let problem: String

    /// Makes an error.
    public init(_ code: Code, line: Int, _ problem: String) {
        self.code = code
        self.line = line
        self.problem = problem
    }

    /// `line 7: more than 1048576 bytes`.
    public var description: String { "line \(self.line): \(self.problem)" }
}
