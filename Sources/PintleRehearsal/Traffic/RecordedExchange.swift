// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// One exchange of a log or an archive: the request, as far as it is known, and the decisions of that time.
package struct RecordedExchange: Sendable, Equatable {
    /// The decisions that were made about the exchange, by the names of the log; all are nil in archives of other programs.
    package struct Outcome: Sendable, Equatable {
        /// `allow`, `would-deny`, `deny`, `reject` or `error`.
        package var decision: String?
        /// The rule that made the decision.
        package var rule: String?
        package var route: String?
        package var trust: String?
        /// The status that the client has received.
        package var status: Int?
        /// The kinds of violations.
        package var violations: [String] = []
    }

    /// The client and its use of the proxy, by the names of the log; all are nil in archives of other programs.
    package struct Access: Sendable, Equatable {
        /// `forward`, `gateway`, `tunnel`, `verify` or `intercept`.
        package var mode: String?
        /// The client's address, with its port.
        package var client: String?
        /// The user that the client has proved to be.
        package var user: String?
        /// The label that the client has added to its name.
        package var tag: String?
    }

    /// The parts of the request that the record leaves out or masks.
    package struct Unknown: Sendable, Equatable {
        /// True if the value of a query parameter is masked.
        package var hasQuery = false
        /// True if the record has no header fields at all.
        package var hasFields = false
        /// Names, in lower case, of fields that are masked, or were perhaps left out because they are secret.
        package var fields: [String] = []
        /// True if the record does not tell if the request had a body.
        package var hasBodyPresence = false

        /// True if the value of a field may have been another than ``RecordedExchange/head`` has.
        package func hides(field name: String) -> Bool {
            self.hasFields || self.fields.contains { ASCII.equalsIgnoringCase($0.utf8, name.utf8) }
        }
    }

    /// The line of the file, from 1, in which the exchange begins.
    package let line: Int
    /// The id of the exchange; nil in archives of other programs.
    package var id: String?
    /// The time at which it began, as the file spells it.
    package var time: String?
    /// The request as the client sent it, without the unknown parts: masked fields are missing.
    package var head: RequestHead
    /// The body of the request, if the file has it as text.
    package var body: [UInt8]?
    package var unknown = Unknown()
    package var outcome = Outcome()
    /// The address that the proxy, or the client of an archive, connected to: that of an upstream proxy if there was one.
    package var address: IPAddress?
    package var access = Access()
    /// The fields of the response; empty if the file has none.
    package var responseFields = Fields()

    /// The target as a URL; `host:port` for a tunnel, a path for a request to the gateway, `*` for an asterisk.
    package var url: String { self.head.target.url ?? "*" }
}

/// The reason why a line of a log, or an entry of an archive, is no exchange.
package enum TrafficMismatch: Error, Sendable, Equatable {
    /// It is valid, but tells of no request to a proxy: a message of the log, a `data:` URL, or a client's bytes that were no
    /// request.
    case other
    /// It is malformed. The reason is a sentence without the place.
    case malformed(String)
}

extension RecordedExchange {
    /// Makes the head of a request without fields but Host, by the rules for requests on the wire.
    ///
    /// - Parameters:
    ///   - target: as in a request line.
    ///   - host: the value of Host; nil takes that of the target.
    static func head(method: String, target: String, host: String?) throws(TrafficMismatch) -> RequestHead {
        let authority = method == "CONNECT" ? target : Self.authority(of: target)
        var lines = "\(method) \(target) HTTP/1.1\r\nHost: \(host ?? authority)\r\n\r\n"
        var parser = RequestParser(limits: Self.limits)
        let parsed = lines.withUTF8 { bytes in
            Result { () throws(WireError) in try parser.parse(UnsafeRawBufferPointer(bytes)) }
        }
        switch parsed {
        // A line break in a part ends the head too early.
        case .success(let found?) where found.length == lines.utf8.count: return found.head
        case .success: throw .malformed("the method, the URL or the host has a line break")
        case .failure(let error): throw .malformed(error.message)
        }
    }

    /// Larger than any configuration's, since the file has requests of any proxy.
    private static let limits = HeadLimits(bytes: 1 << 20, line: 1 << 20, count: 4096)

    private static func authority(of target: String) -> String {
        guard let start = Self.authorityStart(of: target) else { return "host" }
        return String(target[start...].prefix { !"/?#".contains($0) })
    }

    /// The place behind `scheme://`; nil if there is no such beginning.
    static func authorityStart(of url: String) -> String.Index? {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
        return url.index(colon, offsetBy: 3)
    }

    /// Reads an address, with or without a port; nil for anything else.
    static func address(_ text: String?) -> IPAddress? {
        guard let text else { return nil }
        return IPAddress(text) ?? Authority(text, defaultPort: 1).flatMap { IPAddress($0.host) }
    }
}
