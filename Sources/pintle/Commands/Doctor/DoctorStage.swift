// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleSystem
internal import PintleTrust

/// The environment in which programs are tried: an origin, and an intercepting proxy before it.
struct DoctorStage {
    private let folder: String
    private let origins: [DoctorOrigin]
    private let trust: RunTrust?
    private let lifecycle: Lifecycle
    private let variables: [ProxyEnvironment.Variable]
    private let records: DoctorRecords
    private let environment: [String: String]

    /// - Parameters:
    ///   - interception: the settings that choose the authority of the certificates that programs receive.
    ///   - environment: the environment of the programs.
    init(_ interception: InterceptionConfiguration, _ environment: [String: String]) async throws(CommandFailure) {
        let logger = BufferedLog().logger
        let lifecycle = Lifecycle(logger: logger)
        let folder = try PrivateFolder.doctor.make(environment)
        var origins: [DoctorOrigin] = []
        var trust: RunTrust?
        do throws(CommandFailure) {
            let authority: CertificateAuthority
            do throws(TrustError) {
                authority = try CertificateAuthority(named: "Pintle doctor's origin")
                let name = CertifiedName(host: "127.0.0.1")
                let identity = try authority.identity(for: name.map { [$0] } ?? [])
                let context = try TLSServerContext(identity: identity, protocols: ["http/1.1"])
                do throws(SystemError) {
                    origins = [try DoctorOrigin(nil), try DoctorOrigin(context)]
                    try FileWriting.replace(folder + "/origin.pem", with: Array(authority.certificatePEM.utf8))
                } catch {
                    throw TrustError(code: .library, message: "there is no origin: \(error)")
                }
            } catch {
                throw CommandFailure(.incomplete, "pintle doctor: \(error.message)")
            }
            let policy = try Self.policy(interception, folder, origins.map(\.port))
            trust = try RunTrust.prepare(policy, environment)
            let records = DoctorRecords()
            let server = try ServingProxy(
                policy, sinks: ExchangeSinks([RecordSink(records.take)]), logger: logger, in: lifecycle,
                authority: RunTrust.issuer(trust))
            try lifecycle.serve()
            self.records = records
            self.variables =
                ProxyEnvironment(
                    proxy: server.address, javaOptions: environment[ProxyEnvironment.javaName] ?? "",
                    trust: trust?.files
                ).variables
        } catch {
            await lifecycle.stop(within: .zero)
            Self.remove(folder, origins, trust)
            throw error
        }
        (self.folder, self.origins, self.trust, self.environment) = (folder, origins, trust, environment)
        self.lifecycle = lifecycle
    }

    /// Ends the proxy and the origins, and removes all files.
    func stop() async {
        await self.lifecycle.stop(within: .zero)
        Self.remove(self.folder, self.origins, self.trust)
    }

    private static func remove(_ folder: String, _ origins: [DoctorOrigin], _ trust: RunTrust?) {
        for origin in origins { origin.stop() }
        trust?.remove()
        FileWriting.remove(folder)
    }

    /// Returns a policy that leads only to the origins: other requests of a program do not leave this machine.
    private static func policy(
        _ interception: InterceptionConfiguration, _ folder: String, _ ports: [UInt16]
    ) throws(CommandFailure) -> Policy {
        let file = folder + "/pintle.yaml"
        let text = """
            version: 1
            listen: ["127.0.0.1:0"]
            admin: off
            destinations: {default: deny, allow: ["\(DoctorPages.host)", "127.0.0.1"], private_addresses: allow}
            trust: {default: {roots: [origin.pem]}}
            interception: {hosts: ["\(DoctorPages.host)"]}
            routes:
              - {name: http, match: {hosts: ["\(DoctorPages.host)"], schemes: [http]}, upstream: "http://127.0.0.1:\(ports[0])"}
              - {name: https, match: {hosts: ["\(DoctorPages.host)"], schemes: [https]}, upstream: "https://127.0.0.1:\(ports[1])"}
            """
        do throws(ConfigurationError) {
            var configuration = try PolicyLoader.configuration(
                yaml: Array(text.utf8), file: file, surroundings: .system(environment: [:]))
            configuration.interception.authority = interception.authority
            return try Policy(configuration, file: file)
        } catch {
            throw CommandFailure(error)
        }
    }

    // MARK: Programs

    /// Tries a program with http and https.
    ///
    /// - Throws: the signal that ends the doctor.
    func diagnose(_ client: DoctorClient, _ signals: SignalPipe) async throws(ClientRun.Interruption) -> Diagnosis {
        var diagnosis = Diagnosis(client: client)
        guard let program = client.programs.lazy.compactMap({ self.path(of: $0) }).first else { return diagnosis }
        let place = self.place(for: client, "http")
        let run = ClientRun(program: program, arguments: client.version, variables: [], folder: self.made(place.folder))
        let version = try await self.run(run, signals)
        // Fails, for example, if Python is installed but not the module.
        guard version.isSuccess else { return diagnosis }
        diagnosis.program = program
        diagnosis.version = Diagnosis.version(in: version.output)
        diagnosis.http = try await self.attempt(client, program, place, signals)
        diagnosis.https = try await self.attempt(client, program, self.place(for: client, "https"), signals)
        return diagnosis
    }

    private func attempt(
        _ client: DoctorClient, _ program: String, _ place: DoctorClient.Place, _ signals: SignalPipe
    ) async throws(ClientRun.Interruption) -> Diagnosis.Finding {
        _ = self.made(place.folder)
        for (name, text) in client.files(place) {
            let path = "\(place.folder)/\(name)"
            if let slash = path.lastIndex(of: "/") { _ = self.made(String(path[..<slash])) }
            do throws(SystemError) { try FileWriting.replace(path, with: Array(text.utf8)) } catch {}
        }
        self.records.clear()
        let ended = try await self.run(
            ClientRun(
                program: program, arguments: client.arguments(place),
                variables: self.variables + client.variables(place),
                folder: place.folder), signals)
        let isSecure = place.origin.hasPrefix("https:")
        let records = await self.records.all { Diagnosis.isAnswer($0, isSecure: isSecure) }
        return Diagnosis.Finding(ended, records, of: client, isSecure: isSecure)
    }

    private func run(_ run: ClientRun, _ signals: SignalPipe) async throws(ClientRun.Interruption) -> ClientRun.Ended {
        try await ThreadPool.shared.result { () throws(ClientRun.Interruption) in try run.run(signals) }
    }

    private func path(of program: String) -> String? {
        try? ProgramPath.find(program, search: self.environment["PATH"])
    }

    private func place(for client: DoctorClient, _ scheme: String) -> DoctorClient.Place {
        DoctorClient.Place(
            origin: "\(scheme)://\(DoctorPages.host)", folder: "\(self.folder)/\(client.name)-\(scheme)")
    }

    private func made(_ folder: String) -> String {
        do throws(SystemError) { try FileWriting.makeFolder(folder) } catch {}
        return folder
    }
}
