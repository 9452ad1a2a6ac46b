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
