// SPDX-License-Identifier: Apache-2.0

/// The method of an exchange as a label: one of ten values, so that no client can add series.
package enum MethodLabel: Int, CaseIterable, Comparable, Sendable {
    case connect
    case delete
    case get
    case head
    case options
    case patch
    case post
    case put
    case trace
    /// A method that neither RFC 9110 nor RFC 5789 (PATCH) registers, or none: the request could not be read.
    case other

    private static let names = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE", "other",
    ]

    /// - Parameter method: the method as the client has sent it; letter case matters (RFC 9110 §9.1). Empty for bytes that were no
    ///   request.
    package init(_ method: UnsafeRawBufferPointer) {
        // Most methods are GET, and the search costs as much as the rest of the counting.
        if method.count == 3, method[0] == UInt8(ascii: "G"), method[1] == UInt8(ascii: "E"),
            method[2] == UInt8(ascii: "T")
        {
            self = .get
        } else {
            // The name of the last case is a token, which a client may send; it is found, and is right.
            let number = Self.names.firstIndex { method.elementsEqual($0.utf8) }
            self = number.flatMap(Self.init(rawValue:)) ?? .other
        }
    }

    var name: String { Self.names[self.rawValue] }

    package static func < (left: MethodLabel, right: MethodLabel) -> Bool { left.rawValue < right.rawValue }
}

/// The status for the client as a label: one of 70 values, so that no origin can add series.
///
/// The 64 codes of IANA's registry are told apart. Another code counts as its class, such as `5xx`, as RFC 9110 §15 has clients
/// treat it.
struct StatusLabel: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The labels in their order: 0 for no response, the first digits of codes that are not registered, and the codes that are.
    private static let codes: [UInt16] =
        [0, 1, 2, 3, 4, 5] + (100...599).filter(Self.isRegistered)
    /// The indices of the labels by the code: a search for each exchange would cost more than to count it.
    private static let indices: [UInt8] = (UInt16(0)...599).map { status in
        UInt8(
            Self.codes.firstIndex(of: status >= 100 && Self.isRegistered(status) ? status : max(status / 100, 1)) ?? 0)
    }

    /// The number of labels.
    static var count: Int { Self.codes.count }
    /// From 0, below ``count``.
    let index: Int

    /// - Parameter status: nil if the client got no response.
    init(_ status: UInt16?) {
        switch status {
        case nil: self.index = 0
        case .some(let status): self.index = 100...599 ~= status ? Int(Self.indices[Int(status)]) : 5
        }
    }

    /// - Parameter index: from 0, below ``count``.
    init(at index: Int) { self.index = index }

    var description: String {
        switch Self.codes[self.index] {
        case 0: "-"
        case let code where code <= 5: "\(code)xx"
        case let code: String(code)
        }
    }

    static func < (left: StatusLabel, right: StatusLabel) -> Bool { left.index < right.index }

    private static func isRegistered(_ status: UInt16) -> Bool {
        switch status {
        case 100...104, 200...208, 226, 300...308, 400...418, 421...426, 428, 429, 431, 451, 500...508, 510, 511: true
        default: false
        }
    }
}
