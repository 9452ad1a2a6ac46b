// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// The examples that ask once: with pins, and with JSON.
struct RequestExampleTests {
    private let pki = TestPKI()
    private let root: TestIdentity
    private let leaf: TestIdentity
    private let folder: TemporaryFolder
    private let roots: String
    /// A pin of a key that no origin has.
    private let otherPin: String

    init() throws {
        self.root = try self.pki.root("Example Root")
        self.leaf = try self.pki.leaf("example leaf", dns: ["localhost"], signedBy: self.root)
        self.folder = try TemporaryFolder()
        self.roots = try self.folder.write(self.root.certificatePEM, to: "root.pem")
        self.otherPin = try self.pki.leaf(signedBy: self.root).pin.description
    }

    private func shop() throws -> NginxOrigin {
        try NginxOrigin(
            https: [self.leaf],
            locations: """
                location = /v1/orders {
                    default_type application/json;
                    return 201 '{"id":8,"item":"hinge","state":"new"}';
                }
                location = /v1/orders/8 {
                    default_type application/json;
                    return 200 '{"id":8,"item":"hinge","state":"paid"}';
                }
                location = /broken/orders { default_type application/json; return 409 '{"why":"sold out"}'; }
                location = /odd/orders { default_type application/json; return 201 '{"id":"eight"}'; }
                """)
    }

    @Test func `the first request prints status and body`() throws {
        let origin = try self.shop()
        let process = try ExampleProcess.run(
            [
                "first", "https://localhost:\(origin.httpsPort)/hello", self.otherPin, self.leaf.pin.description,
            ],
            environment: ["SSL_CERT_FILE": self.roots])
        #expect(process.exitCode == 0 && process.output == ["200 hello", ""], "\(process.lines)")
    }

    @Test func `the first request does not go to a key that is neither of the two`() throws {
        let origin = try self.shop()
        let process = try ExampleProcess.run(
            ["first", "https://localhost:\(origin.httpsPort)/hello", self.otherPin, self.otherPin],
            environment: ["SSL_CERT_FILE": self.roots])
        #expect(process.exitCode == 1, "\(process.lines)")
        #expect(process.output.contains { $0.hasPrefix("failed: ") && $0.contains("does not contain a pinned key") })
    }

    @Test func `an order is placed and read back over a pinned key`() throws {
        let origin = try self.shop()
        let base = "https://localhost:\(origin.httpsPort)/v1"
        let process = try ExampleProcess.run(["orders", base, self.roots, self.otherPin, self.leaf.pin.description])
        #expect(process.exitCode == 0, "\(process.lines)")
        #expect(process.output == ["order 8: hinge, paid"], "\(process.lines)")
    }

    @Test func `an origin with another key is refused, and its pins are shown`() throws {
        let origin = try self.shop()
        let base = "https://localhost:\(origin.httpsPort)/v1"
        let process = try ExampleProcess.run(["orders", base, self.roots, self.otherPin])
        #expect(process.exitCode == 1, "\(process.lines)")
        #expect(
            process.output.prefix(3) == [
                "peer:   CN=example leaf \(self.leaf.pin)", "peer:   CN=Example Root \(self.root.pin)",
                "pinned: \(self.otherPin)",
            ], "\(process.lines)")
    }

    @Test func `an answer that is not an order is shown with its status`() throws {
        let origin = try self.shop()
        let arguments = [self.roots, self.leaf.pin.description]
        let refused = try ExampleProcess.run(
            ["orders", "https://localhost:\(origin.httpsPort)/broken"] + arguments)
        #expect(refused.exitCode == 1 && refused.output.first == #"status 409: {"why":"sold out"}"#, "\(refused.lines)")
        let odd = try ExampleProcess.run(["orders", "https://localhost:\(origin.httpsPort)/odd"] + arguments)
        #expect(odd.exitCode == 1 && odd.output.first == #"status 201: {"id":"eight"}"#, "\(odd.lines)")
    }

    @Test(arguments: [[], ["first"], ["unknown", "a", "b", "c"], ["download", "http://localhost/", "f", "many"]])
    func `wrong arguments show the usage`(arguments: [String]) throws {
        let process = try ExampleProcess.run(arguments)
        #expect(process.exitCode == 64 && process.output.first?.hasPrefix("usage: ") == true, "\(process.lines)")
    }
}
