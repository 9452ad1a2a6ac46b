// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleProxy
internal import PintleSystem
internal import PintleTrust

/// The authority of an intercepting private proxy, and the files with which its command trusts it. The files are removed at
/// the end.
struct RunTrust: Sendable {
    let authority: CertificateAuthority
    let files: ProxyEnvironment.Trust
    private let folder: String

    /// - Returns: nil if nothing is intercepted.
    static func prepare(
        _ policy: Policy, _ environment: [String: String]
    ) throws(CommandFailure) -> RunTrust? {
        guard policy.intercepts else { return nil }
        return try RunTrust(policy.configuration, environment)
    }

    private init(_ configuration: Configuration, _ environment: [String: String]) throws(CommandFailure) {
        do throws(TrustError) {
            self.authority = try Self.authority(for: configuration.interception)
        } catch {
            throw CommandFailure(.incomplete, "pintle run: \(error.message)")
        }
        self.folder = try PrivateFolder.run.make(environment)
        do throws(CommandFailure) {
            self.files = try TrustFiles.write(
                for: self.authority.certificate, configuration, into: self.folder, environment)
        } catch {
            FileWriting.remove(self.folder)
            throw error
        }
    }

    /// Returns the user's own authority, which other programs may trust already; if there is none, creates one for this run
    /// only.
    private static func authority(
        for configuration: InterceptionConfiguration
    ) throws(TrustError) -> CertificateAuthority {
        if configuration.authority == .ofUser, DataFolder.authority?.isFilled != true {
            return try CertificateAuthority(named: "Pintle run")
        }
        return try DataFolder.authority(for: configuration)
    }

    /// Returns the authority for a proxy; an error if nothing is intercepted.
    static func issuer(_ trust: RunTrust?) -> ServingProxy.Authority {
        { configuration throws(TrustError) in
            if let trust { return trust.authority }
            return try ActiveConfiguration.noAuthority(configuration)
        }
    }

    /// Removes the files.
    func remove() { FileWriting.remove(self.folder) }
}
