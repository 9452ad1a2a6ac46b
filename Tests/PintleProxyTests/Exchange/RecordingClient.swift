// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleActivity
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleSession

@testable import PintleProxy

/// A client that records its answer and refuses calls that HTTP does not allow.
///
/// It gives the body as a connection does: only as much as the exchange wants, and waiting bytes when it is asked to
/// continue.
final class RecordingClient: ClientStream {
    private enum Phase {
        case fresh
        case answering(owed: UInt64?, hasBody: Bool)
        case over
    }

    private enum Piece {
        case bytes(ByteBuffer)
        case end(Fields)
    }

    var isWritable = true
    /// True if the answer may come in pipes.
    var takesPipes = false
    let owner = ConnectionOwner()
    let clientProcess: ClientProcess? = nil
    private let transcript: Transcript
    private let method: String
    private var phase = Phase.fresh
    private var inbox: [Piece] = []
    private var isGiving = false
    /// Held as a connection holds the exchange under way: until it is answered.
    private(set) var exchange: Exchange?

    init(_ transcript: Transcript, method: String) {
        self.transcript = transcript
        self.method = method
    }

    /// True once nothing may follow.
    var isOver: Bool { if case .over = self.phase { true } else { false } }

    func serve(_ exchange: Exchange) { self.exchange = exchange }

    /// The name of the problem that it was answered with, even if the answer has no body.
    private(set) var problem: Substring?
    /// The number of bytes of the answer that were a problem document of Pintle's.
    private(set) var problemBytes = 0

    // MARK: Actions of the client

    func give(_ bytes: ByteBuffer) {
        self.inbox.append(.bytes(bytes))
        self.resumeBody()
    }

    func endBody(_ trailers: Fields) {
        self.inbox.append(.end(trailers))
        self.resumeBody()
    }

    /// The client is gone.
    func leave() {
        let exchange = self.exchange
        self.phase = .over
        self.exchange = nil
        exchange?.clientLeft()
    }

    // MARK: Calls of the exchange

    func resumeBody() {
        guard !self.isGiving else { return }
        self.isGiving = true
        defer { self.isGiving = false }
        while let exchange = self.exchange, let piece = self.inbox.first {
            switch piece {
            case .bytes(let bytes):
                guard exchange.wantsBody else { return }
                self.inbox.removeFirst()
                exchange.received(bytes)
            case .end(let trailers):
                guard exchange.wantsEndOfBody else { return }
                self.inbox.removeFirst()
                exchange.receivedEndOfBody(trailers: trailers)
            }
        }
    }

    func send(interim head: ResponseHead) {
        guard case .fresh = self.phase else { return self.transcript.breach("an interim response behind the head") }
        guard head.status / 100 == 1 else { return self.transcript.breach("\(head.status) is no interim response") }
        self.transcript.note("client < interim \(head.status)\(head.fields.spelled())")
    }

    func send(_ head: ResponseHead, length: UInt64?) {
        guard case .fresh = self.phase else { return self.transcript.breach("a second head, \(head.status)") }
        if head.status == 101 { return self.transcript.breach("a 101 that is no tunnel") }
        let hasBody = !head.forbidsBody(to: self.method)
        self.phase = .answering(owed: hasBody ? length : nil, hasBody: hasBody)
        if head.fields.contains("Proxy-Status") {
            let rest = head.fields.spelled(omitting: ["date", "proxy-status", "cache-control", "content-type"])
            return self.transcript.note("client < \(head.status)\(rest)")
        }
        let size = length.map { ", \($0) bytes" } ?? (hasBody ? ", chunked" : "")
        self.transcript.note("client < \(head.status)\(size)\(head.fields.spelled())")
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard case .answering(let owed, let hasBody) = self.phase else {
            self.transcript.breach("a body without a head, or behind the end: \(String.spelled(bytes))")
            return 0
        }
        let words = Self.spelled(bytes)
        if words.hasPrefix("problem") { self.problem = words.dropFirst(8).prefix { $0 != ":" && $0 != " " } }
        guard hasBody else { return 0 }
        if let owed {
            guard UInt64(bytes.count) <= owed else {
                self.transcript.breach("more is written than was declared: \(String.spelled(bytes))")
                return 0
            }
            self.phase = .answering(owed: owed - UInt64(bytes.count), hasBody: hasBody)
        }
        guard bytes.count > 0 else { return 0 }
        if self.problem != nil { self.problemBytes += bytes.count }
        self.transcript.note("client < \(words)")
        return bytes.count
    }

    func send(_ piped: PipedBytes) -> Int {
        guard self.takesPipes, case .answering(.some(let owed), true) = self.phase, UInt64(piped.count) <= owed else {
            self.transcript.breach("a pipe comes that was not asked for")
            return 0
        }
        let count = piped.count
        self.phase = .answering(owed: owed - UInt64(count), hasBody: true)
        piped.drop()
        self.transcript.note("client < pipe of \(count)")
        return count
    }

    /// A problem by its name: the rest of it has an id that no test can foresee.
    private static func spelled(_ bytes: UnsafeRawBufferPointer) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        if text.hasPrefix("{\"type\":\"urn:pintle:problem:") {
            let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            let name = text.dropFirst(28).prefix { $0 != "\"" }
            let detail = object?["detail"] as? String ?? ""
            // The exact error of a connection that breaks in a handshake depends on timing.
            let mark = "before the tunnel opens"
            let words = detail.ranges(of: mark).first.map { String(detail[..<$0.upperBound]) } ?? detail
            return "problem \(name): \(words)"
        }
        // The text for people has the same content, with the name in its last line.
        guard let last = text.split(separator: "\n").last, last.hasPrefix("urn:pintle:problem:") else {
            return String.spelled(bytes)
        }
        return "problem \(last.dropFirst(19).prefix { $0 != " " }) in text"
    }

    func finish(trailers: Fields) {
        guard case .answering(let owed, let hasBody) = self.phase else {
            return self.transcript.breach("an end without a head, or a second one")
        }
        if hasBody, let owed, owed > 0 { self.transcript.breach("\(owed) bytes less are written than were declared") }
        self.transcript.note("client < end\(trailers.spelled())")
        self.end()
    }

    func cut() {
        guard case .answering = self.phase else { return self.transcript.breach("a cut of what has not begun") }
        self.transcript.note("client < cut")
        self.end()
    }

    func relay(_ terms: TunnelTerms) {
        guard case .fresh = self.phase else { return self.transcript.breach("a tunnel behind a head") }
        let head = terms.head.map { "\($0.status)\($0.fields.spelled())" } ?? "200"
        let early = terms.early.readableBytes > 0 ? ", early \(String.spelled(terms.early.readableBytesView))" : ""
        self.transcript.note("client < relay \(head)\(early)\(terms.watch == nil ? "" : ", watched")")
        let report = terms.report
        terms.origin.close(on: report.worker.loop)
        report.close(.completed, in: terms.active)
        self.end()
    }

    func open(_ tunnel: InterceptedTunnel) {
        guard case .fresh = self.phase else { return self.transcript.breach("a tunnel behind a head") }
        self.transcript.note("client < open the tunnel to \(tunnel.authority)")
        self.end()
    }

    private func end() {
        self.phase = .over
        self.exchange = nil
    }
}
