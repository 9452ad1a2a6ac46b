// SPDX-License-Identifier: Apache-2.0

/// Reads `contract`: the name of a file, or a map with `file`.
enum ContractReader {
    static func read(_ node: StrictNode, _ keys: KeySet) -> ContractConfiguration? {
        guard node.isMap else { return Self.file(node).map { ContractConfiguration(file: $0) } }
        guard let map = node.map(keys) else { return nil }
        guard let file = map["file"] else {
            node.report("the key \"file\" is missing; a contract is an OpenAPI document")
            return nil
        }
        guard var contract = Self.file(file).map({ ContractConfiguration(file: $0) }) else { return nil }
        map.read("requests", into: &contract.requests) { $0.bool() }
        return contract
    }

    private static func file(_ node: StrictNode) -> Located<String>? {
        node.nonEmptyString().map { Located(node.resolve($0), at: node.position) }
    }
}
