// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import PintleMessage
package import PintleSession

/// The credentials of a command, compiled: finds their placeholders in requests, and judges where they stand.
package final class CredentialTable: Sendable {
    let credentials: [CredentialConfiguration]
    /// The placeholders, in the order of the credentials.
    package let placeholders: TextFinder
    /// The forms of the values that a server may repeat.
    package let echoes: TextFinder
    /// The hosts that any credential is for.
    private let hosts: HostIndex

    /// - Returns: nil if there are no placeholders, because no command runs.
    package init?(_ credentials: [CredentialConfiguration]) {
        let placeholders = credentials.compactMap(\.placeholder)
        guard !placeholders.isEmpty, placeholders.count == credentials.count else { return nil }
        self.credentials = credentials
        self.placeholders = TextFinder(placeholders.map { Array($0.utf8) })
        self.echoes = TextFinder(credentials.flatMap { CredentialForms.echoes(of: $0.value) }, ignoresCase: true)
        var hosts = HostIndex()
        for (number, credential) in credentials.enumerated() {
            for host in credential.grants.flatMap(\.hosts) { hosts.insert(host, number: number) }
        }
        self.hosts = hosts
    }

    /// The part of a request that a placeholder was found in.
    enum Finding: Hashable {
        case part(CredentialConfiguration.Part)
        /// The path, or the name of a field: no credential may stand there.
        case elsewhere
    }

    /// Looks for placeholders in a request, and judges them.
    ///
    /// - Parameters:
    ///   - content: bytes of the body that are here, besides those of the request.
    ///   - decision: the decision about the request.
    /// - Returns: nil if the request has none, cannot get one any more, and its answer cannot repeat a value.
    /// - Throws: the problem of a request with a placeholder that it may not have.
    package func release(
        _ request: borrowing TransferRequest, content: ByteBuffer, by decision: Decision
    ) throws(Problem) -> CredentialRelease? {
        let isNamed = decision.scheme == .https && self.hosts.first(decision.authority) { _ in true } != nil
        var isStreamed = false
        var found = self.findings(in: request.fields, request.path)
        switch request.body {
        case .none: break
        case .bytes(let bytes): found.formUnion(self.findings(in: bytes, .part(.body)))
        case .stream: isStreamed = true
        }
        found.formUnion(self.findings(in: content, .part(.body)))
        if found.isEmpty, !isNamed, !isStreamed { return nil }
        let judge = Judge(method: request.method, decision: decision)
        for use in found.sorted(by: { $0.credential < $1.credential }) {
            if let problem = judge.objection(to: self.credentials[use.credential], in: use.finding) { throw problem }
        }
        return CredentialRelease(
            self, objections: isStreamed ? self.credentials.map { judge.objection(to: $0, in: .part(.body)) } : [],
            encoding: BodyEncoding(request.fields), isNamed: isNamed, used: found.map(\.credential))
    }

    // MARK: Finding

    struct Use: Hashable {
        let credential: Int
        let finding: Finding
    }

    private func findings(in fields: Fields, _ path: String) -> Set<Use> {
        var uses: Set<Use> = []
        func note(_ finding: Finding, in bytes: UnsafeRawBufferPointer) {
            self.find(in: bytes) { uses.insert(Use(credential: $0, finding: finding)) }
        }
        fields.forEachField { known, name, value in
            note(.elsewhere, in: name)
            note(.part(.header), in: value)
            if known == .authorization, let plain = BasicText(value) {
                plain.bytes.withUnsafeBytes { note(.part(.header), in: $0) }
            }
        }
        var path = path
        path.withUTF8 { bytes in
            let query = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
            var place = TextFinder.Place()
            var next = 0
            while let match = self.placeholders.next(in: UnsafeRawBufferPointer(bytes), from: next, at: &place) {
                next = match.end
                let isInQuery = match.end - match.count > query
                uses.insert(Use(credential: match.text, finding: isInQuery ? .part(.query) : .elsewhere))
            }
        }
        return uses
    }

    private func findings(in bytes: ByteBuffer, _ finding: Finding) -> Set<Use> {
        var uses: Set<Use> = []
        bytes.withUnsafeReadableBytes { bytes in
            self.find(in: bytes) { uses.insert(Use(credential: $0, finding: finding)) }
        }
        return uses
    }

    private func find(in bytes: UnsafeRawBufferPointer, _ found: (Int) -> Void) {
        var place = TextFinder.Place()
        var (next, last) = (0, -1)
        while let match = self.placeholders.next(in: bytes, from: next, at: &place) {
            next = match.end
            // A body may have thousands of the same.
            if match.text != last { found(match.text) }
            last = match.text
        }
    }
}

/// Judges the credentials of one request.
private struct Judge {
    let method: String
    let decision: Decision

    /// The problem with a credential in a part of the request; nil if it may stand there.
    func objection(to credential: CredentialConfiguration, in finding: CredentialTable.Finding) -> Problem? {
        guard let reason = self.reason(against: credential, in: finding) else { return nil }
        return Problem(
            .credentialMisuse,
            "the credential \(credential.name) may not go to \(self.decision.authority): \(reason); the request is refused"
        )
    }

    private func reason(against credential: CredentialConfiguration, in finding: CredentialTable.Finding) -> String? {
        let key = "credentials.\(credential.name)"
        guard self.decision.scheme == .https else { return "the request would go there in clear" }
        let ofHost = credential.grants.filter { $0.hosts.contains { $0.matches(self.decision.authority) } }
        if ofHost.isEmpty { return "no host of \(key).for matches it" }
        let ofMethod = ofHost.filter { $0.methods.isEmpty || $0.methods.contains(self.method) }
        if ofMethod.isEmpty { return "\(key).for does not name the method \(self.method.excerpt) there" }
        let readings: [[UInt8]]
        do throws(Malformed) {
            readings = try PathReadings(self.decision.path).all
        } catch {
            return error.reason
        }
        // One reading that is not named is enough to refuse: the server might read the path so.
        let ofPath = ofMethod.filter { grant in
            grant.paths.isEmpty
                || readings.allSatisfy { reading in grant.paths.contains { $0.matches(bytes: reading) } }
        }
        if ofPath.isEmpty { return "\(key).for does not name the path there" }
        guard case .part(let part) = finding else {
            return "it stands in the path, or in the name of a field, where a credential is never put"
        }
        guard ofPath.contains(where: { $0.parts.contains(part) }) else {
            return "\(key).for does not let it stand in the \(part.rawValue)"
        }
        let trust = self.decision.trust
        let isNamed = trust?.name == credential.trust.value
        let isFallback = trust?.index == nil && credential.trust.value == TrustConfiguration.defaultName
        guard isNamed || isFallback else {
            return "the host is judged by the trust policy \(trust?.name ?? "of none"), and \(key).trust is "
                + credential.trust.value
        }
        return nil
    }
}

extension CredentialConfiguration {
    /// The parts of a request in which this credential may stand; none if the request may not have it.
    package func releasedParts(of method: String, by decision: Decision) -> [Part] {
        let judge = Judge(method: method, decision: decision)
        return Part.allCases.filter { judge.objection(to: self, in: .part($0)) == nil }
    }
}

/// The text of an `Authorization: Basic` (RFC 7617).
struct BasicText {
    let bytes: [UInt8]

    /// - Parameter value: the value of an `Authorization`.
    /// - Returns: nil for another scheme.
    init?(_ value: UnsafeRawBufferPointer) {
        // Most are of another scheme, and need not become a String.
        guard ASCII.equalsIgnoringCase(UnsafeRawBufferPointer(rebasing: value.prefix(5)), "basic"),
            let credentials = BasicCredentials(String(decoding: value, as: UTF8.self))
        else { return nil }
        self.bytes = Array("\(credentials.user):".utf8) + credentials.password
    }
}
