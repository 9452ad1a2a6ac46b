// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintleSerialization

extension RecordedExchange {
    /// Reads a line of the log of exchanges.
    ///
    /// The log has no fields, so all of them are unknown, as are masked values of the query.
    ///
    /// - Parameters:
    ///   - members: the fields of the line.
    ///   - line: its number in the file.
    init(log members: Parameter, line: Int) throws(TrafficMismatch) {
        guard case .dictionary = members else { throw .malformed("a line of the log is a JSON object") }
        // A message of the log, or an exchange whose client sent no request.
        guard members["level"] == nil, let method = members.text("method") else {
            guard members["level"] != nil || members["id"] != nil else {
                throw .malformed("neither an exchange nor a message of Pintle's log")
            }
            throw .other
        }
        let host = members.text("host")
        let url = members.text("url") ?? "*"
        guard url != "*" || method == "OPTIONS" else { throw .malformed("the line has no url") }
        let isPath = url.utf8.first == UInt8(ascii: "/")
        guard !isPath || host != nil else { throw .malformed("a request with a path has no host") }
        self.line = line
        self.head = try Self.head(method: method, target: url, host: isPath ? host : nil)
        self.id = members.text("id")
        self.time = members.text("time")
        self.address = Self.address(members.text("address"))
        self.unknown.hasFields = true
        self.unknown.hasQuery = Self.hasMaskedQuery(url)
        self.outcome = Outcome(log: members)
        self.access = Access(log: members)
        if method == "CONNECT" { return }
        if let bytes = members.number("bytes_in"), bytes > 0 {
            self.head.fields.append("Content-Length", String(bytes))
        } else {
            // The body of a request that was refused may not have been read.
            self.unknown.hasBodyPresence = ["POST", "PUT", "PATCH"].contains(method)
        }
    }

    /// True if a part of the query is the mask of ``Redaction``.
    static func hasMaskedQuery(_ url: String) -> Bool {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return false }
        return url[mark...].contains(Redaction.mask)
    }
}

extension RecordedExchange.Access {
    /// Reads the fields of a line of the log, or of `_pintle` of an archive.
    init(log members: Parameter) {
        self.mode = members.text("mode")
        self.client = members.text("client")
        self.user = members.text("user")
        self.tag = members.text("tag")
    }
}

extension RecordedExchange.Outcome {
    /// Reads the decisions from the fields of a line of the log, or from `_pintle` of an archive.
    init(log members: Parameter) {
        self.decision = members.text("decision")
        self.rule = members.text("rule")
        self.route = members.text("route")
        self.trust = members.text("trust")
        self.status = members.number("status")
        switch members["violations"] {
        case .array(let kinds):
            self.violations = kinds.compactMap { if case .string(let kind) = $0 { kind } else { nil } }
        case .string(let kinds): self.violations = kinds.split(separator: ",").map(String.init)
        default: break
        }
    }
}
