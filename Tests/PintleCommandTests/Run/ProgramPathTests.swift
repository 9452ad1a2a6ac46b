// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleSystem
import PintleTesting
import Testing

@testable import pintle

/// The file that a command's name leads to.
struct ProgramPathTests {
    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.write("#!/bin/sh\n", to: "a/tool")
        chmod(try self.folder.write("#!/bin/sh\n", to: "b/tool"), 0o700)
        try self.folder.write("", to: "a/plain")
        mkdir("\(self.folder.path)/b/folder", 0o700)
    }

    private func find(_ name: String) throws -> String {
        try ProgramPath.find(name, search: "\(self.folder.path)/none:\(self.folder.path)/a:\(self.folder.path)/b")
    }

    @Test func `the first that can be executed is taken`() throws {
        #expect(try self.find("tool") == "\(self.folder.path)/b/tool")
        #expect(try self.find("\(self.folder.path)/b/tool") == "\(self.folder.path)/b/tool")
        #expect(try ProgramPath.find("sh", search: nil) == "/bin/sh")
    }

    @Test func `what is not there is told apart from what cannot be executed`() {
        let forbidden = ProgramPath.Failure.notExecutable(SystemError(EACCES))
        let isFolder = ProgramPath.Failure.notExecutable(SystemError(EISDIR))
        for name in ["", "nosuch", "./nosuch", "/etc/passwd/nosuch"] {
            #expect(throws: ProgramPath.Failure.notFound) { try self.find(name) }
        }
        #expect(throws: forbidden) { try self.find("plain") }
        #expect(throws: forbidden) { try self.find("\(self.folder.path)/a/tool") }
        #expect(throws: isFolder) { try self.find("/tmp") }
        #expect(throws: isFolder) { try self.find("folder") }
    }
}
