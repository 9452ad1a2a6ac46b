// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleWatch

/// The exchanges as an HTTP archive (HAR 1.2), for viewers of network traffic. It has no headers and no bodies, because records
/// have none.
struct RunHARReport {
    let report: RunReport

    var text: String {
        let rest = self.report.statistics.otherExchanges
        // Records of a report have no secrets left.
        let entries = self.report.statistics.exchanges.map { record in
            HAREntry(ShownExchange(record, request: Fields(), response: Fields(), redaction: .off)).parameter
        }
        return HAREntry.archive(
            entries, version: self.report.version, comment: rest > 0 ? "\(rest) more exchanges are left out" : nil
        ).jsonText
    }
}
