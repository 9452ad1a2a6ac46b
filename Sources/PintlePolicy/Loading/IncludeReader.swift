// SPDX-License-Identifier: Apache-2.0

/// Reads the files that `include` names, and those that they include in turn.
///
/// A file comes before the files that it includes, the files of one pattern in the order of their names, and patterns in the
/// order of the list. So the order of routes, which decides which of them wins, is the same on every machine.
struct IncludeReader {
    /// The most included files: enough for one per team.
    static let mostFiles = 256

    /// The maps of the included files.
    private(set) var maps: [StrictMap] = []
    /// The paths of the included files.
    private(set) var files: [String] = []
    private var seen: Set<String> = []

    /// Reads the files that `top`, the map of the main file, includes.
    static func read(_ top: StrictMap) -> IncludeReader {
        var reader = IncludeReader()
        let context = top.node.context
        reader.follow(top, way: [context.surroundings.identity(context.file)])
        return reader
    }

    /// - Parameter way: the identities of the files that led here; the last of them has `map`.
    private mutating func follow(_ map: StrictMap, way: [String]) {
        guard let node = map["include"], !node.isNull, let nodes = node.oneOrMore() else { return }
        for node in nodes {
            guard let pattern = node.nonEmptyString() else { continue }
            if pattern.hasPrefix(Preset.prefix) {
                self.include(preset: pattern, node)
                continue
            }
            for path in self.paths(node, node.resolve(pattern)) { self.include(path, node, way) }
        }
    }

    /// The files that match a pattern. It may match none, as files may come later. A path without wildcards is always one file.
    private func paths(_ node: StrictNode, _ path: String) -> [String] {
        let surroundings = node.context.surroundings
        guard let star = path.firstIndex(where: { "*?[".contains($0) }) else { return [path] }
        // A new file in the folder changes the configuration, too.
        let folder = path[..<star].lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        surroundings.noteListing(folder)
        return surroundings.matches(path)
    }

    private mutating func include(preset entry: String, _ node: StrictNode) {
        guard let bytes = Preset.bytes(of: entry) else {
            let names = Preset.all.map(\.name)
            let hint = entry.dropFirst(Preset.prefix.count).description.nearest(of: names)
            return node.report(
                "\"\(entry)\" is no preset; "
                    + (hint.map { "did you mean \"\(Preset.prefix)\($0)\"?" }
                        ?? "there are \(names.joined(separator: ", "))"))
        }
        guard self.seen.insert(entry).inserted else { return node.report("\(entry) is included before") }
        let context = LoadingContext(of: entry, includedBy: node.context)
        guard let map = YAMLDocument.compose(bytes, context)?.map(.included) else {
            preconditionFailure("BUG: \(entry) is no configuration")
        }
        self.files.append(entry)
        self.maps.append(map)
    }

    private mutating func include(_ path: String, _ node: StrictNode, _ way: [String]) {
        let surroundings = node.context.surroundings
        let identity = surroundings.identity(path)
        guard !way.contains(identity) else {
            let others = way.count > 1 && way.last != identity ? ", by way of \(node.context.file)" : ""
            return node.report("the file \(path) includes itself\(others)")
        }
        guard self.seen.insert(identity).inserted else {
            return node.report("the file \(path) is included before; its routes would be there twice")
        }
        guard self.files.count < Self.mostFiles else {
            return node.report("\(path) is one too many: at most \(Self.mostFiles) files are included")
        }
        self.files.append(path)
        let bytes: [UInt8]
        do throws(LoaderEnvironment.ReadingError) {
            bytes = try surroundings.read(path, YAMLDocument.byteLimit)
        } catch {
            return node.report(error.words(for: path, limit: YAMLDocument.byteLimit))
        }
        let context = LoadingContext(of: path, includedBy: node.context)
        guard let map = YAMLDocument.compose(bytes, context)?.map(.included) else { return }
        if let version = map["version"] { ConfigurationReader.checkVersion(version) }
        self.maps.append(map)
        self.follow(map, way: way + [identity])
    }
}
