// SPDX-License-Identifier: Apache-2.0

/// One client that asks over TCP: messages with their lengths before them (RFC 1035 §4.2.2), as many at a time as it likes
/// (RFC 7766 §6.2.1.1). Bytes in, bytes out.
package struct StreamConversation {
    /// The length of the longest message that is read. A question with all that EDNS adds to it is far shorter.
    static let longestMessage = 2048

    private var input: [UInt8] = []
    /// Bytes to be sent. While there are any, nothing more should be received.
    package private(set) var output: [UInt8] = []

    package init() {}

    /// Takes bytes of the client, and answers the messages that are complete.
    ///
    /// - Returns: false if a message is too long, and the connection has to be closed.
    package mutating func receive(_ bytes: some Sequence<UInt8>, answer: (ArraySlice<UInt8>) -> [UInt8]?) -> Bool {
        self.input += bytes
        var start = 0
        defer { self.input.removeFirst(start) }
        while self.input.count - start >= 2 {
            let size = Int(self.input[start]) << 8 | Int(self.input[start + 1])
            guard size <= Self.longestMessage else { return false }
            guard self.input.count - start >= 2 + size else { return true }
            if let answer = answer(self.input[start + 2..<start + 2 + size]) {
                self.output += [UInt8(answer.count >> 8), UInt8(answer.count & 0xFF)] + answer
            }
            start += 2 + size
        }
        return true
    }

    /// - Parameter count: the number of bytes of ``output`` that were sent.
    mutating func sent(_ count: Int) { self.output.removeFirst(count) }
}
