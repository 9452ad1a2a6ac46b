// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Decodes each line of JSON Lines (NDJSON). A line with nothing but white space is skipped.
///
/// A line is any JSON value that ``JSONScanner`` accepts, in UTF-8.
package struct JSONLines<Value: Decodable & Sendable>: LineConsumer {
    /// A closure that makes the decoder for one text.
    package typealias DecoderMaker = DecodableResponseSerializer<Value>.DecoderMaker

    // The format has line feeds; a carriage return before one is white space after the JSON.
    package let ending = LineEnding.lineFeed
    package let limit: Int
    package let takesUnendedLine = true
    private let decoder: JSONDecoder

    /// Accepts lines of at most `limit` bytes.
    ///
    /// - Parameter makeDecoder: by default, makes a decoder with Foundation's settings.
    package init(limit: Int, decoder makeDecoder: DecoderMaker? = nil) {
        self.limit = limit
        self.decoder = makeDecoder?() ?? JSONDecoder()
    }

    package func take(_ line: UnsafeRawBufferPointer, number: Int) throws(TextStreamError) -> Value? {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return nil }
        // JSON in UTF-16 would be cut in the middle of a character.
        guard UnicodeForm(of: line) == .utf8(mark: 0) else {
            throw TextStreamError(.notUTF8, line: number, "the line is not UTF-8 without byte order mark")
        }
        do throws(JSONSyntaxError) {
            try JSONScanner(fragmentsAllowed: true).validate(line)
        } catch {
            throw TextStreamError(
                .invalidJSON, line: number,
                "this is no JSON: column \(error.column): expected \(error.expected), found \(error.found)")
        }
        do {
            return try self.decoder.decode(Value.self, from: Data(line))
        } catch {
            let words = DecodableResponseSerializer<Value>.words(for: error)
            throw TextStreamError(.invalidJSON, line: number, "the JSON is not what is expected: \(words)")
        }
    }
}
