// SPDX-License-Identifier: Apache-2.0

import Logging
import Pintle

/// The service's figures of one day.
struct Report: Decodable, Sendable {
    let day: String
    let visits: Int
}

/// Asks for a report as a long-running program would: with a token that is renewed, with retries, and with a log.
///
/// The service has `POST token` and `GET reports/today` below `base`.
func readReport(at base: String) async throws {
    let service = try HTTPSession(base: base)
    let tokens = BearerTokens { _ in
        String(decoding: try await service.post("token").value, as: UTF8.self)
    }

    var api = service
    api.interceptors = [
        .bearer(tokens),
        .retry(),
        .logging(Logger(label: "reports")),
    ]

    let report = try await api.get("reports/today", as: Report.self) {
        $0.timeout = .seconds(300)
        $0.fields.set("Accept-Language", "fr")
    }
    print("\(report.day): \(report.visits)")
}
