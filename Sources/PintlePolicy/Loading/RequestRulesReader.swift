// SPDX-License-Identifier: Apache-2.0

private import PintleSerialization
private import PintleSession

/// Reads `routes[].request`.
enum RequestRulesReader {
    static func read(_ map: StrictMap) -> RequestRules {
        var rules = RequestRules()
        if let headers = map["headers"]?.map(.requestHeaders) {
            rules.headers = HeaderRulesReader.read(headers, of: .request)
        }
        if let authorization = map["authorization"]?.map(.authorization) {
            rules.authorization = Self.readAuthorization(authorization)
        }
        if let parameters = map["parameters"] { rules.parameters = ParameterReader.readMap(parameters) ?? [] }
        map.read("serialize", into: &rules.serialize) { $0.choice() }
        if let node = map["parameters"], !rules.parameters.isEmpty, rules.serialize == .none {
            node.report("are not sent while serialize is none; set serialize: http, json, plist or multipart")
        }
        map.read("uri_methods", into: &rules.uriMethods) { $0.values(RouteReader.readMethod) }
        map.read("string_encoding", into: &rules.stringEncoding, Self.readEncoding)
        if let json = map["json"]?.map(.requestJSON) { rules.json = Self.readJSONOptions(json) }
        if let plist = map["plist"]?.map(.requestPropertyList) {
            plist.read("format", into: &rules.plist) { $0.choice(PropertyListFormat.self)?.format }
        }
        rules.unreadKeys = Self.unreadKeys(map, rules.serialize)
        if let throttle = map["throttle"]?.map(.throttle) { rules.throttle = Self.readThrottle(throttle) }
        if let node = map["timeout"], !node.isNull { rules.timeout = node.duration(ConfigurationReader.timeouts) }
        map.read("connect_timeout", into: &rules.connectTimeout) { $0.duration(ConfigurationReader.timeouts) }
        map.read("cookies", into: &rules.cookies) { $0.choice() }
        map.read("forwarded", into: &rules.forwarded, GatewayReader.forwarded)
        map.read("service_type", into: &rules.serviceType) { $0.choice() }
        map.read("interface", into: &rules.interface, Self.readInterface)
        if let node = map["retries"], !node.isNull, let retries = node.map(.retries) {
            rules.retries = Self.readRetries(retries)
        }
        return rules
    }

    /// The keys that serializers read, each with the serializers that read it.
    private static let readers: [(key: String, serializers: [RequestRules.Serialization])] = [
        // All of them read these two, as each writes queries like the serializer for forms.
        ("uri_methods", [.http, .json, .plist, .multipart]), ("string_encoding", [.http, .json, .plist, .multipart]),
        ("json", [.json]), ("plist", [.plist]),
    ]

    /// The keys that the serializer ignores. They are reported if there is no serializer.
    private static func unreadKeys(
        _ map: StrictMap, _ serialize: RequestRules.Serialization
    ) -> [Located<String>] {
        Self.readers.compactMap { key, serializers in
            guard let node = map[key], !serializers.contains(serialize) else { return nil }
            if serialize == .none {
                let names = serializers.map(\.rawValue)
                let some = names.count > 1 ? names.dropLast().joined(separator: ", ") + " or " : ""
                node.report("does nothing while serialize is none; set serialize: \(some)\(names[names.count - 1])")
            }
            return Located(key, at: node.position)
        }
    }

    private static func readEncoding(_ node: StrictNode) -> TextEncoding? {
        node.parsed { text throws(Malformed) in
            do throws(SerializationError) {
                return try TextEncoding(text)
            } catch {
                throw Malformed("is no character encoding of this system; give a name of IANA's, as in utf-8")
            }
        }
    }

    private static func readJSONOptions(_ map: StrictMap) -> JSONWriter.Options {
        var options: JSONWriter.Options = []
        for (key, option) in [("sorted_keys", JSONWriter.Options.sortedKeys), ("pretty", .pretty)] {
            if map[key]?.bool() == true { options.insert(option) }
        }
        return options
    }

    private enum PropertyListFormat: String, CaseIterable {
        case xml, binary

        var format: PropertyListWriter.Format { self == .xml ? .xml : .binary }
    }

    // MARK: Authorization

    private static func readAuthorization(_ map: StrictMap) -> Located<String>? {
        let given = map.entries.map(\.key)
        guard given.count == 1 else {
            map.node.report(
                given.isEmpty
                    ? "has no value; give basic: {username, password} or bearer: a token"
                    : "is either basic or bearer; a request has one Authorization")
            return nil
        }
        let value = map["bearer"].map(Self.readBearer) ?? map["basic"]?.map(.basicAuthorization).map(Self.readBasic)
        return (value ?? nil).map { Located($0, at: map.entries[0].position) }
    }

    /// Reads a bearer token. Messages never quote it, as it is a secret.
    private static func readBearer(_ node: StrictNode) -> String? {
        guard let token = node.nonEmptyString() else { return nil }
        do throws(SerializationError) {
            return try DefaultFields.bearerAuthorization(token: token)
        } catch {
            node.report(error.message)
            return nil
        }
    }

    private static func readBasic(_ map: StrictMap) -> String? {
        for key in ["username", "password"] where map[key] == nil {
            map.node.report("the key \"\(key)\" is missing; basic needs username and password")
        }
        guard let user = map["username"]?.string(), let password = map["password"]?.string() else { return nil }
        do throws(SerializationError) {
            return try DefaultFields.basicAuthorization(user: user, password: password)
        } catch {
            map.node.report(error.message)
            return nil
        }
    }

    /// Reads the name of a network interface, which need not exist yet: devices come and go.
    private static func readInterface(_ node: StrictNode) -> String?? {
        node.parsed { text throws(Malformed) in
            // IFNAMSIZ is 16, including the zero at the end; the kernel accepts neither white space nor slashes.
            guard (1...15).contains(text.utf8.count), text != ".", text != "..",
                text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") })
            else { throw Malformed("must be the name of a network interface, as in eth0: at most 15 characters") }
            return text
        }
    }

    // MARK: Retries

    /// Reads `retries`. Without the key `on`, both occasions count.
    private static func readRetries(_ map: StrictMap) -> RequestRules.Retries {
        var retries = RequestRules.Retries()
        retries.occasions = Set(RequestRules.Retries.Occasion.allCases)
        map.read("attempts", into: &retries.attempts) { $0.int(0...10) }
        map.read("on", into: &retries.occasions) { node in node.values { $0.choice() }.map(Set.init) }
        if retries.attempts == 0, let node = map["on"] {
            node.report("does nothing while attempts is 0, which tries nothing again; leave one of them out")
        }
        return retries
    }

    // MARK: Throttle

    private static func readThrottle(_ map: StrictMap) -> RequestRules.Throttle {
        var throttle = RequestRules.Throttle()
        map.read("packet", into: &throttle.packet) { $0.byteCount(1...1 << 30) }
        map.read("delay", into: &throttle.delay) { $0.duration(.milliseconds(1) ... .seconds(60)) }
        return throttle
    }
}
