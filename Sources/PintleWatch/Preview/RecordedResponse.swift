// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The response of an exchange that has ended, as far as it is known.
package enum RecordedResponse: Sendable {
    /// The body as it came from the origin, with its content codings.
    package enum Body: Sendable {
        case whole([UInt8])
        /// The reason, in words that follow "cannot be told:".
        case unknown(String)
    }

    /// An origin has answered with this head.
    ///
    /// - Parameters:
    ///   - length: of the body in bytes.
    ///   - redirects: the number of redirects that the proxy has followed before.
    case received(ResponseHead, length: Int, Body, redirects: Int)
    /// No response of an origin is known. The reason is in words that follow "cannot be told:".
    case unknown(String)
}
