// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

extension StrictNode {
    /// The name of a trust policy that refuses what does not satisfy it; nil after an error.
    ///
    /// - Parameters:
    ///   - configuration: with the trust policies and the enforcement.
    ///   - consequence: the end of the sentence about a policy that does not, as in `so that …`.
    func enforcedTrust(_ configuration: Configuration, otherwise consequence: String) -> Located<String>? {
        let standard = TrustConfiguration.defaultName
        guard let name = self.nonEmptyString() else { return nil }
        if let trust = configuration.trust.first(where: { $0.name == name }) {
            if let leniency = trust.leniency(under: configuration.enforcement) {
                self.report("\(name) \(leniency), \(consequence)")
            }
        } else if name != standard {
            // Without an entry of that name it is the system's trust.
            let names = configuration.trust.map(\.name) + [standard]
            let hint = name.nearest(of: names).map { "; did you mean \($0)?" } ?? ""
            self.report("there is no trust policy \(name.excerpt)\(hint)")
        }
        return Located(name, at: self.position)
    }
}

extension TrustConfiguration {
    /// The reason why the policy lets through what does not satisfy it, as the end of a sentence; nil if it does not.
    func leniency(under enforcement: Enforcement) -> String? {
        if (self.enforcement ?? enforcement) == .report {
            "only reports what does not satisfy it"
        } else if self.allowInvalidCertificates, self.pinning == .none {
            "accepts every certificate"
        } else if self.expires != nil, self.onExpiry == .report {
            "only reports after its pins have expired"
        } else {
            nil
        }
    }
}
