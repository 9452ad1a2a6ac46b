// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The form of a statement's bytes: the first line has everything but the exchanges, then each exchange has a line, and the last line
/// closes the brackets. So the lines can be read one by one, and by eye.
enum StatementLines {
    static let type = "https://in-toto.io/Statement/v1"
    static let predicateType = "urn:pintle:run:1"
    /// The most bytes of the first line.
    static let longestHead = 32 << 20
    /// The levels of a head.
    static let nesting = 32

    /// The end of the first line, in place of the two brackets that close it.
    static let opening = Array(#","exchanges":["#.utf8)
    static let closing = Array("]}}".utf8)
    static let beforeLeaf = Array(#"{"exchange":"#.utf8)
    static let beforeHash = Array(#","hash":""#.utf8)
    static let afterHash = Array(#""}"#.utf8)

    /// The line of an exchange, without the comma that may follow.
    static func line(_ leaf: [UInt8], _ hash: [UInt8]) -> [UInt8] {
        Self.beforeLeaf + leaf + Self.beforeHash + Array(hash.hexadecimal.utf8) + Self.afterHash
    }
}
