// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleMessage
internal import PintlePolicy

/// Fuzzes a configuration file: it is refused with places of its lines, or makes a policy that decides.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzConfiguration(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    // Certificates are read from the disk, and reading a device may never end.
    guard !["/dev", "/proc", "/sys"].contains(where: { bytes.contains($0) }) else { return 0 }
    let read = outcome { () throws(ConfigurationError) in
        try PolicyLoader.configuration(yaml: bytes, file: file, surroundings: surroundings)
    }
    let compiled = outcome { () throws(ConfigurationError) in
        try PolicyLoader.policy(yaml: bytes, file: file, surroundings: surroundings)
    }
    switch (read, compiled) {
    case (.success(let configuration), .success(let policy)):
        hold(policy.configuration == configuration, "a policy is that of what was read")
        check(policy)
    case (.success, .failure(let error)), (.failure, .failure(let error)): check(error, of: bytes)
    case (.failure(let error), .success): fatalError("a policy was made of what is refused: \(error)")
    }
    return 0
}

private let file = "/nonexistent/pintle.yaml"

/// The files and variables that a configuration may name.
private let surroundings = LoaderEnvironment(
    environment: ["U": "someone", "P": "secret", "EMPTY": ""],
    read: { (path, limit) throws(LoaderEnvironment.ReadingError) in
        guard let text = files[path] else { throw .notFound }
        guard text.utf8.count <= limit else { throw .tooLarge }
        return Array(text.utf8)
    },
    exists: { files[$0] != nil })

private let files = [
    "/nonexistent/users": "someone:$2y$05$abcdefghijklmnopqrstuuFCkgjvQPOdMnzmYJyqoJxBjWj1yQkTa\n",
    "/nonexistent/schema.json": ##"{"type": "object", "properties": {"a": {"$ref": "#"}}}"##,
    "/nonexistent/secret": "word\n",
    "/nonexistent/other.yaml": "routes: [{name: more, match: {hosts: [b.test]}}]",
]

private func check(_ error: ConfigurationError, of bytes: [UInt8]) {
    hold(!error.problems.isEmpty, "a refusal has a reason")
    // YAML's lines end with CR, too; NEL and the Unicode separators are refused.
    let lines = bytes.count { $0 == 0x0A || $0 == 0x0D } + 2
    hold(error.lines.count <= ConfigurationProblems.mostKept + 1, "the problems are bounded")
    for problem in error.problems {
        hold(!problem.message.isEmpty, "a problem says what is wrong")
        guard let position = problem.position else { continue }
        hold(position.line >= 1 && position.column >= 1, "places count from one: \(problem)")
        hold(position.line <= lines, "a problem is in the file: \(problem)")
    }
}

private func check(_ policy: Policy) {
    for route in policy.routes.routes {
        _ = RouteSummary(route.configuration, policy.configuration.enforcement).description
    }
    _ = Lint(policy).findings
    let authority = Authority(host: "a.test", port: 443)
    for path in ["/", "/v1/x?a=b", "/a/../b"] {
        let query = RouteQuery(method: "GET", scheme: .https, authority: authority, path: path)
        _ = try? policy.decide(query)
        let head = RequestHead(method: "GET", target: .absolute(scheme: .https, authority: authority, path: path))
        _ = try? Explanation(policy, head).lines
    }
    _ = policy.decideTunnel(RouteQuery(method: "CONNECT", scheme: .https, authority: authority, path: "/"))
}

extension [UInt8] {
    fileprivate func contains(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard self.count >= wanted.count else { return false }
        return (0...(self.count - wanted.count)).contains { self[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }
}
