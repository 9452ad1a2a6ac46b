// SPDX-License-Identifier: Apache-2.0

package import PintlePolicy

/// The places of rules in a configuration's files, by the paths that reasons name: `destinations.deny[3] "*.ads.example"`.
package struct RulePlaces: Sendable {
    private var places: [String: String] = [:]

    /// - Parameters:
    ///   - file: the main file; nil for the embedded default, which has no places.
    ///   - surroundings: access to the files.
    package init(_ policy: Policy, file: String?, surroundings: LoaderEnvironment) {
        guard let file else { return }
        for (index, path) in ([file] + policy.configuration.includedFiles).enumerated() {
            guard let bytes = Preset.bytes(of: path) ?? (try? surroundings.read(path, 16 << 20)),
                let document = try? LocatedValue.read(bytes, file: path)
            else { continue }
            self.add(document, "", path, isIncluded: index > 0)
        }
        for (index, route) in policy.configuration.routes.enumerated() {
            self.places["routes[\(index)]"] = route.position.description(inMain: file)
        }
        for trust in policy.configuration.trust {
            self.places["trust.\(trust.name)"] = trust.position.description(inMain: file)
            for (index, host) in trust.hosts.enumerated() {
                self.places["trust.\(trust.name).hosts[\(index)]"] = host.position.description(inMain: file)
            }
        }
    }

    private mutating func add(_ value: LocatedValue, _ path: String, _ file: String, isIncluded: Bool) {
        switch value {
        case .text: break
        case .list(let elements, _):
            // The lists of an included file are added to those of the files before it.
            let first = isIncluded ? self.count(path) : 0
            for (index, element) in elements.enumerated() {
                self.note("\(path)[\(first + index)]", element.position, file)
            }
        case .map(let entries, _):
            for entry in entries where path.isEmpty || !["routes", "trust"].contains(path) {
                let path = path.isEmpty ? entry.key : "\(path).\(entry.key)"
                if self.places[path] == nil { self.note(path, entry.position, file) }
                self.add(entry.value, path, file, isIncluded: isIncluded)
            }
        }
    }

    private mutating func note(_ path: String, _ position: SourcePosition, _ file: String) {
        self.places[path] = "\(file):\(position.line):\(position.column)"
    }

    private func count(_ path: String) -> Int {
        var count = 0
        while self.places["\(path)[\(count)]"] != nil { count += 1 }
        return count
    }

    /// The place of the rule that a reason begins with, as `file:line:column`; nil if there is none.
    package func place(of reason: String) -> String? {
        var path = reason.prefix { !" \",:".contains($0) }[...]
        while !path.isEmpty {
            if let place = self.places[String(path)] { return place }
            // A key that is left to its default has the place of the section.
            guard let end = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            path = path[..<end]
        }
        return nil
    }
}
