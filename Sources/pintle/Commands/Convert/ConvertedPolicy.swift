// SPDX-License-Identifier: Apache-2.0

internal import PintlePins
internal import PintlePolicy

/// The sections of a configuration that rules of other proxies become, with comments that tell where they come from.
struct ConvertedPolicy: Equatable {
    /// A value of one key, and a comment behind it.
    struct Value: Equatable {
        let text: String
        var comment: String?

        init(_ text: String, _ comment: String? = nil) { (self.text, self.comment) = (text, comment) }
    }

    struct Users: Equatable {
        var realm: String?
        let file: String
    }

    /// The first lines of the file, as comments.
    var head: [String] = []
    /// Addresses; empty for the default.
    var listen: [String] = []
    /// True if violations are only reported.
    var isReported = false
    /// True if messages have no Via field.
    var omitsVia = false
    /// Networks; empty for the default.
    var clients: [String] = []
    var users: Users?
    /// `allow` or `deny`.
    var fallback = Value("deny")
    var privateAddresses = Value("deny")
    var connectPorts = Value("any")
    var ports = Value("any")
    /// Host patterns.
    var allow: [Value] = []
    var deny: [Value] = []

    /// The configuration.
    var yaml: String {
        var lines = self.head.map { $0.isEmpty ? "#" : "# \($0)" }
        lines.append("version: \(Configuration.version)")
        if !self.listen.isEmpty { lines.append("listen: \(Self.list(self.listen))") }
        if self.omitsVia { lines.append("via: off") }
        if self.isReported { lines.append("enforcement: report") }
        if !self.clients.isEmpty || self.users != nil {
            lines.append("clients:")
            if !self.clients.isEmpty { lines.append("  allow: \(Self.list(self.clients))") }
            if let users {
                let realm = users.realm.map { "realm: \($0.yamlQuoted), " } ?? ""
                lines.append("  basic_auth: {\(realm)users: \(users.file.yamlQuoted)}")
            }
        }
        lines.append("destinations:")
        for (key, value) in [
            ("default", self.fallback), ("private_addresses", self.privateAddresses),
            ("connect_ports", self.connectPorts), ("ports", self.ports),
        ] {
            lines.append("  \(key): \(value.text)\(Self.comment(value))")
        }
        for (key, patterns) in [("allow", self.allow), ("deny", self.deny)] where !patterns.isEmpty {
            lines.append("  \(key):")
            lines += patterns.map { "    - \($0.text.yamlQuoted)\(Self.comment($0))" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func list(_ texts: [String]) -> String {
        "[\(texts.map(\.yamlQuoted).joined(separator: ", "))]"
    }

    private static func comment(_ value: Value) -> String { value.comment.map { "  # \($0)" } ?? "" }
}
