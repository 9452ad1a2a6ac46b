// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// A network namespace on this machine, made and changed with iproute2, and removed with the object.
///
/// It begins with only a loopback link, which is up.
package final class NetworkNamespace: Sendable {
    package let name: String

    /// True if networks can be made on this machine, for `.enabled(if:)` with ``requirement`` as the comment.
    package static let isAvailable: Bool = {
        guard geteuid() == 0, let namespace = try? NetworkNamespace() else { return false }
        return (try? namespace.join(NetworkNamespace(), own: "10.99.0.1/24", other: "10.99.0.2/24")) != nil
    }()

    /// The reason to skip a test if ``isAvailable`` is false.
    package static let requirement = "network namespaces need root, ip (iproute2) and a kernel that has veth links"

    package init() throws {
        self.name = "pintle-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try Self.ip("netns", "add", self.name)
        try self.ip("link", "set", "lo", "up")
    }

    deinit {
        // A namespace or file that cannot be removed is left; no test depends on it.
        try? Self.ip("netns", "del", self.name)
        try? FileManager.default.removeItem(atPath: "/etc/netns/\(self.name)")
    }

    /// Runs `ip` in this network.
    package func ip(_ arguments: String...) throws { try Self.execute(["-n", self.name] + arguments) }

    /// Runs many `ip` commands in this network, one a line and without the word `ip`.
    package func batch(_ commands: [String]) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(commands.joined(separator: "\n") + "\n", to: "batch")
        try Self.execute(["-n", self.name, "-batch", file])
    }

    /// Makes a cable to another namespace: `uplink` on both ends, with addresses, but down.
    package func join(_ other: NetworkNamespace, own: String, other address: String) throws {
        try self.ip("link", "add", "uplink", "type", "veth", "peer", "name", "uplink", "netns", other.name)
        try self.ip("addr", "add", own, "dev", "uplink")
        try other.ip("addr", "add", address, "dev", "uplink")
    }

    /// Waits until the two ends of the cable, both up, have a carrier: the kernel takes its time.
    package func waitForCarrier() throws {
        for _ in 0..<500 {
            let process = try ChildProcess(Self.program, ["-n", self.name, "-o", "link", "show", "uplink"])
            _ = try process.waitForExit()
            if process.output.contains(where: { $0.contains("state UP") }) { return }
        }
        throw TestFailure("the cable of \(self.name) finds no carrier")
    }

    /// Writes the resolv.conf of programs that are started in this network. They wait long for this server.
    package func setNameServer(_ address: String) throws {
        let folder = "/etc/netns/\(self.name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Far longer than any test waits, so that a failure within a test's patience never came from giving up.
        let text = "nameserver \(address)\noptions timeout:30 attempts:5\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/resolv.conf"))
    }

    /// Writes the hosts file of programs that are started in this network: the addresses of names, in the order given.
    package func setHosts(_ names: [(name: String, addresses: [String])]) throws {
        let folder = "/etc/netns/\(self.name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let lines = names.flatMap { name, addresses in addresses.map { "\($0) \(name)\n" } }
        try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: "\(folder)/hosts"))
    }

    /// Returns the program and arguments that run `program` in this network, for ``ChildProcess``.
    func command(_ program: String, _ arguments: [String]) -> (String, [String]) {
        (Self.program, ["netns", "exec", self.name, program] + arguments)
    }

    /// Runs `body` on a thread in this network: sockets that it opens belong to the network for ever.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
        let result = Watched<Swift.Result<Result, any Error>?>(nil)
        Thread.detachNewThread {
            let outcome = Swift.Result {
                let descriptor = open("/run/netns/\(self.name)", O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw TestFailure("no namespace \(self.name): errno \(errno)") }
                defer { close(descriptor) }
                guard Self.enter(descriptor) == 0 else { throw TestFailure("setns: errno \(errno)") }
                return try body()
            }
            result.change { $0 = outcome }
        }
        guard let outcome = try result.wait(for: "a thread in a namespace", until: { $0 != nil }) else {
            throw TestFailure("a thread in a namespace gave nothing")
        }
        return try outcome.get()
    }

    /// The number of sockets in this network that hear of changes to links, addresses or routes.
    package func routeListeners() throws -> Int {
        let table = try self.run { try String(contentsOfFile: "/proc/thread-self/net/netlink", encoding: .utf8) }
        return table.split(separator: "\n").dropFirst().count { line in
            // Fields: address, protocol (0 is routing), process, groups in hexadecimal.
            let words = line.split(separator: " ")
            return words.count > 3 && words[1] == "0" && words[3].contains { $0 != "0" }
        }
    }

    /// Starts a UDP server in this network that receives everything and never answers, as long as the object lives.
    package func silentServer(on address: String, port: UInt16) throws -> SilentServer {
        try self.run { try SilentServer(address: address, port: port) }
    }

    /// setns(2) for network namespaces; the Glibc module of the Swift toolchain lacks it.
    private static func enter(_ descriptor: Int32) -> Int32 {
        typealias SetNamespace = @convention(c) (Int32, Int32) -> Int32
        guard let symbol = dlsym(nil, "setns") else { return -1 }
        let networks: Int32 = 0x4000_0000
        // A function pointer has the size of a word; the type follows the C declaration.
        return unsafeBitCast(symbol, to: SetNamespace.self)(descriptor, networks)
    }

    private static let program: String = {
        let places = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"]
        return places.first { FileManager.default.isExecutableFile(atPath: $0) } ?? places[0]
    }()

    private static func ip(_ arguments: String...) throws { try Self.execute(arguments) }

    private static func execute(_ arguments: [String]) throws {
        let process = try ChildProcess(self.program, arguments)
        guard try process.waitForExit() == 0 else {
            throw TestFailure("ip \(arguments.joined(separator: " ")): \(process.errors.joined(separator: " "))")
        }
    }
}
