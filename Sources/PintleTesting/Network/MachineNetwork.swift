// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The network that the tests themselves are in.
package enum MachineNetwork {
    /// Whether it leads anywhere. Where it does not, a name that does not exist cannot be told from one that cannot be
    /// looked up.
    package static let hasDefaultRoute: Bool = {
        func lines(_ file: String) -> [[Substring]] {
            let text = (try? String(contentsOfFile: "/proc/net/\(file)", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map { $0.split { $0 == " " || $0 == "\t" } }
        }
        // Link, destination; and destination, length of the prefix, link last.
        return lines("route").contains { $0.count > 1 && $0[1] == "00000000" }
            || lines("ipv6_route").contains {
                $0.count > 1 && $0[1] == "00" && $0.last != "lo" && $0[0].allSatisfy { $0 == "0" }
            }
    }()
}
