// SPDX-License-Identifier: Apache-2.0

/// Cuts a log that arrives in pieces into lines. It keeps no more of the file than the current line, and goes on after a line that
/// is too long, which ``LineParser`` does not.
struct LogCutter {
    private let limit: Int
    private var held: [UInt8] = []
    private var isTooLong = false
    private var line: Int

    /// - Parameters:
    ///   - limit: the maximum size of a line in bytes.
    ///   - line: the number of the line in which the bytes begin.
    init(limit: Int, line: Int = 1) { (self.limit, self.line) = (limit, line) }

    /// Takes the next bytes.
    ///
    /// - Parameter each: gets each line without its end, and its number; nil for a line over the limit.
    mutating func feed(_ bytes: UnsafeRawBufferPointer, _ each: (UnsafeRawBufferPointer?, Int) -> Void) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            self.give(UnsafeRawBufferPointer(rebasing: rest[..<end]), each)
            rest = rest[(end + 1)...]
        }
        self.hold(rest)
    }

    /// Gives the last line, if it has no end.
    mutating func finish(_ each: (UnsafeRawBufferPointer?, Int) -> Void) {
        guard !self.held.isEmpty || self.isTooLong else { return }
        self.give(UnsafeRawBufferPointer(start: nil, count: 0), each)
    }

    private mutating func give(_ end: UnsafeRawBufferPointer, _ each: (UnsafeRawBufferPointer?, Int) -> Void) {
        if self.held.isEmpty, !self.isTooLong {
            // Most lines lie in one piece, and need no copy.
            each(end.count > self.limit ? nil : end, self.line)
        } else {
            self.hold(end[...])
            if self.isTooLong {
                each(nil, self.line)
            } else {
                self.held.withUnsafeBytes { each($0, self.line) }
            }
            self.held.removeAll(keepingCapacity: true)
            self.isTooLong = false
        }
        self.line += 1
    }

    private mutating func hold(_ bytes: Slice<UnsafeRawBufferPointer>) {
        guard !self.isTooLong else { return }
        guard self.held.count + bytes.count <= self.limit else {
            self.isTooLong = true
            self.held = []
            return
        }
        self.held.append(contentsOf: bytes)
    }
}
