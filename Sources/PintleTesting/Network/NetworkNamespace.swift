// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// A network of its own on this machine, made and changed with iproute2, and removed when the object goes.
///
/// It begins with a loopback link that is switched on and nothing else.
package final class NetworkNamespace: Sendable {
    package let name: String

    /// Whether networks can be made here, for `.enabled(if:)`; the comment of ``requirement`` goes with it.
    package static let isAvailable: Bool = {
        guard geteuid() == 0, let namespace = try? NetworkNamespace() else { return false }
        return (try? namespace.join(NetworkNamespace(), own: "10.99.0.1/24", other: "10.99.0.2/24")) != nil
    }()

    /// Why a test is skipped where ``isAvailable`` does not hold.
    package static let requirement = "network namespaces need root, ip (iproute2) and a kernel that has veth links"

    package init() throws {
        self.name = "pintle-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try Self.ip("netns", "add", self.name)
        try self.ip("link", "set", "lo", "up")
    }

    deinit {
        // What cannot be removed stays behind; no test depends on it.
        try? Self.ip("netns", "del", self.name)
        try? FileManager.default.removeItem(atPath: "/etc/netns/\(self.name)")
    }

    /// Runs `ip` here.
    package func ip(_ arguments: String...) throws { try Self.execute(["-n", self.name] + arguments) }

    /// Runs many commands of `ip` here, one a line and without the word itself.
    package func batch(_ commands: [String]) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(commands.joined(separator: "\n") + "\n", to: "batch")
        try Self.execute(["-n", self.name, "-batch", file])
    }

    /// Makes a cable to another namespace: `uplink` on both ends, with addresses but not switched on.
    package func join(_ other: NetworkNamespace, own: String, other address: String) throws {
        try self.ip("link", "add", "uplink", "type", "veth", "peer", "name", "uplink", "netns", other.name)
        try self.ip("addr", "add", own, "dev", "uplink")
        try other.ip("addr", "add", address, "dev", "uplink")
    }

    /// Waits until the cable's two ends, both switched on, have found each other: the kernel takes its time.
    package func waitForCarrier() throws {
        for _ in 0..<500 {
            let process = try ChildProcess(Self.program, ["-n", self.name, "-o", "link", "show", "uplink"])
            _ = try process.waitForExit()
            if process.output.contains(where: { $0.contains("state UP") }) { return }
        }
        throw TestFailure("the cable of \(self.name) finds no carrier")
    }

    /// Writes the resolv.conf that programs see which are started here. They wait long for this server.
    package func setNameServer(_ address: String) throws {
        let folder = "/etc/netns/\(self.name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Far beyond what a test waits, so that an answer within its patience never came from giving up.
        let text = "nameserver \(address)\noptions timeout:30 attempts:5\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/resolv.conf"))
    }

    /// Writes the hosts file that programs see which are started here: the addresses of names, in the order given.
    package func setHosts(_ names: [(name: String, addresses: [String])]) throws {
        let folder = "/etc/netns/\(self.name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let lines = names.flatMap { name, addresses in addresses.map { "\($0) \(name)\n" } }
        try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: "\(folder)/hosts"))
    }

    /// The program and arguments that run `program` here, for ``ChildProcess``.
    func command(_ program: String, _ arguments: [String]) -> (String, [String]) {
        (Self.program, ["netns", "exec", self.name, program] + arguments)
    }

    /// Runs `body` on a thread that belongs to this network: sockets that it opens do so for ever.
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

    /// How many sockets here are told of changes to links, addresses or routes.
    package func routeListeners() throws -> Int {
        let table = try self.run { try String(contentsOfFile: "/proc/thread-self/net/netlink", encoding: .utf8) }
        return table.split(separator: "\n").dropFirst().count { line in
            // Address, protocol (0 is routing), number, groups in hexadecimal.
            let words = line.split(separator: " ")
            return words.count > 3 && words[1] == "0" && words[3].contains { $0 != "0" }
        }
    }

    /// A UDP server here that takes everything and answers nothing, for as long as the object lives.
    package func silentServer(on address: String, port: UInt16) throws -> SilentServer {
        try self.run { try SilentServer(address: address, port: port) }
    }

    /// setns(2), which the Glibc module of the Swift toolchain leaves out, for namespaces of networks.
    private static func enter(_ descriptor: Int32) -> Int32 {
        typealias SetNamespace = @convention(c) (Int32, Int32) -> Int32
        guard let symbol = dlsym(nil, "setns") else { return -1 }
        let networks: Int32 = 0x4000_0000
        // A function pointer is a word; the type is that of the C declaration.
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
