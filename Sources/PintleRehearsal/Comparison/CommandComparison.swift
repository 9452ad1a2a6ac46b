// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleWatch

/// The things that the command of `pintle run` may do under one configuration, and not under another, besides requests.
struct CommandComparison {
    private typealias Verdict = (decision: String, rule: String)

    private(set) var differences: [PolicyDifference] = []
    private let places: (RulePlaces, RulePlaces)

    init(from old: Policy, to new: Policy, _ places: (RulePlaces, RulePlaces)) {
        self.places = places
        self.compare(old.configuration.isolation, new.configuration.isolation)
        self.compareSecrets(old.configuration, new.configuration)
    }

    private mutating func compare(_ old: IsolationConfiguration, _ new: IsolationConfiguration) {
        if old.captures != new.captures {
            self.add(
                allowed: new.captures, Self.capture(by: old), Self.capture(by: new),
                "connections of a command of --isolate that does not ask the proxy")
        }
        var seen: Set<IsolationConfiguration.Exposure> = []
        for exposure in old.exposed + new.exposed where seen.insert(exposure).inserted {
            let isExposed = new.exposed.contains(exposure)
            guard old.exposed.contains(exposure) != isExposed else { continue }
            self.add(
                allowed: isExposed, Self.verdict(on: exposure, by: old), Self.verdict(on: exposure, by: new),
                "\(exposure.words), for a command of --isolate")
        }
    }

    private static func capture(by isolation: IsolationConfiguration) -> Verdict {
        (isolation.captures ? "judged by the rules" : "refused", "isolate.capture")
    }

    private static func verdict(
        on exposure: IsolationConfiguration.Exposure, by isolation: IsolationConfiguration
    ) -> Verdict {
        guard let number = isolation.exposed.firstIndex(of: exposure) else { return ("hidden", "isolate.expose") }
        return ("exposed", "isolate.expose[\(number)]")
    }

    /// A value without an entry is no secret for the command, if that finds it.
    private mutating func compareSecrets(_ old: Configuration, _ new: Configuration) {
        let names = (Set(old.credentials.map(\.name)), Set(new.credentials.map(\.name)))
        for name in names.0.symmetricDifference(names.1).sorted() {
            func verdict(_ isKnown: Bool) -> Verdict {
                (isKnown ? "the command has a placeholder" : "the command may read it", "credentials.\(name)")
            }
            self.add(
                allowed: names.0.contains(name), verdict(names.0.contains(name)), verdict(names.1.contains(name)),
                "the value of credential \(name)")
        }
    }

    private mutating func add(allowed isWider: Bool, _ before: Verdict, _ after: Verdict, _ witness: String) {
        func side(_ verdict: Verdict, _ places: RulePlaces) -> PolicyDifference.Side {
            PolicyDifference.Side(
                decision: verdict.decision, rule: verdict.rule, place: places.place(of: verdict.rule))
        }
        self.differences.append(
            PolicyDifference(
                kind: .plan(isWider ? .allowed : .denied), before: side(before, self.places.0),
                after: side(after, self.places.1), witness: witness))
    }
}

extension IsolationConfiguration.Exposure {
    fileprivate var words: String {
        switch self {
        case .sockets(let path): "sockets \(path)"
        case .descriptor(let number): "descriptor \(number)"
        }
    }
}
