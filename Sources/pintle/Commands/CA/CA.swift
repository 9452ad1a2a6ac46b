// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleSystem
internal import PintleTrust

struct CA: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca",
        abstract: "Make, show and export the authority in whose name tunnels are intercepted.",
        discussion: """
            The authority is yours alone: it is made here, and its key never leaves this machine. It is kept in \
            $XDG_DATA_HOME/pintle/ca, else ~/.local/share/pintle/ca.
            """,
        subcommands: [CAInit.self, CAShow.self, CAExport.self, CALeaf.self, CATrust.self])

    /// Returns the folder of the user's authority.
    static func folder() throws(CommandFailure) -> AuthorityFolder {
        guard let folder = DataFolder.authority else {
            throw CommandFailure(.incomplete, "pintle ca: neither XDG_DATA_HOME nor HOME says where the authority is")
        }
        return folder
    }

    static func read() throws(CommandFailure) -> CertificateAuthority {
        let folder = try self.folder()
        do throws(TrustError) {
            return try folder.read()
        } catch {
            throw CommandFailure(.incomplete, "pintle ca: \(error.message)")
        }
    }
}

struct CAInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make an authority of your own.",
        discussion: """
            It has a key on P-256 that is made here, and holds for ten years. Nothing trusts it yet: pintle ca trust says how \
            programs and systems learn of it.

            Exit code 0 when it is made; 4 when there is one already, or it cannot be written.
            """)

    @Option(
        help: ArgumentHelp(
            "It can certify these names only, and those below them, or addresses; repeat for several. By default all.",
            valueName: "*.name|address/n"))
    var permit: [String] = []

    func run() throws {
        let folder = try CA.folder()
        var permitted: PermittedNames?
        if !self.permit.isEmpty {
            do throws(PermittedNames.Malformed) {
                permitted = try PermittedNames(self.permit)
            } catch {
                throw CommandFailure(.usage, "pintle ca init: --permit: \(error)")
            }
        }
        do {
            let authority = try CertificateAuthority(named: "Pintle CA", permitting: permitted)
            try folder.keep(authority)
            // A path is input for the next command, so its bytes are not changed.
            try Output.bytes("\(folder.certificateFile)\n".systemBytes)
            Output.error("made \(authority.certificate.subject), valid until \(authority.certificate.notAfter)")
            Output.error(
                "its key, \(folder.keyFile), is for you alone; `pintle ca trust` says how programs come to trust it")
        } catch let error as TrustError {
            throw CommandFailure(.incomplete, "pintle ca init: \(error.message)")
        }
    }
}

struct CAShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show your authority: its name, its fingerprint and how long it holds.")

    func run() throws {
        let authority = try CA.read()
        let certificate = authority.certificate
        let folder = try CA.folder()
        let lines = [
            "subject      \(certificate.subject)", "serial       \(certificate.serial)",
            "key          \(certificate.keyType)", "valid from   \(certificate.notBefore)",
            "valid until  \(certificate.notAfter)", "sha256       \(try CA.fingerprint(of: certificate))",
            "pin          \(certificate.spkiPin)", "file         \(folder.certificateFile)",
        ]
        try Output.data(lines.joined(separator: "\n"))
    }
}

extension CA {
    /// Returns the SHA-256 of the certificate, in the form that browsers and openssl show.
    fileprivate static func fingerprint(of certificate: Certificate) throws(CommandFailure) -> String {
        do throws(TrustError) {
            return try MessageDigest.sha256.digest(of: certificate.der).map { byte in
                String(byte >> 4, radix: 16, uppercase: true) + String(byte & 15, radix: 16, uppercase: true)
            }.joined(separator: ":")
        } catch {
            throw CommandFailure(.incomplete, "pintle ca: \(error.message)")
        }
    }
}
