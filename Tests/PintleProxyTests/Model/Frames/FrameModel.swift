// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleLoop
import PintleMessage
import PintleTesting

/// The plain model of an HTTP/2 connection: the frames that each side has sent so far, the rules for what the other side
/// must have seen, and the breaches of them. Used on one loop.
final class FrameModel {
    /// A request of the client, and the answer so far.
    final class Stream {
        /// Names a reason for which a stream may end without the answer of its origin.
        enum Excuse { case limits, nearLimits, fault, length, time, memory, window }

        let number: Int
        let request: FrameCourse.Request
        let body: [UInt8]
        var excuses: Set<Excuse> = []

        // The client's side.
        /// Bytes of the body that the client has sent, and those that it may send.
        var (sent, ready) = (0, 0)
        var (isBodyWhole, endsWithTrailers) = (false, false)
        var (hasEnded, wasReset) = (false, false)
        /// The bytes that it may still send, and that it may still get.
        var (sendWindow, window) = (0, 0)

        // The proxy's side.
        var origin: FrameOrigin?
        var interims = 0
        /// Nil before the head of the answer.
        var status: Int?
        var length: Int?
        var received = 0
        /// True once the proxy has ended its side.
        var hasAnswer = false
        /// The code of its reset.
        var resetCode: Int?

        init(_ number: Int, _ request: FrameCourse.Request) {
            (self.number, self.request) = (number, request)
            self.body = ModelContent.form(of: number, count: request.size)
        }

        /// True if the proxy may send nothing more on it.
        var isOver: Bool { self.resetCode != nil || self.hasAnswer && self.hasEnded || self.wasReset }
        /// True if it has come to its end, in whatever way.
        var isSettled: Bool { self.wasReset || self.resetCode != nil || self.hasAnswer }
        /// True if no content may follow the head, whatever it says.
        var isBodiless: Bool { self.request.method == "HEAD" || self.status == 204 || self.status == 304 }
    }

    /// The number of frames so far of each kind that is limited for a connection (docs/http2.md).
    struct Floods {
        /// SETTINGS; acknowledgements count as well.
        var control = 0
        /// PING. Only those that come within a moment are too many.
        var pings = 0
        /// Streams that the client has reset. One that is over when its reset comes does not count.
        var resets = 0
        /// Streams that were reset because of the client's frames.
        var faults = 0
        /// Frames without content that have followed each other.
        var nothing = 0

        var mayBeTooMany: Bool {
            self.control + self.pings > 195 || self.resets > 900 || self.faults > 140 || self.nothing > 100
        }

        var isTooMany: Bool { self.control > 205 || self.resets > 1150 || self.faults > 210 || self.nothing > 100 }
    }

    let configuration: FrameConfiguration
    private let loop: Loop
    private(set) var streams: [Stream] = []
    private(set) var origins: [FrameOrigin] = []
    private(set) var breaches: [String] = []
    /// Bytes of content that the client may still get on the connection.
    var window = 65_535
    /// True if the connection may end before its streams: the client has left it, or has broken the protocol.
    var mayEnd = false
    /// True if no memory is left for requests.
    var isShort = false
    /// True if the client has broken the protocol.
    var isBroken = false
    /// True if the proxy may say that it goes away.
    var mayGoAway = false
    /// True if hours have passed: whatever is waited for may have taken too long.
    var mayTimeOut = false
    /// True if trailers may have crossed a reset of their stream, which a client that resets it, too, does not look at. SwiftNIO's
    /// codec (swift-nio-http2 1.46) takes them for a stream with an old number then, and ends the connection.
    private var mayBreak: Bool {
        self.streams.contains { $0.hasEnded && $0.endsWithTrailers && ($0.wasReset || $0.resetCode != nil) }
    }
    /// The last stream that is served, as the proxy has said.
    private(set) var lastServed: Int?
    var (pings, answeredPings) = (0, 0)
    var floods = Floods()

    init(_ configuration: FrameConfiguration, on loop: Loop) { (self.configuration, self.loop) = (configuration, loop) }

    func breach(_ sentence: String) { self.breaches.append(sentence) }

    private func breach(_ stream: Stream, _ sentence: String) { self.breach("stream \(stream.number): \(sentence)") }

    /// The number of the turn.
    var turn: UInt64 { self.loop.turn }

    func stream(_ number: Int) -> Stream? {
        number & 1 == 1 && self.streams.indices.contains(number / 2) ? self.streams[number / 2] : nil
    }

    /// Excuses all streams that are under way.
    func excuse(_ reason: Stream.Excuse) {
        for stream in self.streams where !stream.isSettled { stream.excuses.insert(reason) }
    }

    // MARK: Actions of the client

    /// The client opens its next stream.
    func open(_ request: FrameCourse.Request) -> Stream {
        let stream = Stream(2 * self.streams.count + 1, request)
        self.streams.append(stream)
        if request.fault != .none { stream.excuses.insert(.fault) }
        if request.body.isWrong { stream.excuses.insert(.length) }
        if self.isShort { stream.excuses.insert(.memory) }
        if self.mayTimeOut { stream.excuses.insert(.time) }
        self.judgeSize(of: stream)
        return stream
    }

    /// Says whether the head is over the limits. Near to them it may be.
    private func judgeSize(of stream: Stream) {
        let (configuration, filling) = (self.configuration, stream.request.filling)
        var size = 150
        for line in 0..<filling.lines { size += FrameText.name(line).utf8.count + 4 + filling.size }
        let lines = filling.lines + 5
        let line = filling.isEmpty ? 0 : filling.size + 9
        if size > configuration.bytes + 300 || lines > configuration.count + 10 || line > configuration.line + 10 {
            stream.excuses.insert(.limits)
        } else if size > configuration.bytes - 300 || lines > configuration.count - 10
            || line > configuration.line - 10
        {
            stream.excuses.insert(.nearLimits)
        }
    }

    // MARK: Observations of origins

    func add(_ origin: FrameOrigin) {
        self.origins.append(origin)
        guard let stream = self.stream(origin.token) else {
            return self.breach("an origin is asked for what the client does not want")
        }
        if stream.origin != nil { self.breach(stream, "its origin is asked twice") }
        if !stream.excuses.isDisjoint(with: [.limits, .fault]) {
            self.breach(stream, "an origin gets a request that is none")
        }
        if stream.status != nil { self.breach(stream, "an origin is asked behind the answer") }
        stream.origin = origin
        origin.checkRequest(of: stream)
    }

    // MARK: Observations of the client

    func sawInterim(_ head: FrameHead, on stream: Stream, endsStream: Bool) {
        if stream.status != nil { self.breach(stream, "an interim answer follows the final one") }
        if endsStream { self.breach(stream, "an interim answer ends it") }
        stream.interims += 1
        guard let given = stream.origin?.interims, stream.interims <= given.count else {
            return self.breach(stream, "gets an interim answer that no origin has given")
        }
        if head.status != 103 || head.filling != FrameText.lines(given[stream.interims - 1]) {
            self.breach(stream, "its interim answer is not as its origin has given it")
        }
    }

    func sawHead(_ head: FrameHead, on stream: Stream, endsStream: Bool) {
        if stream.status != nil { return self.sawTrailers(head, on: stream, endsStream: endsStream) }
        stream.status = head.status
        stream.length = head.length
        if let number = head.answer {
            self.check(head, from: number, on: stream, endsStream: endsStream)
        } else {
            self.checkOwn(head, on: stream)
        }
        if endsStream { self.sawEnd(of: stream) }
    }

    private func check(_ head: FrameHead, from number: Int, on stream: Stream, endsStream: Bool) {
        guard let origin = stream.origin, origin.number == number, let answer = origin.answer else {
            return self.breach(stream, "gets an answer that its origin has not given")
        }
        if head.status != Int(answer.status) { self.breach(stream, "gets \(head.status ?? 0) for \(answer.status)") }
        if head.filling != FrameText.lines(answer.filling) { self.breach(stream, "gets other fields than were given") }
        if stream.interims != origin.interims.count { self.breach(stream, "its interim answers have got lost") }
        if head.length != origin.toldLength {
            let told = "\(origin.toldLength.map(String.init) ?? "none")"
            self.breach(stream, "its length is \(head.length.map(String.init) ?? "none"), not \(told)")
        }
        // The end may be part of the head, or not, if the origin gives it later.
        let hasContent = origin.given > 0 || origin.hasTrailers && !stream.isBodiless
        if endsStream, hasContent { self.breach(stream, "its head ends it, though something follows") }
        if !endsStream, !hasContent, let end = origin.endTurn, end == origin.headTurn {
            self.breach(stream, "its head does not end it, though nothing follows")
        }
    }

    /// Checks an answer that no origin has given.
    private func checkOwn(_ head: FrameHead, on stream: Stream) {
        guard head.isProblem, let status = head.status else {
            return self.breach(stream, "gets \(head.status ?? 0), which no origin has given")
        }
        let reasons: [Stream.Excuse: Set<Int>] = [
            .limits: [431, 414], .nearLimits: [431, 414], .fault: [400, 501], .length: [400, 408, 502],
            .time: [408, 504, 502], .memory: [503],
        ]
        var isExplained = stream.excuses.contains { reasons[$0, default: []].contains(status) }
        if stream.origin?.hasFailed == true, [502, 504].contains(status) { isExplained = true }
        if !isExplained { self.breach(stream, "gets \(status) for no reason") }
        if stream.excuses.contains(.limits), ![431, 414].contains(status), stream.excuses == [.limits] {
            self.breach(stream, "gets \(status) for a head over the limits")
        }
    }

    private func sawTrailers(_ head: FrameHead, on stream: Stream, endsStream: Bool) {
        guard endsStream else { return self.breach(stream, "a second head comes") }
        if head.status != nil { self.breach(stream, "its trailers have a status") }
        if stream.origin?.hasTrailers != true || stream.isBodiless {
            self.breach(stream, "gets trailers that no origin has given")
        } else if head.trailer != stream.origin?.number {
            self.breach(stream, "gets other trailers than its origin has given")
        }
        self.sawEnd(of: stream)
    }

    /// Content has come.
    func saw(_ content: UnsafeRawBufferPointer, padding: Int, on stream: Stream, endsStream: Bool) {
        let size = content.count + padding
        stream.window -= size
        self.window -= size
        if size > 0, stream.window < 0 { self.breach(stream, "gets \(-stream.window) bytes more than its window") }
        if size > 0, self.window < 0 { self.breach(stream, "gets \(-self.window) bytes more than the connection's") }
        guard stream.status != nil else { return self.breach(stream, "content comes without a head") }
        if stream.isBodiless, !content.isEmpty { self.breach(stream, "content comes that it cannot have") }
        if content.isEmpty { self.checkEmpty(stream, endsStream: endsStream) }
        if let origin = stream.origin, let answer = origin.answer, stream.status == Int(answer.status) {
            let rest = origin.content.dropFirst(stream.received)
            if content.count > rest.count || !FrameText.isEqual(content, to: rest.prefix(content.count)) {
                self.breach(stream, "gets other bytes than the content has")
            }
            if stream.received + content.count > origin.given {
                self.breach(stream, "gets bytes that its origin has not given")
            }
        }
        stream.received += content.count
        if let length = stream.length, stream.received > length { self.breach(stream, "gets more than its length") }
        if endsStream { self.sawEnd(of: stream) }
    }

    private func checkEmpty(_ stream: Stream, endsStream: Bool) {
        guard endsStream else { return self.breach(stream, "a frame without content comes") }
        guard let origin = stream.origin, origin.answer != nil else { return }
        // A response without content ends when its origin says so, whatever comes with the end.
        if stream.status != 304, let end = origin.endTurn, let last = origin.lastTurn, end == last {
            self.breach(stream, "its end comes in a frame of its own")
        }
    }

    private func sawEnd(of stream: Stream) {
        stream.hasAnswer = true
        if let length = stream.length, !stream.isBodiless, length != stream.received {
            self.breach(stream, "ends after \(stream.received) bytes of \(length)")
        }
        guard let origin = stream.origin, origin.answer != nil, stream.status == origin.answer.map({ Int($0.status) })
        else { return }
        if !origin.isComplete { self.breach(stream, "ends as if it were complete") }
        if stream.received != origin.given { self.breach(stream, "gets \(stream.received) bytes of \(origin.given)") }
    }

    func sawReset(_ code: Int, of stream: Stream) {
        stream.resetCode = code
        switch HTTP2Bytes.Code(rawValue: code) {
        case .noError:
            if !stream.hasAnswer { self.breach(stream, "is reset as if its answer were complete") }
        case .protocolError where !stream.excuses.isDisjoint(with: [.length, .fault]): break
        case .internalError where stream.origin?.hasFailed == true: break
        case .internalError where !stream.excuses.isDisjoint(with: [.time, .memory]) && stream.status != nil: break
        case .cancel where stream.excuses.contains(.time): break
        case .protocolError where stream.excuses.contains(.window): break
        case .flowControlError where stream.excuses.contains(.window): break
        // The request crossed the GOAWAY that named the last stream.
        case .refusedStream where stream.number > self.lastServed ?? .max: break
        default: self.breach(stream, "is reset with code \(code) for no reason")
        }
    }

    func sawGoAway(last: Int, code: Int) {
        if let lastServed, last > lastServed { self.breach("more streams are served than were said to be") }
        self.lastServed = last
        if code == 0 {
            if !self.mayGoAway { self.breach("the proxy goes away for no reason") }
        } else if code == 1, self.mayTimeOut || self.mayBreak {
            self.isBroken = true
        } else if code == HTTP2Bytes.Code.enhanceYourCalm.rawValue, self.floods.mayBeTooMany {
            self.isBroken = true
        } else if code == HTTP2Bytes.Code.flowControlError.rawValue,
            self.streams.contains(where: { $0.excuses.contains(.window) })
        {
            // A window that just fits is too large after a setting has made all windows larger (RFC 9113 §6.9.2).
            self.isBroken = true
        } else if !self.isBroken {
            self.breach("the connection ends with code \(code) for no reason")
        }
    }

    /// The proxy says that nothing more comes.
    func sawEndOfConnection() {
        // A client that reads nothing is waited for no longer than that.
        if self.mayTimeOut { self.mayEnd = true }
        if self.mayEnd || self.isBroken { return }
        guard let last = self.lastServed else { return self.breach("the connection ends without a GOAWAY") }
        for stream in self.streams where !stream.isSettled && stream.number <= last {
            self.breach(stream, "the connection ends before its answer, which was promised")
        }
    }

    // MARK: The end

    /// True if nothing is under way any more.
    var isSettled: Bool {
        self.streams.allSatisfy { $0.isSettled || $0.number > self.lastServed ?? .max }
            && self.origins.allSatisfy(\.isOver)
    }

    func checkEnd() {
        if !self.mayEnd, !self.isBroken {
            for stream in self.streams where !stream.isSettled && stream.number <= self.lastServed ?? .max {
                self.breach(stream, "has no end")
            }
            if self.pings != self.answeredPings, self.lastServed == nil {
                self.breach("\(self.pings - self.answeredPings) pings go unanswered")
            }
        }
        for origin in self.origins where !origin.isOver {
            self.breach("the origin of stream \(origin.token) has no end")
        }
    }
}

/// The parts of a header section that the model knows.
struct FrameHead {
    var status: Int?
    var length: Int?
    /// The number of the origin that has given it.
    var answer: Int?
    /// The number of the origin that has given the trailers.
    var trailer: Int?
    /// True if the proxy gives it itself.
    var isProblem = false
    /// The lines that fill it.
    var filling: [String] = []
}

/// The lines that fill heads.
enum FrameText {
    private static let letters: [UInt8] = (0..<(1 << 17)).map { UInt8(97 + $0 % 26) }

    static func name(_ line: Int) -> String { "x-f\(line)" }

    /// The bytes of a line's value.
    static func value(_ line: Int, _ size: Int) -> ArraySlice<UInt8> { Self.letters[line..<line + size] }

    /// Compares bytes at once.
    static func isEqual(_ bytes: UnsafeRawBufferPointer, to others: ArraySlice<UInt8>) -> Bool {
        others.withUnsafeBytes { others in
            guard let one = bytes.baseAddress, let other = others.baseAddress, bytes.count == others.count else {
                return bytes.count == others.count && bytes.isEmpty
            }
            return memcmp(one, other, bytes.count) == 0
        }
    }

    /// All lines, each with its name.
    static func lines(_ filling: FrameCourse.Filling) -> [String] {
        (0..<filling.lines).map { line in
            Self.name(line) + ":" + String(decoding: Self.value(line, filling.size), as: UTF8.self)
        }
    }
}
