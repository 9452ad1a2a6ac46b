// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

/// Writes the files with which programs trust the certificates of interception. Most programs read one instead of the
/// system's roots, so it has those too.
enum TrustFiles {
    /// The name of a file in the folder. Beside these, one for each variable that named certificates before has the variable's name.
    enum Name: String, CaseIterable {
        case bundle = "bundle.pem"
        case authority = "authority.pem"
        case javaStore = "store.p12"
        case wgetConfiguration = "wgetrc"
        case aptConfiguration = "apt.conf"
    }

    /// Writes the files, with the system's current roots.
    ///
    /// - Parameters:
    ///   - authority: the issuer of the certificates that clients receive.
    ///   - configuration: its extra roots are trusted too.
    ///   - folder: the folder for the files; created if it is missing.
    ///   - environment: the environment of the programs. Certificates that its variables and Java's options name stay
    ///     trusted, and wget and apt continue to read the configurations that it names.
    static func write(
        for authority: Certificate, _ configuration: Configuration, into folder: String, _ environment: [String: String]
    ) throws(CommandFailure) -> ProxyEnvironment.Trust {
        let added = try Self.extraRoots(of: configuration) + [authority]
        let place = { (name: Name) in "\(folder)/\(name.rawValue)" }
        var trust = ProxyEnvironment.Trust(
            bundle: place(.bundle), authority: place(.authority), javaStore: place(.javaStore),
            javaStorePassword: CAExport.storePassword, wgetConfiguration: place(.wgetConfiguration),
            aptConfiguration: place(.aptConfiguration))
        let all = SystemCertificates.current() + added
        let store: [UInt8]
        do throws(TrustError) {
            let trusted = Self.javaCertificates(environment, butOf: trust.javaStore).map { named in
                named.filter { !added.contains($0) } + added
            }
            store = try TrustStore.pkcs12(of: trusted ?? all, password: trust.javaStorePassword)
        } catch {
            throw CommandFailure(.incomplete, "\(trust.javaStore): \(error.message)")
        }
        // Two of the files contain the user's own configurations, which may have secrets.
        var files: [(String, [UInt8], mode: UInt32)] = [
            (trust.bundle, Array(PEMText.certificates(all).utf8), 0o644),
            (trust.authority, Array(PEMText.certificates(added).utf8), 0o644), (trust.javaStore, store, 0o644),
            (trust.wgetConfiguration, Self.wgetConfiguration(naming: trust.bundle, environment), 0o600),
            (trust.aptConfiguration, Self.aptConfiguration(naming: trust.bundle, environment), 0o600),
        ]
        for (variable, path) in ProxyEnvironment.certificates(namedIn: environment) {
            guard let named = Self.certificates(path, of: variable) else { continue }
            // If the shell has these variables already, the file may be one of those written here.
            let merged = PEMText.certificates(named.filter { !added.contains($0) } + added)
            trust.merged[variable] = "\(folder)/\(variable).pem"
            files.append(("\(folder)/\(variable).pem", Array(merged.utf8), 0o644))
        }
        var file = folder
        do throws(SystemError) {
            try FileWriting.makeFolder(folder)
            for (path, bytes, mode) in files {
                file = path
                try FileWriting.replace(path, with: bytes, mode: mode)
                // Programs of other users read it, as those of apt that root starts.
                if mode == 0o644 { try FileWriting.share(path) }
            }
        } catch {
            throw CommandFailure(.incomplete, "\(file): cannot be written: \(error)")
        }
        return trust
    }

    private static func extraRoots(of configuration: Configuration) throws(CommandFailure) -> [Certificate] {
        var roots: [Certificate] = []
        for path in configuration.trust.flatMap(\.extraRoots).map(\.value) {
            do throws(TrustError) {
                roots += try Certificate.load(path: path).filter { !roots.contains($0) }
            } catch {
                throw CommandFailure(.incomplete, error.message)
            }
        }
        return roots
    }

    /// Returns the certificates of a file or folder. If they cannot be read, reports this on standard error and returns
    /// nil: programs could not read them either.
    private static func certificates(_ path: String, of variable: String) -> [Certificate]? {
        do throws(TrustError) { return try Certificate.load(path: path) } catch {
            Output.error(
                "\(variable) names certificates that cannot be read, and is set to the system's: \(error.message)")
            return nil
        }
    }

    /// Returns the certificates of the store that Java's options name, which replace the system's. Returns nil if they name
    /// none; also if it cannot be read, with a line on standard error.
    ///
    /// - Parameter own: the store that will be written, which a shell that has these variables already names.
    private static func javaCertificates(_ environment: [String: String], butOf own: String) -> [Certificate]? {
        let name = ProxyEnvironment.javaName
        guard let store = JavaOptions.trustStore(in: environment[name] ?? ""), store.path != own else { return nil }
        do throws(TrustError) {
            return try TrustStore.certificates(inStore: store.path, password: store.password)
        } catch {
            Output.error("\(name) names a trust store that does not count meanwhile: \(error.message)")
            return nil
        }
    }

    /// Returns the user's own configuration, followed by a line that overrides it.
    private static func wgetConfiguration(naming bundle: String, _ environment: [String: String]) -> [UInt8] {
        let own = environment["WGETRC"] ?? environment["HOME"].map { $0 + "/.wgetrc" }
        let text = own.flatMap { FileBytes.read($0, upTo: 1 << 20) } ?? []
        return text + Array("\nca_certificate = \(bundle)\n".utf8)
    }

    /// Returns the user's own configuration of apt, followed by a line that overrides it. apt reads this file first.
    private static func aptConfiguration(naming bundle: String, _ environment: [String: String]) -> [UInt8] {
        let text = environment["APT_CONFIG"].flatMap { FileBytes.read($0, upTo: 1 << 20) } ?? []
        return text + Array("\nAcquire::https::CAInfo \"\(bundle)\";\n".utf8)
    }
}
