// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// The longest validity that a public authority may give to a server's certificate (BR §6.3.2, ballots SC-31 and SC-081).
struct LifetimeLimit: Sendable, Hashable {
    /// The first moment of issuance to which it applies.
    let start: UnixTime
    let days: Int64

    /// All limits, the oldest first. Certificates from before them have expired.
    static let all = [
        // 2020-09-01, 2026-03-15, 2027-03-15 and 2029-03-15.
        LifetimeLimit(start: UnixTime(seconds: 1_598_918_400), days: 398),
        LifetimeLimit(start: UnixTime(seconds: 1_773_532_800), days: 200),
        LifetimeLimit(start: UnixTime(seconds: 1_805_068_800), days: 100),
        LifetimeLimit(start: UnixTime(seconds: 1_868_227_200), days: 47),
    ]

    /// Returns the limit for certificates that are issued at `moment`; nil before the first one.
    static func inForce(at moment: UnixTime) -> LifetimeLimit? { self.all.last { $0.start <= moment } }

    /// The date on which it begins: `2027-03-15`.
    var day: String { String(self.start.description.prefix(10)) }
}

extension Certificate {
    /// The length of the validity in days. The last second counts, and a part of a day is a day (BR §1.6.1 and §6.3.2).
    var lifetimeDays: Int64 {
        let seconds = self.notAfter.seconds - self.notBefore.seconds + 1
        return (seconds + 86_399) / 86_400
    }
}
