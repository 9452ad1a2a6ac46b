// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// The hosts for which a certificate is valid (RFC 9525).
struct NameTests {
    @Test(arguments: [
        ("www.example.test", true), ("WWW.Example.TEST", true), ("www.example.test.", true),
        ("example.test", false), ("a.www.example.test", false), ("wwwexample.test", false),
        (".example.test", false), ("*.example.test", false), ("www..example.test", false), ("", false), (".", false),
        ("www.example.test..", false), ("www.example.test\0.evil.test", false),
    ])
    func `a wildcard stands for the whole left-most label and no more`(host: String, isTrusted: Bool) throws {
        #expect(try self.isTrusted(host, dns: ["*.example.test"]) == isTrusted)
    }

    @Test(arguments: [
        ("w*.example.test", "www.example.test"), ("*w.example.test", "www.example.test"),
        ("www.*.test", "www.example.test"), ("*.*.test", "www.example.test"), ("*", "localhost"),
        ("*.test", "example.test"),
    ])
    func `a wildcard anywhere else matches nothing`(pattern: String, host: String) throws {
        #expect(try !self.isTrusted(host, dns: [pattern]))
    }

    @Test(arguments: [
        ("*.co.uk", "example.co.uk", false), ("*.com.au", "example.com.au", false),
        // The owner of a domain may have certificates for its subdomains, even if it gives them to others.
        ("*.github.io", "example.github.io", true), ("*.example.co.uk", "www.example.co.uk", true),
        ("*.corp.internal", "www.corp.internal", true),
    ])
    func `a wildcard right in front of what registries give away matches nothing`(
        pattern: String, host: String, isTrusted: Bool
    ) throws {
        #expect(try self.isTrusted(host, dns: [pattern]) == isTrusted)
    }

    @Test(arguments: [
        ("192.0.2.7", true), ("192.0.2.8", false), ("[2001:db8::1]", true), ("2001:db8::1", true),
        ("2001:DB8:0:0:0:0:0:1", true), ("[2001:db8::2]", false), ("2001:db8::1%eth0", true), ("[192.0.2.7]", false),
        ("3221225991", false),
    ])
    func `an address must be listed as an address`(host: String, isTrusted: Bool) throws {
        #expect(try self.isTrusted(host, ip: ["192.0.2.7", "2001:db8::1"]) == isTrusted)
    }

    @Test func `an address written as a DNS name does not count`() throws {
        #expect(try !self.isTrusted("192.0.2.7", dns: ["192.0.2.7", "*.0.2.7"]))
    }

    @Test(arguments: [
        ("10.0.0.1%.evil.test", "10.0.0.1"), ("10.0.0.1\0.evil.test", "10.0.0.1"), ("10.0.0.1%", "10.0.0.1"),
        ("[::1]", "::1"), ("::1%.evil.test", "::1"), ("::1%", "::1"), ("::1\0", "::1"), ("::ffff:10.0.0.1", "10.0.0.1"),
        ("010.0.0.1", "10.0.0.1"), ("10.1", "10.0.0.1"),
    ])
    func `LOOK-30 a common name is an address only where all of it is one`(name: String, host: String) throws {
        let pki = TestPKI()
        let root = try pki.root()
        let policy = try SecurityPolicy(pinning: .none, roots: .only([root.certificate]), allowsCommonName: true)
        let leaf = try pki.leaf(name, signedBy: root)
        #expect(try policy.verdict(leaf.chain, host: host).error?.rule == .hostName)
        let good = try pki.leaf(host, signedBy: root)
        #expect(try policy.verdict(good.chain, host: host).isTrusted)
    }

    @Test(arguments: [
        "10.0.0.1%eth0", "10.0.0.1%", "2001:db8::1%", "[2001:db8::1", "2001:db8::1\0", "[10.0.0.1]", "10.0.0.1\0.test",
        "2001:db8::1%a\0b", "2001:db8::1% ",
    ])
    func `LOOK-30 a host is an address only where all of it is one`(host: String) throws {
        #expect(try !self.isTrusted(host, ip: ["10.0.0.1", "2001:db8::1"]))
    }

    @Test(arguments: ["0x7f.1", "a.0x", "a.0xFF", "a.1", "a.0XfF"])
    func `LOOK-30 what ends in a number is no name`(host: String) throws {
        #expect(try !self.isTrusted(host, dns: [host, "*.0x", "*.0xff", "*.1"]))
        #expect(try self.isTrusted("a.0xg", dns: ["a.0xg"]))
    }

    @Test func `a common name does not count, beside other names or alone`() throws {
        #expect(try !self.isTrusted("cn.example.test", commonName: "cn.example.test"))
        #expect(try !self.isTrusted("cn.example.test", commonName: "cn.example.test", dns: ["san.example.test"]))
        #expect(try self.isTrusted("san.example.test", commonName: "cn.example.test", dns: ["san.example.test"]))
        #expect(try self.isTrusted("san.example.test", commonName: nil, dns: ["san.example.test"]))
    }

    @Test func `a wrong name is refused with the names that would do`() throws {
        let site = try Site()
        let leaf = try site.pki.leaf(
            "Named", dns: ["a.example.test", "*.b.example.test"], ip: ["192.0.2.7", "2001:db8::1"],
            signedBy: site.intermediate)
        let error = try site.policy().verdict(leaf.chain, host: "c.example.test").error
        #expect(
            error?.message
                == "c.example.test: the certificate \"CN=Named\" is for a.example.test, *.b.example.test, 192.0.2.7, "
                + "2001:db8::1; connect by a name that it lists, or have it issued for this one")
        #expect(error?.cause == "hostname mismatch")
    }

    private func isTrusted(
        _ host: String, commonName: String? = "Leaf", dns: [String] = [], ip: [String] = []
    ) throws -> Bool {
        let site = try Site()
        let leaf = try site.pki.leaf(commonName, dns: dns, ip: ip, signedBy: site.intermediate)
        let verdict = try site.policy().verdict(leaf.chain, host: host)
        #expect(verdict.isTrusted || verdict.error?.problem == .wrongName)
        return verdict.isTrusted
    }
}
