// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

/// Both ends of a pipe.
final class Pipe {
    let reading: Int32
    let writing: Int32
    private var isReadingOpen = true

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        (self.reading, self.writing) = (ends[0], ends[1])
    }

    deinit {
        close(self.writing)
        self.closeReading()
    }

    func closeReading() {
        if self.isReadingOpen { close(self.reading) }
        self.isReadingOpen = false
    }

    /// Returns the text that has been written; there must be some.
    func text() -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(self.reading, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

func contents(of path: String) throws -> String {
    let file = open(path, O_RDONLY)
    try #require(file >= 0)
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(file, &chunk, chunk.count), count > 0 { bytes += chunk.prefix(count) }
    return String(decoding: bytes, as: UTF8.self)
}
