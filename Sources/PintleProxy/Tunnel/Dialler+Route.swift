// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintlePolicy
internal import PintleSession

extension Dialler {
    /// Connects as the requests of a route do.
    convenience init(_ address: SocketAddress, for route: Route?, patience: Duration, loop: Loop) {
        self.init(
            address: address, interface: route?.configuration.request.interface,
            serviceType: route?.serviceType ?? .default, timeLimit: patience, loop: loop)
    }
}
