// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Writes exchange records as lines that no client can forge and that reveal no secret.
package struct ExchangeEncoder: Sendable {
    private enum Form: Sendable {
        case fields(LogFormat)
        case summary(TerminalStyle)
    }

    private let form: Form
    private let redaction: Redaction

    /// Creates an encoder for one format.
    package init(format: LogFormat, redaction: Redaction) {
        self.form = .fields(format)
        self.redaction = redaction
    }

    /// Creates an encoder of short lines for people at a terminal.
    package init(for style: TerminalStyle, redaction: Redaction) {
        self.form = .summary(style)
        self.redaction = redaction
    }

    /// Appends one line, with its newline, to a buffer that the caller can reuse.
    package func encode(_ record: ExchangeRecord, into buffer: inout [UInt8]) {
        let format: LogFormat
        switch self.form {
        case .fields(let chosen): format = chosen
        case .summary(let style):
            buffer += ExchangeSummary(record: record, redaction: self.redaction, style: style).line.utf8
            return buffer.append(UInt8(ascii: "\n"))
        }
        // The buffer is moved into the writer and back, because a copy would allocate its storage each time.
        var bytes: [UInt8] = []
        swap(&bytes, &buffer)
        var line = LineWriter(format, appendingTo: consume bytes)
        self.write(record, to: &line)
        line.end()
        swap(&line.bytes, &buffer)
    }

    private func write(_ record: ExchangeRecord, to line: inout LineWriter) {
        line.field("time", record.time)
        line.field("id", record.id)
        line.optional("client", record.client)
        line.optional("user", record.user)
        line.optional("tag", record.tag)
        line.optional("process", record.process?.name)
        line.optional("pid", (record.process?.number).map(Int.init))
        line.optional("mode", record.mode)
        if record.isCaptured { line.field("captured", true) }
        line.optional("method", record.method)
        line.optional("url", record.url.map(self.redaction.url))
        line.optional("host", record.host)
        line.optional("address", record.address)
        line.optional("route", record.route)
        line.optional("rule", record.rule)
        line.optional("decision", record.decision)
        line.optional("revision", record.revision)
        line.optional("trust", record.trust)
        line.optional("pin", record.pin)
        if !record.form.isEmpty { line.field("form", record.form) }
        if !record.chain.isEmpty { line.field("chain", record.chain) }
        line.optional("assurance", record.assurance)
        line.optional("status", record.status)
        line.optional("upstream_status", record.upstreamStatus)
        line.optional("bytes_in", record.bytesIn)
        line.optional("bytes_out", record.bytesOut)
        line.optional("duration_ms", record.duration?.roundedMilliseconds)
        line.optional("connect_ms", record.connect?.roundedMilliseconds)
        line.optional("tls_ms", record.tlsHandshake?.roundedMilliseconds)
        line.optional("first_byte_ms", record.firstByte?.roundedMilliseconds)
        line.optional("tls", record.tls)
        line.optional("http", record.http)
        if let reused = record.reused { line.field("reused", reused) }
        line.optional("retries", record.retries)
        line.optional("redirects", record.redirects)
        line.optional("cache", record.cache)
        line.optional("source", record.source?.rawValue)
        if !record.credentials.isEmpty { line.field("credentials", record.credentials) }
        if !record.violations.isEmpty { line.field("violations", record.violations.map(\.rawValue)) }
        line.optional("error", record.error.map(self.redaction.text))
    }
}

extension LineWriter {
    fileprivate mutating func optional(_ key: String, _ value: String?) {
        if let value { self.field(key, value) }
    }

    fileprivate mutating func optional(_ key: String, _ value: Int?) {
        if let value { self.field(key, value) }
    }
}
