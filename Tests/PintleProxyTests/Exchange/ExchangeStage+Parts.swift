// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleMessage
import PintleTesting

@testable import PintleProxy

extension ExchangeStage {
    /// The files that configurations may name.
    static let files = [
        // The password is “other”.
        "users": "ben:$2b$04$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K\n",
        "gone.json": #"{"gone":true}"#,
        "pets.yaml": """
        openapi: 3.1.0
        info: {title: pets, version: "1"}
        servers: [{url: /v1}]
        paths:
          /pets:
            get:
              parameters: [{name: limit, in: query, required: true, schema: {type: integer}}]
              responses: {200: {description: all, content: {application/json: {schema: {type: array}}}}}
            post:
              requestBody:
                required: true
                content: {application/json: {schema: {type: object, required: [name]}}}
              responses: {201: {description: made}}
        """,
    ]
}

extension RequestHead {
    /// Reads a request line without a version and fields, and adds a Host.
    init(spelled lines: [String], minorVersion: UInt8 = 1) throws {
        let first = lines[0].split(separator: " ")
        var rest = lines.dropFirst().map { $0 + "\r\n" }.joined()
        let host =
            first[1].hasPrefix("http") ? first[1].split(separator: "/")[1] : first[0] == "CONNECT" ? first[1] : ""
        if !host.isEmpty, !rest.contains("Host: ") { rest = "Host: \(host)\r\n" + rest }
        let bytes = Array("\(lines[0]) HTTP/1.\(minorVersion)\r\n\(rest)\r\n".utf8)
        var parser = RequestParser(limits: HeadLimits())
        var result = Result<(head: RequestHead, length: Int)?, WireError>.success(nil)
        bytes.withUnsafeBytes { bytes in result = Result { () throws(WireError) in try parser.parse(bytes) } }
        guard let parsed = try result.get() else { throw TestFailure("\(lines) is no head") }
        self = parsed.head
    }
}

/// Sockets of this machine.
enum TCP {
    /// Connects to a port of 127.0.0.1; the socket does not block afterwards.
    static func connect(to port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard LoopbackAddress.connect(descriptor, port: port) == 0 else {
            close(descriptor)
            throw TestFailure("nobody listens on \(port)")
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return descriptor
    }

    static func address(_ port: Int) throws -> SocketAddress { try SocketAddress(ipAddress: "127.0.0.1", port: port) }

    /// Accepts connections and stays silent; its end resets them.
    final class Listener {
        let port: Int
        private let descriptor: Int32

        init() throws {
            self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard LoopbackAddress.bind(self.descriptor, port: 0) == 0, listen(self.descriptor, 8) == 0 else {
                throw TestFailure("nothing can listen")
            }
            self.port = LoopbackAddress.port(of: self.descriptor)
        }

        deinit { close(self.descriptor) }
    }
}
