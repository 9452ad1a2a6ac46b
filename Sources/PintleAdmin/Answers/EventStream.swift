// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization
internal import PintleSystem

/// Exchanges and counters as they come, as server-sent events (WHATWG HTML §9.2).
///
/// It reads the memory of recent exchanges ten times a second, and so costs an exchange nothing; a filter delays only its own events. A client that reads slowly,
/// or less than comes, is told the number of exchanges that it missed. The id of an event is the number of its exchange.
final class EventStream: LocalBody {
    private static let interval = TimeAmount.milliseconds(100)
    /// The intervals between two looks at the counters, and until a sign of life: proxies on the way end silent streams.
    private static let (intervalsOfActivity, intervalsOfLife) = (10, 150)

    private let program: any AdminProgram
    private let recent: RecentExchanges
    private let filter: ExchangeFilter
    private let loop: Loop
    private var timer: LoopTimer?
    private weak var answer: LocalAnswer?
    private var place: ExchangeFollower
    /// Events of exchanges that were not handed out yet.
    private var made: [UInt8] = []
    /// True while another thread makes events: bodies are decoded for filters, and those may take long.
    private var isMaking = false
    /// The number of the exchange that follows those whose events were made.
    private var told: UInt64
    private var round = 0
    private var lastSign = 0
    private var activity: [UInt8] = []
    private var revision: String
    /// The version of the open questions that the client has seen.
    private var questions = 0
    /// True once the pieces that there are have been taken.
    private var isDone = false
    /// True if an interval has passed since the last look at the counters.
    private var isNewRound = true

    /// - Parameter head: with `Last-Event-ID`, the events after that one are sent.
    static func begin(
        _ query: AdminQuery, _ head: RequestHead, by answer: LocalAnswer, of program: any AdminProgram,
        _ recent: RecentExchanges
    ) {
        let filter: ExchangeFilter
        do throws(AdminGate.Refusal) {
            filter = try query.filter()
        } catch {
            return answer.send(AdminReply(error))
        }
        let reply = AdminReply(200, "text/event-stream", [])
        // The events of another process have other numbers.
        let id = head.fields["Last-Event-ID"].flatMap { text -> UInt64? in
            let parts = text.split(separator: "-")
            guard parts.count == 2, parts[0] == "\(program.started.milliseconds)" else { return nil }
            return UInt64(parts[1])
        }
        let first = id.map { min($0 &+ 1, recent.numbers.upperBound) } ?? recent.numbers.upperBound
        let stream = EventStream(program, recent, filter, from: first, on: answer.loop)
        stream.answer = answer
        stream.timer = LoopTimer { [weak stream] in
            // The client has left in this turn.
            guard let stream else { return }
            stream.arm()
            stream.isNewRound = true
            stream.takeExchanges()
            stream.resume()
        }
        stream.arm()
        answer.send(reply.head, length: nil, stream)
    }

    private init(
        _ program: any AdminProgram, _ recent: RecentExchanges, _ filter: ExchangeFilter, from first: UInt64,
        on loop: Loop
    ) {
        (self.program, self.recent, self.filter, self.loop) = (program, recent, filter, loop)
        (self.place, self.told, self.revision) = (ExchangeFollower(from: first), first, program.revision)
    }

    private func resume() {
        self.isDone = false
        self.answer?.resume()
    }

    private func arm() { if let timer { self.loop.arm(timer, at: self.loop.turnTime + Self.interval) } }

    func stop() {
        if let timer { self.loop.disarm(timer) }
        self.timer = nil
    }

    func next() -> LocalPiece {
        if self.isDone { return .later }
        self.isDone = true
        let text = self.events()
        if self.isNewRound { self.round += 1 }
        self.isNewRound = false
        return text.isEmpty ? .later : .bytes(text)
    }

    private func events() -> [UInt8] {
        var text: [UInt8] = []
        // The client learns at once that the stream stands.
        if self.round == 0 { text += Array("retry: 1000\n\n".utf8) }
        text += self.made
        self.made = []
        self.addQuestions(to: &text)
        if self.isNewRound, self.round.isMultiple(of: Self.intervalsOfActivity) { self.addActivity(to: &text) }
        if !text.isEmpty { self.lastSign = self.round }
        if self.round - self.lastSign >= Self.intervalsOfLife {
            self.lastSign = self.round
            return Array(":\n\n".utf8)
        }
        return text
    }

    /// Takes the next exchanges, and has their events made on another thread; does nothing while others are being made.
    private func takeExchanges() {
        if self.isMaking { return }
        let first = self.place.number
        let (lost, kept) = self.place.next(of: self.recent)
        if lost > 0 {
            let gap = Parameter.object(of: StreamEvent.Lost.self) { (member) -> Parameter? in
                switch member {
                case .count: .integer(Int64(lost))
                case .first: .string(Self.id(first, self.program))
                case .last: .string(Self.id(first + lost - 1, self.program))
                }
            }
            Self.add(.lost, JSONText.value(gap), to: &self.made)
        }
        guard !kept.isEmpty else { return self.told = self.place.number }
        self.isMaking = true
        let bound = LoopBound(self, loop: self.loop)
        let make: @Sendable () -> [UInt8] = { [program, filter] in Self.events(of: kept, by: filter, program) }
        Task {
            let text = await ThreadPool.shared.result(of: make)
            bound.run { stream in
                (stream.isMaking, stream.told) = (false, stream.place.number)
                stream.made += text
                if !text.isEmpty { stream.resume() }
            }
        }
    }

    private static func events(
        of kept: [RecentExchanges.Kept], by filter: ExchangeFilter, _ program: any AdminProgram
    ) -> [UInt8] {
        var text: [UInt8] = []
        for kept in kept {
            let shown = kept.exchange.shown(program.redaction)
            guard filter.matches(shown) else { continue }
            Self.add(.exchange, JSONText.record(shown), id: Self.id(kept.number, program), to: &text)
        }
        return text
    }

    private static func id(_ number: UInt64, _ program: any AdminProgram) -> String {
        "\(program.started.milliseconds)-\(number)"
    }

    private func addQuestions(to text: inout [UInt8]) {
        let board = self.program.active.questions
        let version = board.version
        // The reader has seen this version.
        guard version != self.questions else { return }
        self.questions = version
        Self.add(.questions, QuestionsAnswer(board).text, to: &text)
    }

    private func addActivity(to text: inout [UInt8]) {
        let revision = self.program.revision
        if revision != self.revision {
            self.revision = revision
            let document = Parameter.object(of: StreamEvent.Configuration.self) { (member) -> Parameter? in
                switch member {
                case .revision: .string(revision)
                }
            }
            Self.add(.configuration, JSONText.value(document), to: &text)
        }
        // Without the time of this moment, which always differs.
        let state = ActivityAnswer(self.program, self.recent, at: nil).text
        // The client knows it.
        guard state != self.activity else { return }
        self.activity = state
        // A client that is cut off before the first exchange goes on from here.
        Self.add(
            .activity, ActivityAnswer(self.program, self.recent).text, id: Self.id(self.told &- 1, self.program),
            to: &text)
    }

    /// - Parameter data: JSON on one line.
    private static func add(_ event: StreamEvent, _ data: [UInt8], id: String? = nil, to text: inout [UInt8]) {
        if let id { text += Array("id: \(id)\n".utf8) }
        text += Array("event: \(event.rawValue)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }
}
