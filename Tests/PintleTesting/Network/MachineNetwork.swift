// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The network that the tests themselves run in.
package enum MachineNetwork {
    /// True if the network has a default route. Without one, a name that does not exist cannot be distinguished from one
    /// that cannot be looked up.
    package static let hasDefaultRoute: Bool = {
        func lines(_ file: String) -> [[Substring]] {
            let text = (try? String(contentsOfFile: "/proc/net/\(file)", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map { $0.split { $0 == " " || $0 == "\t" } }
        }
        // Fields: in `route` link, destination; in `ipv6_route` destination, prefix length and, last, the link.
        return lines("route").contains { $0.count > 1 && $0[1] == "00000000" }
            || lines("ipv6_route").contains {
                $0.count > 1 && $0[1] == "00" && $0.last != "lo" && $0[0].allSatisfy { $0 == "0" }
            }
    }()
}
