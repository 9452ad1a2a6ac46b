// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Content codings as the system's programs write them.
enum Coding: String, CaseIterable, Sendable {
    case gzip = "gzip -nc"
    case deflate =
        "/usr/bin/python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read()))'"
    case br = "brotli -c"
    case zstd = "zstd -qc"

    var name: String { "\(self)" }

    func encode(_ bytes: [UInt8]) throws -> [UInt8] { try ShellFilter.run(self.rawValue, bytes) }

    /// So many bytes that are zero, which unfold from next to nothing.
    static func zeros(_ mebibytes: Int) throws -> [UInt8] {
        try ShellFilter.run("head -c \(mebibytes)M /dev/zero | gzip -nc")
    }
}

/// An origin that answers every request with the same body, coded or not.
struct CodedOrigin {
    let origin: RawOrigin
    var port: Int { self.origin.port }
    var requests: [Message] { self.origin.requests }
    /// The Accept-Encoding of each request.
    var accepted: [String?] { self.requests.map { $0["Accept-Encoding"] } }

    /// - Parameters:
    ///   - fields: lines without their ends.
    ///   - piece: the number of bytes that are sent at once; nil for all.
    init(_ body: [UInt8], _ fields: String..., status: String = "200 OK", piece: Int? = nil) throws {
        let lines = fields.map { "\($0)\r\n" }.joined()
        self.origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                try connection.send("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\n\(lines)\r\n")
                guard request.method != "HEAD", !status.hasPrefix("304") else { continue }
                var rest = body[...]
                while !rest.isEmpty {
                    let some = rest.prefix(piece ?? rest.count)
                    try connection.stream.send(Array(some))
                    rest = rest.dropFirst(some.count)
                }
            }
        }
    }
}
