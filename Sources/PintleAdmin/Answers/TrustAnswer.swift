// SPDX-License-Identifier: Apache-2.0

internal import PintlePins
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization
internal import PintleTrust

/// The trust policies, with the pins that were seen and the hosts that were verified.
struct TrustAnswer {
    let text: [UInt8]

    init(_ program: any AdminProgram) async {
        let active = program.active
        let policy = active.policy
        let verdicts = await active.verdicts()
        let seen = verdicts.flatMap { $0.verdict.chain.map(\.certificate) }
        let forecast = PinForecast(policy, now: .now, seen: seen)
        let policies = policy.configuration.trust.map { trust in
            let uses = verdicts.filter { $0.policy == trust.name }
            let entries = forecast.entries.filter { $0.policy == trust.name }
            return Parameter.object([
                ("name", .string(trust.name)), ("hosts", .strings(trust.hosts.map(\.value.description))),
                ("pinning", .string("\(trust.pinning.rawValue)")),
                ("pins", .array((entries.first?.pins ?? []).map { Self.pin($0, in: uses.map(\.verdict)) })),
                ("expires", trust.expires.map { .string($0.description) }),
                ("forecast", entries.first?.date.map { .string($0.description) }),
                ("reason", entries.first.map { .string($0.reason) }), ("uses", .array(uses.map(Self.use))),
            ])
        }
        let others = verdicts.filter { $0.policy == nil }
        self.text = JSONText.value(
            .object([("policies", .array(policies)), ("system", .object([("uses", .array(others.map(Self.use)))]))]))
    }

    private static func pin(_ known: PinForecast.KnownPin, in verdicts: [Verdict]) -> Parameter {
        let entry = verdicts.lazy.flatMap(\.chain).first { $0.spkiPin == known.pin }
        return .object([
            ("pin", .string(known.pin.description)), ("seen", .bool(entry != nil)),
            ("position", entry.map { .string($0.position.rawValue) }), ("subject", known.subject.map { .string($0) }),
            ("until", known.until.map { .string($0.description) }),
        ])
    }

    private static func use(_ use: ActiveConfiguration.HostVerdict) -> Parameter {
        .object([
            ("host", .string(use.host)), ("verdict", .string(use.verdict.isTrusted ? "trusted" : "refused")),
            ("error", (use.verdict.error ?? use.verdict.reported).map { .string($0.message) }),
            ("at", .string(use.moment.description)),
            ("not_after", use.verdict.chain.first.map { .string($0.notAfter.description) }),
        ])
    }
}
