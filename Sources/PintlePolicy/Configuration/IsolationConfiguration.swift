// SPDX-License-Identifier: Apache-2.0

/// The treatment of a command in a network of its own (`pintle run --isolate`), and of connections that `capture://` takes.
package struct IsolationConfiguration: Sendable, Equatable {
    /// The treatment of captured connections that carry neither TLS nor HTTP, and that no rule `tcp://HOST:PORT` allows.
    package enum OtherTCP: String, Sendable, CaseIterable {
        case allow, deny
    }

    /// A way past Pintle that a command in a network of its own may use.
    package enum Exposure: Sendable, Hashable {
        /// Unix sockets: an absolute path, which may have the wildcards of glob(7).
        case sockets(String)
        /// A descriptor that the command inherits, from 3 on.
        case descriptor(Int32)

        /// Reads a path, or `fd:NUMBER`.
        package init(_ text: String) throws(Malformed) {
            if text.hasPrefix("/") {
                self = .sockets(text)
            } else if text.hasPrefix("fd:"), let number = Int32(text.dropFirst(3)), number > 2 {
                self = .descriptor(number)
            } else {
                throw Malformed(
                    "must be the absolute path of a Unix socket, or fd: and the number of a descriptor from 3 on")
            }
        }
    }

    /// True if connections of programs that do not ask the proxy are captured; false if they are refused. Default true.
    package var captures = true
    /// Default `deny`: Pintle cannot read such protocols.
    package var otherTCP = OtherTCP.deny
    /// Default: nothing.
    package var exposed: [Exposure] = []

    package init() {}
}
