// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePins
internal import PintlePolicy
internal import PintleProxy
internal import PintleTrust

/// A command's requests and their responses, as far as a configuration can be learnt from them. The size is limited,
/// independent of the traffic, and no value of a field, a query or a body is stored.
struct LearnedTraffic: Sendable {
    private(set) var hosts: [Authority: LearnedHost] = [:]
    /// Requests that are not learnt: their destinations, and their number.
    private(set) var refusals: [String: Int] = [:]
    private(set) var room = LearningLimits()
    /// The number of exchanges that were dropped because the learner was too slow.
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
                // A tunnel that is relayed because its client refused our certificate was to be intercepted too.
                if record.mode == "intercept", record.address == nil {
                    host.intercepted += 1
                } else {
                    host.relayed += 1
                    // The first record of this tunnel was counted as intercepted.
                    if record.continuesTunnel { host.intercepted = max(0, host.intercepted - 1) }
                }
                if exchange.hasNamelessHello { host.hasNamelessHellos = true }
                if exchange.isOpaque, record.isCaptured { host.needsAnyProtocol = true }
                host.note(exchange.verdict, by: record.trust)
            }
        case .absolute, .asterisk, .origin: self.refuse(record.host ?? "the proxy itself", record)
        }
    }

    private mutating func note(
        _ exchange: ObservedExchange, _ scheme: Scheme, _ authority: Authority, _ path: Substring
    ) {
        let record = exchange.record
        // If servers may read a path in different ways, every reading counts.
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

    /// Counts a request inside a tunnel that was seen but is not learnt, so that the tunnel is not relayed as a whole.
    private mutating func noteInside(_ authority: Authority, _ record: ExchangeRecord) {
        if record.mode == "intercept" { self.change(authority, record) { host, _ in host.inside += 1 } }
    }

    /// Returns the segments before the first one that servers may read in different ways.
    private static func plainPart(of segments: [Substring]) -> ArraySlice<Substring> {
        let odd = segments.indices.first { index in
            segments[index].isEmpty && index < segments.count - 1
                || segments[index].utf8.contains { ";%\\".utf8.contains($0) }
        }
        return segments[..<(odd ?? 0)]
    }

    /// False for a method such as `get`, which the configuration takes for a mistake.
    private static func canBeWritten(_ method: String) -> Bool {
        method == method.uppercased() && method.utf8.count <= 32
    }

    private mutating func change(
        _ authority: Authority, _ record: ExchangeRecord, _ change: (inout LearnedHost, inout LearningLimits) -> Void
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

    /// Adds the verdict on the chain with which a tunnel's destination answered Pintle's own handshake.
    mutating func prove(_ authority: Authority, _ verdict: Verdict, by trust: String?) {
        self.hosts[authority]?.note(verdict, by: trust)
    }
}

/// One destination: a host with its port.
struct LearnedHost: Sendable {
    /// The end of a verified chain.
    struct Anchor: Sendable {
        let position: ChainEntry.Position
        let pin: String
        let label: String
        /// The rest of the chain, leaf first, one line for each certificate.
        let others: [String]
    }

    /// The way in which tunnels to a host must be treated.
    enum Tunnels: Sendable {
        /// There were no tunnels.
        case none
        /// Requests inside the tunnels were seen.
        case intercepted
        /// Nothing inside was seen; the destination was verified, or it was not.
        case verified, relayed
    }

    private static let mostAnchors = 8
    private static let mostMethods = 16

    var paths = PathNode()
    var requests = 0
    /// The number of requests that came inside a tunnel.
    var inside = 0
    /// The number of tunnels that were intercepted.
    var intercepted = 0
    /// The number of tunnels that were relayed.
    var relayed = 0
    /// True if a client named no server in the handshake of a relayed tunnel.
    var hasNamelessHellos = false
    /// True if a captured client spoke neither TLS nor HTTP, which takes a rule that lets every protocol through.
    var needsAnyProtocol = false
    /// True if requests used https.
    var isSecure = false
    private(set) var anchors: [Anchor] = []
    /// The name of the trust policy that applied.
    private(set) var trust: String?
    private var methods: Set<String> = []

    /// True if a request was learnt, or if a tunnel's content could not be seen.
    var isLearnt: Bool { self.requests > 0 || self.relayed > 0 || self.intercepted > 0 && self.inside == 0 }

    /// - Returns: false if there is no room for another method.
    mutating func takes(_ method: String) -> Bool {
        if self.methods.contains(method) { return true }
        guard self.methods.count < Self.mostMethods else { return false }
        self.methods.insert(method)
        return true
    }

    /// True if a trust policy must name the host under `unpinned_hosts: deny`; a tunnel counts as https.
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
