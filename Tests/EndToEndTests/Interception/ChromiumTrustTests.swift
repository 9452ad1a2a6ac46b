// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// The line of `pintle ca trust` for Chromium.
struct ChromiumTrustTests {
    private static let certutil: String? = ["/usr/bin/certutil", "/usr/local/bin/certutil"].first { (path: String) in
        access(path, X_OK) == 0
    }

    private func line(home: String) throws -> String {
        let environment = ["HOME": home, "XDG_DATA_HOME": "\(home)/data", "PATH": "/usr/local/bin:/usr/bin:/bin"]
        let made = try PintleProcess.run(
            ["ca", "init", "--permit", "localhost"], environment: environment, folder: home)
        try #require(made.exitCode == 0, "\(made.lines)")
        let told = try PintleProcess.run(["ca", "trust"], environment: environment, folder: home)
        let name = "  Chromium, Chrome "
        return String(try #require(told.output.first { $0.hasPrefix(name) }, "\(told.lines)").dropFirst(name.count))
    }

    @Test func `LOOK-119 the line makes the store that a new machine has not`() throws {
        let home = try TemporaryFolder()
        let line = try self.line(home: home.path)
        #expect(line.hasPrefix("mkdir -p $HOME/.pki/nssdb && certutil -d sql:$HOME/.pki/nssdb -A "), "\(line)")
    }

    @Test(.enabled(if: certutil != nil, "certutil is not installed (libnss3-tools)"))
    func `LOOK-119 the line works on a new machine`() throws {
        let home = try TemporaryFolder()
        let environment = ["HOME": home.path, "PATH": "/usr/local/bin:/usr/bin:/bin"]
        let done = try ChildProcess("/bin/sh", ["-c", try self.line(home: home.path)], environment: environment)
        #expect(try done.waitForExit() == 0, "\(done.lines)")
        let list = try ChildProcess(
            try #require(Self.certutil), ["-L", "-d", "sql:\(home.path)/.pki/nssdb", "-n", "Pintle"],
            environment: environment)
        #expect(try list.waitForExit() == 0, "\(list.lines)")
    }
}
