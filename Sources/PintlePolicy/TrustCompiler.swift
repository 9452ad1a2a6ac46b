// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// A compiled trust policy.
struct CompiledTrust: Sendable {
    let policy: SecurityPolicy
    /// The certificate that is shown to servers that ask for one.
    let identity: ClientIdentity?
}

/// Compiles the plain values of `trust` into security policies. Only this type reads pins and loads certificates.
struct TrustCompiler {
    /// Receives a fault, with its path and position.
    typealias Report = (_ message: String, _ path: String, _ position: SourcePosition) -> Void

    private let report: Report

    /// Compiles the policies of `configurations`, in the same order. A faulty one is reported and left out; the caller
    /// discards the result if anything was reported.
    static func compile(_ configurations: [TrustConfiguration], report: @escaping Report) -> [CompiledTrust] {
        let compiler = TrustCompiler(report: report)
        return configurations.compactMap { configuration in
            let policy = compiler.compile(configuration)
            let identity = configuration.clientCertificate.map { compiler.identity($0, of: configuration) }
            // A certificate was configured, but could not be loaded.
            if case .some(nil) = identity { return nil }
            return policy.map { CompiledTrust(policy: $0, identity: identity ?? nil) }
        }
    }

    private func identity(
        _ files: IdentityFiles, of configuration: TrustConfiguration
    ) -> ClientIdentity? {
        do throws(TrustError) {
            return try ClientIdentity(
                certificateFile: files.certificate.value, keyFile: files.key?.value, password: files.password)
        } catch {
            self.report(
                error.description, "trust.\(configuration.name).client_certificate", files.certificate.position)
            return nil
        }
    }

    private func compile(_ configuration: TrustConfiguration) -> SecurityPolicy? {
        let path = "trust.\(configuration.name)"
        let pins = self.pins(configuration.pins, path: path + ".pins")
        let certificates = self.certificates(configuration.certificates, path: path + ".certificates")
        let extraRoots = self.certificates(configuration.extraRoots, path: path + ".extra_roots")
        let lists = self.revocationLists(configuration.revocationLists, path: path + ".crl_files")
        guard let pins, let certificates, let extraRoots, let lists, let roots = self.roots(configuration.roots, path)
        else { return nil }
        do throws(TrustError) {
            return try SecurityPolicy(
                pinning: SecurityPolicy.PinningMode(configuration.pinning), pins: pins, certificates: certificates,
                allowInvalidCertificates: configuration.allowInvalidCertificates,
                validatesDomainName: configuration.validatesDomainName, roots: roots, extraRoots: extraRoots,
                match: configuration.match, allowsCommonName: configuration.allowCommonName,
                minimumTLS: configuration.minTLS,
                pinExpiry: configuration.expires.map { PinExpiry(at: $0, action: configuration.onExpiry) },
                revocationLists: lists, stapling: configuration.stapling, form: configuration.form)
        } catch {
            self.report(error.description, path, configuration.position)
            return nil
        }
    }

    private func pins(_ texts: [Located<String>], path: String) -> Set<Pin>? {
        var pins: Set<Pin> = []
        var isWhole = true
        for (index, text) in texts.enumerated() {
            do throws(TrustError) {
                // Refuses a repeated key: in two spellings it looks like a backup, but is none.
                if !pins.insert(try Pin(text.value)).inserted {
                    self.report(
                        "this pin is listed before; a backup is another key", "\(path)[\(index)]", text.position)
                    isWhole = false
                }
            } catch {
                self.report(error.description, "\(path)[\(index)]", text.position)
                isWhole = false
            }
        }
        return isWhole ? pins : nil
    }

    private func roots(_ roots: TrustConfiguration.Roots, _ path: String) -> SecurityPolicy.Roots? {
        switch roots {
        case .system: .system
        case .files(let files): self.certificates(files, path: path + ".roots").map { .only($0) }
        }
    }

    private func certificates(_ files: [Located<String>], path: String) -> [Certificate]? {
        self.read(files, path: path) { (file) throws(TrustError) in try Certificate.load(path: file) }
    }

    private func revocationLists(_ files: [Located<String>], path: String) -> [RevocationList]? {
        self.read(files, path: path) { (file) throws(TrustError) in try RevocationList.load(path: file) }
    }

    private func read<Item>(
        _ files: [Located<String>], path: String, _ load: (String) throws(TrustError) -> [Item]
    ) -> [Item]? {
        var items: [Item] = []
        var isWhole = true
        for (index, file) in files.enumerated() {
            do throws(TrustError) {
                items += try load(file.value)
            } catch {
                self.report(error.description, "\(path)[\(index)]", file.position)
                isWhole = false
            }
        }
        return isWhole ? items : nil
    }
}

extension SecurityPolicy.PinningMode {
    fileprivate init(_ pinning: TrustConfiguration.Pinning) {
        switch pinning {
        case .none: self = .none
        case .publicKey: self = .publicKey
        case .certificate: self = .certificate
        }
    }
}
