// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization

/// Exchanges and counters as they come, as server-sent events (WHATWG HTML §9.2).
///
/// It reads the memory of recent exchanges ten times a second, and so costs an exchange nothing. A client that reads slowly,
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
    private var place: ExchangeFollower
    private var round = 0
    private var lastSign = 0
    private var activity: [UInt8] = []
    private var revision: String
    /// True once the pieces of the present interval have been taken.
    private var isDone = false

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
        stream.timer = LoopTimer { [weak stream, weak answer] in
            // The client has left in this turn.
            guard let stream, let answer else { return }
            stream.isDone = false
            stream.arm()
            answer.resume()
        }
        stream.arm()
        answer.send(reply.head, length: nil, stream)
    }

    private init(
        _ program: any AdminProgram, _ recent: RecentExchanges, _ filter: ExchangeFilter, from first: UInt64,
        on loop: Loop
    ) {
        (self.program, self.recent, self.filter, self.loop) = (program, recent, filter, loop)
        (self.place, self.revision) = (ExchangeFollower(from: first), program.revision)
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
        self.round += 1
        return text.isEmpty ? .later : .bytes(text)
    }

    private func events() -> [UInt8] {
        var text: [UInt8] = []
        // The client learns at once that the stream stands.
        if self.round == 0 { text += Array("retry: 1000\n\n".utf8) }
        self.addExchanges(to: &text)
        if self.round.isMultiple(of: Self.intervalsOfActivity) { self.addActivity(to: &text) }
        if !text.isEmpty { self.lastSign = self.round }
        if self.round - self.lastSign >= Self.intervalsOfLife {
            self.lastSign = self.round
            return Array(":\n\n".utf8)
        }
        return text
    }

    private func addExchanges(to text: inout [UInt8]) {
        let first = self.place.number
        let (lost, kept) = self.place.next(of: self.recent)
        if lost > 0 {
            let gap = Parameter.object([
                ("count", .integer(Int64(lost))), ("first", .string(self.id(first))),
                ("last", .string(self.id(first + lost - 1))),
            ])
            Self.add("lost", JSONText.value(gap), to: &text)
        }
        for kept in kept {
            let shown = kept.exchange.shown(self.program.redaction)
            guard self.filter.matches(shown) else { continue }
            Self.add(
                "exchange", JSONText.record(shown), id: self.id(kept.number), to: &text
            )
        }
    }

    private func id(_ number: UInt64) -> String { "\(self.program.started.milliseconds)-\(number)" }

    private func addActivity(to text: inout [UInt8]) {
        let revision = self.program.revision
        if revision != self.revision {
            self.revision = revision
            Self.add("configuration", JSONText.value(.object([("revision", .string(revision))])), to: &text)
        }
        // Without the time of this moment, which always differs.
        let state = ActivityAnswer(self.program, self.recent, at: nil).text
        // The client knows it.
        guard state != self.activity else { return }
        self.activity = state
        // A client that is cut off before the first exchange goes on from here.
        Self.add(
            "activity", ActivityAnswer(self.program, self.recent).text, id: self.id(self.place.number &- 1), to: &text)
    }

    /// - Parameter data: JSON on one line.
    private static func add(_ event: String, _ data: [UInt8], id: String? = nil, to text: inout [UInt8]) {
        if let id { text += Array("id: \(id)\n".utf8) }
        text += Array("event: \(event)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }
}
