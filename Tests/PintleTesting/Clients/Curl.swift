// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Runs the real curl.
package enum Curl {
    /// The outcome of a run.
    package struct Result: Sendable, CustomStringConvertible {
        /// curl's own code; 0 is success, 18 a partial file, 56 a broken connection.
        package let exitCode: Int32
        /// Every head that arrived, including those of CONNECT and of interim responses.
        package let heads: [MessageHead]
        package let body: [UInt8]
        /// Standard error of curl.
        package let errors: String

        package var head: MessageHead { self.heads.last ?? MessageHead(startLine: "", fields: []) }
        package var status: Int { self.head.status }
        package var text: String { String(decoding: self.body, as: UTF8.self) }
        package subscript(_ name: String) -> String? { self.head[name] }

        /// The body as a JSON object; empty if it is none.
        package var json: [String: any Sendable] {
            (try? JSONSerialization.jsonObject(with: Data(self.body))) as? [String: any Sendable] ?? [:]
        }

        /// The name of Pintle's problem; nil if the response is not a problem document of Pintle's.
        package var problem: String? {
            guard self["Content-Type"] == "application/problem+json", let type = self.json["type"] as? String else {
                return nil
            }
            return type.hasPrefix("urn:pintle:problem:") ? String(type.dropFirst(19)) : nil
        }

        package var description: String {
            "curl exit \(self.exitCode), \(self.head.startLine), \(self.text.prefix(600)) \(self.errors)"
        }
    }

    /// Runs curl to its end.
    ///
    /// - Parameters:
    ///   - proxy: the port of a proxy for http and https.
    ///   - seconds: the longest time that curl may take.
    ///   - network: the network that curl runs in; the test's own network unless given.
    package static func run(
        proxy: Int? = nil, seconds: Double = Patience.seconds, in network: NetworkNamespace? = nil,
        _ arguments: String...
    ) throws -> Result {
        try Self.run(proxy: proxy, seconds: seconds, in: network, arguments)
    }

    package static func run(
        proxy: Int? = nil, seconds: Double = Patience.seconds, in network: NetworkNamespace? = nil,
        _ arguments: [String]
    ) throws -> Result {
        let folder = try TemporaryFolder()
        let (heads, body) = ("\(folder.path)/heads", "\(folder.path)/body")
        var all = ["--disable", "--silent", "--show-error", "-D", heads, "-o", body]
        if let proxy { all += ["--proxy", "http://127.0.0.1:\(proxy)"] }
        let process = try ChildProcess("/usr/bin/curl", all + arguments, in: network)
        let code = try process.waitForExit(seconds: seconds)
        return Result(
            exitCode: code, heads: Self.heads(Self.read(heads)), body: Self.read(body),
            errors: process.errors.joined(separator: "\n"))
    }

    private static func read(_ path: String) -> [UInt8] { fileBytes(path) ?? [] }

    private static func heads(_ bytes: [UInt8]) -> [MessageHead] {
        var heads: [MessageHead] = []
        var lines: [String] = []
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let text = String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
            if !text.isEmpty {
                lines.append(text)
            } else if !lines.isEmpty {
                heads.append(MessageHead(lines: lines))
                lines = []
            }
        }
        return heads
    }
}
