// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleSystem
internal import PintleTrust

struct CAExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the certificate of your authority, for those who are to trust it.",
        discussion: """
            The key is never exported. A store in PKCS#12 is for Java: -Djavax.net.ssl.trustStore=FILE \
            -Djavax.net.ssl.trustStorePassword=pintle; there is nothing secret in it.

            Exit code 0 when it is written; 4 when there is no authority, or the file cannot be written.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case pem, der, p12
    }

    @Option(help: "How it is written.")
    var format = Format.pem

    @Option(
        help: ArgumentHelp("Where it is written; standard output without it.", valueName: "file"), completion: .file())
    var out: String?

    /// The password of stores. Java opens none without a password, but the store has nothing secret.
    static let storePassword = "pintle"

    func run() throws {
        let authority = try CA.read()
        let bytes: [UInt8]
        do throws(TrustError) {
            bytes =
                switch self.format {
                case .pem: Array(authority.certificatePEM.utf8)
                case .der: authority.certificate.der
                case .p12: try TrustStore.pkcs12(of: [authority.certificate], password: Self.storePassword)
                }
        } catch {
            throw CommandFailure(.incomplete, "pintle ca export: \(error.message)")
        }
        guard let out else { return try Output.bytes(bytes) }
        do throws(SystemError) {
            try FileWriting.replace(out, with: bytes)
        } catch {
            throw CommandFailure(.incomplete, "pintle ca export: \(out): \(error)")
        }
    }
}

struct CALeaf: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leaf", abstract: "Issue a certificate for a server, as intercepted tunnels show it.",
        discussion: """
            The certificate goes to standard output, as PEM with those that it needs. With --key a server can use it: \
            everybody who trusts your authority will believe that it is that host, for a week.

            Exit code 0 when it is issued; 2 when a name is none; 4 when there is no authority.
            """)

    @Argument(help: ArgumentHelp("The names or addresses of the server.", valueName: "host"))
    var hosts: [String]

    @Option(
        help: ArgumentHelp("Write its private key into a new file, which only you may read.", valueName: "file"),
        completion: .file())
    var key: String?

    func run() throws {
        let names = try self.hosts.map { host throws(CommandFailure) -> CertifiedName in
            guard let name = CertifiedName(host: host) else {
                throw CommandFailure(
                    .usage, "pintle ca leaf: \(host.debugDescription) is neither a name nor an address")
            }
            return name
        }
        let authority = try CA.read()
        do {
            let identity = try authority.identity(for: names)
            if let key { try FileWriting.create(key, with: Array(try identity.keyPEM().utf8), mode: 0o600) }
            try Output.bytes(Array(PEMText.certificates(identity.chain).utf8))
        } catch let error as TrustError {
            throw CommandFailure(.incomplete, "pintle ca leaf: \(error.message)")
        } catch let error as SystemError {
            throw CommandFailure(.incomplete, "pintle ca leaf: \(self.key ?? ""): \(error)")
        }
    }
}
