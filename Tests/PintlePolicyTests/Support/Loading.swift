// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy

/// An environment of values: nothing touches the disk or the process's environment.
func surroundings(environment: [String: String] = [:], files: [String: String] = [:]) -> LoaderEnvironment {
    LoaderEnvironment(
        environment: environment,
        read: { (path, limit) throws(LoaderEnvironment.ReadingError) in
            guard let text = files[path] else { throw .notFound }
            guard text.utf8.count <= limit else { throw .tooLarge }
            return Array(text.utf8)
        },
        exists: { files[$0] != nil })
}

/// The configuration that `yaml` spells out.
func load(_ yaml: String, _ surroundings: LoaderEnvironment = surroundings()) throws(ConfigurationError)
    -> Configuration
{
    try PolicyLoader.configuration(yaml: Array(yaml.utf8), file: "pintle.yaml", surroundings: surroundings)
}

/// The configuration of a file that says `version: 1` and then `yaml`, compiled.
func policy(_ yaml: String) throws -> Policy {
    try PolicyLoader.policy(
        yaml: Array("version: 1\n\(yaml)".utf8), file: "pintle.yaml", surroundings: surroundings())
}

/// Two well-formed pins of keys that do not exist.
enum Pins {
    static let one = "sha256/" + String(repeating: "A", count: 43) + "="
    static let two = "sha256/" + String(repeating: "B", count: 42) + "E="
}

/// Every problem of `yaml`, or an empty list.
func problems(_ yaml: String, _ surroundings: LoaderEnvironment = surroundings()) -> [String] {
    do throws(ConfigurationError) {
        _ = try load(yaml, surroundings)
        return []
    } catch {
        return error.problems.map(\.description)
    }
}

/// A query for a URL; the port is the scheme's unless the URL has one.
func query(
    _ method: String = "GET", _ url: String, form: RouteQuery.Form = .proxy
) throws -> RouteQuery {
    let isHTTPS = url.hasPrefix("https://")
    let scheme: Scheme = isHTTPS ? .https : .http
    let rest = url.dropFirst(isHTTPS ? 8 : 7)
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    guard let authority = Authority(rest[..<slash], defaultPort: scheme.defaultPort) else {
        throw Malformed("the test's URL \(url)")
    }
    let path = slash == rest.endIndex ? "/" : String(rest[slash...])
    return RouteQuery(method: method, scheme: scheme, authority: authority, path: path, form: form)
}
