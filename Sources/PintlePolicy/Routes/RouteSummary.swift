// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
private import PintleSerialization
private import PintleSession

/// A description of a route for `pintle check` and `pintle explain`. Never shows an injected value, as it may be secret.
package struct RouteSummary: CustomStringConvertible {
    private let route: RouteConfiguration
    private let onViolation: ResponseRules.OnViolation

    /// - Parameter enforcement: that of the whole configuration.
    package init(_ route: RouteConfiguration, _ enforcement: Enforcement) {
        self.route = route
        self.onViolation = route.response.onViolation(under: enforcement)
    }

    /// `"charge": POST api.pay.example/v1/** → https://api.pay.example/v1/, trust payments; …`.
    package var description: String {
        let all = [
            self.requestRules, self.responseRules, self.gatewayRules, self.cacheRules, self.redirectRules,
            self.contractRules,
            self.tunnelRules, self.simulationRules,
        ]
        let rules = all.joined().joined(separator: "; ")
        let line = "\"\(self.route.name)\": \(self.matched) → \(self.destination)"
        return rules.isEmpty ? line : "\(line); \(rules)"
    }

    /// The requests that the route is for: `POST https api.pay.example /v1/**`.
    package var matched: String {
        let match = self.route.match
        let methods = match.methods.isEmpty ? "every method" : match.methods.joined(separator: ",")
        let schemes = match.schemes.map(\.rawValue).joined(separator: ",")
        let hosts = match.hosts.isEmpty ? "every host" : match.hosts.map(\.description).joined(separator: ",")
        let paths = match.paths.map(\.description).joined(separator: ",")
        let headers = match.headers.isEmpty ? "" : "with " + match.headers.map(\.description).joined(separator: ", ")
        let clients = match.clients.map { "of \($0)" } ?? ""
        return [methods, schemes, hosts, paths, headers, clients].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private var destination: String {
        if let answer = self.route.answer { return "answers \(answer.status) itself" }
        var text = self.route.upstream?.description ?? "where it was aimed"
        if let prefix = self.route.stripPrefix { text += " without \(prefix)" }
        if let trust = self.route.trust { text += ", trust \(trust.value)" }
        return text
    }

    // MARK: Gateway

    /// The permissions for web pages, and the addresses of the upstream that stay.
    package var gatewayRules: [String] {
        var rules: [String] = []
        if let cors = self.route.cors {
            let pages = cors.allowsAnyOrigin ? "every origin" : cors.origins.map(\.description).joined(separator: ", ")
            rules.append("lets pages of \(pages) use it\(cors.allowsCredentials ? ", with credentials" : "")")
        }
        if !self.route.rewritesUpstream { rules.append("shows the addresses of its upstream") }
        return rules
    }

    // MARK: Cache

    /// The use of the cache, and of responses that requests share.
    package var cacheRules: [String] {
        var rules: [String] = []
        switch self.route.cache {
        case .off: break
        case .protocol: rules.append("keeps answers as RFC 9111 lets a shared cache")
        case .ignoreLocal: rules.append("keeps answers, and asks the origin each time")
        case .preferCache: rules.append("gives kept answers however old they are")
        case .onlyCache: rules.append("gives kept answers alone, and cache-miss without one")
        }
        if let coalescing = self.route.coalescing {
            let most = coalescing.maxActive.map { ", at most \($0) at a time" } ?? ""
            rules.append("asks once for equal requests that wait\(most)")
        }
        return rules
    }

    /// The answers in the place of the origin's, one text for each kind.
    package var simulationRules: [String] {
        let (mocks, faults) = (self.route.simulation.mocks.count, self.route.simulation.faults.count)
        return [
            mocks == 0 ? nil : "answers by \(mocks == 1 ? "a mock" : "\(mocks) mocks")",
            self.route.simulation.replay?.words,
            faults == 0 ? nil : "shows \(faults == 1 ? "a fault" : "\(faults) faults")",
        ].compactMap(\.self)
    }

    // MARK: Requests

    /// The changes to requests, one text for each rule.
    package var requestRules: [String] {
        let request = self.route.request
        var rules = Self.fieldRules(request.headers)
        if let authorization = request.authorization {
            let scheme = authorization.value.prefix { $0 != " " }
            rules.append("authorizes by \(scheme) where there is no Authorization")
        }
        if let serialization = self.serialization { rules.append(serialization) }
        if let throttle = request.throttle {
            rules.append("sends \(throttle.packet.spelledAsBytes) every \(throttle.delay.spelled)")
        }
        if request.serviceType != .default { rules.append("marks packets as \(request.serviceType.rawValue)") }
        if let interface = request.interface { rules.append("leaves by \(interface)") }
        switch request.cookies {
        case .pass: break
        case .jar: rules.append("keeps cookies in a jar that its clients share, and passes none")
        case .block: rules.append("passes no cookies")
        }
        let trusted = request.forwarded.trustedProxies.map(\.description).joined(separator: ", ")
        let proxies = trusted.isEmpty ? "" : ", to those of \(trusted)"
        switch request.forwarded.form {
        case .off: break
        case .xForwarded: rules.append("tells the client in X-Forwarded fields\(proxies)")
        case .rfc7239: rules.append("tells the client in Forwarded\(proxies)")
        }
        if let retries = Self.retries(request.retries) { rules.append(retries) }
        return rules
    }

    private static func retries(_ retries: RequestRules.Retries) -> String? {
        if retries == RequestRules.Retries() { return nil }
        if retries.attempts == 0 { return "tries nothing again" }
        let times = retries.attempts == 1 ? "once" : "up to \(retries.attempts) times"
        let occasions = RequestRules.Retries.Occasion.allCases.filter(retries.occasions.contains).map(\.rawValue)
        return "tries again \(times) on \(occasions.joined(separator: " and "))"
    }

    private var serialization: String? {
        let request = self.route.request
        var form: [String]
        switch request.serialize {
        case .none: return nil
        case .http: form = ["http"]
        case .json:
            form = ["json"]
            if request.json.contains(.sortedKeys) { form.append("with sorted keys") }
            if request.json.contains(.pretty) { form.append("in lines") }
        case .plist: form = ["plist", request.plist == .xml ? "(xml)" : "(binary)"]
        case .multipart: form = ["multipart"]
        }
        if [.http, .multipart].contains(request.serialize), request.stringEncoding != .utf8 {
            form.append("in \(request.stringEncoding)")
        }
        var text = "serializes parameters as \(form.joined(separator: " "))"
        if !request.parameters.isEmpty { text += ", adding \(request.parameters.map(\.name).joined(separator: ", "))" }
        if request.uriMethods != RequestRules().uriMethods {
            text += ", into the query for \(request.uriMethods.joined(separator: ", "))"
        }
        return text
    }

    private static func fieldRules(_ headers: HeaderRules) -> [String] {
        var rules: [String] = []
        if !headers.remove.isEmpty { rules.append("removes \(headers.remove.joined(separator: ", "))") }
        for (verb, lines) in [("defaults", headers.defaults), ("sets", headers.set), ("adds", headers.add)]
        where !lines.isEmpty {
            rules.append("\(verb) \(lines.map(\.name).joined(separator: ", "))")
        }
        return rules
    }

    // MARK: Responses

    /// The rules for responses and the treatment of violations, one text for each rule.
    package var responseRules: [String] {
        let response = self.route.response
        var rules = Self.fieldRules(response.headers).map { "\($0) in responses" }
        var wanted = response.status.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        wanted += response.contentTypes ?? []
        if response.structuredSuffixes { wanted.append("their structured suffixes") }
        if response.body != .any { wanted.append(response.body.description) }
        if response.removeNulls { wanted[wanted.count - 1] += " without nulls" }
        if let limit = response.maxBody { wanted.append("up to \(limit.spelledAsBytes)") }
        if !wanted.isEmpty { rules.append("\(self.onViolation.verb) \(wanted.joined(separator: ", "))") }
        if let placeholder = response.placeholder, !placeholder.failures.isEmpty {
            let failures = ResponseRules.OriginFailure.allCases.filter(placeholder.failures.contains)
            let all = failures.count == ResponseRules.OriginFailure.allCases.count
            let named = all ? "every failure of its origin" : failures.map(\.rawValue).joined(separator: ", ")
            rules.append("answers with a placeholder instead of \(named)")
        }
        return rules
    }

    /// The redirects that are followed.
    package var redirectRules: [String] {
        let limit = "up to \(RedirectTrail.limit)"
        switch self.route.redirects {
        case .pass: return []
        case .follow: return ["follows redirects for the client, \(limit), but none from https to http"]
        case .sameOrigin: return ["follows redirects to the same origin for the client, \(limit)"]
        }
    }

    /// The treatment of a CONNECT, if the route decides it.
    private var tunnelRules: [String] {
        let past = self.route.rulesLostInTunnels.isEmpty ? "" : ", past its rules"
        switch self.route.effectiveConnect() {
        case nil: return []
        case .tunnel: return ["relays tunnels\(past)"]
        case .verify: return ["relays tunnels to verified destinations\(past)"]
        case .intercept: return ["intercepts tunnels"]
        case .deny:
            return [self.route.connect == .deny ? "denies tunnels" : "denies tunnels, which could not keep its rules"]
        }
    }

    /// The messages that the API contract is for.
    private var contractRules: [String] {
        guard let contract = self.route.contract else { return [] }
        let file = contract.file.value
        let subject = contract.requests ? "requests and responses" : "responses"
        switch self.onViolation {
        case .reject: return ["holds \(subject) to \(file)"]
        case .report: return ["reports \(subject) that break \(file)"]
        case .placeholder:
            return (contract.requests ? ["holds requests to \(file)"] : []) + ["replaces responses that break \(file)"]
        }
    }
}

extension ResponseRules.OnViolation {
    fileprivate var verb: String {
        switch self {
        case .reject: "accepts only"
        case .report: "reports all but"
        case .placeholder: "replaces all but"
        }
    }
}

extension ResponseRules.Body {
    fileprivate var description: String {
        switch self {
        case .any: "anything"
        case .json(let rules): rules.schema.map { "JSON by \($0.value)" } ?? (rules.fragments ? "any JSON" : "JSON")
        case .xml: "XML"
        case .plist: "property lists"
        case .image(let rules): "images of up to \(rules.pixels) pixels"
        case .compound(let members): members.map(\.description).joined(separator: " or ")
        }
    }
}
