// SPDX-License-Identifier: Apache-2.0

/// A secret that the programs of a command use and cannot read (`credentials.NAME`).
package struct CredentialConfiguration: Sendable, Equatable {
    /// The part of a request that a credential may stand in.
    package enum Part: String, Sendable, CaseIterable {
        /// The value of a header field.
        case header
        /// The query of the target.
        case query
        case body
    }

    /// Requests that the credential may go with.
    package struct Grant: Sendable, Equatable {
        /// The hosts of the origin; never empty.
        package var hosts: [HostPattern] = []
        /// The methods; empty for all.
        package var methods: [String] = []
        /// The paths as the origin gets them; empty for all.
        package var paths: [PathPattern] = []
        /// The parts of the request, each once and in the order of their cases. Default: all.
        package var parts = Part.allCases

        package init() {}
    }

    /// The lengths of values, in bytes. A shorter one could not be told from other text.
    package static let lengths = 8...4096

    /// The name in logs and reports.
    package var name: String
    /// The place of the entry in the file.
    package var position: SourcePosition
    /// The secret: visible characters of ASCII.
    package var value = ""
    /// The variable of the command's environment that has the placeholder; nil if only files have it.
    package var variable: String?
    /// The file that has the value; nil if a variable has it.
    package var source: String?
    /// Further files with the value, already relative to the process: an isolated command sees them with the placeholder.
    package var files: [String] = []
    package var grants: [Grant] = []
    /// The trust policy that the origin must satisfy.
    package var trust = Located("", at: SourcePosition(line: 1, column: 1))
    /// The text that stands for the value in a command; nil unless a command runs.
    package var placeholder: String?

    package init(name: String, position: SourcePosition) {
        self.name = name
        self.position = position
    }
}

extension CredentialConfiguration {
    /// The beginning of every placeholder.
    package static let mark = "pntl_"
    /// The shortest placeholder: its 19 random characters cannot be guessed.
    private static let shortest = 24

    /// A placeholder for the value: as long as the value, unless that is shorter than 24 bytes.
    package var newPlaceholder: String {
        let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        let count = max(self.value.utf8.count, Self.shortest) - Self.mark.utf8.count
        var generator = SystemRandomNumberGenerator()
        return Self.mark + String((0..<count).map { _ in letters[Int.random(in: letters.indices, using: &generator)] })
    }
}
