// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleAdmin
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSession
internal import PintleSystem
internal import PintleTrust

/// The admin endpoint of `pintle serve`: a second proxy with its own thread, and with ``AdminService`` as its only origin. So
/// the endpoint has the parsers, limits and time-outs of every listener, and takes no time from the exchanges of clients.
final class AdminServer: Sendable {
    private let proxy: Proxy
    private let engine: Engine
    private let credentials: AdminCredentials
    /// The file with the token; nil if there is no folder for it.
    private let file: String?
    private let program: RunningProgram
    private let recent: RecentExchanges

    /// Listens, and answers from now on.
    ///
    /// - Parameters:
    ///   - place: the address, or the Unix socket.
    ///   - hosts: `admin_hosts`.
    init(
        _ program: RunningProgram, at place: ListenAddress, hosts: [String], showing recent: RecentExchanges,
        logger: Logger
    ) throws(CommandFailure) {
        let credentials = AdminCredentials()
        let service = AdminService(
            program, showing: recent, credentials: credentials, hosts: hosts, user: getuid())
        let engine: Engine
        do throws(SessionError) {
            engine = try Engine(threads: 1)
        } catch {
            throw CommandFailure(.incomplete, "admin: \(error.message)")
        }
        self.proxy = try Self.proxy(service, at: place, on: engine, logger)
        (self.engine, self.credentials) = (engine, credentials)
        (self.program, self.recent) = (program, recent)
        self.file = try Self.write(credentials.token, logger)
        program.keepAway(from: self.proxy)
        program.active.questions.add(.page)
    }

    private static func proxy(
        _ service: AdminService, at place: ListenAddress, on engine: Engine, _ logger: Logger
    ) throws(CommandFailure) -> Proxy {
        var configuration = Configuration()
        configuration.listen = [place]
        configuration.via = nil
        // The service itself decides about them.
        configuration.clients.allow = [
            CIDR(masking: IPAddress(v4: 0), prefixLength: 0),
            CIDR(masking: IPAddress(v6High: 0, low: 0), prefixLength: 0),
        ]
        (configuration.limits.connections, configuration.limits.connectionsPerClient) = (256, 256)
        // The request line of an explanation has the whole head of another request, percent-encoded.
        (configuration.limits.headerLine, configuration.limits.headerBytes) = (192 << 10, 256 << 10)
        let counters = Counters(routes: [])
        // Nothing of it is shown: the endpoint's own requests are no activity of the proxy.
        let activity = Activity(
            counters: counters, scheduler: Scheduler { _, _ in {} },
            logger: Logger(label: "pintle") { _ in SwiftLogNoOpLogHandler() })
        do {
            let active = try ActiveConfiguration(
                policy: try Policy(configuration, file: "admin"), engine: engine, activity: activity,
                counters: counters, sinks: ExchangeSinks(), logger: logger, service: service)
            return try Proxy(active: active, engine: engine)
        } catch {
            engine.stop()
            throw CommandFailure(.incomplete, "admin: \(error)")
        }
    }

    /// Writes the token where only this user can read it.
    private static func write(_ token: String, _ logger: Logger) throws(CommandFailure) -> String? {
        guard let folder = UserFile.token.folder, let path = UserFile.token.path else {
            logger.warning(
                "no file has the admin token: neither XDG_STATE_HOME nor HOME says where; `pintle status` prints it")
            return nil
        }
        do throws(UntrustedPlace) {
            _ = try TrustedFolder(folder, making: 0o700)
            do throws(SystemError) {
                try FileWriting.replace(path, with: Array("\(token)\n".utf8), mode: 0o600)
            } catch {
                throw UntrustedPlace(folder, error)
            }
        } catch {
            throw CommandFailure(.incomplete, "admin: the token cannot be written: \(error)")
        }
        return path
    }

    /// The address of the page, or the path of the socket.
    var address: String {
        guard let place = self.proxy.places.first else { return "" }
        if case .unix = place.place { return place.description }
        return "http://\(place)/"
    }

    /// The address with the token behind `#`, which browsers do not send. A Unix socket needs none.
    var link: String {
        self.address.hasPrefix("http") ? "\(self.address)#token=\(self.credentials.token)" : self.address
    }

    /// The link that opens a browser's developer tools, with a secret; nil if they cannot connect, because it is a Unix socket.
    var devToolsLink: String? {
        guard let place = self.proxy.places.first, case .address = place.place else { return nil }
        return self.credentials.devToolsLink(host: place.description)
    }

    /// Explains an exchange; nil if it is not kept.
    func explanation(of id: String) -> ExchangeExplanation? {
        ExchangeExplanation(id: id, in: self.recent, of: self.program)
    }

    /// Cuts what is under way: streams of events never end by themselves.
    func stop() async {
        if let file { unlink(file) }
        _ = await self.proxy.drain(patience: .zero)
        await self.engine.stopped()
    }
}
