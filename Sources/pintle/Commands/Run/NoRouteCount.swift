// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Counts attempts to reach destinations without a route in a network namespace, with the kernel's counters
/// (ipSystemStatsOutNoRoutes, RFC 4293 §3.2.3). Attempts count even if the program does not report them.
final class NoRouteCount: Sendable {
    /// The counter files. They remain readable after the processes of the network have ended, and contain no addresses.
    private let files: [Int32]
    private let before: Int

    /// - Parameter process: a process in the network.
    init(of process: pid_t) {
        self.files = ["snmp", "snmp6"].map { open("/proc/\(process)/net/\($0)", O_RDONLY | O_CLOEXEC) }.filter {
            $0 >= 0
        }
        self.before = Self.sum(self.files)
    }

    deinit { for file in self.files { close(file) } }

    /// The number of attempts since this object was created.
    var attempts: Int { max(0, Self.sum(self.files) - self.before) }

    private static func sum(_ files: [Int32]) -> Int {
        files.reduce(0) { $0 + self.count(in: self.text(of: $1)) }
    }

    private static func text(of file: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, 0) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Returns the counter in the text of either file: `snmp` has a line of names above a line of numbers, `snmp6` a name
    /// and a number on each line.
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
