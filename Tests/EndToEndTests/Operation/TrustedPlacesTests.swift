// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// Folders of the program that another user could change.
struct TrustedPlacesTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func make(_ name: String, mode: mode_t) throws -> String {
        let path = "\(self.folder.path)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        chmod(path, mode)
        return path
    }

    @Test func `LOOK-97 a cache folder that others may write is not used, and the log says what to do`() throws {
        let cache = try self.make("cache", mode: 0o770)
        let origin = try RawOrigin(answering: response("kept", fields: "Cache-Control: max-age=60\r\n"))
        let pintle = try PintleProcess(
            "cache: {path: \"\(cache)\"}\nroutes: [{name: kept, cache: {policy: protocol}}]", folder: self.folder)
        _ = try pintle.waitForMessages(
            "answers are kept in memory alone: \(cache): its group may change what is there (mode 770); `chmod g-w \(cache)`, "
                + "or use another folder")
        for _ in 0..<2 { #expect(try pintle.ask(get(origin.port)).text == "kept") }
        #expect(try origin.waitForRequests(1).count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: cache).isEmpty)
    }

    @Test func `LOOK-97 control sockets are neither made nor asked where others may write`() throws {
        let sockets = try self.make("pintle/run", mode: 0o777)
        let pintle = try PintleProcess("", folder: self.folder)
        _ = try pintle.waitForMessages(
            "there is no control socket, so `pintle reload`, `status`, `purge`, `tail`, `top` and `wait` do not reach this proxy: "
                + "\(sockets): every "
                + "user may change what is there (mode 777); `chmod go-w \(sockets)`, or use another folder. Correct that, or "
                + "set XDG_STATE_HOME to another folder, and restart; SIGHUP still reloads")
        let reload = try PintleProcess.run(["reload"], environment: ["XDG_STATE_HOME": self.folder.path])
        #expect(reload.exitCode != 0)
        #expect(reload.errors.contains { $0.contains("`chmod go-w \(sockets)`") }, "\(reload.errors)")
    }
}
