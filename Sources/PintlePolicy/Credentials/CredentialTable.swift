// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import PintleMessage
package import PintleSession

/// The credentials of a command, compiled: finds their placeholders in requests, and judges where they stand.
package final class CredentialTable: Sendable {
    let credentials: [CredentialConfiguration]
    /// By credential: the parts of its configuration that are asked for with each request that has it.
    private let grants: [HeldGrants]
    /// The placeholders, in the order of the credentials.
    package let placeholders: TextFinder
    /// The forms of the values that a server may repeat.
    package let echoes: TextFinder
    /// The hosts that any credential is for.
    private let hosts: HostIndex
    /// The values as they are, in forms and in strings of JSON, in the order of the credentials.
    private let values: (plain: [[UInt8]], form: [[UInt8]], json: [[UInt8]])

    /// - Returns: nil if there are no placeholders, because no command runs.
    package init?(_ credentials: [CredentialConfiguration]) {
        let placeholders = credentials.compactMap(\.placeholder)
        guard !placeholders.isEmpty, placeholders.count == credentials.count else { return nil }
        self.credentials = credentials
        self.grants = credentials.map(HeldGrants.init)
        self.placeholders = TextFinder(placeholders.map { Array($0.utf8) })
        self.echoes = TextFinder(credentials.flatMap { CredentialForms.echoes(of: $0.value) }, ignoresCase: true)
        var hosts = HostIndex()
        for (number, credential) in credentials.enumerated() {
            for host in credential.grants.flatMap(\.hosts) { hosts.insert(host, number: number) }
        }
        self.hosts = hosts
        func values(_ encoding: BodyEncoding) -> [[UInt8]] {
            credentials.map { encoding.encoded(Array($0.value.utf8)) }
        }
        self.values = (values(.plain), values(.form), values(.json))
    }

    /// The values as they stand in texts of an encoding, in the order of the credentials.
    func values(in encoding: BodyEncoding) -> [[UInt8]] {
        switch encoding {
        case .plain: self.values.plain
        case .form: self.values.form
        case .json: self.values.json
        }
    }

    /// The part of a request that a placeholder was found in.
    enum Finding: Equatable {
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
        var (hasBody, isStreamed) = (true, false)
        var found = Uses()
        self.find(in: request.fields, &found)
        self.find(inTarget: request.path, &found)
        switch request.body {
        case .none: hasBody = false
        case .bytes(let bytes): bytes.withUnsafeReadableBytes { self.find(in: $0, as: .part(.body), &found) }
        case .stream: isStreamed = true
        }
        content.withUnsafeReadableBytes { self.find(in: $0, as: .part(.body), &found) }
        let judge = Judge(method: request.method, decision: decision)
        let uses = found.all.count > 1 ? found.all.sorted { $0.credential < $1.credential } : found.all
        for use in uses {
            if judge.allows(use.finding, self.grants[use.credential]) { continue }
            if let problem = judge.objection(to: self.credentials[use.credential], in: use.finding) { throw problem }
        }
        // A host that may have a credential is one that credentials are for. In clear it gets none, but may repeat one that it has.
        let isNamed = !found.all.isEmpty || self.hosts.first(decision.authority) { _ in true } != nil
        if !isNamed, !isStreamed { return nil }
        return CredentialRelease(
            self, objections: isStreamed ? self.credentials.map { judge.objection(to: $0, in: .part(.body)) } : [],
            encoding: hasBody ? BodyEncoding(request.fields) : .plain, isNamed: isNamed, used: found.credentials)
    }

    // MARK: Finding

    private struct Use: Equatable {
        let credential: Int
        let finding: Finding
    }

    /// The placeholders of a request, each once for each part; most have none or one, which need no hashing.
    private struct Uses {
        private(set) var all: [Use] = []

        mutating func note(_ credential: Int, _ finding: Finding) {
            let use = Use(credential: credential, finding: finding)
            if !self.all.contains(use) { self.all.append(use) }
        }

        /// The credentials, each once.
        var credentials: [Int] {
            self.all.reduce(into: []) { if !$0.contains($1.credential) { $0.append($1.credential) } }
        }
    }

    private func find(in fields: Fields, _ uses: inout Uses) {
        fields.forEachLine { known, line in
            lazy var nameEnd = line.firstIndex(of: UInt8(ascii: ":")) ?? line.count
            self.forEachMatch(in: line) { match in
                uses.note(match.text, match.end > nameEnd ? .part(.header) : .elsewhere)
            }
            // No other field has a text in Base64 (RFC 7617).
            guard known == .authorization else { return }
            let value = line.dropFirst("Authorization: ".utf8.count)
            if let plain = BasicText(UnsafeRawBufferPointer(rebasing: value)) {
                plain.bytes.withUnsafeBytes { self.find(in: $0, as: .part(.header), &uses) }
            }
        }
    }

    private func find(inTarget path: String, _ uses: inout Uses) {
        var path = path
        path.withUTF8 { text in
            let bytes = UnsafeRawBufferPointer(text)
            lazy var query = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
            self.forEachMatch(in: bytes) { match in
                uses.note(match.text, match.end - match.count > query ? .part(.query) : .elsewhere)
            }
        }
    }

    private func find(in bytes: UnsafeRawBufferPointer, as finding: Finding, _ uses: inout Uses) {
        var last = -1
        self.forEachMatch(in: bytes) { match in
            // A body may have thousands of the same.
            if match.text != last { uses.note(match.text, finding) }
            last = match.text
        }
    }

    private func forEachMatch(in bytes: UnsafeRawBufferPointer, _ body: (TextFinder.Match) -> Void) {
        var start = 0
        while let match = self.placeholders.match(in: bytes, from: start) {
            body(match)
            start = match.end
        }
    }
}

/// The requests that a credential may go with, and the trust policy that their origins must satisfy.
///
/// A class, so that nothing of it is copied for a request.
private final class HeldGrants: Sendable {
    let grants: [CredentialConfiguration.Grant]
    let trust: String

    init(_ credential: CredentialConfiguration) {
        (self.grants, self.trust) = (credential.grants, credential.trust.value)
    }
}

/// Judges the credentials of one request.
private struct Judge {
    private typealias Grant = CredentialConfiguration.Grant

    let method: String
    let decision: Decision

    /// True if a credential may stand there; asked first, because mostly it may, and no reason has to be looked for.
    ///
    /// - Returns: false also if only ``objection(to:in:)`` can tell.
    func allows(_ finding: CredentialTable.Finding, _ held: HeldGrants) -> Bool {
        guard self.decision.scheme == .https, case .part(let part) = finding, self.isTrusted(held.trust) else {
            return false
        }
        return held.grants.contains { grant in
            grant.paths.isEmpty && grant.parts.contains(part)
                && grant.hosts.contains { $0.matches(self.decision.authority) }
                && (grant.methods.isEmpty || grant.methods.contains(self.method))
        }
    }

    private func isTrusted(_ name: String) -> Bool {
        let trust = self.decision.trust
        return trust?.name == name || trust?.index == nil && name == TrustConfiguration.defaultName
    }

    /// The problem with a credential in a part of the request; nil if it may stand there.
    func objection(to credential: CredentialConfiguration, in finding: CredentialTable.Finding) -> Problem? {
        guard let reason = self.reason(against: credential, in: finding) else { return nil }
        return Problem(
            .credentialMisuse,
            "the credential \(credential.name) may not go to \(self.decision.authority): \(reason); the request is refused"
        )
    }

    private func reason(against credential: CredentialConfiguration, in finding: CredentialTable.Finding) -> String? {
        func key(_ key: String) -> String { "credentials.\(credential.name).\(key)" }
        guard self.decision.scheme == .https else { return "the request would go there in clear" }
        let grants = credential.grants
        func isForHost(_ grant: Grant) -> Bool { grant.hosts.contains { $0.matches(self.decision.authority) } }
        func isForMethod(_ grant: Grant) -> Bool {
            isForHost(grant) && (grant.methods.isEmpty || grant.methods.contains(self.method))
        }
        guard grants.contains(where: isForHost) else { return "no host of \(key("for")) matches it" }
        guard grants.contains(where: isForMethod) else {
            return "\(key("for")) does not name the method \(self.method.excerpt) there"
        }
        var (readings, ambiguity) = ([[UInt8]](), String?.none)
        do throws(Malformed) {
            if grants.contains(where: { !$0.paths.isEmpty }) { readings = try PathReadings(self.decision.path).all }
        } catch {
            ambiguity = error.reason
        }
        // One reading that is not named is enough to refuse: the server might read the path so.
        func isForPath(_ grant: Grant) -> Bool {
            if !isForMethod(grant) { return false }
            if grant.paths.isEmpty { return true }
            return ambiguity == nil
                && readings.allSatisfy { reading in grant.paths.contains { $0.matches(bytes: reading) } }
        }
        guard grants.contains(where: isForPath) else {
            return ambiguity ?? "\(key("for")) does not name the path there"
        }
        guard case .part(let part) = finding else {
            return "it stands in the path, or in the name of a field, where a credential is never put"
        }
        guard grants.contains(where: { isForPath($0) && $0.parts.contains(part) }) else {
            return "\(key("for")) does not let it stand in the \(part.rawValue)"
        }
        if self.isTrusted(credential.trust.value) { return nil }
        return "the host is judged by the trust policy \(self.decision.trust?.name ?? "of none"), and "
            + "\(key("trust")) is \(credential.trust.value)"
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
