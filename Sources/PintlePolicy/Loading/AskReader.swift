// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// Reads `ask`.
enum AskReader {
    /// A question that is open for less than a second cannot be answered, and clients do not wait for more than a day.
    static let timeouts: ClosedRange<Duration> = .seconds(1) ... .seconds(86_400)

    /// - Parameter configuration: with the listeners and the trust policies.
    /// - Returns: nil after an error.
    static func read(_ node: StrictNode, beside configuration: Configuration) -> AskConfiguration? {
        guard let map = node.map(.ask) else { return nil }
        var ask = AskConfiguration()
        map.read("timeout", into: &ask.timeout) { $0.duration(Self.timeouts) }
        map.read("waiting", into: &ask.waiting) { $0.int(1...1000) }
        map.read("webhook", into: &ask.webhook) { Self.webhook($0, configuration) }
        return ask
    }

    private static func webhook(_ node: StrictNode, _ configuration: Configuration) -> AskConfiguration.Webhook?? {
        if node.isOff { return .some(nil) }
        guard let map = node.map(.askWebhook) else { return nil }
        for key in ["url", "secret"] where map[key] == nil {
            node.report("the key \"\(key)\" is missing; a webhook is {url: URL, secret: env:NAME}")
        }
        guard let place = map["url"], let url = Self.url(place), let secret = map["secret"].flatMap(Self.secret) else {
            return nil
        }
        // The question would be asked about itself.
        if let listener = configuration.listen.first(where: { $0.isReached(by: url.authority) }) {
            place.report("\(url.authority) is this proxy, which listens on \(listener): a loop")
        }
        var webhook = AskConfiguration.Webhook(url: url, secret: secret, variable: map["secret"]?.reference?.variable)
        map.read("trust", into: &webhook.trust) { Self.trust($0, configuration).map { .some($0) } }
        return webhook
    }

    private static func url(_ node: StrictNode) -> HTTPURL? {
        node.parsed { text throws(Malformed) in
            let url: HTTPURL
            do throws(HTTPURLError) { url = try HTTPURL(text) } catch { throw Malformed(error.message) }
            let host = url.authority.host
            guard url.scheme == .https || host == "localhost" || IPAddress(host)?.isLoopback == true else {
                throw Malformed("must be https: an answer decides where requests may go; only loopback may be http")
            }
            return url
        }
    }

    private static func secret(_ node: StrictNode) -> String? {
        guard let reference = node.reference, reference.isWhole else {
            node.report("must be env:NAME or file:PATH: a secret does not stand in the configuration")
            return nil
        }
        guard let secret = node.string() else { return nil }
        let lengths = AskConfiguration.secretLengths
        guard lengths.contains(secret.utf8.count) else {
            node.report(
                "\(node.quoted): a secret has \(lengths.lowerBound) to \(lengths.upperBound) bytes; this has "
                    + "\(secret.utf8.count)")
            return nil
        }
        return secret
    }

    private static func trust(_ node: StrictNode, _ configuration: Configuration) -> Located<String>? {
        guard let name = node.nonEmptyString() else { return nil }
        let names = configuration.trust.map(\.name)
        guard names.contains(name) else {
            let hint = name.nearest(of: names).map { "; did you mean \"\($0)\"?" } ?? ""
            node.report("there is no trust policy \(name.excerpt)\(hint)")
            return nil
        }
        return Located(name, at: node.position)
    }
}
