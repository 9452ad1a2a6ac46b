// SPDX-License-Identifier: Apache-2.0

/// The reason why a destination, a pin or a policy was refused.
///
/// Programs switch on `code`; people read `message`.
public struct TrustError: Error, Sendable, Hashable {
    /// The kind of refusal; the raw value serves as metric label and problem name.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// No certificate of the chain carries a pinned key or is a pinned certificate; or the pins have expired.
        case pinMismatch = "pin-mismatch"
        /// The chain or the name is invalid, regardless of pins; `problem` says which part.
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
        /// OpenSSL failed for a reason unrelated to the peer, for instance because memory is short.
        case library
    }

    /// The problem of a certificate or a chain that is `.certificateInvalid`.
    public enum CertificateProblem: String, Sendable, Hashable, CaseIterable {
        /// The certificate's last moment of validity has passed.
        case expired
        /// The certificate's validity has not begun; or the clock of this machine is slow.
        case notYetValid = "not-yet-valid"
        /// The chain does not lead to a root of the policy.
        case unknownIssuer = "unknown-issuer"
        /// The peer's certificate is self-signed and not a root of the policy.
        case selfSigned = "self-signed"
        /// The subjectAltName does not name the host.
        case wrongName = "wrong-name"
        /// The certificate is not for servers.
        case wrongPurpose = "wrong-purpose"
        /// A certificate that may not sign others, or not this deep, signed one.
        case notAnAuthority = "not-an-authority"
        /// A name is outside of the names that an authority of the chain may certify.
        case nameConstraint = "name-constraint"
        /// A key is too short or a digest too weak for the security level in force.
        case weak
        /// A signature does not match the signed data.
        case badSignature = "bad-signature"
        /// A field of the certificate cannot be read, or is critical and unknown.
        case malformed
        /// The certificate breaks a rule of the profile for TLS servers' certificates; `rule` says which.
        case profile
        /// An authority of the chain demands a certificate policy that the chain does not have.
        case policy
        /// The certificate is on its issuer's revocation list, or the list that would tell cannot be used.
        case revoked
        /// Judging the chain takes more work than any honest chain needs.
        case tooComplex = "too-complex"
        /// The peer sent no certificate.
        case missing
        /// Anything else.
        case other
    }

    /// The kind of refusal.
    public let code: Code
    /// A text for people: the event, its place and the remedy; may have several lines.
    public let message: String
    /// The text of OpenSSL or the system about it, if any.
    public let cause: String?
    /// The problem, set exactly if `code` is `.certificateInvalid`.
    public let problem: CertificateProblem?
    /// The rule that decided, if `code` is `.certificateInvalid` and there was a certificate to judge.
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

    /// Makes a refusal by a rule of the evaluation.
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
