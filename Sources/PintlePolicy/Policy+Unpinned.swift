// SPDX-License-Identifier: Apache-2.0

extension Policy {
    /// Judges an https destination by `unpinned_hosts`, the last of the rules about destinations.
    ///
    /// - Parameters:
    ///   - choice: the trust policy that applies to the origin, or would apply.
    ///   - destination: the decision so far, which a denial replaces.
    /// - Returns: the rule, if it only reports.
    func judgeUnpinned(_ choice: TrustChoice, _ destination: inout DestinationDecision) -> String? {
        let mode = self.configuration.unpinnedHosts
        // The decision names the first rule that refuses.
        guard mode != .allow, destination.denial == nil, self.trust.isUnpinned(choice) else { return nil }
        let rule = "unpinned_hosts: \(mode.rawValue), because no trust policy names it"
        if mode == .report { return rule }
        destination.add(rule, isReported: false)
        return nil
    }
}
