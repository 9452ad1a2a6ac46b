// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleSession
internal import PintleTrust

/// Asks one address for the post-quantum groups that it supports, each time for those that are left.
struct KeyExchangeExamination {
    let address: SocketAddress
    /// The server's name.
    let host: String
    let deadline: ContinuousClock.Instant

    /// - Returns: nil if no time is left.
    func run(on loop: Loop) async -> KeyExchangeReport? {
        var report = KeyExchangeReport(groups: [], failure: nil, isConclusive: true)
        while true {
            let left = PostQuantumGroup.allCases.filter { !report.groups.contains($0) }
            guard !left.isEmpty else { return report }
            // A server that ignores the offer must leave time for what is asked afterwards.
            let timeLimit = (self.deadline - .now) / 2
            guard timeLimit > .zero else { return report.groups.isEmpty ? nil : report }
            let probe = GroupProbe(address: self.address, host: self.host, groups: left, timeLimit: timeLimit)
            switch await probe.run(on: loop) {
            case .success(let group): report.groups.append(group)
            case .failure(let failure):
                report.failure = failure.description
                report.isConclusive = failure.isRefusal
                return report
            }
        }
    }
}

extension ProbeFailure {
    /// True if a server that supports TLS 1.3 ends a handshake like this because it supports no offered group.
    fileprivate var isRefusal: Bool {
        switch self {
        case .handshake(.alert), .handshake(.closed), .reset: true
        case .refused, .unreachable, .timedOut, .handshake, .local, .cancelled: false
        }
    }
}
