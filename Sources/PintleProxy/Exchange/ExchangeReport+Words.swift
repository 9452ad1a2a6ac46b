// SPDX-License-Identifier: Apache-2.0

extension ExchangeReport {
    enum Mode: String { case forward, gateway, tunnel, intercept }

    /// The way in which a tunnel's destination was verified.
    enum Assurance: String {
        /// By Pintle's own handshake, before the tunnel opened.
        case probed
        /// Also by the certificate that the client was shown.
        case observed
    }
}
