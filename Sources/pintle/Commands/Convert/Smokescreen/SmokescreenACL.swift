// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// An egress ACL of Smokescreen, version v1.
struct SmokescreenACL {
    enum Action: String, CaseIterable {
        case open, report, enforce
    }

    struct Domain: Equatable {
        let pattern: HostPattern
        let line: Int
    }

    /// The rules of a service, or those of `default`.
    struct Rules: Equatable {
        /// Nil for `default`.
        var name: String?
        let line: Int
        var project: String?
        var action = Action.enforce
        var allowed: [Domain] = []
        var others: [ConversionRemark] = []
    }

    let file: String
    private(set) var services: [Rules] = []
    private(set) var fallback: Rules?
    private(set) var globallyAllowed: [Domain] = []
    private(set) var globallyDenied: [Domain] = []
    private(set) var ignored: [ConversionRemark] = []

    /// Reads a file.
    ///
    /// - Throws: for a file that Smokescreen refuses, too.
    init(_ bytes: [UInt8], file: String) throws(ConversionError) {
        self.file = file
        let document: LocatedValue
        do throws(ConfigurationError) {
            document = try LocatedValue.read(bytes, file: file)
        } catch {
            throw ConversionError(.malformed, error.description)
        }
        let entries = try self.entries(document, "the file")
        if let entry = entries.first(where: { $0.key == "egress_acl_file" }) {
            throw self.malformed(
                entry.position, "this is Smokescreen's main file; convert the one that egress_acl_file names")
        }
        guard let version = entries.first(where: { $0.key == "version" }), version.value.text == "v1" else {
            throw self.malformed(document.position, "an egress ACL says version: v1")
        }
        guard entries.contains(where: { $0.key == "services" }) else {
            throw self.malformed(document.position, "an egress ACL has the list services")
        }
        for entry in entries {
            switch entry.key {
            case "version": break
            case "services": self.services = try self.services(entry.value)
            case "default": self.fallback = try self.rules(entry.value, isDefault: true)
            case "global_allow_list": self.globallyAllowed = try self.domains(entry)
            case "global_deny_list": self.globallyDenied = try self.domains(entry)
            default: self.ignored.append(Self.unknown(entry))
            }
        }
    }

    private func services(_ value: LocatedValue) throws(ConversionError) -> [Rules] {
        var services: [Rules] = []
        var names: Set<String> = []
        for member in try self.members(value, "services") {
            let rules = try self.rules(member, isDefault: false)
            if let name = rules.name, !names.insert(name).inserted {
                throw self.malformed(
                    member.position, "the service \(name.debugDescription) is there twice")
            }
            services.append(rules)
        }
        return services
    }

    private func rules(_ value: LocatedValue, isDefault: Bool) throws(ConversionError) -> Rules {
        var rules = Rules(line: value.position.line)
        var action: Action?
        for entry in try self.entries(value, isDefault ? "default" : "a service") {
            switch entry.key {
            case "name":
                if !isDefault { rules.name = try self.text(entry) }
            case "project": rules.project = try self.text(entry)
            case "action":
                guard let known = Action(rawValue: try self.text(entry)) else {
                    throw self.malformed(entry.position, "action is open, report or enforce")
                }
                action = known
            case "allowed_domains": rules.allowed = try self.domains(entry)
            case "mitm_domains", "allowed_domains_mitm":
                rules.others.append(
                    ConversionRemark(
                        effect: .leftOut, line: entry.position.line,
                        text:
                            "\(entry.key): name the hosts in interception.hosts, and add fields by a route's request.headers"
                    ))
            case "allowed_external_proxies":
                rules.others.append(
                    ConversionRemark(
                        effect: .stricter, line: entry.position.line,
                        text:
                            "\(entry.key): clients of Pintle choose no upstream proxy; upstream_proxy names one for all"
                    ))
            default: rules.others.append(Self.unknown(entry))
            }
        }
        if !isDefault, rules.name == nil { throw self.malformed(value.position, "a service has a name") }
        guard let action else { throw self.malformed(value.position, "action is missing: open, report or enforce") }
        rules.action = action
        return rules
    }

    private func domains(_ entry: LocatedValue.Entry) throws(ConversionError) -> [Domain] {
        var domains: [Domain] = []
        for member in try self.members(entry.value, entry.key) {
            let line = member.position.line
            let text = member.text ?? ""
            do throws(Malformed) {
                let pattern = try HostPattern(text)
                guard pattern.port == nil, pattern.host != .any, !text.contains("/") else {
                    throw Malformed("a domain is a name, or *. and a name")
                }
                domains.append(Domain(pattern: pattern, line: line))
            } catch {
                throw self.malformed(member.position, "\(entry.key): \(text.debugDescription): \(error)")
            }
        }
        return domains
    }

    // MARK: Values

    private static func unknown(_ entry: LocatedValue.Entry) -> ConversionRemark {
        ConversionRemark(
            effect: .leftOut, line: entry.position.line,
            text: "\(entry.key.debugDescription) is no key of an egress ACL; Smokescreen ignores it, too")
    }

    private func entries(_ value: LocatedValue, _ name: String) throws(ConversionError) -> [LocatedValue.Entry] {
        guard case .map(let entries, _) = value else { throw self.malformed(value.position, "\(name) must be a map") }
        return entries
    }

    private func members(_ value: LocatedValue, _ name: String) throws(ConversionError) -> [LocatedValue] {
        if case .list(let members, _) = value { return members }
        if let text = value.text, ["", "~", "null"].contains(text) { return [] }
        throw self.malformed(value.position, "\(name) must be a list")
    }

    private func text(_ entry: LocatedValue.Entry) throws(ConversionError) -> String {
        guard let text = entry.value.text else { throw self.malformed(entry.position, "\(entry.key) must be text") }
        return text
    }

    private func malformed(_ position: SourcePosition, _ text: String) -> ConversionError {
        ConversionError(.malformed, file: self.file, line: position.line, text)
    }
}
