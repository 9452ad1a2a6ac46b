// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintleCache

/// The states of a key, and the result of each event in each of them.
struct CacheSessionTests {
    enum State: CaseIterable {
        case empty, lookingUp, queued, asked, askedByTwo, validating, answered, answeredForOne
        case fresh, stale, part, renewingPart
        case lookingUpRevoked, askedRevoked, validatingRevoked, answeredRevoked
        case changing
    }

    enum Event: CaseIterable {
        case get, range, head, noCache, found, ownerLeaves, joinerLeaves
        case head200, head304, head503, fails, isGivenUp, ends
        case removeURL, removeTag, removeOtherTag, removeAll, storeEarlier, storeLater
    }

    /// The results, in the order of the events. A point stands for an event that does not exist in the state.
    private static let table: [State: String] = [
        // get range head noCache found ownerLeaves joinerLeaves head200 head304 head503 fails isGivenUp ends
        // removeURL removeTag removeOtherTag removeAll storeEarlier storeLater
        .empty:
            "asks alone alone asks . . . . . . . . . none none none none stored stored",
        .lookingUp:
            "searches searches searches searches stored . . . . . . . . revoked revoked revoked revoked stored revokes",
        .queued:
            "waits alone alone waits . unwanted . . . . fails1 stays . revoked revoked revoked revoked stored revokes",
        .asked:
            "waits alone alone waits . unwanted . begins for1 for1 fails1 stays . revoked revoked revoked revoked stored revokes",
        .askedByTwo:
            "waits alone alone waits . stays stays begins for1 for1 fails2 stays . revoked revoked revoked revoked stored revokes",
        .validating:
            "waits alone alone waits . stays stays begins confirmed2+ stale2 stale2 stays . both both revoked both late revokes",
        .answered:
            "joins alone alone alone . stays . . . . . . ended revoked revoked none revoked stored revokes",
        .answeredForOne:
            "alone alone alone alone . stays . . . . . . ended revoked none none revoked stored revokes",
        .fresh:
            "hit hit hit validates . . . . . . . . . gone gone none gone late stored",
        .stale:
            "validates alone alone validates . . . . . . . . . gone gone none gone late stored",
        .part:
            "asks hit alone asks . . . . . . . . . gone gone none gone late stored",
        .renewingPart:
            "waits hit alone waits . . . begins confirmed0+ for1 fails0 ended . both both revoked both late revokes",
        .lookingUpRevoked:
            "searches searches searches searches late . . . . . . . . revoked revoked revoked revoked late revokes",
        .askedRevoked:
            "asks alone alone asks . unwanted . begins for1 for1 fails1 stays . revoked revoked revoked revoked late revokes",
        .validatingRevoked:
            "asks alone alone asks . stays stays begins confirmed2 stale2 stale2 stays . revoked revoked revoked revoked late revokes",
        .answeredRevoked:
            "asks alone alone asks . stays . . . . . . ended revoked revoked revoked revoked late revokes",
        .changing:
            "asks alone alone asks . . . . . . . . . none none none none stored stored",
    ]

    @Test(arguments: State.allCases)
    func `each event in each state has the result of the table`(state: State) {
        let results = Event.allCases.map { event in
            var place = Place(state)
            return place.result(of: event)
        }
        let expected = Self.table[state]?.split(separator: " ").map(String.init) ?? []
        let told = zip(Event.allCases, results).map { "\($0): \($1)" }
        #expect(results == expected, "\(results.joined(separator: " "))\n\(told)")
    }

    /// A session in one of the states.
    private struct Place {
        let state: State
        let key = SessionKey()
        /// The number of a request before all others.
        let early: UInt64
        var owner: FetchTicket?
        var joiner: FetchTicket?
        var number: UInt64?

        init(_ state: State) {
            (self.state, self.early) = (state, self.key.session.beginSingle())
            switch state {
            case .empty: break
            case .changing: self.key.session.beginChange()
            case .lookingUp, .lookingUpRevoked:
                if case .search(let number) = self.key.put(searches: true) { self.number = number }
            case .queued: self.owner = self.key.wait()
            case .asked, .askedRevoked: self.owner = self.key.ask()
            case .askedByTwo: self.askByTwo()
            case .validating, .validatingRevoked:
                self.storeStale()
                self.askByTwo()
            case .answered, .answeredRevoked: self.answer("max-age=60")
            case .answeredForOne: self.answer("private")
            case .fresh: self.key.store(self.key.entry(self.key.head("max-age=60")))
            case .stale: self.storeStale()
            case .part: self.key.store(self.key.entry(self.key.head("max-age=60"), 0..<50))
            case .renewingPart: self.renewPart()
            }
            self.number = self.number ?? self.owner?.fetch
            switch state {
            case .lookingUpRevoked, .askedRevoked, .validatingRevoked, .answeredRevoked:
                _ = self.key.session.remove(.url(SessionHost.url), at: SessionHost.url)
            default: break
            }
        }

        private mutating func askByTwo() {
            self.owner = self.key.ask()
            self.joiner = self.key.wait(by: 2)
        }

        private mutating func storeStale() {
            self.key.store(self.key.entry(self.key.head("max-age=1, stale-if-error=60")))
            self.key.now = self.key.now + 30
        }

        private mutating func answer(_ directives: String) {
            self.owner = self.key.ask()
            if let owner { _ = self.key.begin(self.key.head(directives), by: owner) }
        }

        /// A stored part is renewed in the background.
        private mutating func renewPart() {
            self.key.store(self.key.entry(self.key.head("max-age=1, stale-while-revalidate=60"), 0..<50))
            self.key.now = self.key.now + 30
            if case .entry(_, _, _, let renewal?) = self.key.put(SessionKey.question(["Range": "bytes=0-9"])) {
                self.number = renewal.number
                self.key.note(renewal)
                self.key.session.ask(renewal.number)
            }
        }

        // MARK: Events

        mutating func result(of event: Event) -> String {
            switch event {
            case .get: self.reply(to: SessionKey.question())
            case .range: self.reply(to: SessionKey.question(["Range": "bytes=0-9"]))
            case .head: self.reply(to: SessionKey.question(method: "HEAD"))
            case .noCache: self.reply(to: SessionKey.question(["Cache-Control": "no-cache"]))
            case .found: self.found()
            case .ownerLeaves: self.leaves(self.owner)
            case .joinerLeaves: self.leaves(self.joiner)
            case .head200: self.step(self.key.head("max-age=60"))
            case .head304: self.step(self.key.head("max-age=60", status: 304))
            case .head503: self.step(self.key.head(nil, status: 503, tag: nil))
            case .fails: self.fails()
            case .isGivenUp: self.isGivenUp()
            case .ends: self.ends()
            case .removeURL: self.remove(.url(SessionHost.url))
            case .removeTag: self.remove(.tag("tag"))
            case .removeOtherTag: self.remove(.tag("other"))
            case .removeAll: self.remove(.all)
            case .storeEarlier: self.store(by: self.early)
            case .storeLater: self.store(by: self.key.session.beginSingle())
            }
        }

        private mutating func reply(to question: CacheQuestion) -> String {
            let searches = self.state == .lookingUp || self.state == .lookingUpRevoked
            return Self.words(self.key.put(question, by: 3, searches: searches))
        }

        private static func words(_ reply: CacheReply<SessionHost>) -> String {
            switch reply {
            case .entry(_, _, _, nil): "hit"
            case .entry: "renews"
            case .search: "searches"
            case .wait(_, let plan?, _): plan.validated == nil ? "asks" : "validates"
            case .wait: "waits"
            case .join: "joins"
            case .forward(_, let observed): observed == nil ? "unobserved" : "alone"
            case .miss: "miss"
            }
        }

        private mutating func found() -> String {
            guard let number, [.lookingUp, .lookingUpRevoked].contains(self.state) else { return "." }
            let entry = self.key.entry(self.key.head("max-age=60"))
            return self.key.session.store(found: entry, by: number, hasRoom: true) == nil ? "late" : "stored"
        }

        private mutating func leaves(_ ticket: FetchTicket?) -> String {
            guard let ticket else { return "." }
            return self.key.session.leave(ticket) == nil ? "stays" : "unwanted"
        }

        /// True if the origin has the request of a fetch.
        private var isAsked: Bool {
            switch self.state {
            case .asked, .askedByTwo, .validating, .renewingPart, .askedRevoked, .validatingRevoked: true
            default: false
            }
        }

        private mutating func step(_ head: ResponseHead) -> String {
            guard let number, self.isAsked else { return "." }
            switch self.key.received(head, by: number) {
            case .ended(let delivery, let update, _):
                let source = "\(delivery.response.source)"
                return "\(source)\(delivery.waiters.count)\(update == nil ? "" : "+")"
            case .askAgain: return "again"
            case .began(let stored, _): return stored == nil ? "for1" : "begins"
            }
        }

        private mutating func fails() -> String {
            guard let number, self.isAsked || self.state == .queued else { return "." }
            let (delivery, waiters) = self.key.session.fail(number, .unreachable, at: self.key.now)
            return delivery.map { "stale\($0.waiters.count)" } ?? "fails\(waiters.count)"
        }

        private mutating func isGivenUp() -> String {
            guard let number, self.isAsked || self.state == .queued else { return "." }
            return self.key.session.giveUp(number) ? "ended" : "stays"
        }

        private mutating func ends() -> String {
            guard let number, [.answered, .answeredForOne, .answeredRevoked].contains(self.state) else { return "." }
            self.key.session.end(number)
            return self.key.session.fetcher(of: number) == nil ? "ended" : "stays"
        }

        private mutating func remove(_ selection: CacheSelection) -> String {
            let gone = self.key.session.remove(selection, at: SessionHost.url)
            let isRevoked = self.number.map { self.key.session.isRevoked($0) } ?? false
            return switch (gone.isEmpty, isRevoked) {
            case (true, true): "revoked"
            case (true, false): "none"
            case (false, true): "both"
            case (false, false): "gone"
            }
        }

        private mutating func store(by number: UInt64) -> String {
            let isStored = self.key.store(self.key.entry(self.key.head("max-age=60")), by: number)
            let isRevoked = self.number.map { self.key.session.isRevoked($0) } ?? false
            return isStored ? isRevoked ? "revokes" : "stored" : "late"
        }
    }
}
