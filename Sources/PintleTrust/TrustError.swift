// SPDX-License-Identifier: Apache-2.0

/// Why a destination, a pin or a policy was refused.
///
/// `code` is what programs switch on, `message` what people read.
public struct TrustError: Error, Sendable, Hashable {
    /// The kind of refusal; the raw value serves as metric label and problem name.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// No certificate of the chain carries a pinned key, or is a pinned certificate; or the pins have expired.
        case pinMismatch = "pin-mismatch"
        /// The chain or the name does not hold, whatever is pinned; `problem` says which part.
        case certificateInvalid = "certificate-invalid"
        /// The settings of a policy exclude each other, or one of them would do nothing.
        case contradiction
        /// A file, a folder or bytes do not hold the certificates that were expected there.
        case unreadableCertificate = "unreadable-certificate"
        /// A client certificate or its private key cannot be read, they do not belong together, or OpenSSL does not
        /// accept them.
        case unreadableIdentity = "unreadable-identity"
        /// The program's own trust decision refused the peer; the policy was not consulted.
        case refusedByHook = "refused-by-hook"
        /// A text is not a SHA-256 pin.
        case invalidPin = "invalid-pin"
        /// OpenSSL failed at something that has nothing to do with the peer, as when memory is short.
        case library
    }

    /// What is wrong with a certificate or a chain: the second half of `.certificateInvalid`.
    public enum CertificateProblem: String, Sendable, Hashable, CaseIterable {
        /// Its last moment has passed.
        case expired
        /// Its first moment lies ahead; or the clock of this machine is behind.
        case notYetValid = "not-yet-valid"
        /// The chain does not lead to a root of the policy.
        case unknownIssuer = "unknown-issuer"
        /// The peer's certificate is signed by itself and no root of the policy.
        case selfSigned = "self-signed"
        /// The subjectAltName does not name the host.
        case wrongName = "wrong-name"
        /// It is not for servers.
        case wrongPurpose = "wrong-purpose"
        /// A certificate that may not sign others, or not this deep, signed one.
        case notAnAuthority = "not-an-authority"
        /// A name lies outside of what an authority of the chain may vouch for.
        case nameConstraint = "name-constraint"
        /// A key is too short or a digest too weak for the security level in force.
        case weak
        /// A signature does not fit what it signs.
        case badSignature = "bad-signature"
        /// A field of it cannot be read, or is critical and unknown.
        case malformed
        /// It breaks a rule of the profile for TLS servers' certificates; `rule` says which.
        case profile
        /// An authority of the chain demands a certificate policy, and there is none.
        case policy
        /// It is on its issuer's revocation list, or the list that should say so cannot be used.
        case revoked
        /// Judging the chain takes more work than any honest chain.
        case tooComplex = "too-complex"
        /// The peer sent no certificate.
        case missing
        /// Anything else.
        case other
    }

    /// The kind of refusal.
    public let code: Code
    /// What happened, where, and what to do about it; may run over several lines.
    public let message: String
    /// What OpenSSL or the system says of it, when they say anything.
    public let cause: String?
    /// Set exactly when `code` is `.certificateInvalid`.
    public let problem: CertificateProblem?
    /// The rule that decided, where `code` is `.certificateInvalid` and there was a certificate to judge.
    public let rule: Rule?

    package init(code: Code, message: String, cause: String? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
        self.problem = nil
        self.rule = nil
    }

    package init(problem: CertificateProblem, message: String, cause: String? = nil) {
        self.code = .certificateInvalid
        self.message = message
        self.cause = cause
        self.problem = problem
        self.rule = nil
    }

    /// A refusal by a rule of the evaluation.
    init(rule: Rule, message: String, cause: String? = nil) {
        self.code = .certificateInvalid
        self.message = message
        self.cause = cause
        self.problem = rule.problem
        self.rule = rule
    }
}

extension TrustError: CustomStringConvertible {
    /// The message, then the cause in parentheses.
    public var description: String {
        guard let cause = self.cause else { return self.message }
        return "\(self.message) (\(cause))"
    }
}
