// SPDX-License-Identifier: Apache-2.0

/// A message that cannot be accepted. The position of the next message is unknown then, so the connection closes.
package struct WireError: Error, Sendable, Equatable {
    /// The kinds of error; each has a status for the response.
    package enum Code: Sendable, Equatable {
        /// 400: the message is malformed or ambiguous.
        case malformed
        /// 431: the header section exceeds a limit.
        case headerTooLarge
        /// 501: an unknown transfer coding.
        case unknownTransferCoding
        /// 505: a major version other than 1.
        case versionNotSupported

        /// The status of the response.
        package var status: UInt16 {
            switch self {
            case .malformed: 400
            case .headerTooLarge: 431
            case .unknownTransferCoding: 501
            case .versionNotSupported: 505
            }
        }
    }

    /// The kind of error, and thus the status of the response.
    package let code: Code
    /// The problem, as a sentence without the offending bytes: they may be hostile.
    package let message: String

    /// Makes an error.
    package init(_ code: Code = .malformed, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// Limits of a header section, and thus of the memory that an unknown client can occupy.
public struct HeadLimits: Sendable, Equatable {
    /// The maximum size of the head in bytes, including the request line.
    public var bytes: Int
    /// The maximum size of a line in bytes, also of the request line.
    public var line: Int
    /// The maximum number of field lines.
    public var count: Int

    /// Makes limits; the defaults are those of the configuration.
    public init(bytes: Int = 64 * 1024, line: Int = 16 * 1024, count: Int = 256) {
        self.bytes = bytes
        self.line = line
        self.count = count
    }
}
