// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// Attempts to leave the network of `pintle run --isolate` without Pintle (contract §7): those of Tests/Programs/Escape, by an
/// ordinary user. Each must fail.
@Suite(.enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"))
struct RunEscapeTests {
    private static let script = #filePath.replacing(
        "EndToEndTests/Run/RunEscapeTests.swift", with: "Programs/Escape/escape.py")
    private static let python = "/usr/bin/python3"

    @Test func `no attempt reaches past Pintle`() throws {
        let names = try ChildProcess(Self.python, [Self.script, "--list"])
        try names.waitForExit()
        #expect(names.output.count >= 40)
        let origin = try RawOrigin(answering: response("outside"))
        let name = "pintle-escape-\(getpid())-\(origin.port)"
        let abstract = try AbstractListener(name)
        defer { abstract.close() }
        let stage = try RunStage("destinations: {deny: [\"*.evil.example\"]}")
        let program = try self.program(in: stage)
        for attempt in names.output {
            let process = try ChildProcess(
                program[0],
                Array(program.dropFirst()) + [
                    "run", "--isolate", "--fail-on", "never", "--", Self.python, "escape.py", attempt,
                    "\(origin.port)", name,
                ], environment: RunStage.environment.merging(["HOME": "/nonexistent"]) { $1 }, folder: stage.folder.path
            )
            // 1 is Python's for an exception; from 125 on it would be Pintle's, and the attempt not made.
            let code = try process.waitForExit()
            let isException = process.errors.contains { $0.contains("Error: ") || $0.contains("socket.gaierror: ") }
            #expect(code == 1 && isException && process.output.isEmpty, "\(attempt): \(code) \(process.lines)")
        }
        #expect(origin.requests.isEmpty)
    }

    /// The command of an ordinary user for Pintle and the attempts, which are at a place that such a user may enter.
    private func program(in stage: RunStage) throws -> [String] {
        try FileManager.default.copyItem(atPath: Self.script, toPath: "\(stage.folder.path)/escape.py")
        guard geteuid() == 0 else { return [PintleProcess.binary] }
        let copy = "\(stage.folder.path)/pintle"
        try FileManager.default.copyItem(atPath: PintleProcess.binary, toPath: copy)
        chmod(stage.folder.path, 0o755)
        for name in ["pintle.yaml", "escape.py"] { chmod("\(stage.folder.path)/\(name)", 0o644) }
        return ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy]
    }
}

/// A listener with an abstract name (unix(7)) in the network of the tests.
private struct AbstractListener {
    private let descriptor: Int32

    init(_ name: String) throws {
        self.descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { space in
            for (index, byte) in name.utf8.enumerated() { space[index + 1] = byte }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(self.descriptor, $0, length) }
        }
        guard code == 0, listen(self.descriptor, 8) == 0 else {
            throw TestFailure("there is no abstract socket: errno \(errno)")
        }
    }

    func close() { Glibc.close(self.descriptor) }
}
