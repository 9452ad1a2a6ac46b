// SPDX-License-Identifier: Apache-2.0

/// Returns each line as text.
package struct TextLines: LineConsumer {
    package let ending: LineEnding
    package let limit: Int
    package let takesUnendedLine = true

    /// Accepts lines of at most `limit` bytes.
    package init(ending: LineEnding, limit: Int) {
        self.ending = ending
        self.limit = limit
    }

    package func take(_ line: UnsafeRawBufferPointer, number: Int) throws(TextStreamError) -> String? {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw TextStreamError(.notUTF8, line: number, "the line is not UTF-8")
        }
        return text
    }
}
