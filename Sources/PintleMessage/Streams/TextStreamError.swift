// SPDX-License-Identifier: Apache-2.0

/// Why no more items can be made of a text that comes in pieces. Those before it are as they should be.
public struct TextStreamError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// An item, or a line of it, has more bytes than are accepted.
        case tooLong = "too-long"
        /// A line is not UTF-8.
        case notUTF8 = "not-utf-8"
        /// A line is not JSON, or not JSON of the type that is expected.
        case invalidJSON = "invalid-json"
    }

    /// The kind of failure.
    public let code: Code
    /// Where it is, from 1.
    public let line: Int
    /// What is wrong there, in words that follow `line 7: `.
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
