// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

// Every value that an operator adds to requests is treated as a secret.
extension RequestRules {
    /// True if a field of this name may come from the route. A `default` counts even if the request had the field already.
    package func injects(field name: String) -> Bool {
        let headers = self.headers
        var names = (headers.defaults + headers.set + headers.add).map(\.name)
        if self.authorization != nil { names.append("Authorization") }
        return names.contains { ASCII.equalsIgnoringCase($0.utf8, name.utf8) }
    }

    /// A copy with `mask` for each value that the rules put into requests. In parameters, booleans, null and names stay.
    package func masked(by mask: String) -> RequestRules {
        func masked(_ lines: [HeaderRules.Line]) -> [HeaderRules.Line] {
            lines.map { HeaderRules.Line(name: $0.name, value: mask, position: $0.position) }
        }
        var rules = self
        rules.headers.defaults = masked(self.headers.defaults)
        rules.headers.set = masked(self.headers.set)
        rules.headers.add = masked(self.headers.add)
        rules.authorization = self.authorization.map { Located(mask, at: $0.position) }
        rules.parameters = self.parameters.map { $0.masked(by: mask) }
        return rules
    }

    /// Fields whose values are no secrets, and are common in bodies.
    private static let plainFields: Set<String> = [
        "accept", "accept-encoding", "accept-language", "content-type", "host", "user-agent", "via",
    ]

    /// The texts that the rules put into requests: those that ``masked(by:)`` replaces, but for fields without secrets.
    package var injectedTexts: [String] {
        let lines = (self.headers.defaults + self.headers.set + self.headers.add)
            .filter { !Self.plainFields.contains($0.name.lowercased()) }.map(\.value)
        // A scheme, and the credentials.
        let credentials = self.authorization.map { [$0.value, String($0.value.drop { $0 != " " }.dropFirst())] } ?? []
        return lines + credentials + self.parameters.flatMap(\.value.texts)
    }
}

extension NamedParameter {
    fileprivate func masked(by mask: String) -> NamedParameter {
        NamedParameter(name: self.name, value: self.value.masked(by: mask))
    }
}

extension ParameterValue {
    fileprivate var texts: [String] {
        switch self {
        case .null, .bool: []
        case .integer(let number): ["\(number)"]
        case .double(let number): ["\(number)"]
        case .string(let text): [text]
        case .list(let values): values.flatMap(\.texts)
        case .map(let members): members.flatMap(\.value.texts)
        }
    }

    fileprivate func masked(by mask: String) -> ParameterValue {
        switch self {
        case .null, .bool: self
        case .integer, .double, .string: .string(mask)
        case .list(let values): .list(values.map { $0.masked(by: mask) })
        case .map(let members): .map(members.map { $0.masked(by: mask) })
        }
    }
}

extension RouteConfiguration {
    /// True if the route puts credentials of its own into requests.
    package var injectsCredentials: Bool {
        let headers = self.request.headers
        return self.request.authorization != nil
            || (headers.defaults + headers.set + headers.add).contains {
                [.authorization, .cookie].contains(FieldName($0.name))
            }
    }
}
