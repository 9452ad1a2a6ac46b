// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting

/// Runs `pintle fetch` to its end.
///
/// - Parameters:
///   - input: its standard input; empty unless given.
func fetch(
    _ arguments: String..., input: String? = nil, environment: [String: String] = [:]
) throws -> ChildProcess {
    guard let input else { return try PintleProcess.run(["fetch"] + arguments, environment: environment) }
    let folder = try TemporaryFolder()
    let file = try folder.write(input, to: "input")
    let process = try ChildProcess(
        "/bin/sh", ["-c", "cat '\(file)' | '\(PintleProcess.binary)' fetch \"$@\"", "fetch"] + arguments)
    try process.waitForExit()
    return process
}

/// The lines of `--metrics` among lines of output.
func metrics(_ lines: [String]) -> [[String: Any]] {
    lines.compactMap { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any] }
}

/// Returns the bytes of a file, or nil if it does not exist.
func contents(_ path: String) -> [UInt8]? { fileBytes(path) }

/// An origin of one large file. The first connection gets the first part and then waits until the test allows the end;
/// later ones get the bytes that they request.
struct InterruptedOrigin {
    let whole = pattern(16 << 20)
    /// Longer than the interval at which a download notes its progress.
    let firstPart = 10 << 20
    let release = Watched(false)
    let origin: RawOrigin

    /// - Parameters:
    ///   - tags: the entity tags of the first answer and of later ones.
    ///   - later: the bytes of the file in later answers.
    init(tags: (String, String) = ("\"one\"", "\"one\""), later: [UInt8]? = nil) throws {
        let (whole, firstPart, release) = (self.whole, self.firstPart, self.release)
        self.origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            guard connection.number > 0 else {
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(whole.count)\r\nETag: \(tags.0)\r\n\r\n")
                try connection.stream.send(Array(whole[..<firstPart]))
                try release.wait(for: "the test to go on") { $0 }
                return
            }
            let body = later ?? whole
            let isContinued = request["If-Range"] == tags.1
            guard let range = request["Range"], isContinued, let start = Int(range.dropFirst(6).dropLast()) else {
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nETag: \(tags.1)\r\n\r\n")
                try connection.stream.send(body)
                return
            }
            try connection.send(
                "HTTP/1.1 206 Partial Content\r\nContent-Length: \(body.count - start)\r\nETag: \(tags.1)\r\n"
                    + "Content-Range: bytes \(start)-\(body.count - 1)/\(body.count)\r\n\r\n")
            try connection.stream.send(Array(body[start...]))
        }
    }

    var url: String { "http://127.0.0.1:\(self.origin.port)/data.bin" }
}
