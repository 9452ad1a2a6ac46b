// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleTrust
import Testing

struct TrustCompilerTests {
    private func problems(_ yaml: String) -> [String] {
        do {
            _ = try policy(yaml)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `trust policies are compiled in the order of the file`() throws {
        let policy = try policy(
            """
            trust:
              plain: {}
              pinned: {pinning: public_key, pins: ["\(Pins.one)", "\(Pins.two)"], validates_domain_name: false}
            """)
        #expect(policy.securityPolicies.count == 2)
        #expect(policy.securityPolicies.first == .default)
        let pinned = try #require(policy.securityPolicies.last)
        #expect(pinned.pinning == .publicKey)
        #expect(pinned.pins == [try Pin(Pins.one), try Pin(Pins.two)])
        #expect(!pinned.validatesDomainName)
        #expect(pinned.roots == .system)
    }

    @Test func `checks beside the pins are compiled, in YAML's own types too`() throws {
        let policy = try policy(
            """
            trust:
              full:
                pinning: public_key
                pins: ["\(Pins.one)", "\(Pins.two)"]
                match: leaf
                allow_common_name: true
                min_tls: 1.2
                expires: 2027-01-01
                on_expiry: report
                warn_before_expiry: 10d
                ocsp_stapling: require
              quoted: {min_tls: "1.3", pinning: public_key, pins: ["\(Pins.one)"], expires: "2027-01-01T12:00:00+01:00", ocsp_stapling: off}
            """)
        let full = policy.securityPolicies[0]
        #expect(full.match == .leaf && full.allowsCommonName && full.minimumTLS == .tls12)
        #expect(full.stapling == .require)
        #expect(full.pinExpiry == PinExpiry(at: try #require(UnixTime(iso8601: "2027-01-01")), action: .report))
        let quoted = policy.securityPolicies[1]
        #expect(
            quoted.minimumTLS == .tls13 && !quoted.allowsCommonName && quoted.match == .any && quoted.stapling == .off)
        #expect(
            quoted.pinExpiry == PinExpiry(at: try #require(UnixTime(iso8601: "2027-01-01T11:00:00Z")), action: .fail))
    }

    @Test func `a revocation list that cannot be read is reported where it stands`() {
        #expect(
            self.problems("trust: {a: {crl_files: /nonexistent/none.crl}}") == [
                "pintle.yaml:2:24: trust.a.crl_files[0]: /nonexistent/none.crl: cannot be read; check the path and its "
                    + "permissions (no such file or folder)"
            ])
    }

    @Test func `a malformed pin is reported where it stands, beside everything else`() {
        let short = "sha256/" + String(repeating: "A", count: 42)
        let found = self.problems(
            """
            vai: x
            trust:
              a:
                pinning: public_key
                pins: ["\(short)", "\(Pins.one)"]
              b: {pinning: public_kye, pins: [nonsense]}
            """)
        #expect(
            found == [
                "pintle.yaml:2:1: unknown key \"vai\"; did you mean \"via\"?",
                "pintle.yaml:6:12: trust.a.pins[0]: 31 bytes after base64, a SHA-256 pin has 32: \"\(short)\". To print "
                    + "the current pin of a host: pintle pins show HOST:PORT",
                "pintle.yaml:7:16: trust.b.pinning: \"public_kye\": must be none, public_key or certificate; did you mean "
                    + "public_key?",
            ])
    }

    @Test func `a pin that is listed twice is no backup`() {
        let found = self.problems("trust: {a: {pinning: public_key, pins: [\"\(Pins.one)\", \"\(Pins.one)\"]}}")
        #expect(found == ["pintle.yaml:2:96: trust.a.pins[1]: this pin is listed before; a backup is another key"])
    }

    @Test(arguments: ["certificates", "roots", "extra_roots"])
    func `a certificate file that is not there is reported where it is named`(key: String) throws {
        let pinning = key == "certificates" ? "certificate" : "none"
        let found = self.problems("trust:\n  a:\n    pinning: \(pinning)\n    \(key): nowhere/x.pem")
        #expect(found.count == 1)
        let problem = try #require(found.first)
        #expect(problem.hasPrefix("pintle.yaml:5:\(key.count + 7): trust.a.\(key)[0]: nowhere/x.pem"))
    }
}
