// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintlePolicy
import PintleTrust

@testable import PintleProxy
@testable import PintleSession

/// An origin of a course: compares the body with the client's.
final class ModelOrigin: PlayedOrigin {
    /// The number of the request that it is asked for.
    let token: Int
    /// The moment at which it was asked.
    let asked: Int
    /// The moment at which its answer was complete.
    private(set) var completed: Int?
    private(set) var answer: Course.Answer?
    /// The connection that it has handed over.
    private(set) var connection: ModelConnection?
    private(set) var hasConfirmed = false
    private(set) var hasRedirected = false
    private let number: Int
    private let record: ModelRecord
    private var status: UInt16 = 0
    private var content: ArraySlice<UInt8> = []

    init(_ request: TransferRequest, _ record: ModelRecord, _ delegate: any TransferDelegate) {
        // The request of a tunnel has no fields, but a unique destination.
        let name =
            request.connectOnly
            ? request.authority.host.split(separator: ".").first.map { String($0.dropFirst()) }
            : request.fields.values(of: "X-Token").first
        self.token = name.flatMap { Int($0) } ?? -1
        (self.record, self.number, self.asked) = (record, record.origins.count, record.now())
        super.init(request, delegate)
        if case .bytes(let bytes) = request.body { self.compare(bytes, isWhole: true) }
    }

    /// True if the request names a user: a redirect to another authority has it lose its Authorization.
    var namesUser: Bool { self.request.fields.contains("Authorization") }

    /// True if it was asked for its whole content.
    var isAskedForWhole: Bool {
        self.request.method == "GET" && !self.request.fields.contains("Range")
            && !self.request.fields.contains("If-None-Match")
            // An upgrade may be answered with another protocol, which is not for the cache.
            && self.request.upgrade == nil
    }

    override var hasAnswered: Bool { self.answer != nil }

    override func breach(_ sentence: String) { self.record.breach("origin \(self.number): \(sentence)") }

    private var ask: ModelRecord.Ask? { self.record.ask(of: self) }

    /// True if the body is the client's, as it came.
    private var hasClientsBody: Bool {
        guard let ask, ask.request.hasBody, self.request.method == ask.request.method else { return false }
        return !self.record.configuration.yaml.contains("serialize") || "\(self.request.authority)".hasPrefix("a.test")
    }

    private func compare(_ bytes: ByteBuffer, isWhole: Bool) {
        guard self.hasClientsBody, let ask else { return }
        if !bytes.withUnsafeReadableBytes({ ModelContent.holds(ask.body, at: self.received, $0) }) {
            self.breach("gets other bytes than the client of request \(self.token) has sent")
        }
        let end = self.received + bytes.readableBytes
        if isWhole, end < ask.body.count {
            self.breach("gets \(end) bytes of \(ask.body.count) as the whole body")
        }
    }

    // MARK: Actions of the origin

    func play(interim fields: Fields) {
        guard self.answer == nil, !self.request.connectOnly else { return }
        self.delegate?.originSent(interim: ResponseHead(status: 103, fields: fields))
    }

    func play(_ answer: Course.Answer) {
        guard self.answer == nil, !self.isOver, !self.request.connectOnly else { return }
        var answer = answer
        let condition = self.request.fields.values(of: "If-None-Match").first
        let range = self.request.fields.values(of: "Range").first
        if condition == nil, answer.kind == .notModified || answer.kind == .otherNotModified { answer.kind = .ok }
        let whole = ModelContent.answers[answer.version]
        if answer.kind == .part, range == nil || whole.count < 9 { answer.kind = .ok }
        self.answer = answer
        var fields: Fields = ["Date": HTTPDate.text(Self.start + Int64(self.asked))]
        (self.status, self.content) = (200, whole[...])
        switch answer.kind {
        case .ok: break
        case .part:
            (self.status, self.content) = (206, whole[2...8])
            fields.append("Content-Range", "bytes 2-8/\(whole.count)")
        case .notModified, .otherNotModified:
            (self.status, self.content) = (304, [])
            fields.append("ETag", answer.kind == .notModified ? condition ?? "" : "\"other\"")
            self.hasConfirmed = true
        case .noContent: (self.status, self.content) = (204, [])
        case .missing: self.status = 404
        case .failure:
            self.status = 503
            self.noteFailure()
        case .found: self.status = 302
        case .other: self.status = 303
        case .again: self.status = 307
        case .permanent: self.status = 308
        }
        if self.status / 100 == 3, self.status != 304 {
            fields.append("Location", Self.url(answer.path, self.request.path))
            self.hasRedirected = true
        }
        if self.status != 304 { Self.append(answer, self.number, to: &fields) }
        let length = UInt64(self.content.count)
        if self.request.method == "HEAD" { self.content = [] }
        self.delegate?.originAnswered(
            ResponseHead(status: self.status, fields: fields), length: answer.isChunked ? nil : length)
    }

    /// 2001-09-09: always in the past.
    private static let start: Int64 = 1_000_000_000

    private static func url(_ path: Int, _ asked: String) -> String {
        let course = asked.split(separator: "/").first ?? ""
        return "http://\(path == 2 ? "b" : "a").test/\(course)/\(path)"
    }

    private static func append(_ answer: Course.Answer, _ number: Int, to fields: inout Fields) {
        fields.append("X-Answer", "\(number)")
        fields.append("X-Version", "\(answer.version)")
        fields.append("ETag", "\"\(answer.version)\"")
        fields.append("Content-Type", "application/json")
        // The date is long ago, and so are the lifetimes long.
        let century = 3_155_760_000
        let control =
            switch answer.use {
            case .fresh, .varying: "max-age=\(century)"
            case .freshForMany: "public, max-age=\(century)"
            case .mustRevalidate: "max-age=0, must-revalidate"
            case .noCache: "no-cache"
            case .staleWhileRevalidate: "max-age=0, stale-while-revalidate=\(century)"
            case .staleIfError: "max-age=0, stale-if-error=\(century)"
            case .isPrivate: "private, max-age=\(century)"
            case .noStore: "no-store"
            case .cookie: "max-age=\(century)"
            case .silent: ""
            }
        if !control.isEmpty { fields.append("Cache-Control", control) }
        if answer.use == .varying { fields.append("Vary", "X-Variant") }
        if answer.use == .cookie { fields.append("Set-Cookie", "own=1") }
    }

    /// Sends up to `count` bytes, unless the exchange does not read.
    func play(giving count: Int) {
        guard self.answer != nil, !self.isOver, !self.isPaused, !self.content.isEmpty else { return }
        let piece = self.content.prefix(count)
        self.content = self.content.dropFirst(count)
        piece.withUnsafeBytes { self.delegate?.originSent($0) }
    }

    func playTrailers() {
        self.play(giving: .max)
        guard self.answer != nil, !self.isOver, self.content.isEmpty else { return }
        self.delegate?.originSent(trailers: ["X-Trailer": "\(self.number)"])
    }

    override func playEnd() {
        self.play(giving: .max)
        guard self.answer != nil, !self.isOver, self.content.isEmpty else { return }
        self.completed = self.record.now()
        self.tellEnd(nil)
    }

    /// Hands its connection over, if that was asked for.
    ///
    /// - Parameter asOffered: false for a protocol that its client does not speak.
    func play(switching asOffered: Bool) throws {
        guard !self.isOver, self.answer == nil, self.request.connectOnly || self.request.upgrade != nil else { return }
        let connection = try ModelConnection()
        self.connection = connection
        var handoff = ConnectionHandoff(connection: EstablishedConnection(socket: connection.near))
        if !self.request.connectOnly {
            let name = asOffered ? "echo" : "other"
            handoff.head = ResponseHead(status: 101, fields: ["Upgrade": name, "Connection": "upgrade"])
            handoff.version = "1.1"
        }
        self.takeDelegate()?.originHandedOver(handoff, TransferMetrics())
    }

    /// Brings it to its end.
    func playRest() throws {
        if self.request.connectOnly { return try self.play(switching: true) }
        self.isSlow = false
        self.playTaking()
        if self.answer == nil { self.play(Course.Answer(kind: .ok, use: .noStore, version: 2)) }
        self.playEnd()
    }

    // MARK: The request's body

    override func compare(_ bytes: ByteBuffer) { self.compare(bytes, isWhole: false) }

    override func compareEnd(trailers: Fields) {
        if let length = self.request.body.length, self.received != length {
            self.breach("a body of \(length) bytes ends after \(self.received)")
        }
        self.compare(ByteBuffer(), isWhole: true)
    }
}

/// Opens the origins of a course.
final class ModelOpener: OriginOpener {
    var record: ModelRecord

    init(_ record: ModelRecord) { self.record = record }

    func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate
    ) -> any OriginStream {
        let origin = ModelOrigin(request, self.record, delegate)
        self.record.add(origin)
        return origin
    }
}
