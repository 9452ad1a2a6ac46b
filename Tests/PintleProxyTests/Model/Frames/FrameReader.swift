// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import PintleTesting

/// Reads the frames that the proxy sends, by the rules of RFC 9113 §4 and §6, and tells the model of them.
final class FrameReader {
    private typealias Kind = HTTP2Bytes.Kind
    private typealias Flag = HTTP2Bytes.Flag

    /// A SETTINGS of the client, which hold when they are acknowledged.
    struct Settings {
        var window: Int?
        var frame: Int?
        var table: Int?
    }

    /// The proxy's windows, for the client.
    private(set) var (sendWindow, initialSendWindow) = (65_535, 65_535)
    /// The window of a stream that the proxy has told, which holds once it is acknowledged (RFC 9113 §6.5.3).
    private var toldSendWindow = 65_535
    private(set) var hasGoneAway = false
    /// The acknowledgements that the client owes, as frames.
    private(set) var answers: [UInt8] = []
    private let model: FrameModel
    private var bytes = ByteBuffer()
    private var decoder = HPACKDecoder(
        allocator: ByteBufferAllocator(), maxDynamicTableSize: 4096, maxHeaderListSize: 1 << 20)
    /// The header section that is not complete: its stream, its first flags, and its bytes.
    private var section: (stream: Int, flags: UInt8, block: ByteBuffer)?
    private var pending: [Settings] = []
    private var (initialWindow, frame, table) = (65_535, 1 << 14, 4096)
    /// True if the next section must begin with the size of a smaller table (RFC 7541 §4.2).
    private var mustShrink = false
    /// True if a section has said so before the acknowledgement, which the codec holds back while the client does not read.
    private var hasShrunk = false
    private var hasSettings = false

    init(_ model: FrameModel) { self.model = model }

    func sent(_ settings: Settings) { self.pending.append(settings) }

    /// True if all settings of the client are acknowledged.
    var isAcknowledged: Bool { self.pending.isEmpty }

    /// The acknowledgements that are owed. With them the proxy's settings hold.
    func takeAnswers() -> [UInt8] {
        defer { self.answers = [] }
        let change = self.toldSendWindow - self.initialSendWindow
        self.initialSendWindow = self.toldSendWindow
        for stream in self.model.streams { stream.sendWindow += change }
        return self.answers
    }

    /// Takes bytes from the connection's window; a negative count gives them back.
    func usedWindow(_ count: Int) { self.sendWindow -= count }

    /// Sets the windows with which a stream begins, for the client's content and for the proxy's.
    func open(_ stream: FrameModel.Stream) {
        (stream.sendWindow, stream.window) = (self.initialSendWindow, self.initialWindow)
    }

    // MARK: Frames

    func received(_ new: UnsafeRawBufferPointer) {
        self.bytes.writeBytes(new)
        while let head = self.bytes.getBytes(at: self.bytes.readerIndex, length: 9) {
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let stream = Int(head[5]) << 24 | Int(head[6]) << 16 | Int(head[7]) << 8 | Int(head[8])
            if length > self.mostInFrame { self.model.breach("a frame has \(length) bytes") }
            guard self.bytes.readableBytes >= 9 + length else { break }
            self.bytes.moveReaderIndex(forwardBy: 9)
            guard let payload = self.bytes.readSlice(length: length) else { break }
            self.received(head[3], head[4], on: stream, payload)
        }
        self.bytes.discardReadBytes()
    }

    /// The longest frame. The proxy may use settings before their acknowledgement comes.
    private var mostInFrame: Int { max(self.frame, self.pending.compactMap(\.frame).max() ?? 0) }

    private func received(_ kind: UInt8, _ flags: UInt8, on number: Int, _ payload: ByteBuffer) {
        if !self.hasSettings, kind != Kind.settings { self.model.breach("the first frame is no SETTINGS") }
        if let section, kind != Kind.continuation || section.stream != number {
            self.model.breach("a header section is broken by frame \(kind) on stream \(number)")
        }
        switch kind {
        case Kind.data: self.receivedContent(flags, on: number, payload)
        case Kind.headers:
            if flags & (Flag.padded | Flag.priority) != 0 { self.model.breach("a head has flags \(flags)") }
            self.section = (number, flags, payload)
            if flags & Flag.endHeaders != 0 { self.receivedSection() }
        case Kind.continuation:
            guard var section else { return self.model.breach("a CONTINUATION follows nothing") }
            section.block.writeImmutableBuffer(payload)
            self.section = section
            if flags & Flag.endHeaders != 0 { self.receivedSection() }
        case Kind.reset:
            guard let code = payload.number, payload.readableBytes == 4 else {
                return self.model.breach("an odd reset")
            }
            // The codec (swift-nio-http2 1.46) writes one for each odd window that has come before it left.
            if let stream = self.model.stream(number), stream.resetCode != nil, stream.excuses.contains(.window) {
                return
            }
            if let stream = self.stream(number, mayBeOver: "a reset with code \(code)") {
                self.model.sawReset(code, of: stream)
            }
        case Kind.settings: self.receivedSettings(flags, payload)
        case Kind.ping:
            guard flags & Flag.acknowledgement != 0, number == 0, payload.readableBytes == 8 else {
                return self.model.breach("an odd ping")
            }
            self.model.answeredPings += 1
            if payload.number != self.model.answeredPings { self.model.breach("a ping has another answer") }
        case Kind.goAway:
            guard let last = payload.number, let code = payload.getInteger(at: payload.readerIndex + 4, as: UInt32.self)
            else { return self.model.breach("an odd GOAWAY") }
            self.hasGoneAway = true
            self.model.sawGoAway(last: last, code: Int(code))
        case Kind.windowUpdate: self.receivedWindow(on: number, payload)
        default: self.model.breach("frame \(kind) comes on stream \(number)")
        }
    }

    /// The stream on which something comes; nil if that is ignored, since the client has reset it.
    private func stream(_ number: Int, mayBeOver what: String) -> FrameModel.Stream? {
        guard let stream = self.model.stream(number) else {
            self.model.breach("\(what) comes on stream \(number), which there is not")
            return nil
        }
        if stream.wasReset { return nil }
        if let code = stream.resetCode {
            self.model.breach("stream \(number): \(what) comes behind its reset with code \(code)")
        }
        return stream
    }

    private func receivedContent(_ flags: UInt8, on number: Int, _ payload: ByteBuffer) {
        let endsStream = flags & Flag.endStream != 0
        if flags & ~Flag.endStream != 0 { self.model.breach("content has flags \(flags)") }
        guard let stream = self.stream(number, mayBeOver: "content") else {
            // The content still counts for the connection's window (RFC 9113 §5.1).
            self.model.window -= payload.readableBytes
            return
        }
        if stream.hasAnswer { self.model.breach("stream \(number): content comes behind its end") }
        payload.withUnsafeReadableBytes { self.model.saw($0, padding: 0, on: stream, endsStream: endsStream) }
    }

    private func receivedSection() {
        guard let (number, flags, bytes) = self.section else { return }
        var block = bytes
        self.section = nil
        let saysSize = (block.getInteger(at: block.readerIndex) as UInt8?).map { $0 & 0xE0 == 0x20 } ?? false
        if self.mustShrink, !saysSize { self.model.breach("a header section does not say that the table is smaller") }
        self.mustShrink = false
        if saysSize, self.pending.contains(where: { $0.table != nil }) { self.hasShrunk = true }
        let headers: HPACKHeaders
        do { headers = try self.decoder.decodeHeaders(from: &block) } catch {
            return self.model.breach("a header section cannot be read: \(error)")
        }
        guard let stream = self.stream(number, mayBeOver: "a head") else { return }
        if stream.hasAnswer { self.model.breach("stream \(number): a head comes behind its end") }
        let head = self.head(headers, on: number)
        let endsStream = flags & Flag.endStream != 0
        if let status = head.status, status / 100 == 1 {
            self.model.sawInterim(head, on: stream, endsStream: endsStream)
        } else {
            self.model.sawHead(head, on: stream, endsStream: endsStream)
        }
    }

    private func head(_ headers: HPACKHeaders, on number: Int) -> FrameHead {
        var head = FrameHead()
        for (name, value, _) in headers {
            switch name {
            case ":status": head.status = Int(value)
            case "content-length":
                if head.length != nil { self.model.breach("stream \(number): it has two lengths") }
                head.length = Int(value)
            case "x-answer": head.answer = Int(value)
            case "x-trailer": head.trailer = Int(value)
            case "proxy-status": head.isProblem = true
            case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
                self.model.breach("stream \(number): it has \(name)")
            default:
                if name.utf8.contains(where: { 0x41...0x5A ~= $0 }) || name.hasPrefix(":") {
                    self.model.breach("stream \(number): it has \(name)")
                }
                if name.hasPrefix("x-f") { head.filling.append(name + ":" + value) }
            }
        }
        return head
    }

    private func receivedSettings(_ flags: UInt8, _ payload: ByteBuffer) {
        var payload = payload
        self.hasSettings = true
        guard flags & Flag.acknowledgement == 0 else {
            guard !self.pending.isEmpty else {
                return self.model.breach("settings are acknowledged that were not sent")
            }
            return self.apply(self.pending.removeFirst())
        }
        self.answers += HTTP2Bytes.settingsAcknowledgement
        while let name: UInt16 = payload.readInteger(), let value: UInt32 = payload.readInteger() {
            if name == 4 { self.toldSendWindow = Int(value) }
        }
    }

    private func apply(_ settings: Settings) {
        if let window = settings.window {
            for stream in self.model.streams { stream.window += window - self.initialWindow }
            self.initialWindow = window
        }
        if let frame = settings.frame { self.frame = frame }
        if let table = settings.table {
            // The proxy uses no more than 4096.
            let usable = min(table, 4096)
            if usable < self.table, !self.hasShrunk { self.mustShrink = true }
            if !self.pending.contains(where: { $0.table != nil }) { self.hasShrunk = false }
            self.table = usable
        }
    }

    private func receivedWindow(on number: Int, _ payload: ByteBuffer) {
        guard let count = payload.number, count > 0, payload.readableBytes == 4 else {
            return self.model.breach("an odd window")
        }
        if number == 0 {
            self.sendWindow += count
        } else if let stream = self.stream(number, mayBeOver: "a window") {
            stream.sendWindow += count
        }
    }
}

extension ByteBuffer {
    /// The number of 31 bits that it begins with.
    fileprivate var number: Int? {
        self.getInteger(at: self.readerIndex, as: UInt32.self).map { Int($0 & 0x7FFF_FFFF) }
    }
}
