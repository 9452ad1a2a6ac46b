// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@testable import pintle

/// Connections that went past the proxy.
struct SocketTableTests {
    private static let head =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    private static func line(_ local: String, _ remote: String, _ state: String, _ inode: Int) -> String {
        "   0: \(local) \(remote) \(state) 00000000:00000000 00:00000000 00000000  1000        0 \(inode) 1 0000000000000000 20\n"
    }

    private func endpoint(_ address: String, _ port: UInt16) throws -> SocketTable.Endpoint {
        SocketTable.Endpoint(address: try #require(IPAddress(address)), port: port)
    }

    @Test func `connections to others are found, and those to the proxy and among the processes are not`() throws {
        var table = SocketTable()
        table.add(
            Self.head + Self.line("0100007F:A000", "0100007F:0C38", "01", 1)  // to the proxy
                + Self.line("0A00000A:A001", "010200C0:01BB", "01", 2)  // past it
                + Self.line("0100007F:A002", "0100007F:1F90", "02", 3)  // to a server of theirs
                + Self.line("0100007F:1F90", "00000000:0000", "0A", 4)  // that server
                + Self.line("0100007F:1F90", "0100007F:B000", "01", 5)  // a connection that it took
                + Self.line("0A00000A:A003", "010200C0:0050", "01", 6)  // another process's
                + Self.line("0A00000A:A004", "010200C0:0051", "06", 7)  // over
                + "nonsense\n" + Self.line("xyz", "1", "01", 8))
        #expect(table.entries.count == 7)
        let found = table.connections(of: [1, 2, 3, 4, 5, 7, 8], notTo: try self.endpoint("127.0.0.1", 3128))
        #expect(found.map { "\($0.inode) \($0.remote)" } == ["2 192.0.2.1:443"])
    }

    @Test func `IPv6 is read, and an IPv4 address in it is one`() throws {
        var table = SocketTable()
        table.add(
            Self.head
                + Self.line(
                    "00000000000000000000000001000000:A000", "B80D0120000000000000000001000000:01BB", "01", 1)
                + Self.line("0000000000000000FFFF00000100007F:A001", "0000000000000000FFFF0000010200C0:0050", "01", 2))
        let found = table.connections(of: [1, 2], notTo: try self.endpoint("127.0.0.1", 1))
        #expect(found.map { "\($0.remote)" } == ["[2001:db8::1]:443", "192.0.2.1:80"])
    }

    @Test func `a program's connection is seen with its name`() throws {
        let accepted = Watched(false)
        let origin = try RawOrigin { connection in
            accepted.change { $0 = true }
            _ = try connection.waitForEnd()
        }
        let script = "exec 3<>/dev/tcp/127.0.0.1/\(origin.port); echo open; read -r line <&3"
        let child = try ChildProcess("/bin/bash", ["-c", "/bin/bash -c '\(script)'; true"])
        try child.waitForLine("the connection") { $0 == "open" }
        try accepted.wait(for: "the connection") { $0 }
        let tree = ProcessTree(root: child.pid)
        let remote = "127.0.0.1:\(origin.port)"
        #expect(
            tree.connections(notTo: try self.endpoint("127.0.0.1", 1)) == [
                PastConnection(remote: remote, program: "bash")
            ])
        #expect(tree.connections(notTo: try self.endpoint("127.0.0.1", UInt16(origin.port))) == [])
    }
}
