// SPDX-License-Identifier: Apache-2.0

/// Judges chains that come as PEM, one after another: certificates that come again are not parsed again.
///
/// Without roots of its own a chain is judged by the policy's; with roots, by these alone. Not Sendable: it belongs to
/// whoever works through the chains.
package struct OfflineVerifier {
    private let policy: SecurityPolicy
    private let reportsOnly: Bool
    private let evaluator: TrustEvaluator
    private var cache = CertificateCache()
    private var lastRoots: (texts: [String], evaluator: TrustEvaluator)?

    /// - Parameter policy: pins, names and what else is demanded.
    /// - Throws: `.unreadableCertificate` for an anchor of the policy that cannot be read.
    package init(policy: SecurityPolicy, reportsOnly: Bool = false) throws(TrustError) {
        self.policy = policy
        self.reportsOnly = reportsOnly
        self.evaluator = try TrustEvaluator(policy: policy, reportsOnly: reportsOnly)
    }

    /// What the policy makes of a chain.
    ///
    /// - Parameters:
    ///   - chain: PEM texts of one certificate or several each; the first one is the leaf.
    ///   - roots: PEM texts of the only anchors, each as it is; nil for the policy's.
    ///   - host: DNS name or IP address that the leaf must be for; nil asks for no name.
    ///   - moment: when the certificates must be valid.
    /// - Returns: a refusal with `.unreadableCertificate` where a text is not PEM or a certificate cannot be read.
    package mutating func verdict(
        chain: [String], roots: [String]?, host: String?, at moment: UnixTime
    ) -> Verdict {
        do throws(TrustError) {
            let certificates = try self.cache.certificates(chain, source: "chain")
            let evaluator = try roots.map { (texts) throws(TrustError) in try self.evaluator(for: texts) }
            return (evaluator ?? self.evaluator).evaluate(certificates, host: host, at: moment)
        } catch {
            return Verdict(
                outcome: .refused(error), host: host, chain: [], configuredPins: self.evaluator.configuredPins)
        }
    }

    private mutating func evaluator(for roots: [String]) throws(TrustError) -> TrustEvaluator {
        if let last = self.lastRoots, last.texts == roots { return last.evaluator }
        let anchors = AnchorStore(try self.cache.certificates(roots, source: "roots"))
        let evaluator = try TrustEvaluator(
            policy: self.policy, reportsOnly: self.reportsOnly, anchors: anchors)
        self.lastRoots = (roots, evaluator)
        return evaluator
    }
}

/// Parsed certificates by their PEM texts.
private struct CertificateCache {
    /// Bytes of text that are remembered; above it everything is forgotten, which costs less than choosing.
    private static let limit = 2 << 20

    private var known: [String: [PathCertificate]] = [:]
    private var size = 0

    /// - Parameter source: what a message calls the list.
    mutating func certificates(_ texts: [String], source: String) throws(TrustError) -> [PathCertificate] {
        var all: [PathCertificate] = []
        for (index, text) in texts.enumerated() {
            guard all.count < WorkBudget.mostCertificates else { throw TrustEvaluator.tooManyCertificates(source) }
            if let known = self.known[text] {
                all += known
                continue
            }
            let read = try PathCertificate.load(pem: Array(text.utf8), file: "\(source)[\(index)]")
            self.size += text.utf8.count
            if self.size > CertificateCache.limit {
                self.known = [:]
                self.size = text.utf8.count
            }
            self.known[text] = read
            all += read
        }
        return all
    }
}

extension PathCertificate {
    /// Reads the certificates of a PEM text, and nothing else that may be in it.
    ///
    /// - Throws: `.unreadableCertificate`, as `Certificate.load(pem:file:)`.
    static func load(pem: [UInt8], file: String) throws(TrustError) -> [PathCertificate] {
        guard PEMBlocks.count(in: pem) <= WorkBudget.mostCertificates else {
            throw TrustEvaluator.tooManyCertificates(file)
        }
        var certificates: [PathCertificate] = []
        try Certificate.readBlocks(of: pem, file: file) { (der, source) throws(TrustError) in
            certificates.append(try PathCertificate(der: der, source: source))
        }
        return certificates
    }
}
