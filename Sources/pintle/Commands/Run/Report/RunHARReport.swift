// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit
internal import PintleSerialization
internal import PintleSystem

/// The exchanges as an HTTP archive (HAR 1.2), for viewers of network traffic.
///
/// It has no headers and no bodies, because records have none; a tunnel is a single entry, because its content was not
/// seen.
struct RunHARReport {
    let report: RunReport

    var text: String {
        let rest = self.report.statistics.otherExchanges
        return Parameter.object([
            (
                "log",
                .object([
                    ("version", "1.2"),
                    ("creator", .object([("name", "pintle"), ("version", .string(self.report.version))])),
                    ("entries", .array(self.report.statistics.exchanges.map(self.entry))),
                    ("comment", rest > 0 ? .string("\(rest) more exchanges are left out") : nil),
                ])
            )
        ]).jsonText
    }

    private func entry(_ record: ExchangeRecord) -> Parameter {
        let timings = HARTimings(record)
        return .object([
            ("startedDateTime", .string(record.time.description)), ("time", .number(timings.total)),
            ("request", self.request(record)), ("response", self.response(record)), ("cache", .object([])),
            ("timings", timings.parameter),
            ("serverIPAddress", record.address.map { .string(Self.address($0)) }),
            ("comment", Self.comment(record).map { .string($0) }),
        ])
    }

    private func request(_ record: ExchangeRecord) -> Parameter {
        let url = record.url ?? ""
        return .object([
            ("method", .string(record.method ?? "")),
            // A tunnel is requested by host and port.
            ("url", .string(record.isTunnel ? "https://\(url)/" : url)), ("httpVersion", "HTTP/1.1"),
            ("cookies", .array([])), ("headers", .array([])), ("queryString", .array(Self.query(url))),
            ("headersSize", .integer(-1)), ("bodySize", .number(record.bytesIn ?? -1)),
        ])
    }

    private func response(_ record: ExchangeRecord) -> Parameter {
        .object([
            ("status", .number(record.status ?? 0)), ("statusText", ""),
            ("httpVersion", .string(record.http.map { "HTTP/\($0)" } ?? "HTTP/1.1")), ("cookies", .array([])),
            ("headers", .array([])),
            (
                "content",
                .object([("size", .number(record.bytesOut ?? 0)), ("mimeType", "application/octet-stream")])
            ),
            ("redirectURL", ""), ("headersSize", .integer(-1)), ("bodySize", .number(record.bytesOut ?? -1)),
        ])
    }

    /// Returns the parameters of a URL. Secret values in it were already redacted.
    private static func query(_ url: String) -> [Parameter] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        let query = url[url.index(after: mark)...].prefix { $0 != "#" }
        return query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return .object([
                ("name", .string(String(parts[0]))), ("value", .string(parts.count > 1 ? String(parts[1]) : "")),
            ])
        }
    }

    /// Returns the address without the port.
    private static func address(_ place: String) -> String {
        guard let colon = place.lastIndex(of: ":"), place.hasPrefix("[") || place.count(where: { $0 == ":" }) == 1
        else { return place }
        return String(place[..<colon].filter { !"[]".contains($0) })
    }

    /// Returns the facts for which HAR has no member.
    private static func comment(_ record: ExchangeRecord) -> String? {
        let parts = [
            record.isTunnel ? "a tunnel, whose content was not seen" : nil, record.route.map { "route \($0)" },
            record.decision.flatMap { $0 == "allow" ? nil : $0 },
            record.violations.isEmpty ? nil : record.violations.map(\.rawValue).joined(separator: " "), record.error,
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

/// The times of one exchange in milliseconds. In HAR, their sum must be the total time.
private struct HARTimings {
    private let connect: Int
    private let ssl: Int
    private let wait: Int
    private let receive: Int

    init(_ record: ExchangeRecord) {
        let whole = record.duration?.roundedMilliseconds ?? 0
        let ssl = record.tlsHandshake?.roundedMilliseconds
        let connect = record.connect?.roundedMilliseconds
        let first = min(whole, record.firstByte?.roundedMilliseconds ?? whole)
        // In HAR, the time to connect includes that of TLS.
        let connecting = min(first, (connect ?? 0) + (ssl ?? 0))
        self.connect = connect == nil ? -1 : connecting
        self.ssl = ssl.map { min($0, connecting) } ?? -1
        self.wait = first - connecting
        self.receive = whole - first
    }

    var total: Int { max(0, self.connect) + self.wait + self.receive }

    var parameter: Parameter {
        .object([
            ("blocked", .integer(-1)), ("dns", .integer(-1)), ("connect", .number(self.connect)),
            ("ssl", .number(self.ssl)), ("send", .integer(0)), ("wait", .number(self.wait)),
            ("receive", .number(self.receive)),
        ])
    }
}
