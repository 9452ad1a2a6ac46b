// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import PintleTesting

/// One connection of the model's origin: it sends the frames of a course, and checks each frame of the session.
final class ModelPeer {
    private typealias Kind = HTTP2Bytes.Kind
    private typealias Flag = HTTP2Bytes.Flag

    private enum Setting {
        static let streams = 3
        static let window = 4
        static let frame = 5
    }

    let number: Int
    // unowned: the record has its peers.
    unowned let record: OriginRecord
    private let stream: PolledStream
    private(set) var attempts: [ModelAttempt] = []
    private var byNumber: [Int: ModelAttempt] = [:]
    private var unread: [UInt8] = []
    private var hasMagic = false
    private var section: (stream: Int, endsStream: Bool, block: [UInt8])?
    private var decoder = HPACKDecoder(
        allocator: ByteBufferAllocator(), maxDynamicTableSize: 4096, maxHeaderListSize: 1 << 20)
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    private let greeting: OriginCourse.Greeting
    private var isGreeted = false
    private var owesAcknowledgement = false
    /// The settings that the session has not acknowledged.
    private var unacknowledged: [OriginCourse.Greeting] = []
    // The windows that the session grants.
    private(set) var sendInitial = 65_535
    var sendWindow = 65_535
    // The windows that the origin grants.
    private(set) var receiveInitial = 65_535
    var receiveWindow = 65_535
    private var streamLimit = Int.max
    private var frameLimit = 16_384
    // The end.
    private(set) var lastStream: Int?
    /// True once the session has seen a GOAWAY.
    private var hasGone = false
    /// True once the session may send no more requests: the verdict on the server has run out.
    var takesNoMore = false
    private(set) var isBroken = false
    private(set) var isOver = false
    /// True once an answer over it was complete.
    var hasServed = false
    // Rounds of settling.
    private var (pings, pongs) = (0, 0)
    /// Frames and ends so far that a round of settling does not cause.
    private(set) var events = 0

    init(_ number: Int, _ stream: PolledStream, greeting: OriginCourse.Greeting, record: OriginRecord) {
        (self.number, self.stream, self.greeting, self.record) = (number, stream, greeting, record)
        if !greeting.isLate { self.greet() }
    }

    /// True while frames make sense.
    var maySend: Bool { self.isGreeted && !self.isBroken && !self.isOver }

    func send(_ bytes: [UInt8]) { self.stream.send(bytes) }

    func encode(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var buffer = ByteBuffer()
        do { try self.encoder.encode(headers: HPACKHeaders(fields.map { ($0.name, $0.value) }), to: &buffer) } catch {
            self.record.breach("the model cannot encode: \(error)")
        }
        return Array(buffer.readableBytesView)
    }

    // MARK: Settling

    /// Begins to wait until the session has looked at everything.
    func ping() {
        guard self.maySend else { return }
        self.pings += 1
        self.send(HTTP2Bytes.frame(Kind.ping, on: 0, Array(1...8)))
    }

    /// True if the session has processed everything, as far as is known.
    var isSettled: Bool { self.isOver || !self.isBroken && self.pings == self.pongs }

    /// Notes that everything has been looked at.
    func settled() {
        if self.lastStream != nil { self.hasGone = true }
        guard self.hasGone || self.takesNoMore, !self.isOver,
            self.attempts.allSatisfy({ $0.ask.isOver || $0.ask.attempts.last !== $0 })
        else { return }
        self.breach("is kept though it takes no more requests, and none is on it")
    }

    // MARK: Reading

    /// Takes the frames that have come, and sends those that may be sent.
    func turn() {
        guard !self.isOver else { return }
        self.stream.flush()
        self.unread += self.stream.read()
        if self.isBroken { self.unread = [] } else { self.takeFrames() }
        if self.stream.ending != nil { self.hasEnded() }
        for attempt in self.attempts { attempt.goOn() }
    }

    private func takeFrames() {
        var position = 0
        if !self.hasMagic, self.unread.count >= HTTP2Bytes.magic.count {
            if !self.unread.starts(with: HTTP2Bytes.magic) { self.breach("begins without the preface") }
            (self.hasMagic, position) = (true, HTTP2Bytes.magic.count)
        }
        while self.hasMagic, self.unread.count - position >= 9 {
            func number(_ start: Int, _ count: Int) -> Int {
                self.unread[position + start..<position + start + count].reduce(0) { $0 << 8 | Int($1) }
            }
            let length = number(0, 3)
            guard self.unread.count - position >= 9 + length else { break }
            let payload = self.unread[position + 9..<position + 9 + length]
            self.take(self.unread[position + 3], self.unread[position + 4], on: number(5, 4), payload)
            position += 9 + length
        }
        self.unread.removeFirst(position)
    }

    private func take(_ kind: UInt8, _ flags: UInt8, on stream: Int, _ payload: ArraySlice<UInt8>) {
        func number(_ start: Int, _ count: Int) -> Int {
            payload.dropFirst(start).prefix(count).reduce(0) { $0 << 8 | Int($1) }
        }
        if kind == Kind.ping, flags & Flag.acknowledgement != 0 {
            if payload.elementsEqual(1...8) { self.pongs += 1 }
            return
        }
        self.events += 1
        if payload.count > self.frameLimit { self.breach("gets a frame of \(payload.count) bytes") }
        if let section, kind != Kind.continuation || stream != section.stream {
            self.breach("gets a frame within a header section")
        }
        switch kind {
        case Kind.settings where flags & Flag.acknowledgement != 0: self.takeAcknowledgement()
        case Kind.settings:
            for place in stride(from: 0, to: payload.count, by: 6) where number(place, 2) == Setting.window {
                let value = number(place + 2, 4)
                for attempt in self.attempts { attempt.sendWindow += value - self.sendInitial }
                self.sendInitial = value
            }
            self.owesAcknowledgement = true
            self.acknowledge()
        case Kind.headers:
            self.section = (stream, flags & Flag.endStream != 0, Array(payload))
            if flags & Flag.endHeaders != 0 { self.takeSection() }
        case Kind.continuation:
            guard self.section != nil else { return self.breach("gets a CONTINUATION of nothing") }
            self.section?.block += payload
            if flags & Flag.endHeaders != 0 { self.takeSection() }
        case Kind.data: self.takeData(payload, endsStream: flags & Flag.endStream != 0, on: stream)
        case Kind.reset:
            guard let attempt = self.byNumber[stream] else { return self.breach("gets a reset of no stream") }
            attempt.tookReset(number(0, 4))
        case Kind.windowUpdate:
            if stream == 0 {
                self.sendWindow += number(0, 4)
            } else {
                self.byNumber[stream]?.sendWindow += number(0, 4)
            }
        case Kind.goAway where number(4, 4) != 0: self.breach("is ended by the session: error \(number(4, 4))")
        default: break
        }
    }

    private func takeAcknowledgement() {
        guard !self.unacknowledged.isEmpty else { return self.breach("gets an acknowledgement of nothing") }
        let settings = self.unacknowledged.removeFirst()
        if let window = settings.window {
            for attempt in self.attempts { attempt.receiveWindow += window - self.receiveInitial }
            self.receiveInitial = window
        }
        if let streams = settings.streams { self.streamLimit = streams }
        if let frame = settings.frame { self.frameLimit = frame }
    }

    private func takeSection() {
        guard let (stream, endsStream, block) = self.section else { return }
        self.section = nil
        var buffer = ByteBuffer(bytes: block)
        guard let headers = try? self.decoder.decodeHeaders(from: &buffer) else {
            return self.breach("gets a block that cannot be decoded")
        }
        if let attempt = self.byNumber[stream] {
            if !endsStream { self.breach("gets trailers without an end") }
            guard attempt.mayTake else { return attempt.tookUselessEnd() }
            return attempt.tookEnd(trailers: headers.map { ($0.name, $0.value) })
        }
        guard stream & 1 == 1, stream > self.attempts.last?.number ?? 0 else {
            return self.breach("gets stream \(stream) after \(self.attempts.last?.number ?? 0)")
        }
        guard let ask = headers.first(name: "x-token").flatMap({ Int($0) }).flatMap({ self.record.ask($0) }) else {
            return self.breach("gets a request without a token")
        }
        if self.hasGone { self.breach("gets request \(ask.token) after its GOAWAY was seen") }
        if self.takesNoMore { self.breach("gets request \(ask.token) though the verdict has run out") }
        if self.isFull {
            self.breach("gets request \(ask.token) beyond its \(self.streamLimit) streams")
        }
        ask.check(headers)
        let attempt = ModelAttempt(stream, serial: self.record.nextSerial(), of: ask, on: self)
        ask.begins(attempt)
        self.attempts.append(attempt)
        self.byNumber[stream] = attempt
        if endsStream { attempt.tookEnd() }
        if let lastStream { attempt.goesAway(last: lastStream) }
    }

    private func takeData(_ payload: ArraySlice<UInt8>, endsStream: Bool, on stream: Int) {
        guard let attempt = self.byNumber[stream] else { return self.breach("gets DATA of no stream") }
        if !payload.isEmpty {
            self.receiveWindow -= payload.count
            attempt.receiveWindow -= payload.count
            if self.receiveWindow < 0 { self.breach("gets more DATA than its window has room for") }
            if attempt.receiveWindow < 0 { self.breach("gets more DATA than stream \(stream) has room for") }
        }
        guard attempt.mayTake else {
            if endsStream { attempt.tookUselessEnd() }
            return
        }
        attempt.took(payload)
        if endsStream { attempt.tookEnd() }
    }

    private func hasEnded() {
        self.events += 1
        if !self.isBroken, self.attempts.contains(where: { $0.fate == .open && !$0.ask.isOver }) {
            self.breach("is closed by the session with requests on it")
        }
        self.end()
    }

    private func end() {
        self.isOver = true
        self.stream.close()
    }

    // MARK: Events

    func greet() {
        guard !self.isGreeted, !self.isOver else { return }
        self.isGreeted = true
        self.say(self.greeting)
        self.acknowledge()
    }

    /// Acknowledges the settings of the session, after sending its own.
    private func acknowledge() {
        guard self.isGreeted, self.owesAcknowledgement else { return }
        self.owesAcknowledgement = false
        self.send(HTTP2Bytes.settingsAcknowledgement)
    }

    func play(settings: OriginCourse.Greeting) { if self.maySend { self.say(settings) } }

    /// Sends settings, and values of unknown settings.
    func say(_ settings: OriginCourse.Greeting, and unknown: [(Int, Int)] = []) {
        var values = unknown
        if let streams = settings.streams { values.append((Setting.streams, streams)) }
        if let window = settings.window { values.append((Setting.window, window)) }
        if let frame = settings.frame { values.append((Setting.frame, frame)) }
        self.unacknowledged.append(settings)
        self.send(HTTP2Bytes.settings(values))
    }

    func playWindow(_ count: Int, of attempt: ModelAttempt? = nil) {
        guard self.maySend else { return }
        if let attempt {
            guard !attempt.isClosed else { return }
            attempt.receiveWindow += count
        } else {
            self.receiveWindow += count
        }
        self.send(HTTP2Bytes.windowUpdate(count, on: attempt?.number ?? 0))
    }

    func playGoAway(_ last: OriginCourse.Last, code: Int) {
        guard self.maySend else { return }
        let numbers = self.attempts.map(\.number)
        let wanted =
            switch last {
            case .none: 0
            case .lowest: numbers.first ?? 0
            case .middle: numbers.isEmpty ? 0 : numbers[numbers.count / 2]
            case .highest: numbers.last ?? 0
            case .all: 0x7FFF_FFFF
            }
        // No later one names more (RFC 9113 §6.8).
        let named = min(wanted, self.lastStream ?? .max)
        self.lastStream = named
        self.send(HTTP2Bytes.frame(Kind.goAway, on: 0, HTTP2Bytes.number(named, 4) + HTTP2Bytes.number(code, 4)))
        for attempt in self.attempts where !attempt.isClosed { attempt.goesAway(last: named) }
    }

    func play(_ close: OriginCourse.Close) {
        guard !self.isOver, !self.isBroken, !self.stream.holdsBytes else { return }
        self.ends(untold: self.lastStream ?? .max > self.attempts.last?.number ?? 0)
        for attempt in self.attempts where !attempt.isClosed { attempt.connectionEnds(brokenFrames: false) }
        if close == .withinFrame, self.isGreeted { self.send([0, 0, 9, 0]) }
        self.stream.close(resetting: close == .byReset)
        self.end()
    }

    /// - Parameter untold: true if the client does not learn the fate of requests that are on their way.
    private func ends(untold: Bool) {
        self.record.hasEndedConnection = true
        if untold { self.record.hasEndedUntold = true }
    }

    /// Breaks HTTP/2, and sends no more.
    func breaks(by bytes: [UInt8]) {
        self.isBroken = true
        self.ends(untold: true)
        self.send(bytes)
        for attempt in self.attempts where !attempt.isClosed { attempt.connectionEnds(brokenFrames: true) }
    }

    /// Leaves nothing that keeps requests from their end.
    func playRest() {
        self.greet()
        guard self.maySend else { return }
        if self.receiveInitial < 400_000 || self.streamLimit < 100 || self.frameLimit < 70_000,
            self.unacknowledged.isEmpty
        {
            self.say(.init(window: 400_000, streams: 100, frame: 70_000))
        }
        if self.receiveWindow < 400_000 { self.playWindow(400_000) }
    }

    /// True if it takes no more streams until one ends.
    var isFull: Bool { self.attempts.count { !$0.isClosed } >= self.streamLimit }

    /// True if its windows hold nothing of a stream back.
    func hasRoom(for attempt: ModelAttempt) -> Bool {
        self.isGreeted && self.unacknowledged.isEmpty && self.receiveWindow > 0 && attempt.receiveWindow > 0
    }

    private func breach(_ sentence: String) { self.record.breach("connection \(self.number) \(sentence)") }
}
