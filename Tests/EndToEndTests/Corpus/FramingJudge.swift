// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Says whether bytes are a whole response to a client that reads framing strictly (RFC 9112 §6.3).
enum FramingJudge {
    /// - Parameters:
    ///   - bytes: everything that came for one request, interim responses included.
    ///   - ending: the way in which the connection ended after them.
    static func isComplete(_ bytes: [UInt8], to method: String, ending: SocketStream.Ending) -> Bool {
        guard let (head, body) = Self.split(bytes) else { return false }
        if (100..<200).contains(head.status), head.status != 101 {
            return Self.isComplete(Array(body), to: method, ending: ending)
        }
        if method == "HEAD" || head.status == 204 || head.status == 304 { return true }
        if head["Transfer-Encoding"]?.lowercased() == "chunked" { return Self.hasLastChunk(body) }
        if let length = head["Content-Length"].flatMap({ Int($0) }) { return body.count >= length }
        return ending == .closed
    }

    private static func split(_ bytes: [UInt8]) -> (MessageHead, ArraySlice<UInt8>)? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let text = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        return (MessageHead(lines: lines.map(String.init)), bytes[end.upperBound...])
    }

    private static func hasLastChunk(_ body: ArraySlice<UInt8>) -> Bool {
        var rest = body
        while let end = rest.firstRange(of: [13, 10]) {
            guard let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16) else {
                return false
            }
            rest = rest[end.upperBound...]
            if size == 0 { return Self.endsTrailers(rest) }
            guard rest.count >= size + 2, rest.dropFirst(size).starts(with: [13, 10]) else { return false }
            rest = rest.dropFirst(size + 2)
        }
        return false
    }

    private static func endsTrailers(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.starts(with: [13, 10]) || rest.firstRange(of: [13, 10, 13, 10]) != nil
    }
}
