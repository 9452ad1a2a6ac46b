// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Bytes that a client sends in HTTP/2, and their outcome.
struct HTTP2Case: Sendable {
    enum Outcome: Sendable {
        /// The origin gets exactly these bytes, in which HOST is its address, and its answer arrives.
        case forwarded(String)
        /// Pintle answers with this status and problem.
        case answer(Int, String)
        /// The stream is reset.
        case reset(HTTP2Bytes.Code)
        /// The connection ends with this code for the client.
        case goAway(HTTP2Bytes.Code)
        /// The connection ends.
        case closed
        /// Nothing comes back, and the next request is served.
        case silence
        /// The PING is answered.
        case pong
    }

    let name: String
    /// The frames, after a preface unless ``isRaw``.
    let input: [UInt8]
    let outcome: Outcome
    /// The stream that it is about.
    var stream = 1
    /// Frames that are sent when the stream has its answer; the outcome is theirs then.
    var after: [UInt8]?
    /// The stream that these are about; the same unless it is set.
    var laterStream: Int?
    var isRaw = false
    /// True if the bytes come one by one.
    var isTrickled = false
    /// True if the client ends its side after them.
    var isCutOff = false
    /// True if a valid request is among the frames, so that it may have reached the origin.
    var hasRequest = false
    /// True if no stream can follow.
    var isLast = false

    init(_ name: String, _ input: [UInt8], _ outcome: Outcome) {
        self.name = name
        self.input = input
        self.outcome = outcome
    }

    /// Returns a copy with other properties.
    func with(_ change: (inout HTTP2Case) -> Void) -> HTTP2Case {
        var changed = self
        change(&changed)
        return changed
    }

    /// A copy with a valid request among its frames.
    var withRequest: HTTP2Case { self.with { $0.hasRequest = true } }

    /// Cases of one kind: a row of the table in docs/http2.md.
    struct Group: Sendable, CustomStringConvertible {
        let name: String
        let cases: [HTTP2Case]

        var description: String { self.name }
    }

    // MARK: Requests

    /// The pseudo fields of a GET.
    static let get = Self.request()

    static func request(
        _ method: String = "GET", _ path: String = "/", _ more: [HTTP2Bytes.Field] = []
    ) -> [HTTP2Bytes.Field] {
        [(":method", method), (":scheme", "https"), (":authority", "origin.test"), (":path", path)] + more
    }

    /// A whole GET with these fields after the pseudo-header fields.
    static func get(_ more: [HTTP2Bytes.Field]) -> [UInt8] { HTTP2Bytes.headers(Self.request("GET", "/", more)) }

    /// A POST whose content follows, with these fields.
    static func post(_ more: [HTTP2Bytes.Field] = [], on stream: Int = 1) -> [UInt8] {
        HTTP2Bytes.headers(Self.request("POST", "/", more), HTTP2Bytes.Flag.endHeaders, on: stream)
    }

    /// The bytes of a forwarded request.
    ///
    /// - Parameters:
    ///   - fields: lines with their ends.
    ///   - framing: the same for the body, which comes last.
    static func sent(
        _ line: String = "GET /", _ fields: String = "", framing: String = "", body: String = ""
    ) -> Outcome {
        .forwarded("\(line) HTTP/1.1\r\nHost: HOST\r\n\(fields)Via: 2 pintle\r\n\(framing)\r\n\(body)")
    }

    /// The bytes of a forwarded POST without a length.
    static func chunked(_ body: String, trailers: String = "") -> Outcome {
        let chunk = body.isEmpty ? "" : "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n"
        return .forwarded(
            "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nVia: 2 pintle\r\n\r\n\(chunk)0\r\n"
                + "\(trailers)\r\n")
    }

    static let badRequest = Outcome.answer(400, "bad-request")
}
