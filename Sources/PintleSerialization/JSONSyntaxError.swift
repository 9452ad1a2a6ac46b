// SPDX-License-Identifier: Apache-2.0

/// The first place at which bytes are not a JSON document.
public struct JSONSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number of bytes before the offending one, counted in UTF-8 without a byte order mark.
    public let offset: Int
    /// The line, from 1; lines end with a line feed.
    public let line: Int
    /// The column, from 1, in bytes from the start of the line.
    public let column: Int
    /// The text that was expected there: `a value`, `“,” or “]”`.
    public let expected: String
    /// The text that was found there: a character in quotes, a byte in hexadecimal, or `the end`.
    public let found: String

    /// - Parameters:
    ///   - index: the index of the offending byte in `bytes`; `bytes.count` for the end.
    ///   - start: the position of the first of `bytes`.
    init(
        _ failure: JSONScan.Failure, at index: Int, in bytes: UnsafeBufferPointer<UInt8>, from start: TextPosition,
        nestingLimit: Int
    ) {
        let position = start.advanced(by: index, into: bytes)
        self.offset = position.offset
        self.line = position.line
        self.column = position.column
        self.expected = failure.expectation(nestingLimit: nestingLimit)
        self.found = Self.name(of: index < bytes.count ? bytes[index] : nil)
    }

    /// `line 3, column 5 (byte 41): expected “,” or “}”, found “x”`.
    public var description: String {
        "line \(self.line), column \(self.column) (byte \(self.offset)): "
            + "expected \(self.expected), found \(self.found)"
    }

    private static func name(of byte: UInt8?) -> String {
        guard let byte else { return "the end" }
        if byte > 0x20, byte < 0x7F { return "“\(Character(UnicodeScalar(byte)))”" }
        let digits = String(byte, radix: 16, uppercase: true)
        return "byte 0x\(digits.count == 1 ? "0" : "")\(digits)"
    }
}

extension JSONScan.Failure {
    func expectation(nestingLimit: Int) -> String {
        switch self {
        case .value: "a value"
        case .container: "“{” or “[”"
        case .valueOrClose: "a value or “]”"
        case .keyOrClose: "a key in quotes or “}”"
        case .key: "a key in quotes"
        case .colon: "“:”"
        case .commaOrBracket: "“,” or “]”"
        case .commaOrBrace: "“,” or “}”"
        case .end: "the end"
        case .digit: "a digit"
        case .literal: "“true”, “false” or “null”"
        case .stringByte: "a character or “\"”, control characters being escaped"
        case .escape: "one of “\"\\/bfnrtu” after “\\”"
        case .hexDigit: "four hexadecimal digits after “\\u”"
        case .lowSurrogate: "a pair of surrogates"
        case .utf8: "valid UTF-8"
        case .encoding: "valid UTF-16 or UTF-32"
        case .unfinished: preconditionFailure("BUG: nothing is wrong there")
        case .nesting: "at most \(nestingLimit) levels of nesting"
        }
    }
}
