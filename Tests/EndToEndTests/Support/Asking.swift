// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

extension PintleProcess {
    /// Sends raw bytes on a new connection and reads the answer.
    func ask(_ request: String, method: String = "GET") throws -> Message {
        let client = try self.connect()
        try client.send(request)
        return try client.readResponse(to: method)
    }

    /// True if a plain request through this proxy is answered correctly: the proof that it keeps working.
    func serves(_ url: String) throws -> Bool {
        let result = try Curl.run(proxy: self.port, url)
        return result.exitCode == 0 && result.status == 200
    }
}

/// The smallest request for a URL on a scripted origin.
func get(_ port: Int, _ path: String = "/", fields: String = "") -> String {
    "GET http://127.0.0.1:\(port)\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(fields)\r\n"
}

/// A whole response with a length.
func response(_ body: String, status: String = "200 OK", fields: String = "") -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
}

/// Bytes that show it when a piece of them is missing, doubled or moved.
func pattern(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { space, filled in
        var state: UInt32 = 0x9E37_79B9
        for index in 0..<count {
            state = state &* 1_664_525 &+ 1_013_904_223
            space[index] = UInt8(truncatingIfNeeded: state >> 24)
        }
        filled = count
    }
}

/// Runs `work` concurrently with the test; the test finds its error in `failure`.
func inBackground(_ failure: Watched<String?>, _ work: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread {
        do {
            try work()
        } catch {
            failure.change { $0 = "\(error)" }
        }
    }
}
