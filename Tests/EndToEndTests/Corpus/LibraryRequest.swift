// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting

/// A client's request as a task of a session can send it.
struct LibraryRequest: Sendable {
    let method: String
    private let path: String
    private let fields: [MessageHead.Field]
    private let body: String

    /// The body, which can be read only once, like a client's; nil if the request has none.
    var source: UploadSource? {
        guard !self.body.isEmpty else { return nil }
        let bytes = ByteBuffer(string: self.body)
        let (stream, feed) = AsyncStream.makeStream(of: ByteBuffer.self)
        feed.yield(bytes)
        feed.finish()
        return .stream(BodyStream(stream, length: UInt64(bytes.readableBytes)))
    }

    func request(by way: OriginWay, originPort port: Int) throws -> SessionRequest {
        var fields = Fields()
        for field in self.fields { fields.append(field.name, field.value) }
        return try SessionRequest(self.method, "\(way.scheme)://127.0.0.1:\(port)\(self.path)", fields: fields)
    }

    /// Parses the bytes that a client sends.
    ///
    /// - Returns: nil unless they are whole HTTP/1.1 requests to the case's origin, without fields that a session sets itself.
    static func all(in text: WireBytes) -> [LibraryRequest]? {
        var requests: [LibraryRequest] = []
        var rest = Substring(text.text)
        while !rest.isEmpty {
            guard let end = rest.firstRange(of: "\r\n\r\n") else { return nil }
            let head = MessageHead(lines: rest[..<end.lowerBound].split(separator: "\r\n").map(String.init))
            let words = head.startLine.split(separator: " ")
            guard words.count == 3, words[1].hasPrefix("http://$/"), words[2] == "HTTP/1.1",
                ["Connection", "Expect", "Transfer-Encoding"].allSatisfy({ head[$0] == nil })
            else { return nil }
            rest = rest[end.upperBound...]
            let length = head["Content-Length"].flatMap { Int($0) } ?? 0
            guard rest.utf8.count >= length else { return nil }
            requests.append(
                LibraryRequest(
                    method: String(words[0]), path: String(words[1].dropFirst("http://$".count)),
                    fields: head.fields.filter { !["host", "content-length"].contains($0.name.lowercased()) },
                    body: String(rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        return requests
    }
}

extension WireCase {
    /// True if a session can play the client's part.
    var isForLibrary: Bool {
        self.programOnly == nil
            && self.steps.allSatisfy { step in
                switch step {
                case .client(let text): LibraryRequest.all(in: text) != nil
                case .clientTries, .clientFinishes, .clientLeaves, .refusal: false
                case .clientResets, .newClient, .answer, .problem, .cut, .closed, .seen, .origin, .originTries,
                    .originCloses, .originFinishes, .originResets, .originAbandoned:
                    true
                }
            }
    }
}
