// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Certificates that do not verify, and checks that a policy may waive.
struct CertificateTests {
    /// A fault of a certificate.
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case expired, notYetValid, wrongName, noName, forClients, selfSigned, foreignRoot

        var testDescription: String { self.rawValue }

        @Sendable func leaf(_ pki: TestPKI, _ authority: TestIdentity) throws -> TestIdentity {
            switch self {
            case .expired: try pki.leaf(dns: ["localhost"], signedBy: authority, validity: .expired)
            case .notYetValid: try pki.leaf(dns: ["localhost"], signedBy: authority, validity: .notYet)
            case .wrongName: try pki.leaf(dns: ["other.example", "*.localhost"], signedBy: authority)
            case .noName: try pki.leaf("localhost", signedBy: authority)
            case .forClients: try pki.leaf(dns: ["localhost"], signedBy: authority, purpose: .client)
            case .selfSigned: try pki.selfSigned(dns: ["localhost"])
            case .foreignRoot: try pki.leaf(dns: ["localhost"], signedBy: try pki.root("Foreign Root"))
            }
        }

        var isAboutTheName: Bool { self == .wrongName || self == .noName }
    }

    @Test(arguments: Fault.allCases)
    func `a certificate that does not verify is a problem, pinned or not`(fault: Fault) throws {
        let site = try PrivateSite(showing: fault.leaf)
        for policy in ["roots: [root.pem]", "roots: [root.pem], pinning: public_key, pins: [\"\(site.leaf.pin)\"]"] {
            let pintle = try site.pintle(policy)
            let result = try site.fetch(pintle)
            #expect(result.status == 502 && result.problem == "certificate-invalid", "\(result)")
            #expect(result["Proxy-Status"]?.contains("error=tls_certificate_error") == true)
            #expect(result.json["trust"] as? String == "site")
            #expect(result.json["chain"] != nil, "\(result)")
        }
    }

    @Test(arguments: Fault.allCases)
    func `allow_invalid_certificates waives the chain and its dates, not the name`(fault: Fault) throws {
        let site = try PrivateSite(showing: fault.leaf)
        let pintle = try site.pintle(
            "pinning: public_key, pins: [\"\(site.leaf.pin)\"], allow_invalid_certificates: true")
        let result = try site.fetch(pintle)
        if fault.isAboutTheName {
            #expect(result.status == 502 && result.problem == "certificate-invalid", "\(result)")
        } else {
            #expect(result.status == 200 && result.text == "hello\n", "\(result)")
        }
    }

    @Test(arguments: [Fault.wrongName, .noName])
    func `validates_domain_name false waives the name alone`(fault: Fault) throws {
        let site = try PrivateSite(showing: fault.leaf)
        let pintle = try site.pintle("roots: [root.pem], validates_domain_name: false")
        #expect(try site.fetch(pintle).status == 200)
        let expired = try PrivateSite(showing: Fault.expired.leaf)
        let strict = try expired.pintle("roots: [root.pem], validates_domain_name: false")
        #expect(try expired.fetch(strict).problem == "certificate-invalid")
    }

    @Test func `an address is verified against the addresses of the certificate`() throws {
        let site = try PrivateSite()
        let port = site.origin.httpsPort
        let pintle = try PintleProcess(
            """
            trust: {site: {hosts: ["127.0.0.0/8"], roots: [root.pem]}}
            routes:
              - {name: right, match: {hosts: [right.test]}, upstream: "https://127.0.0.1:\(port)"}
            """, folder: site.folder)
        let result = try Curl.run(proxy: pintle.port, "http://right.test/hello")
        #expect(result.status == 200, "\(result)")
        let other = try PrivateSite { pki, authority in
            try pki.leaf(dns: ["127.0.0.1", "localhost"], signedBy: authority)
        }
        let wrong = try PintleProcess(
            """
            trust: {site: {hosts: ["127.0.0.0/8"], roots: [root.pem]}}
            routes:
              - {name: wrong, match: {hosts: [wrong.test]}, upstream: "https://127.0.0.1:\(other.origin.httpsPort)"}
            """, folder: other.folder)
        #expect(try Curl.run(proxy: wrong.port, "http://wrong.test/hello").problem == "certificate-invalid")
    }

    @Test func `report does not waive a certificate that does not verify`() throws {
        let site = try PrivateSite(showing: Fault.expired.leaf)
        let pintle = try site.pintle("roots: [root.pem], enforcement: report")
        let result = try site.fetch(pintle)
        // Either it is refused, or it passes and says so: never silently.
        #expect(
            result.problem == "certificate-invalid" || result["Pintle-Violation"] == "certificate-invalid", "\(result)")
    }

    @Test func `an origin that does not speak TLS is a TLS failure`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.stream.readSome()
            try connection.send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        }
        let pintle = try PintleProcess(
            "routes: [{name: up, match: {hosts: [site.test]}, upstream: \"https://localhost:\(origin.port)\"}]")
        let result = try Curl.run(proxy: pintle.port, "http://site.test/")
        #expect(result.status == 502 && result.problem == "tls-failure", "\(result)")
        #expect(result["Proxy-Status"]?.contains("error=tls_protocol_error") == true)
    }

    @Test func `an origin that closes during the handshake is a TLS failure`() throws {
        let origin = try RawOrigin { connection in _ = try connection.stream.readSome() }
        let pintle = try PintleProcess(
            "routes: [{name: up, match: {hosts: [site.test]}, upstream: \"https://localhost:\(origin.port)\"}]")
        let result = try Curl.run(proxy: pintle.port, "http://site.test/")
        #expect(result.status == 502 && result.problem == "tls-failure", "\(result)")
    }

    @Test func `nothing of a request reaches an origin that is not trusted`() throws {
        let site = try PrivateSite(showing: Fault.foreignRoot.leaf)
        let pintle = try site.pintle("roots: [root.pem]")
        let folder = try TemporaryFolder()
        let file = try folder.write(pattern(100_000), to: "secret")
        let result = try Curl.run(proxy: pintle.port, "-T", file, "http://site.test/store/secret")
        #expect(result.status == 502, "\(result)")
        #expect(site.origin.stored("secret") == nil)
    }
}
