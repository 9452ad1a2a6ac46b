// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The way in which a child ended.
enum ChildEnd: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)

    /// A change of state that waitpid(2) reports.
    enum Change: Equatable {
        case ended(ChildEnd)
        case stopped(signal: Int32)
        case continued
    }

    /// The exit code in the form of shells: the code, or 128 plus the signal.
    var code: Int32 {
        switch self {
        case .exited(let code): code
        case .killed(let signal): 128 + signal
        }
    }

    /// Reads a status of waitpid(2); nil if the child has not ended.
    init?(status: Int32) {
        guard case .ended(let end) = Self.change(of: status) else { return nil }
        self = end
    }

    /// Decodes a status of waitpid(2) by its layout on Linux.
    static func change(of status: Int32) -> Change {
        let low = status & 0x7F
        if low == 0 { return .ended(.exited(status >> 8 & 0xFF)) }
        if status & 0xFF == 0x7F { return .stopped(signal: status >> 8 & 0xFF) }
        return status == 0xFFFF ? .continued : .ended(.killed(signal: low))
    }

    /// Returns the exit code of `pintle run`: the child's own unless it is 0.
    ///
    /// - Parameters:
    ///   - hasFindings: true if there are findings that `--fail-on` names.
    ///   - isIncomplete: true if a report could not be written.
    func runCode(hasFindings: Bool, isIncomplete: Bool) -> Int32 {
        if self.code != 0 { return self.code }
        if isIncomplete { return ProcessExit.runFailed.rawValue }
        return hasFindings ? ProcessExit.found.rawValue : ProcessExit.success.rawValue
    }
}
