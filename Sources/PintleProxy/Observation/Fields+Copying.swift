// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension Fields {
    /// Copies the lines in their wire form, without the final empty line.
    ///
    /// - Parameter target: with room for ``byteCount`` bytes.
    func copyLines(to target: UnsafeMutableRawPointer) {
        var end = target
        self.forEachRun { run in
            if let start = run.baseAddress { end.copyMemory(from: start, byteCount: run.count) }
            end += run.count
        }
    }

    /// Makes a section of lines that ``copyLines(to:)`` has copied: each `Name: value` CRLF, without line breaks within.
    init(copiedLines bytes: UnsafeRawBufferPointer) {
        self.init(reservingBytes: bytes.count)
        var start = 0
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            // No line lacks a colon.
            guard let colon = bytes[start..<end].firstIndex(of: UInt8(ascii: ":")), colon + 2 < end else { return }
            self.append(
                name: UnsafeRawBufferPointer(rebasing: bytes[start..<colon]),
                value: UnsafeRawBufferPointer(rebasing: bytes[colon + 2..<end - 1]))
            start = end + 1
        }
    }
}
