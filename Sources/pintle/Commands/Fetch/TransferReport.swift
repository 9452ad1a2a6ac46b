// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PintleActivity
internal import PintleMessage
internal import PintleSession

/// How one transfer went, for programs. Names stay once they are out; times are microseconds since the request began.
struct TransferReport: Encodable {
    /// One request of the transfer: redirects and resumed downloads may need more than one.
    struct Request: Encodable {
        let address: String
        let http_version: String
        let tls_version: String
        let reused_connection: Bool
        let name_lookup_us: Int64
        let connect_us: Int64
        let tls_us: Int64
        let first_byte_us: Int64
        let total_us: Int64

        init(_ metrics: TransferMetrics) {
            self.address = metrics.address
            self.http_version = metrics.httpVersion
            self.tls_version = metrics.tlsVersion
            self.reused_connection = metrics.reusedConnection
            self.name_lookup_us = metrics.nameLookup
            self.connect_us = metrics.connect
            self.tls_us = metrics.tls
            self.first_byte_us = metrics.firstByte
            self.total_us = metrics.total
        }
    }

    /// URLs are without the values of their queries, which may be secrets.
    let url: String
    let final_url: String?
    let method: String
    let status: UInt16?
    let content_type: String?
    let error: String?
    let file: String?
    let bytes_sent: UInt64
    let bytes_received: UInt64
    let redirects: Int
    let total_us: Int64
    let requests: [Request]

    init(_ outcome: FetchOutcome) {
        let (request, task) = (outcome.target.request, outcome.task)
        self.url = Redaction.on.url(request.url.description)
        self.final_url = task.map { Redaction.on.url($0.currentRequest.url.description) }
        self.method = request.method
        self.status = task?.response?.status
        self.content_type = task?.response?.fields["Content-Type"]
        self.error = outcome.failure?.code
        self.file = outcome.failure == nil && task?.response?.status != 304 ? outcome.target.file : nil
        self.bytes_sent = task?.progress.sent ?? 0
        self.bytes_received = task?.progress.received ?? 0
        let metrics = task?.metrics
        self.redirects = metrics?.redirectCount ?? 0
        self.total_us = metrics?.total ?? 0
        self.requests = (metrics?.transactions ?? []).map { Request($0) }
    }

    /// One line of JSON, keys in the order of the alphabet.
    var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { preconditionFailure("BUG: a report has no JSON form") }
        return String(decoding: data, as: UTF8.self)
    }
}
