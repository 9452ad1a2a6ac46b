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

    /// The fields in the order of the line.
    private static let fields = ExchangeField.allCases

    private func write(_ record: ExchangeRecord, to line: inout LineWriter) {
        for field in Self.fields { self.write(field, of: record, to: &line) }
    }

    private func write(_ field: ExchangeField, of record: ExchangeRecord, to line: inout LineWriter) {
        let name = field.rawValue
        switch field {
        case .time: line.field(name, record.time)
        case .id: line.field(name, record.id)
        case .client: line.optional(name, record.client)
        case .user: line.optional(name, record.user)
        case .tag: line.optional(name, record.tag)
        case .process: line.optional(name, record.process?.name)
        case .pid: line.optional(name, (record.process?.number).map(Int.init))
        case .mode: line.optional(name, record.mode)
        case .captured: if record.isCaptured { line.field(name, true) }
        case .method: line.optional(name, record.method)
        case .url: line.optional(name, record.url.map(self.redaction.url))
        case .host: line.optional(name, record.host)
        case .address: line.optional(name, record.address)
        case .route: line.optional(name, record.route)
        case .rule: line.optional(name, record.rule)
        case .decision: line.optional(name, record.decision)
        case .revision: line.optional(name, record.revision)
        case .trust: line.optional(name, record.trust)
        case .pin: line.optional(name, record.pin)
        case .form: line.filled(name, record.form)
        case .chain: line.filled(name, record.chain)
        case .assurance: line.optional(name, record.assurance)
        case .status: line.optional(name, record.status)
        case .upstreamStatus: line.optional(name, record.upstreamStatus)
        case .bytesIn: line.optional(name, record.bytesIn)
        case .bytesOut: line.optional(name, record.bytesOut)
        case .duration: line.optional(name, record.duration?.roundedMilliseconds)
        case .connect: line.optional(name, record.connect?.roundedMilliseconds)
        case .tlsHandshake: line.optional(name, record.tlsHandshake?.roundedMilliseconds)
        case .firstByte: line.optional(name, record.firstByte?.roundedMilliseconds)
        case .tls: line.optional(name, record.tls)
        case .http: line.optional(name, record.http)
        case .reused: if let reused = record.reused { line.field(name, reused) }
        case .retries: line.optional(name, record.retries)
        case .redirects: line.optional(name, record.redirects)
        case .cache: line.optional(name, record.cache)
        case .source: line.optional(name, record.source?.rawValue)
        case .credentials: line.filled(name, record.credentials)
        case .violations: line.filled(name, record.violations.map(\.rawValue))
        case .error: line.optional(name, record.error.map(self.redaction.text))
        }
    }
}

extension LineWriter {
    fileprivate mutating func optional(_ key: String, _ value: String?) {
        if let value { self.field(key, value) }
    }

    fileprivate mutating func optional(_ key: String, _ value: Int?) {
        if let value { self.field(key, value) }
    }

    fileprivate mutating func filled(_ key: String, _ values: [String]) {
        if !values.isEmpty { self.field(key, values) }
    }
}
