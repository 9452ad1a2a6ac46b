// SPDX-License-Identifier: Apache-2.0

/// The method of an exchange as a label: one of ten values, so that no client can add series.
enum MethodLabel: String, CaseIterable, Comparable {
    case connect = "CONNECT"
    case delete = "DELETE"
    case get = "GET"
    case head = "HEAD"
    case options = "OPTIONS"
    case patch = "PATCH"
    case post = "POST"
    case put = "PUT"
    case trace = "TRACE"
    /// A method that neither RFC 9110 nor RFC 5789 (PATCH) registers, or none: the request could not be read.
    case other

    /// - Parameter method: the method as the client has sent it; letter case matters (RFC 9110 §9.1).
    init(_ method: String?) {
        // The name of the last case is a token, which a client may send.
        self = method.flatMap(Self.init(rawValue:)) ?? .other
    }

    static func < (left: MethodLabel, right: MethodLabel) -> Bool { left.rawValue < right.rawValue }
}

/// The status for the client as a label: one of 70 values, so that no origin can add series.
///
/// The 64 codes of IANA's registry are told apart. Another code counts as its class, such as `5xx`, as RFC 9110 §15 has clients
/// treat it.
struct StatusLabel: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// A registered code, the first digit of another one, or 0 for no response.
    private let code: UInt16

    /// - Parameter status: nil if the client got no response.
    init(_ status: Int?) {
        switch status {
        case nil: self.code = 0
        case .some(let status) where Self.isRegistered(status): self.code = UInt16(status)
        case .some(let status): self.code = 100...599 ~= status ? UInt16(status / 100) : 5
        }
    }

    var description: String {
        switch self.code {
        case 0: "-"
        case 1...5: "\(self.code)xx"
        default: String(self.code)
        }
    }

    static func < (left: StatusLabel, right: StatusLabel) -> Bool { left.code < right.code }

    private static func isRegistered(_ status: Int) -> Bool {
        switch status {
        case 100...104, 200...208, 226, 300...308, 400...418, 421...426, 428, 429, 431, 451, 500...508, 510, 511: true
        default: false
        }
    }
}
