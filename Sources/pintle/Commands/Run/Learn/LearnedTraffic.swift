// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePins
internal import PintlePolicy
internal import PintleProxy
internal import PintleTrust

/// The requests of a command and their answers, as far as a configuration can be learnt from them. It is bounded, whatever a
/// command asks for and servers answer, and has no value of a field, a query or a body.
struct LearnedTraffic: Sendable {
    private(set) var hosts: [Authority: LearnedHost] = [:]
    /// Requests that are not learnt: what they were for, and how often.
    private(set) var refusals: [String: Int] = [:]
    private(set) var room = LearningRoom()
    /// Exchanges that nobody had the time to look at.
    var missed = 0

    mutating func note(_ exchange: ObservedExchange) {
        let record = exchange.record
        switch exchange.target {
        case .absolute(let scheme, let authority, let path) where path.hasPrefix("/"):
            let end = path.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? path.endIndex
            self.note(exchange, scheme, authority, path[..<end])
        case .authority(let authority):
            guard record.hasPassed else { return self.refuse("\(authority)", record) }
            self.change(authority, record) { host, _ in
                // One that passes since its client refuses our certificate was to be intercepted, too.
                if record.mode == "intercept", record.address == nil {
                    host.intercepted += 1
                } else {
                    host.relayed += 1
                    // Its first record said that it was to be intercepted.
                    if record.continuesTunnel { host.intercepted = max(0, host.intercepted - 1) }
                }
                if exchange.hasNamelessHello { host.hasNamelessHellos = true }
                host.note(exchange.verdict, by: record.trust)
            }
        case .absolute, .asterisk, .origin: self.refuse(record.host ?? "the proxy itself", record)
        }
    }

    private mutating func note(
        _ exchange: ObservedExchange, _ scheme: Scheme, _ authority: Authority, _ path: Substring
    ) {
        let record = exchange.record
        // Where servers read a path differently, it leads somewhere by each reading.
        let readings = (try? PathReadings(String(path)).all) ?? []
        let plain = readings.first.map { String(decoding: $0, as: UTF8.self) } ?? String(path)
        let segments = plain.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let what = "\(authority)/\(segments.prefix(8).map(SegmentShape.pattern).joined(separator: "/"))"
        guard record.hasPassed, !readings.isEmpty else {
            self.noteInside(authority, record)
            return self.refuse(what, record)
        }
        let method = record.method ?? ""
        guard Self.canBeWritten(method) else {
            self.noteInside(authority, record)
            return self.refuse(what, record)
        }
        var isTaken = true
        self.change(authority, record) { host, room in
            if record.mode == "intercept" { host.inside += 1 }
            isTaken = host.takes(method)
            guard isTaken else { return }
            host.requests += 1
            if scheme == .https {
                host.isSecure = true
                host.note(exchange.verdict, by: record.trust)
            }
            if readings.count > 1 { host.paths.join(below: Self.plainPart(of: segments), &room) }
            host.paths.note(segments[...], method, &room) { $0.note(exchange, &$1) }
        }
        if !isTaken {
            self.room.isShort = true
            self.refuse(what, record)
        }
    }

    /// Notes that something inside a tunnel was seen, and is not learnt: the tunnel is then no reason to let all of it pass.
    private mutating func noteInside(_ authority: Authority, _ record: ExchangeRecord) {
        if record.mode == "intercept" { self.change(authority, record) { host, _ in host.inside += 1 } }
    }

    /// The segments down to the first that servers may read differently.
    private static func plainPart(of segments: [Substring]) -> ArraySlice<Substring> {
        let odd = segments.indices.first { index in
            segments[index].isEmpty && index < segments.count - 1
                || segments[index].utf8.contains { ";%\\".utf8.contains($0) }
        }
        return segments[..<(odd ?? 0)]
    }

    /// False for `get`, which the configuration takes for a slip.
    private static func canBeWritten(_ method: String) -> Bool {
        method == method.uppercased() && method.utf8.count <= 32
    }

    private mutating func change(
        _ authority: Authority, _ record: ExchangeRecord, _ change: (inout LearnedHost, inout LearningRoom) -> Void
    ) {
        if self.hosts[authority] == nil {
            guard self.room.hosts > 0 else {
                self.room.isShort = true
                return self.refuse("\(authority)", record)
            }
            self.room.hosts -= 1
            self.hosts[authority] = LearnedHost()
        }
        guard var host = self.hosts.removeValue(forKey: authority) else { return }
        change(&host, &self.room)
        self.hosts[authority] = host
    }

    private mutating func refuse(_ what: String, _ record: ExchangeRecord) {
        let outcome =
            switch record.decision {
            case "deny": "denied"
            case "allow", "would-deny": "not learnt"
            default: "failed"
            }
        let sentence = "\(record.method?.prefix(32) ?? "-") \(what.prefix(300)): \(outcome)"
        if self.refusals[sentence] == nil {
            guard self.room.refusals > 0 else { return self.room.isShort = true }
            self.room.refusals -= 1
        }
        self.refusals[sentence, default: 0] += 1
    }

    /// Notes by which chain the destination of a tunnel has proved itself to a handshake of our own.
    mutating func prove(_ authority: Authority, _ verdict: Verdict, by trust: String?) {
        self.hosts[authority]?.note(verdict, by: trust)
    }
}

/// One destination: a host with its port.
struct LearnedHost: Sendable {
    /// The end of a chain that was verified.
    struct Anchor: Sendable {
        let position: ChainEntry.Position
        let pin: String
        let label: String
        /// The rest of the chain, leaf first, one line each.
        let others: [String]
    }

    /// How tunnels to it are to be treated.
    enum Tunnels: Sendable {
        /// There were none.
        case none
        /// Requests inside were seen.
        case intercepted
        /// Nothing inside was seen, and it has proved itself, or has not.
        case verified, relayed
    }

    private static let mostAnchors = 8
    private static let mostMethods = 16

    var paths = PathNode()
    var requests = 0
    /// Those of the requests that came in a tunnel.
    var inside = 0
    /// Tunnels that were opened here.
    var intercepted = 0
    /// Tunnels that passed unseen.
    var relayed = 0
    /// True where a client has named no server in a tunnel that passed unseen.
    var hasNamelessHellos = false
    /// True where it was asked by https.
    var isSecure = false
    private(set) var anchors: [Anchor] = []
    /// The trust policy that it was held to.
    private(set) var trust: String?
    private var methods: Set<String> = []

    /// True where something came of a request, or nothing was to be seen inside a tunnel.
    var isLearnt: Bool { self.requests > 0 || self.relayed > 0 || self.intercepted > 0 && self.inside == 0 }

    /// - Returns: false for a method that there is no room for.
    mutating func takes(_ method: String) -> Bool {
        if self.methods.contains(method) { return true }
        guard self.methods.count < Self.mostMethods else { return false }
        self.methods.insert(method)
        return true
    }

    /// True where a trust policy must name it under `unpinned_hosts: deny`: a tunnel counts as https.
    var needsTrust: Bool { self.isSecure || self.intercepted + self.relayed > 0 }

    var tunnels: Tunnels {
        if self.inside > 0 { return .intercepted }
        guard self.intercepted + self.relayed > 0 else { return .none }
        return self.anchors.isEmpty ? .relayed : .verified
    }

    mutating func note(_ verdict: Verdict?, by trust: String?) {
        self.trust = self.trust ?? trust
        guard let verdict, verdict.isTrusted, !verdict.decidedByHook, let last = verdict.chain.last else { return }
        let pin = "\(last.spkiPin)"
        guard self.anchors.count < Self.mostAnchors,
            !self.anchors.contains(where: { $0.pin == pin && $0.position == last.position })
        else { return }
        let others = verdict.chain.dropLast().prefix(8).map { entry in
            "\(entry.position.rawValue) \(entry.spkiPin): \(entry.certificate.shortLabel)"
        }
        self.anchors.append(
            Anchor(position: last.position, pin: pin, label: last.certificate.shortLabel, others: others))
    }
}
