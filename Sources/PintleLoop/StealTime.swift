// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The processor time that a hypervisor gave to other machines while this one had work to run.
///
/// If the hypervisor does not report it to the kernel, a thread's clock keeps running meanwhile, so that a guest's thread
/// seems to have used time that other machines had (proc_stat(5), `steal`).
package enum StealTime {
    /// The time stolen from all processors since the machine started, in steps of 10 ms; 0 if the kernel does not report
    /// it.
    package static func total() -> Duration {
        let file = open("/proc/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return .zero }
        defer { close(file) }
        // The line for all processors comes first and is shorter than this.
        return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            return Self.total(in: String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
        }
    }

    /// Reads the time from the beginning of the text of /proc/stat.
    static func total(in text: String) -> Duration {
        let fields = text.prefix { $0 != "\n" }.split(separator: " ")
        guard fields.first == "cpu", fields.count > 8, let ticks = Int64(fields[8]) else { return .zero }
        return .nanoseconds(ticks * (1_000_000_000 / Self.ticksPerSecond))
    }

    private static let ticksPerSecond = Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
}
