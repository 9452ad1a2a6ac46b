// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// Reads `simulation`, the named sets of `faults`, and `mock` and `faults` of routes.
enum SimulationReader {
    /// Lengths of delays.
    private static let delays: ClosedRange<Duration> = .zero...Latency.longest

    // MARK: The top level

    static func read(_ top: StrictMap) -> SimulationConfiguration {
        var simulation = SimulationConfiguration()
        if let map = top["simulation"]?.map(.simulation) {
            map.read("allow", into: &simulation.allow, Self.allowance)
            map.read("seed", into: &simulation.seed) { node in
                node.parsed { text throws(Malformed) in
                    guard let seed = UInt64(text) else { throw Malformed("must be a whole number from 0 to 2^64 - 1") }
                    return seed
                }
            }
        }
        for entry in top["faults"]?.entries() ?? [] {
            if let faults = Self.faults(entry.value) {
                simulation.faultSets.append(.init(name: entry.key, faults: faults, position: entry.position))
            }
        }
        return simulation
    }

    /// `on` and `off` are booleans in YAML 1.1.
    private static func allowance(_ node: StrictNode) -> SimulationConfiguration.Allowance? {
        if node.isOff { return .off }
        return node.isScalar("true") ? .on : node.choice()
    }

    /// Refuses a file that answers in the place of origins where it must not.
    static func check(_ configuration: Configuration, _ root: StrictNode) {
        guard let route = configuration.routes.first(where: \.simulation.invents) else { return }
        let keys = route.simulation.keys.joined(separator: " and ")
        let open = configuration.listen.first(where: \.isExposed)
        let reason: String
        switch (configuration.simulation.allow, open) {
        case (.on, _), (.auto, nil): return
        case (.off, _): reason = "simulation.allow is off, and the route has \(keys)"
        case (.auto, .some(let listener)):
            reason =
                "the route has \(keys), and other machines reach the listener \(listener): they would take invented answers for "
                + "real ones; listen on loopback only, or say simulation: {allow: on}"
        }
        root.context.report(reason, path: "routes", at: route.position)
    }

    // MARK: Routes

    /// Reads `mock`, `faults` and `replay` of a route.
    ///
    /// - Parameter hasContract: true if the route, or the whole configuration, has a contract that can make answers.
    static func rules(_ map: StrictMap, hasContract: Bool) -> SimulationRules {
        var rules = SimulationRules()
        map.read("mock", into: &rules.mocks) { node in node.oneOrMore()?.compactMap(Self.mock) }
        map.read("faults", into: &rules.faults, Self.faults)
        map.read("replay", into: &rules.replay, ReplayReader.replay)
        guard !hasContract else { return rules }
        let needy =
            rules.mocks.filter { if case .contract = $0.answer { true } else { false } }.map {
                ("openapi", $0.position)
            }
            + rules.faults.filter(\.needsContract).map { ("contract", $0.position) }
        for (key, position) in needy {
            map.node.context.report(
                "\(key) needs the contract of a route: write contract: FILE", path: map.node.path, at: position)
        }
        return rules
    }

    private static func mock(_ node: StrictNode) -> MockRule? {
        guard let map = node.map(.mock), let answer = Self.mockAnswer(map) else { return nil }
        var mock = MockRule(answer, at: node.position)
        map.read("when", into: &mock.when, Self.condition)
        map.read("delay", into: &mock.delay) { Self.latency($0).map { .some($0) } }
        return mock
    }

    private static func mockAnswer(_ map: StrictMap) -> MockRule.Answer? {
        guard let node = map["openapi"] else { return Self.answer(map).map { .fixed($0) } }
        for key in ["status", "headers", "body", "json", "file"] {
            map[key]?.report("stands beside openapi, which makes the whole answer; leave one of them out")
        }
        return Self.kind(node, of: [.examples, .generated]).map { .contract($0) }
    }

    private static func kind(_ node: StrictNode, of kinds: [GeneratedAnswer.Kind]) -> GeneratedAnswer.Kind? {
        node.parsed { text throws(Malformed) in
            guard let kind = kinds.first(where: { $0.rawValue == text }) else {
                throw Malformed("must be \(kinds.map(\.rawValue).joined(separator: " or "))")
            }
            return kind
        }
    }

    static func faults(_ node: StrictNode) -> [FaultRule]? { node.oneOrMore()?.compactMap(Self.fault) }

    private static func fault(_ node: StrictNode) -> FaultRule? {
        guard let map = node.map(.fault) else { return nil }
        var fault = FaultRule(at: node.position)
        map.read("when", into: &fault.when, Self.condition)
        map.read("delay", into: &fault.delay) { Self.latency($0).map { .some($0) } }
        map.read("throttle", into: &fault.bytesPerSecond) { Self.pace($0).map { .some($0) } }
        map.read("truncate", into: &fault.cutAfter) { node in
            guard let map = node.map(.truncate) else { return nil }
            guard let after = map["after"] else {
                node.report("the key \"after\" is missing: the bytes of the body that are sent, as in 1KiB")
                return nil
            }
            return after.byteCount(0...1 << 40).map { .some($0) }
        }
        let endings = ["status", "contract", "reset", "limit"].filter { map[$0] != nil }
        guard endings.count <= 1 else {
            node.report("has \(endings.joined(separator: " and ")); a fault ends in one way")
            return nil
        }
        switch endings.first {
        case "status": fault.ending = Self.answer(map).map { .answer($0) }
        case "contract":
            fault.ending = map["contract"].flatMap { Self.kind($0, of: [.legal, .broken]) }.map { .contract($0) }
        case "reset": fault.ending = map["reset"]?.choice(FaultRule.Reset.self).map { .reset($0) }
        case "limit": fault.ending = map["limit"].flatMap(Self.limit).map { .limit($0) }
        default: break
        }
        for key in ["headers", "body", "json", "file"] where map["status"] == nil {
            map[key]?.report("belongs to an answer; give its status, too")
        }
        guard endings.isEmpty || map["truncate"] == nil else {
            map["truncate"]?.report("has nothing to cut: \(endings[0]) takes the place of the origin's answer")
            return nil
        }
        let hasEffect = ["delay", "throttle", "truncate"].contains { map[$0] != nil } || !endings.isEmpty
        if !hasEffect {
            node.report("does nothing; give it a delay, throttle, truncate, status, contract, reset or limit")
            return nil
        }
        return fault
    }

    // MARK: Parts

    /// Reads a response of the configuration's own.
    static func answer(_ map: StrictMap) -> FixedAnswer? {
        var answer = FixedAnswer()
        map.read("status", into: &answer.status) { node in node.int(200...599).map { UInt16($0) } }
        map.read("headers", into: &answer.fields, HeaderRulesReader.responseLines)
        guard let content = ContentReader.read(map, isRequest: false) else { return nil }
        guard let content else { return answer }
        if FixedAnswer.withoutContent.contains(answer.status) {
            map.node.report("a response with the status \(answer.status) has no content")
        }
        answer.body = content.bytes
        let type =
            content.mediaType ?? map["file"].map { FileMediaType.named($0.spelling) } ?? "text/plain; charset=utf-8"
        if !answer.fields.contains(where: { $0.name.lowercased() == "content-type" }) {
            answer.fields.append(.init(name: "Content-Type", value: type, position: map.node.position))
        }
        return answer
    }

    private static func limit(_ node: StrictNode) -> FaultRule.Limit? {
        guard let map = node.map(.limit) else { return nil }
        guard let requests = map["requests"], let per = map["per"] else {
            node.report("needs requests and per, as in {requests: 60, per: 1m}")
            return nil
        }
        // Clients are told whole seconds.
        guard let count = requests.int(0...1_000_000_000), let length = per.duration(.seconds(1) ... .seconds(86_400))
        else { return nil }
        return FaultRule.Limit(requests: count, length: length)
    }

    /// A number of bytes in a second: `64KiB/s`.
    private static func pace(_ node: StrictNode) -> Int? {
        node.parsed { text throws(Malformed) in
            guard text.hasSuffix("/s") else { throw Malformed("must be a size in a second, as in 64KiB/s") }
            return try Spelling.byteCount(String(text.dropLast(2)), 1...1 << 40)
        }
    }

    private static func latency(_ node: StrictNode) -> Latency? {
        guard node.isMap else { return node.duration(Self.delays).map { .fixed($0) } }
        guard let map = node.map(.latency) else { return nil }
        let pairs = [("min", "max"), ("mean", "deviation"), ("median", "p99")]
        guard map.entries.count == 2, let pair = pairs.first(where: { map[$0.0] != nil && map[$0.1] != nil }),
            let first = map[pair.0], let second = map[pair.1]
        else {
            node.report("needs min and max, mean and deviation, or median and p99")
            return nil
        }
        guard let low = first.duration(Self.delays), let high = second.duration(Self.delays) else { return nil }
        if pair.0 != "mean", low > high {
            first.report("\(pair.0) (\(low.spelled)) is more than \(pair.1) (\(high.spelled))")
            return nil
        }
        switch pair.0 {
        case "min": return .range(min: low, max: high)
        case "mean": return .normal(mean: low, deviation: high)
        default:
            guard low > .zero else {
                first.report("must be more than zero; half of the delays are longer")
                return nil
            }
            return .longTailed(median: low, p99: high)
        }
    }

    private static func condition(_ node: StrictNode) -> SimulationCondition? {
        guard let map = node.map(.condition) else { return nil }
        var condition = SimulationCondition()
        map.read("methods", into: &condition.methods) { $0.values(RouteReader.readMethod) }
        map.read("paths", into: &condition.paths) { node in
            node.values { $0.parsed { text throws(Malformed) in try PathPattern(text) } }
        }
        map.read("headers", into: &condition.headers, RouteReader.readHeaders)
        map.read("first", into: &condition.first) { node in node.int(1...1_000_000_000).map { .some($0) } }
        map.read("per", into: &condition.unit) { $0.choice() }
        if let node = map["per"], map["first"] == nil { node.report("needs first, the number that is counted") }
        map.read("rate", into: &condition.rate) { Self.rate($0).map { .some($0) } }
        return condition
    }

    /// A part of all: `10%`, or a number from 0 to 1.
    private static func rate(_ node: StrictNode) -> Double? {
        node.parsed { text throws(Malformed) in
            let number = text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : Double(text)
            guard let number, (0...1).contains(number) else {
                throw Malformed("must be a part of all, as in 10% or 0.1")
            }
            return number
        }
    }
}

extension FaultRule {
    /// True if it makes its answers by a contract.
    package var needsContract: Bool { if case .contract = self.ending { true } else { false } }
}
