// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHPACK
import PintleMessage
import PintleTesting

/// An HTTP/2 client that sends a test's bytes, and reports frame by frame what comes back. One thread uses it.
final class HTTP2Client {
    /// A frame that has come.
    struct Frame: CustomStringConvertible {
        let kind: UInt8
        let flags: UInt8
        let stream: Int
        let payload: [UInt8]

        var isEnd: Bool {
            self.kind <= HTTP2Bytes.Kind.headers && self.flags & HTTP2Bytes.Flag.endStream != 0
        }

        /// The number of an error, in a frame that has one.
        var code: HTTP2Bytes.Code? {
            let offset = self.kind == HTTP2Bytes.Kind.goAway ? 4 : 0
            guard self.payload.count >= offset + 4 else { return nil }
            return HTTP2Bytes.Code(rawValue: self.payload[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) })
        }

        var description: String {
            "frame \(self.kind) flags \(self.flags) on \(self.stream): \(self.payload.count) bytes"
        }
    }

    /// The answer that has come on a stream.
    struct Answer {
        var heads: [[(name: String, value: String)]] = []
        /// The values of the last head as bytes.
        var bytes: [String: [UInt8]] = [:]
        var body: [UInt8] = []
        /// The reason for the reset of the stream, if it was reset.
        var reset: HTTP2Bytes.Code?
        var isComplete = false

        /// Status of the final head; 0 if there is none.
        var status: Int {
            self.heads.lazy.compactMap { self.value(":status", in: $0).flatMap { Int($0) } }.last { $0 >= 200 } ?? 0
        }

        /// A field of the final head.
        subscript(_ name: String) -> String? {
            self.heads.last { self.value(":status", in: $0).flatMap { Int($0) } ?? 0 >= 200 }
                .flatMap { self.value(name, in: $0) }
        }

        /// The trailer section; nil if there is none.
        var trailers: [(name: String, value: String)]? {
            self.heads.last { self.value(":status", in: $0) == nil }
        }

        var text: String { String(decoding: self.body, as: UTF8.self) }

        /// The name of the problem of Pintle's own that this is.
        var problem: String? {
            let parts = self.text.components(separatedBy: "urn:pintle:problem:")
            return parts.count > 1 ? String(parts[1].prefix { $0.isLetter || $0 == "-" }) : nil
        }

        private func value(_ name: String, in head: [(name: String, value: String)]) -> String? {
            head.first { $0.name == name }?.value
        }
    }

    let stream: TLSStream
    private var escaper = HeaderBlockEscaper(fieldLimit: 1 << 20)
    private var decoder = HPACKDecoder(
        allocator: ByteBufferAllocator(), maxDynamicTableSize: HeaderBlockEscaper.decoderTable,
        maxHeaderListSize: 1 << 20)
    /// The answers that have come, by stream.
    private(set) var answers: [Int: Answer] = [:]
    /// The reason for the end of the connection, if the peer has sent one.
    private(set) var goAway: HTTP2Bytes.Code?
    /// The settings of the peer by number.
    private(set) var settings: [Int: Int] = [:]
    private(set) var pongs: [[UInt8]] = []
    /// The beginning of a head that comes in pieces, and whether its stream ends with it.
    private var (section, endsWithSection) = ([UInt8](), false)
    /// The bytes by which the peer has enlarged windows, by stream; that of the connection has number 0.
    private(set) var enlargements: [Int: Int] = [:]

    init(_ stream: TLSStream) { self.stream = stream }

    func send(_ bytes: [UInt8]) throws { try self.stream.send(bytes) }

    /// Greets, takes the peer's greeting, and acknowledges it.
    func greet(_ settings: [(Int, Int)] = []) throws {
        try self.send(HTTP2Bytes.greeting(settings))
        var hasSettings = false
        var hasAcknowledgement = false
        while !hasSettings || !hasAcknowledgement {
            guard let frame = try self.next() else { throw TestFailure("the connection ends in the greeting") }
            guard frame.kind == HTTP2Bytes.Kind.settings else { continue }
            if frame.flags & 1 == 0 { hasSettings = true } else { hasAcknowledgement = true }
        }
        try self.send(HTTP2Bytes.settingsAcknowledgement)
    }

    /// Takes the next frame; nil at the end of the connection.
    func next() throws -> Frame? {
        guard let head = self.stream.readOrEnd(9) else { return nil }
        let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let number = head[5...8].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
        let frame = Frame(kind: head[3], flags: head[4], stream: number, payload: try self.stream.read(length))
        try self.note(frame)
        return frame
    }

    private func note(_ frame: Frame) throws {
        switch frame.kind {
        case HTTP2Bytes.Kind.headers, HTTP2Bytes.Kind.continuation:
            self.section += frame.payload
            if frame.kind == HTTP2Bytes.Kind.headers { self.endsWithSection = frame.isEnd }
            guard frame.payload.count <= 1 << 14 else { throw TestFailure("a frame of \(frame.payload.count) bytes") }
            guard frame.flags & HTTP2Bytes.Flag.endHeaders != 0 else { return }
            var text: [UInt8] = []
            try self.section.withUnsafeBytes { try self.escaper.escape($0, isLast: true, into: &text) }
            var block = ByteBuffer(bytes: text)
            self.section = []
            let fields = try self.decoder.decodeHeaders(from: &block).map { ($0.name, $0.value.latin1Bytes) }
            self.answers[frame.stream, default: Answer()].heads.append(
                fields.map { (name: $0.0, value: String(decoding: $0.1, as: UTF8.self)) })
            self.answers[frame.stream]?.bytes = Dictionary(fields) { first, _ in first }
        case HTTP2Bytes.Kind.data: self.answers[frame.stream, default: Answer()].body += frame.payload
        case HTTP2Bytes.Kind.reset: self.answers[frame.stream, default: Answer()].reset = frame.code
        case HTTP2Bytes.Kind.goAway: self.goAway = frame.code
        case HTTP2Bytes.Kind.windowUpdate:
            self.enlargements[frame.stream, default: 0] += frame.payload.reduce(0) { $0 << 8 | Int($1) }
        case HTTP2Bytes.Kind.ping where frame.flags & 1 != 0: self.pongs.append(frame.payload)
        case HTTP2Bytes.Kind.settings:
            for start in stride(from: 0, to: frame.payload.count, by: 6) {
                let (name, value) = (frame.payload[start..<start + 2], frame.payload[start + 2..<start + 6])
                self.settings[name.reduce(0) { $0 << 8 | Int($1) }] = value.reduce(0) { $0 << 8 | Int($1) }
            }
        default: break
        }
        let isSection = frame.kind == HTTP2Bytes.Kind.headers || frame.kind == HTTP2Bytes.Kind.continuation
        if isSection ? self.endsWithSection : frame.isEnd { self.answers[frame.stream]?.isComplete = true }
    }

    /// Takes frames until `isReached` returns true, or the connection ends.
    ///
    /// - Returns: false if the connection has ended before.
    @discardableResult
    func read(until isReached: (HTTP2Client) -> Bool) throws -> Bool {
        while !isReached(self) { guard try self.next() != nil else { return false } }
        return true
    }

    /// Takes frames until a stream is over, or the connection ends.
    func answer(on number: Int = 1) throws -> Answer {
        try self.read { client in
            client.answers[number].map { $0.isComplete || $0.reset != nil } ?? false || client.goAway != nil
        }
        return self.answers[number] ?? Answer()
    }

    /// Takes frames up to the end of the connection.
    func readToEnd() throws { while try self.next() != nil {} }
}
