// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PintleActivity
internal import PintleMessage
internal import PintleSession
internal import PintleSystem

/// The result of one transfer for programs, with keys such as `total_us`, which must not change after a release. Times are
/// in microseconds since the beginning of the request.
struct TransferReport: Encodable {
    /// One request of the transfer: redirects and resumed downloads may need several.
    struct Request: Encodable {
        let address: String
        let httpVersion: String
        let tlsVersion: String
        let reusedConnection: Bool
        let nameLookupUs: Int64
        let connectUs: Int64
        let tlsUs: Int64
        let firstByteUs: Int64
        let totalUs: Int64

        init(_ metrics: TransferMetrics) {
            self.address = metrics.address
            self.httpVersion = metrics.httpVersion
            self.tlsVersion = metrics.tlsVersion
            self.reusedConnection = metrics.reusedConnection
            self.nameLookupUs = Self.microseconds(metrics.nameLookup)
            self.connectUs = Self.microseconds(metrics.connect)
            self.tlsUs = Self.microseconds(metrics.tls)
            self.firstByteUs = Self.microseconds(metrics.firstByte)
            self.totalUs = metrics.total.wholeMicroseconds
        }

        /// Returns a time in microseconds; zero for a phase that did not happen, so that every request has all keys.
        private static func microseconds(_ time: Duration?) -> Int64 { time?.wholeMicroseconds ?? 0 }
    }

    /// The URL without the values of its query, which may be secrets; so is `finalUrl`.
    let url: String
    let finalUrl: String?
    let method: String
    let status: UInt16?
    let contentType: String?
    let error: String?
    let file: String?
    let bytesSent: UInt64
    let bytesReceived: UInt64
    let redirects: Int
    let totalUs: Int64
    let requests: [Request]

    init(_ outcome: FetchOutcome) {
        let (request, task) = (outcome.target.request, outcome.task)
        self.url = Redaction.on.url(request.url.description)
        self.finalUrl = task.map { Redaction.on.url($0.currentRequest.url.description) }
        self.method = request.method
        self.status = task?.response?.status
        self.contentType = task?.response?.fields["Content-Type"]
        self.error = outcome.failure?.code
        self.file = outcome.failure == nil && task?.response?.status != 304 ? outcome.target.file : nil
        self.bytesSent = task?.progress.sent ?? 0
        self.bytesReceived = task?.progress.received ?? 0
        let metrics = task?.metrics
        self.redirects = metrics?.redirectCount ?? 0
        self.totalUs = metrics?.total.wholeMicroseconds ?? 0
        self.requests = (metrics?.transactions ?? []).map { Request($0) }
    }

    /// The report as one line of JSON, with keys in alphabetical order.
    var line: String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { preconditionFailure("BUG: a report has no JSON form") }
        return String(decoding: data, as: UTF8.self)
    }
}
