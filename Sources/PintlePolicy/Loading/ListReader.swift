// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Reads `lists`, and the texts of lists in files.
enum ListReader {
    /// More often would be a burden for the server, and more than 30 days is a slip.
    private static let intervals: ClosedRange<Duration> = .seconds(1) ... .seconds(30 * 86_400)
    /// A command must not wait for long.
    private static let timeouts: ClosedRange<Duration> = .milliseconds(100) ... .seconds(300)

    /// - Parameters:
    ///   - maps: the `lists` of the main file and of the included files.
    ///   - configuration: with the listeners, the trust policies and the enforcement.
    static func read(_ maps: [StrictNode], beside configuration: Configuration) -> [ListConfiguration] {
        var lists: [ListConfiguration] = []
        var places: [String: SourcePosition] = [:]
        let trust = TrustIndex(configuration)
        for entry in maps.flatMap({ $0.entries() ?? [] }) {
            if let other = places[entry.key] {
                entry.value.context.report(
                    "\(entry.key.excerpt) is the name of the list at \(other.words) too",
                    path: entry.value.path, at: entry.position)
                continue
            }
            places[entry.key] = entry.position
            if !TrustReader.isName(entry.key) {
                entry.value.context.report(
                    "a name has 1 to 64 letters, digits and -._", path: entry.value.path, at: entry.position)
            }
            // A list that cannot be read still has its name, so rules that use the name are not reported.
            let list = entry.value.map(.list).flatMap { Self.list(entry, $0, configuration, trust) }
            lists.append(list ?? ListConfiguration(name: entry.key, position: entry.position, source: .file("")))
        }
        return lists
    }

    private static func list(
        _ entry: StrictEntry, _ map: StrictMap, _ configuration: Configuration, _ trust: TrustIndex
    ) -> ListConfiguration? {
        switch (map["file"], map["url"]) {
        case (let file?, nil):
            for key in ["trust", "every", "timeout"] {
                map[key]?.report("belongs to a url; a file is read when the configuration is")
            }
            guard let name = file.nonEmptyString() else { return nil }
            let path = file.resolve(name)
            var list = ListConfiguration(name: entry.key, position: entry.position, source: .file(path))
            list.hosts = Self.hosts(file, path)
            return list
        case (nil, let place?):
            return Self.remote(place, map, configuration, trust).map {
                ListConfiguration(name: entry.key, position: entry.position, source: .remote($0))
            }
        case (nil, nil):
            map.node.report("the key \"file\" is missing, or \"url\": the text of the list, with a host on each line")
        case (_, let url?):
            url.report("a list has a file or a url; make two lists of them")
        }
        return nil
    }

    private static func hosts(_ node: StrictNode, _ path: String) -> HostList {
        let bytes: [UInt8]
        do throws(LoaderEnvironment.ReadingError) {
            bytes = try node.context.surroundings.read(path, HostListText.byteLimit)
        } catch {
            node.report(error.words(for: path, limit: HostListText.byteLimit))
            return HostList()
        }
        let text = HostListText(bytes)
        for fault in text.faults { node.report("the list \(path), \(fault.description)") }
        return text.list
    }

    private static func remote(
        _ node: StrictNode, _ map: StrictMap, _ configuration: Configuration, _ index: TrustIndex
    ) -> ListConfiguration.Remote? {
        let url = node.parsed { text throws(Malformed) in
            let url: HTTPURL
            do throws(HTTPURLError) { url = try HTTPURL(text) } catch { throw Malformed(error.message) }
            guard url.scheme == .https else {
                throw Malformed("must be https: a list decides where requests may go; on this machine it is a file")
            }
            return url
        }
        guard let url else { return nil }
        // The proxy would need the list to answer.
        if let listener = configuration.listen.first(where: { $0.isReached(by: url.authority) }) {
            node.report("\(url.authority) is this proxy, which listens on \(listener): a loop")
        }
        var remote = ListConfiguration.Remote(url: url)
        map.read("every", into: &remote.every) { $0.duration(Self.intervals) }
        map.read("timeout", into: &remote.timeout) { $0.duration(Self.timeouts) }
        let purpose = "so that anybody on the way could change the list"
        if let trust = map["trust"] {
            remote.trust = trust.enforcedTrust(index, otherwise: purpose)
        } else if let policy = index.policy(for: url.authority),
            let obstacle = policy.leniency(under: configuration.enforcement)
        {
            node.report(
                "\(policy.name), the trust policy for \(url.authority), \(obstacle), \(purpose); name another one with "
                    + "trust")
        }
        return remote
    }

    /// Reports rules about lists that there are not.
    static func checkUses(in configuration: Configuration, _ context: LoadingContext) {
        let names = Set(configuration.lists.map(\.name))
        let rules = configuration.destinations
        for (key, entries) in [("destinations.allow", rules.allow), ("destinations.deny", rules.deny)] {
            for (index, entry) in entries.enumerated() {
                guard let name = entry.list, !names.contains(name) else { continue }
                context.report(
                    Self.refusal(of: name, beside: configuration.lists), path: "\(key)[\(index)].list",
                    at: rules.places["\(key)[\(index)]"])
            }
        }
    }

    private static func refusal(of name: String, beside lists: [ListConfiguration]) -> String {
        let hint =
            name.nearest(of: lists.map(\.name)).map { "did you mean \"\($0)\"?" }
            ?? "write lists: {\(name.excerpt): {file: FILE}}"
        return "there is no list \"\(name.excerpt)\"; \(hint)"
    }
}
