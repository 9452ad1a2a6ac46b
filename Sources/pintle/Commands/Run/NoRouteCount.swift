// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Counts what the programs of a network tried to reach and no route leads to, by the kernel's counters of the network
/// (ipSystemStatsOutNoRoutes, RFC 4293 §3.2.3). An attempt counts even where its program says nothing of it.
final class NoRouteCount: Sendable {
    /// They outlive the processes of the network, and name no address.
    private let files: [Int32]
    private let before: Int

    /// - Parameter process: one that is in the network.
    init(of process: pid_t) {
        self.files = ["snmp", "snmp6"].map { open("/proc/\(process)/net/\($0)", O_RDONLY | O_CLOEXEC) }.filter {
            $0 >= 0
        }
        self.before = Self.sum(self.files)
    }

    deinit { for file in self.files { close(file) } }

    /// The attempts since the beginning.
    var attempts: Int { max(0, Self.sum(self.files) - self.before) }

    private static func sum(_ files: [Int32]) -> Int {
        files.reduce(0) { $0 + self.count(in: self.text(of: $1)) }
    }

    private static func text(of file: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, 0) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Reads either file: `snmp` has names above numbers, `snmp6` a name and a number on each line.
    static func count(in text: String) -> Int {
        var names: [Substring] = []
        for line in text.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" }
            if words.first == "Ip6OutNoRoutes" { return words.last.flatMap { Int($0) } ?? 0 }
            guard words.first == "Ip:" else { continue }
            if let place = names.firstIndex(of: "OutNoRoutes"), place < words.count { return Int(words[place]) ?? 0 }
            names = words
        }
        return 0
    }
}
