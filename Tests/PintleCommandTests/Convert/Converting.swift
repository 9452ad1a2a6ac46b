// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import PintleTesting

@testable import pintle

/// Converts a squid.conf. Its lists may be in files.
func squid(_ text: String, files: [String: String] = [:]) throws -> Conversion {
    try SquidConversion(SquidFile(Array(text.utf8), file: "squid.conf"), .holding(files)).converted()
}

/// Converts an ACL of Smokescreen.
func smokescreen(_ text: String, service: String? = nil) throws -> Conversion {
    try SmokescreenACL(Array(text.utf8), file: "acl.yaml").converted(service: service)
}

extension Conversion {
    /// The configuration, loaded as `serve` does it.
    func loaded() throws -> Policy {
        let surroundings = LoaderEnvironment(
            environment: [:],
            read: { (_, _) throws(LoaderEnvironment.ReadingError) in
                Array("ann:$2y$04$abcdefghijklmnopqrstuuJ5hC0FhC0FhC0FhC0FhC0FhC0FhC0Fh\n".utf8)
            },
            exists: { _ in true })
        return try PolicyLoader.policy(
            yaml: Array(self.policy.yaml.utf8), file: "made.yaml", surroundings: surroundings)
    }

    /// The remarks as the command writes them.
    var told: [String] { self.remarks.map { $0.text(in: "f") } }
}

extension Policy {
    /// True if a request may go to a host with this address, by CONNECT or without.
    func opens(_ host: String, _ address: String, port: UInt16 = 443, isConnect: Bool = true) throws -> Bool {
        guard let authority = Authority("\(host):\(port)", defaultPort: nil), let address = IPAddress(address) else {
            throw TestFailure("no host")
        }
        return (isConnect ? self.connectPorts : self.ports).allows(port)
            && self.destinations.judge(authority, for: .none).denial == nil
            && self.destinations.judge(address: address, port: port, asked: authority, for: .none).denial == nil
    }
}
