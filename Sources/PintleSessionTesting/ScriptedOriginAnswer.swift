// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import PintleMessage
internal import PintleSystem

extension ScriptedOrigin {
    /// The response of an origin to a request, or its failure.
    ///
    /// Answers are framed as HTTP/1.1 requires: Content-Length for bytes, chunks for streamed bodies, no body for HEAD,
    /// 1xx, 204 and 304. Fields of the test take precedence: a Content-Length or Transfer-Encoding among them is sent,
    /// followed by the body as it is, so that a test can send a wrong one; the connection is closed after a wrong length.
    public struct Answer: Sendable {
        indirect enum Content: Sendable {
            case message(Message)
            case inTurn(Turns)
            case cut(after: Int, of: Answer)
            case close
            case reset
            case never
        }

        let content: Content

        // MARK: With a body of a known length

        /// Answers with a value as JSON, with its members sorted by name. If the value cannot be encoded, the response is
        /// 500 with the reason as text.
        public static func json(_ value: some Encodable, status: Int = 200, fields: Fields = [:]) -> Answer {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return .bytes(try encoder.encode(value), status: status, type: "application/json", fields: fields)
            } catch {
                return .text("The scripted answer cannot be encoded as JSON: \(error)\n", status: 500)
            }
        }

        /// Answers with text in UTF-8.
        ///
        /// - Parameter type: the value of Content-Type, unless `fields` have one.
        public static func text(
            _ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8", fields: Fields = [:]
        ) -> Answer {
            .bytes(text.utf8, status: status, type: type, fields: fields)
        }

        /// Answers with bytes as they are.
        ///
        /// - Parameter type: the value of Content-Type, unless `fields` have one.
        public static func bytes(
            _ bytes: some Sequence<UInt8>, status: Int = 200, type: String = "application/octet-stream",
            fields: Fields = [:]
        ) -> Answer {
            Answer(status, type, fields, .bytes(Array(bytes)))
        }

        /// Answers with a status and fields, without content.
        public static func status(_ status: Int, fields: Fields = [:]) -> Answer {
            Answer(status, nil, fields, .bytes([]))
        }

        /// Answers with a redirect without content.
        ///
        /// - Parameter location: the value of Location: absolute, or relative to the request's target.
        public static func redirect(to location: String, status: Int = 302, fields: Fields = [:]) -> Answer {
            var fields = fields
            fields.set("Location", location)
            return .status(status, fields: fields)
        }

        // MARK: Piece by piece

        /// Answers with a body in chunks, each of which is sent separately. Empty ones are omitted, because an empty chunk
        /// would end the body.
        ///
        /// - Parameter type: the value of Content-Type, unless `fields` have one.
        public static func chunks(
            _ pieces: [String], status: Int = 200, type: String = "text/plain; charset=utf-8", fields: Fields = [:]
        ) -> Answer {
            .stream(status: status, type: type, fields: fields) { body in
                for piece in pieces { try await body.write(piece) }
            }
        }

        /// Answers with a body in chunks, each of which is sent as soon as the sequence produces it. So a test can control
        /// the time, for instance with the continuation of an `AsyncStream`.
        ///
        /// - Parameters:
        ///   - pieces: iterated for each request. A sequence that can be iterated only once, such as an `AsyncStream`,
        ///     serves one request. If it throws, the connection ends in the middle of the body.
        ///   - type: the value of Content-Type, unless `fields` have one.
        public static func chunks<Pieces: AsyncSequence & Sendable>(
            from pieces: Pieces, status: Int = 200, type: String = "text/plain; charset=utf-8", fields: Fields = [:]
        ) -> Answer where Pieces.Element == String {
            .stream(status: status, type: type, fields: fields) { body in
                for try await piece in pieces { try await body.write(piece) }
            }
        }

        /// Answers with a body that a closure writes in chunks. The head is sent before the closure is called.
        ///
        /// - Parameters:
        ///   - type: the value of Content-Type, unless `fields` have one.
        ///   - write: called for each request, unless its response has no body. Its task is cancelled when the connection
        ///     ends. If it throws, the connection ends in the middle of the body.
        public static func stream(
            status: Int = 200, type: String = "application/octet-stream", fields: Fields = [:],
            _ write: @escaping @Sendable (_ body: BodyWriter) async throws -> Void
        ) -> Answer {
            Answer(status, type, fields, .written(write))
        }

        // MARK: More than one

        /// Gives one answer after the other, request by request, and from then on the last one. Copies share their
        /// position.
        public static func inTurn(_ first: Answer, _ others: Answer...) -> Answer {
            Answer(content: .inTurn(Turns(first, others)))
        }

        // MARK: Failures

        /// Sends the whole head of an answer and the first `count` bytes of its body; then closes the connection.
        ///
        /// The client misses bytes that Content-Length announced, or the last chunk. If the answer has a Content-Length and
        /// `count` is not less, nothing is cut.
        public static func cut(after count: Int, of answer: Answer) -> Answer {
            Answer(content: .cut(after: max(0, count), of: answer))
        }

        /// Closes the connection without an answer.
        public static let close = Answer(content: .close)

        /// Resets the connection (RST) without an answer.
        public static let reset = Answer(content: .reset)

        /// Does not answer: the client waits until it times out, or until the origin ends.
        public static let never = Answer(content: .never)

        private init(content: Content) { self.content = content }

        private init(_ status: Int, _ type: String?, _ fields: Fields, _ body: Message.Body) {
            var fields = fields
            if let type, !fields.contains("Content-Type") { fields.append("Content-Type", type) }
            self.content = .message(Message(status: status, fields: fields, body: body))
        }
    }

    /// Sends the body of one answer (``Answer/stream(status:type:fields:_:)``).
    public struct BodyWriter: Sendable {
        let send: @Sendable ([UInt8]) async throws -> Void

        /// Sends a chunk of UTF-8 text, and returns when the system has accepted it. An empty one is not sent.
        ///
        /// - Throws: an error if the connection has ended.
        public func write(_ text: String) async throws { try await self.write(text.utf8) }

        /// Sends a chunk, and returns when the system has accepted it. An empty one is not sent.
        ///
        /// - Throws: an error if the connection has ended.
        public func write(_ bytes: some Sequence<UInt8> & Sendable) async throws {
            try await self.send(Array(bytes))
        }
    }
}

extension ScriptedOrigin.Answer {
    /// A response without its framing.
    struct Message: Sendable {
        enum Body: Sendable {
            case bytes([UInt8])
            case written(@Sendable (ScriptedOrigin.BodyWriter) async throws -> Void)
        }

        let status: Int
        let fields: Fields
        let body: Body

        /// True for statuses without content (RFC 9110 §6.4.1).
        var isWithoutBody: Bool { (100..<200).contains(self.status) || self.status == 204 || self.status == 304 }
    }

    /// Answers that are used one after the other.
    final class Turns: Sendable {
        private let last: ScriptedOrigin.Answer
        /// The answers before the last one, in reverse order.
        private let before: Locked<[ScriptedOrigin.Answer]>

        init(_ first: ScriptedOrigin.Answer, _ others: [ScriptedOrigin.Answer]) {
            self.last = others.last ?? first
            self.before = Locked(([first] + others).dropLast().reversed())
        }

        func next() -> ScriptedOrigin.Answer { self.before.withLock { $0.popLast() } ?? self.last }
    }
}
