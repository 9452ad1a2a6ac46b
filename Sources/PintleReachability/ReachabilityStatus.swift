// SPDX-License-Identifier: Apache-2.0

/// The reachability of a destination over the network, with the kind of link.
public enum ReachabilityStatus: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Nothing is known yet, or a name could not be looked up although there is a network.
    case unknown
    /// No route leads there over a link that works.
    case notReachable
    /// The route leads over a mobile link.
    case reachableViaWWAN
    /// The route leads over any other link, wireless or wired, or stays on this machine.
    case reachableViaWiFi

    /// True if a route leads there.
    public var isReachable: Bool { self == .reachableViaWWAN || self == .reachableViaWiFi }

    /// AFNetworking's text for the status.
    public var description: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachableViaWWAN: "Reachable via WWAN"
        case .reachableViaWiFi: "Reachable via WiFi"
        }
    }
}
