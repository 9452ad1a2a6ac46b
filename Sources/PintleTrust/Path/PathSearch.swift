// SPDX-License-Identifier: Apache-2.0

/// A search for a path from a leaf to an anchor: depth first, the likeliest issuer first, with bounded work.
///
/// A certificate may have been issued by several others that share a name: cross-signed, renewed, expired, under name
/// constraints, or sent to mislead. A path is abandoned at the first broken rule, and the next one is tried. If no path is
/// valid, a second search that ignores the rules finds the reason to report.
struct PathSearch {
    enum Outcome {
        case found(Path)
        case none(RuleFinding)
    }

    /// The most certificates that a path may have; the longest in public use has five.
    static let longestPath = 16
    /// The cost of judging a whole path, in steps: it examines every certificate again.
    private static let costOfArrival = 128
    /// The number of issuers with one name that are tried only to report the end of a chain.
    private static let candidatesForDiagnosis = 8

    private let anchors: AnchorStore
    private let rules: PathRules
    private let revocation: RevocationRules?
    /// True if chains must be of good form below their anchor.
    private let demandsForm: Bool
    private let candidates: CandidateIndex
    private let full: SearchBudget
    private var budget: SearchBudget
    private var signatures: [SignatureQuestion: Bool] = [:]
    private var form = FormRules.Memory()

    /// - Parameter others: the certificates that the peer sent beside its leaf, in any order.
    init(
        others: [PathCertificate], anchors: AnchorStore, rules: PathRules, revocation: RevocationRules? = nil,
        demandsForm: Bool, budget: SearchBudget = .offline
    ) {
        self.full = budget
        self.budget = budget
        self.anchors = anchors
        self.rules = rules
        self.revocation = revocation
        self.demandsForm = demandsForm
        self.candidates = CandidateIndex(others, anchors: anchors)
    }

    /// The work that the search has used so far.
    var spent: SearchBudget {
        SearchBudget(
            signatures: self.full.signatures - self.budget.signatures, steps: self.full.steps - self.budget.steps,
            comparisons: self.full.comparisons - self.budget.comparisons)
    }

    /// Returns the rules of form that a path breaks below its anchor.
    mutating func formFindings(on path: Path) -> [RuleFinding] { FormRules.findings(on: path, memory: &self.form) }

    mutating func run(from leaf: PathCertificate) -> Outcome {
        var path = Path(leaf)
        path.anchor = self.anchors.anchor(equalTo: leaf)
        let finding = self.rules.finding(onLeaf: leaf, isAnchor: path.anchor != nil)
        if path.anchor != nil {
            return (finding ?? self.lastFinding(on: path)).map(Outcome.none) ?? .found(path)
        }
        // A leaf that breaks a rule by itself does so on every path.
        if finding == nil, self.extend(&path, overlooksRules: false) { return .found(path) }
        return .none(self.diagnose(leaf))
    }

    /// Adds issuers until the path ends at an anchor and breaks no rule.
    ///
    /// - Returns: false if no issuer led to an anchor; the path is then unchanged.
    private mutating func extend(_ path: inout Path, overlooksRules: Bool) -> Bool {
        guard path.certificates.count < PathSearch.longestPath else { return false }
        let top = path.top
        for candidate in self.candidates.issuers(of: top, anchors: self.anchors, at: self.rules.moment) {
            guard !self.budget.isExhausted else { return false }
            self.budget.steps -= 1
            let issuer = candidate.certificate
            // A server's certificate may have the name and key of its root, which issued it nevertheless. An anchor that is
            // no authority is another certificate of that server instead.
            let isOwnRoot =
                candidate.anchor != nil && path.top === path.leaf && issuer.facts.extensions.isAuthority
            guard isOwnRoot || !path.contains(issuer) else { continue }
            if !overlooksRules {
                let finding = self.rules.finding(
                    onIssuer: issuer, isAnchor: candidate.anchor != nil, of: path, budget: &self.budget)
                guard finding == nil else { continue }
            }
            // No signature is checked with a key that is refused anyway; the refusal of the key is then the result.
            let isAssumed = overlooksRules && !issuer.facts.key.mayCheckSignatures
            guard isAssumed || self.isSigned(top, by: issuer) else { continue }
            path.append(issuer)
            path.anchor = candidate.anchor
            if path.anchor != nil {
                self.budget.steps -= PathSearch.costOfArrival
                if overlooksRules || self.lastFinding(on: path) == nil { return true }
            } else if self.extend(&path, overlooksRules: overlooksRules) {
                return true
            }
            path.anchor = nil
            path.removeLast()
        }
        return false
    }

    /// Returns the problem of a path as a whole, if any.
    private mutating func lastFinding(on path: Path) -> RuleFinding? {
        if let finding = PolicyRules.finding(on: path) { return finding }
        if self.demandsForm, let finding = self.formFindings(on: path).first { return finding }
        return self.revocation?.finding(
            on: path, at: self.rules.moment, securityBits: self.rules.securityBits, budget: &self.budget)
    }

    private mutating func isSigned(_ certificate: PathCertificate, by issuer: PathCertificate) -> Bool {
        let question = SignatureQuestion(certificate: ObjectIdentifier(certificate), key: issuer.facts.keyPin)
        guard issuer.facts.key.mayCheckSignatures else { return false }
        if let answer = self.signatures[question] { return answer }
        guard self.budget.signatures > 0 else { return false }
        self.budget.signatures -= issuer.facts.key.cost
        let answer = certificate.isSigned(by: issuer)
        self.signatures[question] = answer
        return answer
    }
}

/// The reason for a failed search.
extension PathSearch {
    /// Returns the most useful finding about a chain without a valid path: the broken rule on a path that ends at an
    /// anchor, or the end of the likeliest path.
    private mutating func diagnose(_ leaf: PathCertificate) -> RuleFinding {
        if self.budget.isExhausted { return RuleFinding(.pathTooComplex, leaf) }
        var path = Path(leaf)
        guard self.extend(&path, overlooksRules: true) else { return self.unanchored(leaf) }
        return self.firstFinding(on: path) ?? RuleFinding(.pathTooComplex, leaf)
    }

    private mutating func firstFinding(on path: Path) -> RuleFinding? {
        if let finding = self.rules.finding(onLeaf: path.leaf, isAnchor: false) { return finding }
        var walked = Path(path.leaf)
        for issuer in path.certificates.dropFirst() {
            let isAnchor = issuer === path.top
            let finding = self.rules.finding(onIssuer: issuer, isAnchor: isAnchor, of: walked, budget: &self.budget)
            if let finding { return finding }
            walked.append(issuer)
        }
        walked.anchor = path.anchor
        return self.lastFinding(on: walked)
    }

    /// Follows the likeliest issuers to the end of the chain, and reports that.
    private mutating func unanchored(_ leaf: PathCertificate) -> RuleFinding {
        if self.budget.isExhausted { return RuleFinding(.pathTooComplex, leaf) }
        var path = Path(leaf)
        while true {
            let top = path.top
            let named = self.candidates.issuers(
                of: top, anchors: self.anchors, at: self.rules.moment, includesUnconnected: true)
            let likely = named.prefix(PathSearch.candidatesForDiagnosis).filter { !path.contains($0.certificate) }
            guard let issuer = likely.first(where: { self.isSigned(top, by: $0.certificate) }) else {
                // The certificate names this key, but the key did not sign it.
                if likely.contains(where: \.isNamedByKey) { return RuleFinding(.badSignature, top) }
                break
            }
            path.append(issuer.certificate)
            if path.certificates.count == PathSearch.longestPath { return RuleFinding(.pathTooComplex, leaf) }
        }
        let last = path.top
        let mayCheck = last.facts.key.mayCheckSignatures
        let vouchesForItself = last.facts.isSelfIssued && (!mayCheck || self.isSigned(last, by: last))
        return RuleFinding(last === leaf && vouchesForItself ? .selfSigned : .unknownIssuer, last)
    }
}

/// The key of a remembered signature check. The certificates of a search live as long as it, so their identity may be used.
private struct SignatureQuestion: Hashable {
    let certificate: ObjectIdentifier
    let key: Pin
}
