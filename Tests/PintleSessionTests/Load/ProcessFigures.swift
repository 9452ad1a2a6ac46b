// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

/// The kernel's figures about this process.
enum ProcessFigures {
    /// The most memory that was resident since the last ``resetPeak()``, in KiB.
    static var peakMemory: Int { Self.status("VmHWM:") }
    /// The memory that is resident, in KiB.
    static var memory: Int { Self.status("VmRSS:") }

    static func resetPeak() { _ = try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs")) }

    /// The targets of the open descriptors, except for the one that is needed to read them.
    static var descriptors: [String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .filter { !$0.hasPrefix("/proc/") }.map { String($0.prefix { $0 != "[" }) }.sorted()
    }

    /// The descriptors that are open now and were not in `before`.
    static func opened(since before: [String]) -> [String] {
        var known = before
        return Self.descriptors.filter { descriptor in
            guard let index = known.firstIndex(of: descriptor) else { return true }
            known.remove(at: index)
            return false
        }
    }

    private static func status(_ key: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
        return line.flatMap { Int($0.split(whereSeparator: { !$0.isNumber }).first ?? "") } ?? 0
    }
}

/// Repeats the output of a test's separate process.
func passOn(_ exit: ExitTest.Result?) {
    guard let text = exit?.standardErrorContent, !text.isEmpty else { return }
    FileHandle.standardError.write(Data(text))
}

/// Sends a text to the process that started this one.
func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
