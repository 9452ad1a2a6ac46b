// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

@testable import PintleTrust

/// Chains that are made to keep their judge busy.
struct CostlyChainTests {
    private let pki = TestPKI()
    private let root: TestIdentity

    init() throws {
        self.root = try self.pki.root("Root")
    }

    @Test(arguments: [33, 64, 3072])
    func `LOOK-08 a key with a long exponent is weak and checks no signature`(bits: Int) throws {
        let key = Self.rsaKey(exponent: Self.number(bits: bits))
        let sent = try (0..<40).map { number in
            try self.pki.mint(
                .authority("Costly").changed {
                    $0.certifiedKey = Self.rsaKey(exponent: Self.number(bits: bits), modulusEnd: UInt8(number * 2 + 1))
                }, signedBy: self.root)
        }
        let signer = try self.pki.root("Costly", key: .rsa(bits: 2048))
        let leaf = try self.pki.leaf(dns: [Site.host], signedBy: signer)
        let (finding, spent) = try self.search([leaf] + sent)
        #expect(finding?.rule == .weakKey)
        #expect(finding?.certificate?.certificate.subject == "CN=Costly")
        #expect(spent.signatures <= 1)

        // The rule applies to the leaf's key, too.
        let weak = try self.pki.mint(
            .server("DNS:\(Site.host)").changed { $0.certifiedKey = key }, signedBy: self.root)
        #expect(try self.search([weak]).finding?.rule == .weakKey)
    }

    @Test func `LOOK-08 an exponent of 32 bits is as good as any`() throws {
        let key = Self.rsaKey(exponent: Self.number(bits: 32))
        let leaf = try self.pki.mint(
            .server("DNS:\(Site.host)").changed { $0.certifiedKey = key }, signedBy: self.root)
        #expect(try self.search([leaf]).finding == nil)
    }

    @Test func `LOOK-08 a handshake spends less on a chain than verify does`() throws {
        // Forty authorities of one name, of which none signed the leaf.
        let namesakes = try (0..<40).map { _ in try self.pki.mint(.authority("Many"), signedBy: self.root) }
        let signer = try self.pki.mint(.authority("Many"), signedBy: self.root)
        let leaf = try self.pki.leaf(dns: [Site.host], signedBy: signer)
        let unnamed = try self.pki.mint(
            .server("DNS:\(Site.host)").changed { $0.namesIssuerKey = false }, signedBy: signer)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        let evaluator = try TrustEvaluator(policy: policy)
        let chain = ([unnamed] + namesakes + [signer]).map(\.certificate)
        #expect(evaluator.evaluate(chain: chain, host: Site.host).isTrusted)
        #expect(evaluator.evaluateInHandshake(chain: chain, host: Site.host).error?.rule == .pathTooComplex)
        let outcome = try MemoryHandshake.run(server: unnamed, sending: chain) {
            evaluator.install(on: $0, host: Site.host) { _ in }
        }
        #expect(!outcome.succeeded)
        // If the leaf names its issuer's key, the namesakes do not matter.
        let named = ([leaf] + namesakes[..<20] + [signer] + namesakes[20...]).map(\.certificate)
        #expect(evaluator.evaluateInHandshake(chain: named, host: Site.host).isTrusted)
    }

    @Test func `LOOK-08 names times constraints are bounded sooner in a handshake`() throws {
        let names = ([Site.host] + (0..<150).map { "n\($0).example.test" }).map { "DNS:\($0)" }
        let trees = (0..<100).map { "permitted;DNS:p\($0).test" } + ["permitted;DNS:example.test"]
        let authority = try self.pki.mint(
            .authority("Many").with("nameConstraints", "critical,\(trees.joined(separator: ","))"), signedBy: self.root)
        let leaf = try self.pki.mint(.server(names.joined(separator: ",")), signedBy: authority)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        let evaluator = try TrustEvaluator(policy: policy)
        #expect(evaluator.evaluate(chain: leaf.chain, host: Site.host).isTrusted)
        #expect(evaluator.evaluateInHandshake(chain: leaf.chain, host: Site.host).error?.rule == .pathTooComplex)
    }

    @Test func `LOOK-38 a leaf with many names is judged on its form once, whatever paths there are`() throws {
        let names = (0..<5_000).map { "DNS:n\($0).example.test" } + ["DNS:\(Site.host)"]
        let middles = try (0..<40).reduce(into: [TestIdentity]()) { middles, _ in
            middles.append(try self.pki.mint(.authority("Many"), signedBy: self.root, reusing: middles.first))
        }
        // Another spelling of the last name: all of them are looked at before that is known to break a rule of form.
        let leaf = try self.pki.mint(
            .server(names.joined(separator: ","), commonName: Site.host.uppercased()), signedBy: middles[0])
        let (one, all) = (try self.formTime([leaf, middles[0]]), try self.formTime([leaf] + middles))
        // Forty paths have arrived at the root, which takes 128 steps each.
        #expect(all.spent.steps > 40 * 128 && one.spent.steps < 4 * 128)
        // Forty paths take about the time of a processor that one takes.
        #expect(all.time < one.time * 5, "\(all.time) instead of \(one.time)")
    }

    /// Searches in vain for a chain that passes the rules of form, and returns its steps and its thread's time.
    private func formTime(_ sent: [TestIdentity]) throws -> (spent: SearchBudget, time: Duration) {
        let read = try sent.map { try PathCertificate($0.certificate) }
        let anchors = try AnchorStore(anchors: [self.root.certificate])
        let rules = PathRules(moment: self.pki.now, securityBits: 112, usesCommonName: false)
        var search = PathSearch(others: Array(read.dropFirst()), anchors: anchors, rules: rules, demandsForm: true)
        let start = processorTime()
        guard case .none(let finding) = search.run(from: read[0]) else { throw TestFailure("the form is good") }
        let time = processorTime() - start
        #expect(finding.rule == .commonNameCopy)
        return (search.spent, time)
    }

    @Test func `LOOK-08 certificates behind the thirty-second are not looked at in a handshake`() throws {
        let middle = try self.pki.intermediate("Middle", signedBy: self.root)
        let leaf = try self.pki.leaf(dns: [Site.host], signedBy: middle)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        let evaluator = try TrustEvaluator(policy: policy)
        for (count, isTrusted) in [(31, true), (32, false)] {
            let junk = [Certificate](repeating: self.root.certificate, count: count)
            let chain = [leaf.certificate] + junk + [middle.certificate]
            #expect(evaluator.evaluate(chain: chain, host: Site.host).isTrusted)
            #expect(evaluator.evaluateInHandshake(chain: chain, host: Site.host).isTrusted == isTrusted)
        }
    }

    @Test func `LOOK-08 a refusal is remembered for seconds, by host and chain`() throws {
        let stranger = try Site("Stranger")
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        let evaluator = try TrustEvaluator(policy: policy)
        func shakeHands() throws -> Verdict? {
            var verdict: Verdict?
            _ = try MemoryHandshake.run(server: stranger.leaf) {
                evaluator.install(on: $0, host: Site.host) { verdict = $0 }
            }
            return verdict
        }
        #expect(evaluator.refusals.isEmpty)
        let first = try shakeHands()
        #expect(first?.isTrusted == false && !evaluator.refusals.isEmpty)
        #expect(try shakeHands() == first)

        let memory = NegativeVerdictCache()
        let chain = stranger.chain.map(\.der)
        let key = try #require(NegativeVerdictCache.Key(host: "a.test", level: 1, chain: chain))
        let ruling = HandshakeDecision(verdict: try #require(first), verifyError: 20)
        let now = UnixTime(seconds: 1_000_000)
        memory.remember(ruling, of: key, at: now)
        #expect(memory.refusal(of: key, at: now.advanced(by: .seconds(4)))?.verdict == first)
        #expect(memory.refusal(of: key, at: now.advanced(by: .seconds(5))) == nil)
        memory.remember(ruling, of: key, at: now)
        // A clock that was put back says nothing.
        #expect(memory.refusal(of: key, at: UnixTime(seconds: 999_999)) == nil)
        let others = [
            NegativeVerdictCache.Key(host: "b.test", level: 1, chain: chain),
            NegativeVerdictCache.Key(host: "a.test", level: 2, chain: chain),
            NegativeVerdictCache.Key(host: "a.test", level: 1, chain: Array(chain.dropLast())),
        ]
        for other in others { #expect(try memory.refusal(of: #require(other), at: now) == nil) }
    }

    @Test(arguments: [(60, true), (200, false)])
    func `LOOK-08 a handshake takes 32 KiB of certificates`(count: Int, isTaken: Bool) throws {
        let leaf = try self.pki.leaf(dns: [Site.host], signedBy: self.root)
        let junk = [Certificate](repeating: self.root.certificate, count: count)
        #expect((junk.map(\.der.count).reduce(leaf.certificate.der.count, +) < 32_000) == isTaken)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        let evaluator = try TrustEvaluator(policy: policy)
        for isOld in [false, true] {
            let client = try MemoryHandshake.ClientContext()
            if isOld { client.limitToTLS12() }
            evaluator.install(on: client.pointer, host: Site.host) { _ in }
            #expect(try client.connect(server: leaf, sending: [leaf.certificate] + junk).succeeded == isTaken)
        }
    }

    @Test func `LOOK-08 what is trusted is judged in every handshake`() throws {
        let leaf = try self.pki.leaf(dns: [Site.host], signedBy: self.root)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        let evaluator = try TrustEvaluator(policy: policy)
        let outcome = try MemoryHandshake.run(server: leaf) { evaluator.install(on: $0, host: Site.host) { _ in } }
        #expect(outcome.succeeded && evaluator.refusals.isEmpty)
    }

    private func search(_ sent: [TestIdentity]) throws -> (finding: RuleFinding?, spent: SearchBudget) {
        let read = try sent.map { try PathCertificate($0.certificate) }
        var search = PathSearch(
            others: Array(read.dropFirst()), anchors: try AnchorStore(anchors: [self.root.certificate]),
            rules: PathRules(moment: self.pki.now, securityBits: 112, usesCommonName: false), demandsForm: false)
        switch search.run(from: read[0]) {
        case .found: return (nil, search.spent)
        case .none(let finding): return (finding, search.spent)
        }
    }

    /// An odd number with this many bits, big endian.
    private static func number(bits: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xA5, count: (bits + 7) / 8)
        bytes[0] = 1 << UInt8((bits - 1) % 8)
        bytes[bytes.count - 1] |= 1
        return bytes
    }

    /// A SubjectPublicKeyInfo of an RSA key of 3072 bits whose private key does not exist.
    private static func rsaKey(exponent: [UInt8], modulusEnd: UInt8 = 1) -> [UInt8] {
        let modulus = [UInt8](repeating: 0xC3, count: 383) + [modulusEnd]
        let numbers = self.element(0x30, self.integer(modulus) + self.integer(exponent))
        let algorithm: [UInt8] = [
            0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
        ]
        return self.element(0x30, algorithm + self.element(0x03, [0] + numbers))
    }

    private static func integer(_ bytes: [UInt8]) -> [UInt8] {
        self.element(0x02, (bytes[0] >= 0x80 ? [0] : []) + bytes)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 128
            ? [UInt8(count)] : count < 256 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        return [tag] + length + content
    }
}

/// Tells how long this thread has run.
private func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
