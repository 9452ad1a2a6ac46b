// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust

/// A private authority, and a configuration that pins it, for audits of servers on this machine.
final class AuditStage: Sendable {
    let pki = TestPKI()
    let root: TestIdentity
    let intermediate: TestIdentity
    /// Keys that certificates are minted for, because RSA keys take their time.
    let rsa: TestIdentity
    let ec: TestIdentity
    /// An identity whose key is not in use.
    let backup: TestIdentity
    let folder: TemporaryFolder

    init() throws {
        self.root = try self.pki.root("Audit Root")
        self.intermediate = try self.pki.intermediate("Audit Intermediate", signedBy: self.root)
        self.rsa = try self.pki.leaf("rsa", ip: ["127.0.0.1"], signedBy: self.intermediate, key: .rsa(bits: 2048))
        self.ec = try self.pki.leaf("ec", ip: ["127.0.0.1"], signedBy: self.intermediate)
        self.backup = try self.pki.leaf("backup", signedBy: self.intermediate)
        self.folder = try TemporaryFolder()
        try self.folder.write(self.root.certificatePEM, to: "root.pem")
    }

    /// Certificates for one address with both kinds of keys.
    func leaves(
        _ address: String, signedBy signer: TestIdentity? = nil, validity: TestPKI.Validity = .current
    ) throws -> [TestIdentity] {
        try [self.rsa, self.ec].map {
            try self.pki.leaf(
                address, ip: [address], signedBy: signer ?? self.intermediate, validity: validity, reusing: $0)
        }
    }

    /// A configuration whose only policy is called `fleet` and pins the intermediate's key and a backup.
    ///
    /// - Returns: its path. The hosts begin in line 3, one a line.
    @discardableResult
    func configure(
        hosts: [String], pins: [Pin]? = nil, options: String = "", more: String = ""
    ) throws -> String {
        let pins = (pins ?? [self.intermediate.pin, self.backup.pin]).map { "\"\($0)\"" }.joined(separator: ", ")
        let text = """
            version: 1
            trust: {fleet: {hosts: [
            \(hosts.map { "    \"\($0)\"" }.joined(separator: ",\n"))
              ],
              pinning: public_key, pins: [\(pins)],
              roots: [root.pem]\(options)}}
            \(more)

            """
        return try self.folder.write(text, to: "pintle.yaml")
    }

    /// Runs `pintle audit` in the folder.
    func audit(
        _ arguments: [String] = [], history: String = "off", environment: [String: String] = [:]
    ) throws -> ChildProcess {
        try PintleProcess.run(
            ["audit", "--history", history] + arguments, environment: environment, folder: self.folder.path)
    }

    /// Runs it for the report in JSON.
    func report(_ arguments: [String] = [], history: String = "off") throws -> JSONObject {
        let process = try self.audit(["--format", "json"] + arguments, history: history)
        return try jsonObject(process.output.joined(separator: "\n"))
    }
}

typealias JSONObject = [String: any Sendable]

func jsonObject(_ text: String) throws -> JSONObject {
    guard let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? JSONObject else {
        throw TestFailure("no JSON object: \(text.prefix(500))")
    }
    return object
}

extension [String: any Sendable] {
    /// `NAME HOST` for each finding, sorted; without notes about what this machine's OpenSSL and nginx cannot do yet.
    var found: [String] {
        self.objects("findings").filter { !["no-post-quantum", "no-tls13"].contains($0.text("name")) }
            .map { "\($0.text("name")) \($0.text("host"))" }.sorted()
    }

    func objects(_ key: String) -> [JSONObject] { self[key] as? [JSONObject] ?? [] }
    func text(_ key: String) -> String { self[key] as? String ?? "" }
    func number(_ key: String) -> Int { (self[key] as? NSNumber)?.intValue ?? -1 }
}
