// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleLoop
internal import PintleMessage
internal import PintleStub
internal import PintleSystem

/// Runs a command in a captured network: `PintleNetworkTrial [--resolver ADDRESS]… -- PROGRAM [ARGUMENT]…`. The first line
/// of output describes the network. A captured connection receives a line with its destination and the inode of its socket in the
/// command. Names that end in `.example` are allowed; standard error tells of others.
@main struct NetworkTrial {
    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        let command = Array(words.drop { $0 != "--" }.dropFirst())
        let options = Array(words.prefix { $0 != "--" })
        guard !command.isEmpty else { self.end("usage: PintleNetworkTrial [--resolver ADDRESS]… -- PROGRAM…") }
        var forked = self.fork(command, asking: options.filter { $0 != "--resolver" })
        let isTranslated = forked.flags & UInt32(PINTLE_NETWORK_NFT) != 0
        self.say(
            "network nft=\(isTranslated) ipv6=\(forked.flags & UInt32(PINTLE_NETWORK_IPV6) != 0)"
                + " rules=\(SystemError(forked.rules_code).code) diagnosis=\(forked.diagnosis >= 0)")
        let names = CapturedNames()
        let arrivals = Arrivals(
            isTranslated: isTranslated, names: names, sockets: SocketQuery(adopting: forked.diagnosis))
        for listener in [forked.captures.0, forked.captures.1] where listener >= 0 {
            try self.serve(listener) { arrivals.text(of: $0) }
        }
        let resolver = try StubResolver(
            datagrams: [forked.resolvers_udp.0, forked.resolvers_udp.1].filter { $0 >= 0 },
            listeners: [forked.resolvers_tcp.0, forked.resolvers_tcp.1].filter { $0 >= 0 }, names: names,
            judge: { $0.hasSuffix(".example") }, denied: { Self.say("denied \($0)", to: 2) })
        guard pintle_execute(&forked) == 0 else { self.end("step \(forked.step): \(SystemError(forked.code))") }
        var status: Int32 = 0
        while waitpid(forked.process, &status, 0) < 0, errno == EINTR {}
        resolver.end()
        exit(status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F))
    }

    /// The port of the proxy in the network, which the trial does not serve.
    private static let proxyPort: Int32 = 64_103

    private static func fork(_ command: [String], asking resolvers: [String]) -> pintle_forked {
        let words = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let servers =
            resolvers.compactMap(IPAddress.init) + ResolverFile.loopbackServers(in: FileBytes.text("/etc/resolv.conf"))
        let addresses = servers.filter { $0.family == .v4 }.map { UInt32($0.low) }
        var forked = pintle_forked()
        let code = command[0].withCString { program in
            words.withUnsafeBufferPointer { words in
                addresses.withUnsafeBufferPointer { addresses in
                    var child = pintle_child(
                        program: program, arguments: words.baseAddress, environment: pintle_environment(), terminal: -1,
                        port: self.proxyPort, captures: 1, resolvers: addresses.baseAddress,
                        resolver_count: Int32(addresses.count),
                        asks_v6_loopback: servers.contains { $0.family == .v6 } ? 1 : 0, places: nil, place_count: 0,
                        folder: nil, hides_processes: 0)
                    return pintle_fork(&child, &forked)
                }
            }
        }
        guard code == 0 else { self.end("step \(forked.step): \(SystemError(forked.code))") }
        return forked
    }

    // MARK: Serving

    private static func serve(_ listener: Int32, _ answer: @escaping @Sendable (Int32) -> String) throws {
        try SystemThread.start {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                self.say(answer(connection), to: connection)
                close(connection)
            }
        }
    }

    // MARK: Output

    private static func say(_ line: String, to descriptor: Int32 = 1) {
        Array("\(line)\n".utf8).withUnsafeBytes { bytes in
            // Without a reader the output is lost, which does not matter.
            try? FileWriting.writeAll(bytes, to: descriptor)
        }
    }

    private static func end(_ reason: String) -> Never {
        self.say(reason, to: 2)
        exit(125)
    }
}
