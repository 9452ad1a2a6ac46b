// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleSession

/// The observation of one destination, from start to stop.
final class DestinationObservation: Sendable {
    let watch: NetworkWatch
    private let destination: Reachability.Destination
    private let loop: Loop

    /// Opens the sockets, in the calling thread's network namespace.
    init(of destination: Reachability.Destination, on loop: Loop) throws(SessionError) {
        self.watch = try NetworkWatch(loop: loop)
        self.loop = loop
        // An address that is given as a host name is an address.
        if case .host(let name) = destination, let address = try? SocketAddress(ipAddress: name, port: 0) {
            self.destination = .address(address)
        } else {
            self.destination = destination
        }
    }

    /// - Parameter report: called on the loop with each status, changed or not.
    func start(_ report: @escaping @Sendable (ReachabilityStatus) -> Void) {
        switch self.destination {
        case .system: self.watch.start { report($0.status) }
        case .address(let address):
            self.watch.start { [weak self] _ in if let self { report(self.watch.status(of: address)) } }
        case .host(let name):
            let lookup = HostLookup(name) { [weak self] addresses in
                guard let self else { return }
                self.loop.execute { report(self.status(of: addresses)) }
            }
            self.watch.start { _ in lookup.begin() }
        }
    }

    func stop() { self.watch.stop() }

    /// Returns the status of a host with these addresses: the first one that is reachable decides. Without an address the
    /// status is unknown, unless there is no network for the lookup.
    private func status(of addresses: [SocketAddress]) -> ReachabilityStatus {
        if addresses.isEmpty { return self.watch.state?.status == .notReachable ? .notReachable : .unknown }
        let all = addresses.map { self.watch.status(of: $0) }
        return all.first { $0.isReachable } ?? (all.contains(.unknown) ? .unknown : .notReachable)
    }
}
