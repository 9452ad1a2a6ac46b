// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

// What an operator puts into requests is taken for a secret.
extension RequestRules {
    /// Whether fields of this name may be the route's own; where `default` adds one only to requests without it, that is
    /// not looked at.
    package func injects(field name: String) -> Bool {
        let headers = self.headers
        var names = (headers.defaults + headers.set + headers.add).map(\.name)
        if self.authorization != nil { names.append("Authorization") }
        return names.contains { ASCII.equalsIgnoringCase($0.utf8, name.utf8) }
    }

    /// The same rules with `mask` for each value that they put into requests. In the parameters truth values and null
    /// stay, and so do the names.
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
}

extension NamedParameter {
    fileprivate func masked(by mask: String) -> NamedParameter {
        NamedParameter(name: self.name, value: self.value.masked(by: mask))
    }
}

extension ParameterValue {
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
