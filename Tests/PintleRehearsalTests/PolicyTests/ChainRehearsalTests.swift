// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleRehearsal
import PintleTesting
import PintleTrust
import Testing

/// Policy tests with chains of certificates.
struct ChainRehearsalTests {
    private let folder: TemporaryFolder
    /// The pin of the leaf in `chain.pem`.
    private let pin: String

    init() throws {
        self.folder = try TemporaryFolder()
        let pki = TestPKI()
        let root = try pki.root()
        let intermediate = try pki.intermediate(signedBy: root)
        let leaf = try pki.leaf(dns: ["api.pay.example"], signedBy: intermediate)
        self.pin = leaf.pin.description
        try self.folder.write(root.certificatePEM, to: "root.pem")
        try self.folder.write(intermediate.certificatePEM, to: "intermediate.pem")
        try self.folder.write(leaf.certificatePEM, to: "leaf.pem")
        try self.folder.write(leaf.chainPEM, to: "chain.pem")
        try self.folder.write("not a certificate", to: "broken.pem")
    }

    private func configuration(pin: String? = nil, enforcement: String = "enforce") -> String {
        """
        version: 1
        trust:
          payments:
            hosts: [api.pay.example]
            pinning: public_key
            pins: ["\(pin ?? self.pin)"]
            enforcement: \(enforcement)
        routes:
          - name: charge
            match: {hosts: [pay.example]}
            upstream: "https://api.pay.example/"
            response:
              status: [200]
              placeholder: {file: gone.json, status: 503, failures: [certificate-invalid]}
        """
    }

    private func differences(_ configuration: String, _ tests: String) throws -> [String] {
        try self.folder.write("{}", to: "gone.json")
        let file = try self.folder.write(configuration, to: "pintle.yaml")
        let path = try self.folder.write(tests, to: "a.pintle-test.yaml")
        let system = LoaderEnvironment.system(environment: [:])
        let (policy, _) = try PolicyLoader.load(flag: file, surroundings: system)
        var runner = PolicyTestRunner(policy)
        return try PolicyTestReader.read(path, system).flatMap { runner.run($0).differences }.map {
            "\($0.item): expected \($0.expected), found \($0.found)"
        }
    }

    private static let other = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test func `a chain is judged by the policy of its host`() throws {
        let tests = """
            - name: a pinned key
              chain: {file: chain.pem, roots: root.pem, host: api.pay.example}
              expect: {trust: payments, pin: match, trusted: true, error: absent}
            - name: a leaf, and its issuer in another file
              chain: {file: leaf.pem, intermediates: [intermediate.pem], roots: [root.pem], host: "api.pay.example:443"}
              expect: {pin: match}
            - name: without the intermediate
              chain: {file: leaf.pem, roots: root.pem, host: api.pay.example}
              expect: {trusted: false, pin: none, error: unknown-issuer}
            - name: too late
              chain: {file: chain.pem, roots: root.pem, host: api.pay.example, at: 2100-01-01}
              expect: {trusted: false, error: expired}
            - name: a host without pins
              chain: {file: chain.pem, roots: root.pem, host: other.example}
              expect: {trust: system, pin: none, trusted: false, error: wrong-name}
            """
        #expect(try self.differences(self.configuration(), tests) == [])
    }

    @Test func `a chain that the server of a request shows decides about the exchange`() throws {
        let tests = """
            - name: a pinned key
              request: {url: "http://pay.example/"}
              chain: {file: chain.pem, roots: root.pem}
              response: {status: 200}
              violations: []
              expect: {decision: allow, status: 200, trust: payments, pin: match}
            - name: an expired certificate
              request: {url: "http://pay.example/"}
              chain: {file: chain.pem, roots: root.pem, at: 2100-01-01}
              response: {status: 500}
              violations: [certificate-invalid]
              expect: {decision: reject, problem: certificate-invalid, status: 503}
            - name: nobody shows a chain in clear text
              request: {url: "http://other.example/"}
              chain: {file: chain.pem, roots: root.pem}
              expect: {decision: allow, trusted: absent}
            """
        #expect(try self.differences(self.configuration(), tests) == [])
    }

    @Test(arguments: [
        (
            "enforce",
            "{decision: reject, problem: pin-mismatch, status: 502, pin: mismatch, trusted: false, error: pin-mismatch}"
        ),
        ("report", "{decision: allow, would: pin-mismatch, status: 200, pin: mismatch, trusted: true, error: absent}"),
    ])
    func `a key that is not pinned is refused, or reported`(enforcement: String, expect: String) throws {
        let tests = """
            - name: another key
              request: {url: "http://pay.example/"}
              chain: {file: chain.pem, roots: root.pem}
              response: {status: 200}
              violations: [pin-mismatch]
              expect: \(expect)
            """
        let configuration = self.configuration(pin: Self.other, enforcement: enforcement)
        #expect(try self.differences(configuration, tests) == [])
    }

    @Test func `a difference says why no chain was judged`() throws {
        let tests = """
            - name: clear text
              request: {url: "http://other.example/"}
              chain: {file: chain.pem, roots: root.pem}
              expect: {trusted: true}
            """
        #expect(
            try self.differences(self.configuration(), tests) == [
                "trusted: expected true, found absent (the request goes in clear text, so no chain is judged)"
            ])
    }

    @Test func `a file that is no certificate is a fault of the test`() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try self.differences(
                self.configuration(),
                "- name: a\n  chain: {file: broken.pem, host: a.example}\n  expect: {trusted: true}")
        }
        let problem = try #require(error?.problems.first?.description)
        #expect(problem.contains("a.pintle-test.yaml:2:17: [0].chain.file: ") && problem.contains("broken.pem"))
    }
}
