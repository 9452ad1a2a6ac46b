// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleAdmin
import PintleTesting

/// A running proxy with an admin endpoint, and an origin that answers everything.
struct AdminStage {
    let folder: TemporaryFolder
    let origin: RawOrigin
    let pintle: PintleProcess
    /// Without a slash at its end.
    let address: String
    let token: String

    /// - Parameters:
    ///   - rules: further keys of the configuration.
    ///   - admin: the place, in the configuration.
    init(
        _ rules: String = "", admin: String = "127.0.0.1:0", log: String = "{format: json, exchanges: \"-\"}",
        arguments: [String] = []
    ) throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(
            answering:
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nSet-Cookie: secret\r\nContent-Length: 5\r\n\r\n12345")
        self.pintle = try PintleProcess(
            "admin: \"\(admin)\"\n\(rules)", log: log, arguments: arguments, folder: self.folder)
        let line = try self.pintle.waitForMessages("ready")[0]
        var address = line["admin"] as? String ?? ""
        if address.hasSuffix("/") { address.removeLast() }
        self.address = address
        let file = "\(self.folder.path)/pintle/run/\(self.pintle.process.pid).token"
        self.token = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    var port: Int { Int(self.address.split(separator: ":").last ?? "") ?? 0 }

    /// Sends a request through the proxy.
    @discardableResult
    func pass(_ path: String, _ arguments: String...) throws -> Curl.Result {
        try Curl.run(proxy: self.pintle.port, ["http://127.0.0.1:\(self.origin.port)\(path)"] + arguments)
    }

    /// Asks the endpoint with the token.
    func ask(_ path: String, _ arguments: String...) throws -> Curl.Result {
        try Curl.run(["-H", "Authorization: Bearer \(self.token)", self.address + path] + arguments)
    }

    func exchanges(_ query: String = "") throws -> [PintleProcess.Object] {
        try self.ask("/api/exchanges\(query)").json["exchanges"] as? [PintleProcess.Object] ?? []
    }
}
