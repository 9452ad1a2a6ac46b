// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleActivity
import PintleLoop
import PintleTesting
import Testing

@testable import PintleProxy

/// Processes of this machine, found by their connections.
struct ProcessLocatorTests {
    /// A shell that is connected to a server of the test.
    private final class Shell {
        let process: ChildProcess
        let trace: ClientProcess.Trace
        /// The test's end of the connection.
        private let connection: Int32

        /// - Parameter setup: commands before it waits.
        init(connectingTo host: String = "127.0.0.1", _ setup: String = ":") throws {
            let isIPv6 = host.contains(":")
            let listener = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            // Bound to a free port by the kernel.
            guard listen(listener, 1) == 0, let port = SocketAddress(boundTo: listener)?.port else {
                throw TestFailure("there is no listener: errno \(errno)")
            }
            self.process = try ChildProcess(
                "/bin/bash", ["-c", "exec 3<>/dev/tcp/\(host)/\(port); \(setup); echo ready; read -u 3 word"])
            _ = try self.process.waitForLine("the shell") { $0 == "ready" }
            self.connection = accept(listener, nil, nil)
            guard let client = SocketAddress(connectedTo: connection), let own = SocketAddress(boundTo: connection)
            else { throw TestFailure("the shell has not connected") }
            self.trace = .connection(client: client, proxy: own)
        }

        deinit { close(self.connection) }

        func end() throws {
            self.process.signal(SIGKILL)
            _ = try self.process.waitForExit()
        }
    }

    private func process(_ outcome: ProcessSearch.Outcome?) -> ExchangeRecord.Process? {
        if case .found(let process)? = outcome { process } else { nil }
    }

    @Test(arguments: ["127.0.0.1", "127.0.0.9", "::1"])
    func `the process at the other end is found by its name and number`(host: String) throws {
        let shell = try Shell(connectingTo: host)
        var locator = ProcessLocator()
        let found = self.process(locator.locate([shell.trace]).first)
        #expect(found == ExchangeRecord.Process(name: "bash", number: shell.process.pid))
        // The second time it is among the recent ones.
        #expect(self.process(locator.locate([shell.trace]).first) == found)
        try shell.end()
        #expect(locator.locate([shell.trace]) == [.missing])
    }

    @Test func `one pass finds several, and says which are not there`() throws {
        let shells = try [Shell(), Shell(), Shell(connectingTo: "::1")]
        let gone = try Shell()
        try gone.end()
        let nowhere = ClientProcess.Trace.connection(
            client: try SocketAddress(ipAddress: "127.0.0.1", port: 0),
            proxy: try SocketAddress(ipAddress: "127.0.0.1", port: 0))
        var locator = ProcessLocator()
        let outcomes = locator.locate(
            [shells[1].trace, nowhere, shells[0].trace, gone.trace, .process(getpid()), shells[2].trace, .process(-1)])
        #expect(
            outcomes.map { self.process($0)?.number }
                == [shells[1].process.pid, nil, shells[0].process.pid, nil, getpid(), shells[2].process.pid, nil])
        for shell in shells { try shell.end() }
    }

    @Test func `a listening socket at the client's port is not the client`() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        #expect(listen(listener, 1) == 0)
        let port = try #require(SocketAddress(boundTo: listener)?.port)
        var locator = ProcessLocator()
        let trace = ClientProcess.Trace.connection(
            client: try SocketAddress(ipAddress: "127.0.0.1", port: port),
            proxy: try SocketAddress(ipAddress: "127.0.0.1", port: 0))
        #expect(locator.locate([trace]) == [.missing])
    }

    @Test(arguments: [
        (#"\x1b[2Jevil"#, #"\u001b[2Jevil"#), (#"a\nb\n"#, #"a\u000ab\u000a"#), (#"caf\xe9"#, #"caf\xe9"#),
        (#"\xe2\x80\xaegpj"#, #"\u202egpj"#), ("", ""), ("a name [1]/2", "a name [1]/2"),
        ("longer than fifteen", "longer than fif"),
    ])
    func `a hostile name is shown with escapes`(name: String, shown: String) throws {
        // PR_SET_NAME is 15 (prctl(2)).
        let program =
            "import ctypes, os; ctypes.CDLL(None).prctl(15, b'\(name)'); os.write(1, b'ready\\n'); os.read(3, 1)"
        let shell = try Shell("exec /usr/bin/python3 -c \"\(program)\"")
        var locator = ProcessLocator()
        #expect(
            self.process(locator.locate([shell.trace]).first)
                == ExchangeRecord.Process(name: shown, number: shell.process.pid))
        try shell.end()
    }
}
