// SPDX-License-Identifier: Apache-2.0

/// Reads the files that `include` names, and those that they include.
///
/// A file comes before what it includes, files of one pattern come in the order of their names, and patterns in that of the
/// list: the order of routes, and so which of them wins, is the same on every machine.
struct IncludeReader {
    /// The most files. A team may have one each.
    static let mostFiles = 256

    /// The maps of the included files.
    private(set) var maps: [StrictMap] = []
    /// Their paths.
    private(set) var files: [String] = []
    private var seen: Set<String> = []

    /// The files that `top`, the map of the main file, includes.
    static func read(_ top: StrictMap) -> IncludeReader {
        var reader = IncludeReader()
        let context = top.node.context
        reader.follow(top, way: [context.surroundings.identity(context.file)])
        return reader
    }

    /// - Parameter way: the files that led here, the last of which has `map`, by what tells them apart.
    private mutating func follow(_ map: StrictMap, way: [String]) {
        guard let node = map["include"], !node.isNull, let nodes = node.oneOrMore() else { return }
        for node in nodes {
            guard let pattern = node.nonEmptyString() else { continue }
            for path in self.paths(node, node.context.resolve(pattern)) { self.include(path, node, way) }
        }
    }

    /// The files that a pattern stands for: none may be, for nobody has put one there yet, but a plain path is a file.
    private func paths(_ node: StrictNode, _ path: String) -> [String] {
        let surroundings = node.context.surroundings
        guard let star = path.firstIndex(where: { "*?[".contains($0) }) else { return [path] }
        // A file that is added is a change as well.
        let folder = path[..<star].lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        surroundings.noteListing(folder)
        return surroundings.matches(path)
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
        do throws(Surroundings.ReadingError) {
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
