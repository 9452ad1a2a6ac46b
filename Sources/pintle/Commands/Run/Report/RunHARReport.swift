// SPDX-License-Identifier: Apache-2.0

internal import PintleAdmin
internal import PintlePolicy

/// The exchanges as an HTTP archive (HAR 1.2), for viewers of network traffic.
struct RunHARReport {
    let report: RunReport

    var text: String {
        guard let archive = self.report.archive else {
            preconditionFailure("BUG: the exchanges of a HAR file were not kept")
        }
        let exchanges = ExchangeArchive(archive.recent, archive.redaction, version: self.report.version)
        return String(decoding: exchanges.text(self.report.filter ?? .all), as: UTF8.self) + "\n"
    }
}
