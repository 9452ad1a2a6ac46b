// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import PintleTesting

/// The client of a course of frames: sends them as RFC 9113 allows, except for those that are drawn to be wrong.
final class FrameClient {
    private typealias Bytes = HTTP2Bytes
    private typealias Kind = HTTP2Bytes.Kind
    private typealias Flag = HTTP2Bytes.Flag
    private typealias Request = FrameCourse.Request

    let transport: FrameTransport
    let model: FrameModel
    private let reader: FrameReader
    private var table = FrameTable()
    /// The size that the next header section gives the table.
    private var newTableSize: Int?
    private(set) var hasLeft = false
    private var (hasGoneAway, isBroken) = (false, false)
    private var hasOpenedWindows = false
    /// The turns for which it acknowledges nothing.
    private var lateness: Int

    init(_ transport: FrameTransport, _ model: FrameModel, _ course: FrameCourse) {
        (self.transport, self.model, self.lateness) = (transport, model, course.lateness)
        let reader = FrameReader(model)
        self.reader = reader
        transport.whenSent = { reader.received($0) }
        transport.whenEnded = { model.sawEndOfConnection() }
        reader.sent(FrameReader.Settings(window: course.window))
    }

    /// The first bytes.
    static func greeting(window: Int) -> [UInt8] { Bytes.greeting([(4, window)]) }

    /// True if the proxy can still be sent frames.
    var mayAsk: Bool { !self.hasLeft && !self.isBroken && !self.transport.isClosed }

    func send(_ bytes: [UInt8]) { if self.mayAsk { self.transport.send(bytes) } }

    /// A stream on which the client may still send.
    func sending(_ number: Int, _ isMeant: (FrameModel.Stream) -> Bool) -> FrameModel.Stream? {
        let live = self.model.streams.filter { !$0.isOver && isMeant($0) }
        return live.isEmpty ? nil : live[number % live.count]
    }

    // MARK: Requests

    @discardableResult func open(_ request: FrameCourse.Request) -> FrameModel.Stream? {
        guard self.mayAsk, !self.hasGoneAway, !self.reader.hasGoneAway else { return nil }
        let stream = self.model.open(request)
        self.reader.open(stream)
        stream.hasEnded = request.body == .none
        self.sendSection(
            self.block(of: stream), on: stream, flags: stream.hasEnded ? Flag.endStream : 0, as: request)
        if request.fault == .upperCase { self.model.floods.faults += 1 }
        return stream
    }

    private func block(of stream: FrameModel.Stream) -> [UInt8] {
        let request = stream.request
        var block: [UInt8] = []
        if let size = self.newTableSize {
            self.newTableSize = nil
            self.table.resize(to: size)
            block += Bytes.integer(size, 5, 0x20)
        }
        var fields: [Bytes.Field] = [(":method", request.method), (":scheme", "https"), (":authority", "a.test")]
        if request.fault != .noPath { fields.append((":path", "/\(stream.number)")) }
        fields += [("te", "trailers"), ("x-token", "\(stream.number)")]
        switch request.body {
        case .none, .undeclared: break
        case .declared: fields.append(("content-length", "\(request.size)"))
        case .tooShort: fields.append(("content-length", "\(request.size + 1)"))
        case .tooLong: fields.append(("content-length", "\(max(0, request.size - 1))"))
        }
        switch request.fault {
        case .none, .noPath: break
        case .twoHosts: fields += [("host", "a.test"), ("host", "b.test")]
        case .ofConnection: fields.append(("connection", "close"))
        case .upperCase: fields.append(("X-Upper", "case"))
        case .latePseudo: fields.append((":path", "/"))
        case .unknownProtocol: fields.insert((":protocol", "unknown"), at: 0)
        }
        for (name, value) in fields { block += self.table.write(Array(name.utf8), Array(value.utf8), request.form) }
        for line in 0..<request.filling.lines {
            let value = FrameText.value(line, request.filling.size)
            block += self.table.write(Array(FrameText.name(line).utf8), Array(value), request.form)
        }
        return block
    }

    /// Sends a header section in as many frames as it takes, but not in more than a flood has.
    private func sendSection(
        _ block: [UInt8], on stream: FrameModel.Stream, flags: UInt8, as request: FrameCourse.Request
    ) {
        let size = max(1, request.cut, block.count / 20 + 1)
        var (first, flags) = ([UInt8](), flags)
        if request.isPadded {
            first.append(9)
            flags |= Flag.padded
        }
        if request.hasPriority {
            first += Bytes.number(0, 4) + [15]
            flags |= Flag.priority
        }
        let room = min(size, (1 << 14) - 20)
        var rest = block[...]
        var kind = Kind.headers
        repeat {
            let piece = rest.prefix(room)
            rest = rest.dropFirst(room)
            let end = rest.isEmpty ? Flag.endHeaders : 0
            let padding = flags & Flag.padded != 0 ? [UInt8](repeating: 0, count: 9) : []
            self.send(Bytes.frame(kind, flags | end, on: stream.number, first + piece + padding))
            (first, flags, kind) = ([], 0, Kind.continuation)
        } while !rest.isEmpty
    }

    // MARK: Bodies

    func send(stream number: Int, _ count: Int, padding: Int) {
        guard let stream = self.sending(number, { !$0.hasEnded && !$0.isBodyWhole }) else { return }
        stream.ready = min(stream.body.count, stream.ready + count)
        self.pump(stream, padding: padding)
    }

    func endBody(stream number: Int, withTrailers: Bool) {
        guard let stream = self.sending(number, { !$0.hasEnded && !$0.isBodyWhole }) else { return }
        self.endBody(stream, withTrailers: withTrailers)
    }

    private func endBody(_ stream: FrameModel.Stream, withTrailers: Bool) {
        (stream.ready, stream.isBodyWhole, stream.endsWithTrailers) = (stream.body.count, true, withTrailers)
        self.pump(stream)
    }

    /// Sends the bytes that the windows allow.
    private func pump(_ stream: FrameModel.Stream, padding: Int = 0) {
        guard self.mayAsk, !stream.isOver, !stream.hasEnded else { return }
        let more = padding > 0 ? padding + 1 : 0
        while stream.sent < stream.ready {
            let room = min(stream.sendWindow, self.reader.sendWindow, 1 << 14) - more
            let count = min(room, stream.ready - stream.sent)
            guard count > 0 else { break }
            let piece = stream.body[stream.sent..<stream.sent + count]
            stream.sent += count
            stream.sendWindow -= count + more
            self.reader.usedWindow(count + more)
            let isLast = stream.isBodyWhole && !stream.endsWithTrailers && stream.sent == stream.body.count
            stream.hasEnded = isLast
            self.model.floods.nothing = 0
            let payload = padding > 0 ? [UInt8(padding)] + piece + [UInt8](repeating: 0, count: padding) : Array(piece)
            let flags = (isLast ? Flag.endStream : 0) | (padding > 0 ? Flag.padded : 0)
            self.send(Bytes.frame(Kind.data, flags, on: stream.number, payload))
        }
        guard stream.isBodyWhole, !stream.hasEnded, stream.sent == stream.body.count else { return }
        stream.hasEnded = true
        guard stream.endsWithTrailers else {
            return self.send(Bytes.frame(Kind.data, Flag.endStream, on: stream.number))
        }
        let block = self.table.write(Array("x-trailer".utf8), Array("\(stream.number)".utf8), stream.request.form)
        self.sendSection(block, on: stream, flags: Flag.endStream, as: FrameCourse.Request())
    }

    // MARK: Other frames

    func reset(stream number: Int) {
        guard self.mayAsk, let stream = self.sending(number, { _ in true }) else { return }
        self.reset(stream)
    }

    func reset(_ stream: FrameModel.Stream) {
        stream.wasReset = true
        self.model.floods.resets += 1
        self.send(Bytes.reset(on: stream.number))
    }

    func prioritize(stream number: Int) {
        guard let stream = self.sending(number, { _ in true }) else { return }
        self.sendPriority(of: stream.number)
    }

    func sendPriority(of number: Int) {
        self.send(Bytes.frame(Kind.priority, on: number, Bytes.number(0, 4) + [7]))
    }

    func give(stream number: Int, _ count: Int) {
        guard self.mayAsk, let stream = self.sending(number, { !$0.hasAnswer }) else { return }
        stream.window += count
        self.send(Bytes.windowUpdate(count, on: stream.number))
    }

    func giveConnection(_ count: Int) {
        guard self.mayAsk else { return }
        self.model.window += count
        self.send(Bytes.windowUpdate(count, on: 0))
    }

    func set(window: Int? = nil, frame: Int? = nil, table: Int? = nil) {
        guard self.mayAsk else { return }
        self.model.floods.control += 1
        self.reader.sent(FrameReader.Settings(window: window, frame: frame, table: table))
        let all = [(4, window), (5, frame), (1, table)]
        self.send(Bytes.settings(all.compactMap { name, value in value.map { (name, $0) } }))
    }

    func resizeTable(to size: Int) { self.newTableSize = size }

    func ping() {
        guard self.mayAsk else { return }
        self.model.pings += 1
        self.model.floods.pings += 1
        self.send(Bytes.frame(Kind.ping, on: 0, Bytes.number(self.model.pings, 4) + [0, 0, 0, 0]))
    }

    func sendUnknown() { self.send(Bytes.frame(0xBB, 0xFF, on: 0, Array("unknown".utf8))) }

    func goAway() {
        self.hasGoneAway = true
        self.send(Bytes.frame(Kind.goAway, on: 0, Bytes.number(0, 4) + Bytes.number(0, 4)))
    }

    /// The proxy must end the connection because of the last frame.
    func sentTheLast() { (self.isBroken, self.model.isBroken) = (true, true) }

    // MARK: The connection

    /// Sends the bytes that waited for windows, and acknowledgements.
    func goOn() {
        for stream in self.model.streams where stream.sent < stream.ready || stream.isBodyWhole { self.pump(stream) }
        if self.lateness > 0 { self.lateness -= 1 } else { self.send(self.reader.takeAnswers()) }
    }

    func leave() {
        (self.hasLeft, self.model.mayEnd) = (true, true)
        self.transport.leave()
    }

    func breakOff() {
        (self.hasLeft, self.model.mayEnd) = (true, true)
        self.transport.breakOff()
    }

    /// Takes and sends everything.
    func finish() {
        self.transport.isTaking = true
        if !self.hasOpenedWindows {
            self.hasOpenedWindows = true
            self.set(window: 1 << 20)
            self.giveConnection(1 << 26)
        }
        for stream in self.model.streams where !stream.isOver {
            if !stream.hasEnded, !stream.isBodyWhole { self.endBody(stream, withTrailers: false) }
        }
    }

    var isAcknowledged: Bool { self.reader.isAcknowledged || !self.mayAsk || self.transport.hasEnded }
}

/// The table of a client's encoder (RFC 7541 §2.3.2).
struct FrameTable {
    private var entries: [(name: [UInt8], value: [UInt8])] = []
    private var (size, limit) = (0, 4096)

    mutating func resize(to limit: Int) {
        self.limit = limit
        self.evict(for: 0)
    }

    private mutating func evict(for count: Int) {
        while let last = self.entries.last, self.size + count > self.limit {
            self.size -= last.name.count + last.value.count + 32
            self.entries.removeLast()
        }
    }

    /// Writes a field: by its place if it is kept, else as a literal.
    mutating func write(_ name: [UInt8], _ value: [UInt8], _ form: FrameCourse.Request.Form) -> [UInt8] {
        if let place = self.entries.firstIndex(where: { $0.name == name && $0.value == value }) {
            return HTTP2Bytes.integer(62 + place, 7, 0x80)
        }
        if form == .kept {
            let count = name.count + value.count + 32
            self.evict(for: count)
            if count <= self.limit {
                self.entries.insert((name, value), at: 0)
                self.size += count
            }
        }
        return form == .coded ? self.coded(name, value) : HTTP2Bytes.literal(name, value, form.rawValue)
    }

    /// A literal by Huffman's code, with its name from the table of RFC 7541 Appendix A if that has it.
    private func coded(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] {
        var (encoder, block, headers) = (HPACKEncoder(allocator: ByteBufferAllocator()), ByteBuffer(), HPACKHeaders())
        headers.add(
            name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self),
            indexing: .neverIndexed)
        // Names and values are those of a course.
        guard (try? encoder.encode(headers: headers, to: &block)) != nil else { return [] }
        return Array(block.readableBytesView)
    }
}
