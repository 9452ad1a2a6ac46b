// SPDX-License-Identifier: Apache-2.0

/// Judges chains that come as PEM, one after another. A certificate that was parsed before is not parsed again.
///
/// A chain without roots of its own is judged by the policy's roots; a chain with roots, by these alone. Not Sendable: it
/// belongs to the code that works through the chains.
package struct OfflineVerifier {
    private let policy: SecurityPolicy
    private let reportsOnly: Bool
    private let evaluator: TrustEvaluator
    private var cache = CertificateCache()
    private var lastRoots: (texts: [String], evaluator: TrustEvaluator)?

    /// - Parameter policy: the policy that decides.
    /// - Throws: `.unreadableCertificate` for an anchor of the policy that cannot be read.
    package init(policy: SecurityPolicy, reportsOnly: Bool = false) throws(TrustError) {
        self.policy = policy
        self.reportsOnly = reportsOnly
        self.evaluator = try TrustEvaluator(policy: policy, reportsOnly: reportsOnly)
    }

    /// Returns the policy's verdict on a chain.
    ///
    /// - Parameters:
    ///   - chain: PEM texts, each of one certificate or several; the first certificate is the leaf.
    ///   - roots: PEM texts of the only anchors, used as they are; nil for the policy's.
    ///   - host: the DNS name or IP address that the leaf must be for; nil requires no name.
    ///   - moment: the moment at which the certificates must be valid.
    /// - Returns: a refusal with `.unreadableCertificate` if a text is not PEM or a certificate cannot be read.
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
    /// The most bytes of text to remember; above it everything is forgotten, which costs less than choosing.
    private static let limit = 2 << 20

    private var known: [String: [PathCertificate]] = [:]
    private var size = 0

    /// - Parameter source: the name of the list in messages.
    mutating func certificates(_ texts: [String], source: String) throws(TrustError) -> [PathCertificate] {
        var all: [PathCertificate] = []
        for (index, text) in texts.enumerated() {
            guard all.count < SearchBudget.mostCertificates else { throw TrustEvaluator.tooManyCertificates(source) }
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
    /// Reads the certificates of a PEM text, which must have no other blocks.
    ///
    /// - Throws: `.unreadableCertificate`, like `Certificate.load(pem:file:)`.
    static func load(pem: [UInt8], file: String) throws(TrustError) -> [PathCertificate] {
        guard PEMBlocks.count(in: pem) <= SearchBudget.mostCertificates else {
            throw TrustEvaluator.tooManyCertificates(file)
        }
        var certificates: [PathCertificate] = []
        try Certificate.readBlocks(of: pem, file: file) { (der, source) throws(TrustError) in
            certificates.append(try PathCertificate(der: der, source: source))
        }
        return certificates
    }
}
