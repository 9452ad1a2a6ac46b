// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting
import Testing

/// Paths that lead to no file that a form could carry.
@Suite struct MultipartPathTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func `MPF-14 a file that cannot be looked at is an error, whatever is in the way`() throws {
        let file = try self.folder.write("x", to: "file")
        let list = try ChildProcess("/bin/ln", ["-s", "loop", "\(self.folder.path)/loop"])
        try list.waitForExit()
        let ways = [
            "\(file)/deeper", "\(self.folder.path)/loop", "\(self.folder.path)/\(String(repeating: "n", count: 256))",
        ]
        var form = MultipartForm()
        for path in ways + [""] {
            let error = #expect(throws: SerializationError.self) { try form.append(name: "n", file: path) }
            #expect(error?.code == .unreadableFile && error?.path == path, "\(path)")
        }
        #expect(form.parts.isEmpty && form.contentLength == 0)
    }
}
