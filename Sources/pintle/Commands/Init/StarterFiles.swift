// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The texts of a configuration and of its policy tests.
struct StarterFiles {
    let configuration: String
    let tests: String

    /// - Parameters:
    ///   - configuration: the name of the configuration's file, without its folder.
    ///   - tests: the name of the file of tests.
    init(_ starter: Starter, configuration: String, tests: String) {
        let head = """
            # Written by pintle init --for \(starter.purpose.rawValue). `pintle check` reads this file as `pintle serve` does, and
            # `pintle explain METHOD URL` says what it does with a request, and why. docs/configuration.md has every key.
            version: 1
            listen: \(starter.listen.asYAML)

            # `pintle test` runs these, and `pintle check` names the routes that none of them reaches.
            tests: \(tests.asYAML)
            """
        let testHead = """
            # What \(configuration) must make of requests: pintle test -c \(configuration). Nothing is connected to.
            """
        let parts: StarterParts =
            switch starter.purpose {
            case .build: .build(starter)
            case .gateway: .gateway(starter)
            case .audit: .audit(starter)
            case .team: .team(starter)
            }
        self.configuration = "\(head)\n\n\(parts.rules)\n"
        self.tests = "\(testHead)\n\n\(parts.tests)\n"
    }
}

/// The parts of the files that depend on the purpose.
struct StarterParts {
    let rules: String
    let tests: String
}

extension String {
    /// The text as a scalar of YAML in double quotation marks.
    var asYAML: String {
        let escaped = self.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        // Other characters are escaped as in JSON, which YAML reads, too.
        return "\"\(escaped.showable(keepingLines: false))\""
    }
}

extension [String] {
    /// The texts as a list of YAML on one line.
    var asYAML: String { "[\(self.map(\.asYAML).joined(separator: ", "))]" }
}
