// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOCore
import PintleLoop
import PintleTesting
import Testing

/// The changes of files that are reported, and those that are not.
final class FileWatchTests: @unchecked Sendable {
    // Why @unchecked holds: `watch` is used on the loop's thread only.
    let folder: TemporaryFolder
    let loop: Loop
    let changes = Watched(0)
    private var watch: FileWatch?

    init() throws {
        self.folder = try TemporaryFolder()
        self.loop = try Loop(name: "files")
        self.watch = try FileWatch(loop: self.loop) { [changes] in changes.change { $0 += 1 } }
    }

    deinit {
        try? self.loop.submit { [self] in self.watch?.stop() }.wait()
        self.loop.stop()
    }

    private func path(_ name: String) -> String { "\(self.folder.path)/\(name)" }

    /// Watches files as they are now.
    private func follow(_ names: String...) throws {
        let marks = Dictionary(uniqueKeysWithValues: names.map { (self.path($0), FileMark(self.path($0))) })
        let problems = try self.loop.submit { [self] () -> [String] in self.watch?.follow(marks) ?? [] }.wait()
        #expect(problems.isEmpty)
    }

    private func expectChange(_ name: String, _ change: () throws -> Void) throws {
        try self.follow(name)
        let before = self.changes.current
        try change()
        try self.changes.wait(for: "a change of \(name)") { $0 > before }
    }

    @Test func `writing, replacing, removing and making a file are changes`() throws {
        try self.folder.write("1", to: "a")
        try self.expectChange("a") { try self.folder.write("22", to: "a") }
        try self.expectChange("a") {
            try self.folder.write("333", to: "b")
            rename(self.path("b"), self.path("a"))
        }
        try self.expectChange("a") { unlink(self.path("a")) }
        try self.expectChange("a") { try self.folder.write("4444", to: "a") }
    }

    @Test func `folders on the way may be missing, and may be replaced`() throws {
        try self.expectChange("deep/down/a") { try self.folder.write("1", to: "deep/down/a") }
        try self.folder.write("22", to: "other/a")
        try self.expectChange("deep/down/a") {
            rename(self.path("deep/down"), self.path("deep/old"))
            rename(self.path("other"), self.path("deep/down"))
        }
    }

    @Test func `a folder above the one that is watched may be replaced`() throws {
        try self.folder.write("1", to: "top/deep/a")
        try self.folder.write("22", to: "next/deep/a")
        try self.expectChange("top/deep/a") {
            rename(self.path("top"), self.path("old"))
            rename(self.path("next"), self.path("top"))
        }
        try self.expectChange("top/deep/a") { try self.folder.write("333", to: "top/deep/a") }
    }

    @Test func `symbolic links count wherever they are on the way`() throws {
        try self.folder.write("1", to: "v1/a")
        try self.folder.write("22", to: "v2/a")
        symlink("v1", self.path("current"))
        symlink("current/a", self.path("a"))
        try self.expectChange("a") {
            symlink("v2", self.path("next"))
            rename(self.path("next"), self.path("current"))
        }
        try self.expectChange("a") { try self.folder.write("333", to: "v2/a") }
        // A link to itself leads nowhere, and must not block the watch.
        symlink("loop", self.path("loop"))
        try self.expectChange("loop") {
            unlink(self.path("loop"))
            try self.folder.write("1", to: "loop")
        }
    }

    @Test func `a folder changes with what is in it`() throws {
        try self.folder.write("1", to: "certs/a.pem")
        try self.expectChange("certs") { try self.folder.write("1", to: "certs/b.pem") }
        try self.expectChange("certs") { unlink(self.path("certs/a.pem")) }
    }

    @Test func `what changed since its mark was made is told, and what only looks like a change is not`() throws {
        try self.folder.write("1", to: "a")
        let mark = FileMark(self.path("a"))
        try self.folder.write("22", to: "a")
        let marks = [self.path("a"): mark]
        _ = try self.loop.submit { [self] in self.watch?.follow(marks) }.wait()
        try self.changes.wait(for: "the change before") { $0 == 1 }
        try self.follow("a")
        chmod(self.path("a"), 0o640)
        try self.folder.write("x", to: "neighbour")
        try self.expectChange("a") { try self.folder.write("333", to: "a") }
        #expect(self.changes.current == 2)
    }
}
