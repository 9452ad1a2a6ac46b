// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintlePolicy
internal import PintleTrust

/// The verdict of a configuration on a chain of certificates, as a handshake would reach it. Connects to nothing.
package struct ChainRehearsal: Sendable {
    /// `trust`, `pin`, `trusted` and `error`.
    package private(set) var facts: [PolicyTest.Fact: String] = [:]
    /// The verdict in words.
    package private(set) var reasons: [String] = []
    /// The problem that a client gets if the chain is refused; nil if it is accepted.
    package private(set) var refusal: Problem?
    /// The pin mismatch that is only reported, in words; nil if there is none.
    package private(set) var reported: String?
    /// The index of the trust policy whose pins were compared with the chain; nil if there were none.
    package private(set) var pinnedPolicy: Int?

    /// - Parameters:
    ///   - decision: the decision on the request that meets the chain; nil for a host without a request.
    /// - Throws: the reason why the policy cannot judge on this machine.
    package init(
        _ chain: PolicyTest.Chain, meeting decision: Decision?, by policy: Policy
    ) throws(Malformed) {
        let authority = decision?.authority ?? chain.host
        let choice =
            decision?.trust ?? authority.map { policy.trust.choose(for: $0, route: decision?.route) }
        let configuration = choice?.index.map { policy.configuration.trust[$0] }
        self.facts[.trust] = choice?.name
        let verdict: Verdict
        do throws(TrustError) {
            var demands = choice?.index.map { policy.securityPolicies[$0] } ?? .default
            if let roots = chain.roots { demands = demands.trusting(only: roots) }
            let enforcement = configuration?.enforcement ?? policy.configuration.enforcement
            let evaluator = try TrustEvaluator(
                policy: demands, reportsOnly: choice?.index != nil && enforcement == .report)
            verdict = evaluator.evaluate(
                chain: chain.certificates, host: authority?.host,
                at: chain.moment ?? .now)
        } catch {
            throw Malformed(error.description)
        }
        self.refusal = Problem(refusing: verdict)
        self.reported = verdict.reported?.message
        self.facts[.trusted] = "\(verdict.isTrusted)"
        self.facts[.error] = verdict.error.map { $0.problem?.rawValue ?? $0.code.rawValue }
        let mismatch = [verdict.error, verdict.reported].compactMap { $0 }.first { $0.code == .pinMismatch }
        self.facts[.pin] = mismatch != nil ? "mismatch" : verdict.matchedPin != nil ? "match" : "none"
        if configuration.map({ $0.pinning != .none }) == true, self.facts[.pin] != "none" {
            self.pinnedPolicy = choice?.index
        }
        self.reasons = Self.reasons(verdict, choice)
    }

    private static func reasons(_ verdict: Verdict, _ choice: TrustChoice?) -> [String] {
        var reasons: [String] = []
        if let choice {
            let grounds = choice.index == nil ? "the system's roots" : "trust.\(choice.name)"
            reasons.append("judged by \(grounds), because of \(choice.reason)")
        }
        if let error = verdict.error { reasons.append("refused: \(error.message)") }
        if let reported = verdict.reported { reasons.append("only reported: \(reported.message)") }
        if let waived = verdict.waived { reasons.append("waived by allow_invalid_certificates: \(waived.message)") }
        if let pin = verdict.matchedPin { reasons.append("the pin \(pin) matches") }
        return reasons
    }
}
