// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// NIST's Public Key Interoperability Test Suite: 223 paths, as far as a verifier of servers can be asked about them.
@Suite(.enabled(if: PKITSFiles.isAvailable, Comment(rawValue: PKITSFiles.requirement)))
struct PKITSTests {
    /// Within the validity of everything that shall be valid, whenever the test runs.
    private static let moment = UnixTime(seconds: 1_577_836_800)
    private static let root = "TrustAnchorRootCertificate"
    private static let deltas: Set<String> = [
        "deltaCRLCA1deltaCRL", "deltaCRLCA2deltaCRL", "deltaCRLCA3deltaCRL", "deltaCRLIndicatorNoBaseCACRL",
    ]

    private let cases: [PKITSCase]
    private let certificates: [String: Certificate]
    /// All certificates that are no cases, so that the path must be searched for, too.
    private let authorities: [Certificate]

    init() throws {
        self.cases = try PKITSCase.all()
        let certificates = try PKITSFiles.certificates()
        self.certificates = certificates
        let leaves = Set(self.cases.map(\.leaf))
        self.authorities = certificates.keys.filter { $0 != Self.root && !leaves.contains($0) }.sorted()
            .compactMap { certificates[$0] }
    }

    @Test func `LOOK-31 each path of the suite has its case`() {
        #expect(self.cases.count == 223 && Set(self.cases.map(\.leaf)).count == 223)
        let leaves = Set(self.cases.map(\.leaf))
        #expect(Set(self.certificates.keys.filter { $0.hasSuffix("EE") }) == leaves)
    }

    @Test func `LOOK-31 paths are what the suite says, without revocation lists`() throws {
        let evaluator = try self.evaluator([])
        for item in self.cases {
            let verdict = try self.verdict(on: item, evaluator)
            #expect(verdict.isTrusted == item.holdsWithoutLists, "\(item.testDescription): \(self.words(verdict))")
            if item.exception == .dsa { #expect(verdict.error?.rule == .weakKey, "\(item.testDescription)") }
        }
    }

    @Test func `LOOK-31 paths are what the suite says, with its revocation lists`() throws {
        let lists = try PKITSFiles.lists().filter { !Self.deltas.contains($0.key) }.sorted { $0.key < $1.key }
            .flatMap { try RevocationList.load(path: $0.value) }
        let evaluator = try self.evaluator(lists)
        for item in self.cases {
            let verdict = try self.verdict(on: item, evaluator)
            #expect(verdict.isTrusted == item.holdsWithLists, "\(item.testDescription): \(self.words(verdict))")
            guard let rule = verdict.error?.rule, item.holdsWithoutLists else { continue }
            let isMeant = rule == .revocationUnknown || (rule == .revoked && item.exception != .otherKindOfList)
            #expect(isMeant, "\(item.testDescription): \(self.words(verdict))")
        }
    }

    @Test(arguments: deltas) func `LOOK-35 delta lists of the suite are refused when they are read`(name: String) throws
    {
        let path = try #require(try PKITSFiles.lists()[name])
        let error = #expect(throws: TrustError.self) { try RevocationList.load(path: path) }
        #expect(error?.message.hasPrefix("\(path): a delta list") == true)
    }

    private func evaluator(_ lists: [RevocationList]) throws -> TrustEvaluator {
        let root = try #require(self.certificates[Self.root])
        return try TrustEvaluator(
            policy: SecurityPolicy(pinning: .none, roots: .only([root]), revocationLists: lists))
    }

    private func verdict(on item: PKITSCase, _ evaluator: TrustEvaluator) throws -> Verdict {
        let leaf = try #require(self.certificates[item.leaf], "\(item.leaf)")
        return evaluator.evaluate(chain: [leaf] + self.authorities, host: nil, at: Self.moment)
    }

    private func words(_ verdict: Verdict) -> String { verdict.error?.message ?? "trusted" }
}
