// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
internal import PintleCoding
internal import PintleMessage
package import PintlePolicy
internal import PintleSystem
package import PintleWatch

/// The bodies of an exchange that has ended.
///
/// They may be gone at any time: the filter of the configuration decides later about them, because filters take time, and room may
/// be needed for newer ones.
package final class CapturedBodies: Sendable {
    /// A body on the wire, or its beginning.
    struct Part: Sendable {
        var bytes: [UInt8] = []
        /// The length of the whole body.
        var size = 0
        /// The values of Content-Type and Content-Encoding.
        var type: String?
        var codings: [String] = []
    }

    struct Content: Sendable {
        var request = Part()
        var response = Part()
        var messages: [ShownMessage] = []
        /// The Cookie fields that a jar has added to the requests to origins; the fields of the client have none of them.
        var cookies: [String] = []
        /// True if the route has changed the origin's body of the response.
        var isChanged = false

        /// The bytes in memory, about.
        var size: Int {
            self.cookies.reduce(0) { $0 + $1.utf8.count } + self.request.bytes.count + self.response.bytes.count
                + self.messages.reduce(0) { $0 + $1.bytes.count + CaptureStore.overhead }
        }
    }

    private enum State: Sendable {
        /// The filter was not asked yet.
        case pending(Content)
        case kept(Content)
        case gone
    }

    private let rules: CaptureRules
    private let state: Locked<State>
    private let size: Int

    /// - Parameter content: its bytes were taken from the rules' store.
    init(_ content: consuming Content, _ rules: CaptureRules) {
        self.size = content.size
        self.rules = rules
        self.state = Locked(rules.filter.isEverything ? .kept(content) : .pending(content))
    }

    deinit { self.forget() }

    /// True until the filter was asked.
    var isPending: Bool { if case .pending = self.state.withLock({ $0 }) { true } else { false } }

    /// Forgets the bodies; does nothing if they are gone.
    func forget() {
        let wasThere = self.state.withLock { state in
            if case .gone = state { return false }
            state = .gone
            return true
        }
        if wasThere { self.rules.store.giveBack(self.size) }
    }

    /// Asks the filter, unless that was done. It may take some tenths of a second: not for the thread of a loop of exchanges.
    func settle(_ exchange: ObservedExchange) {
        guard case .pending(let content) = self.state.withLock({ $0 }) else { return }
        let redaction = self.rules.redaction
        let shown = ShownExchange(
            exchange.record, request: exchange.requestFields, response: exchange.responseFields,
            bodies: Shown(content, of: exchange, self.rules, redaction), redaction: redaction)
        guard self.rules.filter.matches(shown) else { return self.forget() }
        let isNew = self.state.withLock { state in
            guard case .pending(let content) = state else { return false }
            state = .kept(content)
            return true
        }
        if isNew { self.rules.store.add(self) }
    }

    /// The bodies as they may be shown; nil if they are gone.
    package func shown(of exchange: ObservedExchange, _ redaction: Redaction) -> (any ShownBodies)? {
        self.settle(exchange)
        guard case .kept(let content) = self.state.withLock({ $0 }) else { return nil }
        return Shown(content, of: exchange, self.rules, redaction)
    }

    /// The bytes that the client has sent as a body; nil if they are gone, or not all were kept.
    package func wholeRequest(of exchange: ObservedExchange) -> [UInt8]? {
        self.settle(exchange)
        guard case .kept(let content) = self.state.withLock({ $0 }),
            content.request.bytes.count == content.request.size
        else { return nil }
        return content.request.bytes
    }

    /// The body of the response as it came from the origin, to be judged again; or the reason why that cannot be.
    ///
    /// - Parameter redaction: of what is shown. A body with parts that may not be shown is not judged: the verdict, or its words,
    ///   could tell them, and a mask is not what the origin has sent.
    package func judgedResponse(of exchange: ObservedExchange, _ redaction: Redaction) -> RecordedResponse.Body {
        self.settle(exchange)
        guard case .kept(let content) = self.state.withLock({ $0 }) else { return .unknown(Self.noBody) }
        let part = content.response
        guard part.bytes.count == part.size else {
            return .unknown("only \(part.bytes.count) bytes of its body were kept")
        }
        if content.isChanged { return .unknown("the route has changed its body") }
        guard let plain = Shown.decoded(part), plain.isWhole else { return .unknown("its body cannot be decoded") }
        let shown = Shown(content, of: exchange, self.rules, redaction).response?.bytes ?? []
        return shown == plain.bytes ? .whole(part.bytes) : .unknown("the log hides parts of its body (log.redact)")
    }

    fileprivate static let noBody = "its body was not kept"
}

extension ObservedExchange {
    /// The response of the origin, to be judged again.
    ///
    /// - Parameter redaction: of what is shown.
    package func judgedResponse(_ redaction: Redaction) -> RecordedResponse {
        switch self.record.source {
        case .origin: break
        case .cache: return .unknown("it came from the cache")
        case .recording, .mock, .fault, .pintle: return .unknown("no origin has sent it")
        case nil: return .unknown("there was none")
        }
        guard let status = (self.record.upstreamStatus ?? self.record.status).flatMap(UInt16.init(exactly:)) else {
            return .unknown("there was none")
        }
        let length = self.record.bytesOut ?? 0
        let body: RecordedResponse.Body =
            if !self.isComplete {
                .unknown("it did not come whole")
            } else if length == 0 {
                .whole([])
            } else {
                self.bodies?.judgedResponse(of: self, redaction) ?? .unknown(CapturedBodies.noBody)
            }
        return .received(
            ResponseHead(status: status, fields: self.responseFields), length: length, body,
            redirects: self.record.redirects ?? 0)
    }
}

/// Decodes and redacts bodies when they are asked for.
private struct Shown: ShownBodies {
    /// The most bytes to which a body is decoded, as a multiple of those that are kept of it, and in all.
    private static let (unfolding, longest) = (16, 8 << 20)

    private let content: CapturedBodies.Content
    private let requestType: String?
    private let requestCodings: [String]
    /// Texts that are masked wherever they stand.
    private let secrets: [String]
    /// Nil if nothing is masked.
    private let redaction: BodyRedaction?

    init(
        _ content: CapturedBodies.Content, of exchange: ObservedExchange, _ rules: CaptureRules, _ redaction: Redaction
    ) {
        self.content = content
        self.requestType = exchange.requestFields["Content-Type"]
        self.requestCodings = exchange.requestFields.values(of: "Content-Encoding")
        self.secrets = redaction == .on ? exchange.secrets + content.secrets + rules.injected : []
        self.redaction = redaction == .on ? BodyRedaction(secrets: self.secrets) : nil
    }

    private var sent: CapturedBodies.Part {
        var part = self.content.request
        (part.type, part.codings) = (self.requestType, self.requestCodings)
        return part
    }

    var request: ShownBody? { Self.body(self.sent, self.redaction) }

    var response: ShownBody? {
        guard let redaction else { return Self.body(self.content.response, nil) }
        // Many origins repeat what they were sent.
        let hidden = redaction.masked(Self.decoded(self.sent)?.bytes ?? [], type: self.requestType).hidden
        return Self.body(self.content.response, BodyRedaction(secrets: self.secrets + hidden))
    }

    var messages: [ShownMessage] {
        guard let redaction else { return self.content.messages }
        return self.content.messages.map { message in
            ShownMessage(
                time: message.time, isFromClient: message.isFromClient, kind: message.kind,
                bytes: redaction.masked(message.bytes, type: nil).bytes, isWhole: message.isWhole)
        }
    }

    private static func body(_ part: CapturedBodies.Part, _ redaction: BodyRedaction?) -> ShownBody? {
        guard part.size > 0 else { return nil }
        guard let (bytes, isDecoded) = Self.decoded(part) else {
            // Secrets cannot be found below a coding that is not known.
            let bytes = redaction == nil ? part.bytes : []
            return ShownBody(
                bytes: bytes, type: part.type, size: part.size, isWhole: bytes.count == part.size)
        }
        return ShownBody(
            bytes: redaction?.masked(bytes, type: part.type).bytes ?? bytes, type: part.type, size: part.size,
            isWhole: isDecoded && part.bytes.count == part.size)
    }

    /// Decodes as far as the bytes go.
    ///
    /// - Returns: nil if a coding is not known.
    static func decoded(_ part: CapturedBodies.Part) -> (bytes: [UInt8], isWhole: Bool)? {
        guard let codings = try? ContentCoding.codings(in: part.codings),
            let decoder = try? ContentDecoder(
                codings, limit: min(max(1 << 16, part.bytes.count * Self.unfolding), Self.longest))
        else { return nil }
        if codings.isEmpty { return (part.bytes, true) }
        var plain: [UInt8] = []
        var isWhole = true
        part.bytes.withUnsafeBufferPointer { bytes in
            do throws(ContentDecodingError) {
                try decoder.decode(UnsafeRawBufferPointer(bytes)) { piece in
                    plain.append(contentsOf: piece)
                    return true
                }
            } catch {
                isWhole = false
            }
        }
        return (plain, isWhole)
    }
}

extension CapturedBodies.Content {
    /// The values of the cookies of a jar.
    fileprivate var secrets: [String] {
        self.cookies.flatMap { $0.split(separator: ";").map { String($0.drop { $0 != "=" }.dropFirst()) } }
    }
}

extension ObservedExchange {
    /// The secrets in the fields and in the target, which an origin may repeat in a body.
    fileprivate var secrets: [String] {
        var secrets: [String] = []
        for (name, value) in self.requestFields.pairs + self.responseFields.pairs {
            switch name.lowercased() {
            case "authorization", "proxy-authorization":
                // A scheme, and the credentials.
                secrets += [value, String(value.drop { $0 != " " }.dropFirst())]
            case "cookie": secrets += value.split(separator: ";").map(Self.value)
            case "set-cookie": secrets += value.split(separator: ";").prefix(1).map(Self.value)
            default: break
            }
        }
        if let mark = self.record.url?.firstIndex(of: "?"), let url = self.record.url {
            secrets += url[url.index(after: mark)...].split(separator: "&").map(Self.value).flatMap { value in
                [value, String(decoding: PercentEscaping.unescapeWhole(Array(value.utf8)[...]), as: UTF8.self)]
            }
        }
        return secrets
    }

    /// The part behind the first `=`.
    private static func value(_ pair: Substring) -> String { String(pair.drop { $0 != "=" }.dropFirst()) }
}
