// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintlePolicy
internal import PintleSession

extension Dialler {
    /// Makes a dialler with the connection settings of a route.
    convenience init(_ address: SocketAddress, for route: Route?, patience: Duration, loop: Loop) {
        self.init(
            address: address, interface: route?.configuration.request.interface,
            serviceType: route?.serviceType ?? .default, timeLimit: patience, loop: loop)
    }
}
