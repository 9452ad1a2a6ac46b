// SPDX-License-Identifier: Apache-2.0

/// Reads `isolate`.
enum IsolationReader {
    /// - Returns: nil after an error.
    static func read(_ node: StrictNode) -> IsolationConfiguration? {
        guard let map = node.map(.isolation) else { return nil }
        var isolation = IsolationConfiguration()
        map.read("capture", into: &isolation.captures) { $0.bool() }
        map.read("other_tcp", into: &isolation.otherTCP) { $0.choice() }
        map.read("expose", into: &isolation.exposed) { node in
            node.isEmptyList ? [] : node.values { $0.parsed { text throws(Malformed) in try .init(text) } }
        }
        return isolation
    }
}
