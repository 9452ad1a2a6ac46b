// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleFuzzing
internal import PintleMessage
internal import PintlePolicy

/// Fuzzes names of destinations: URLs, request targets, authorities, addresses, networks and patterns. Text that two
/// parsers read must mean the same to both, and text that is written back must read as the same value.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAddress(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let lines = fuzzedBytes(data, count).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let texts = lines.prefix(8).map { String(decoding: $0, as: UTF8.self) }
    for text in texts {
        checkURL(text)
        checkAuthority(text)
        checkIPAddress(text)
        checkNetwork(text)
        checkTarget(text)
    }
    if texts.count > 1 { checkResolution(of: texts[1], against: texts[0]) }
    checkHostPatterns(texts)
    checkPathPatterns(texts)
    return 0
}

private func checkURL(_ text: String) {
    guard let url = try? HTTPURL(text) else { return }
    hold((try? HTTPURL(url.description)) == url, "a URL that is written is read as the same")
    hold(
        url.path.first == "/" && url.path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a path is fit for a request line"
    )
    hold(url.asBase().asBase() == url.asBase(), "a base is its own base")
    if let name = url.fileName {
        hold(!name.contains("/") && name != ".." && name != ".", "a file name names no folder")
    }
}

private func checkResolution(of reference: String, against base: String) {
    guard let base = try? HTTPURL(base), let resolved = try? base.resolving(reference) else { return }
    hold((try? HTTPURL(resolved.description)) == resolved, "a resolved URL is a URL")
    guard !reference.isEmpty, !reference.hasPrefix("?"), !reference.hasPrefix("#") else { return }
    let segments = resolved.path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
    hold(!segments.contains(".") && !segments.contains(".."), "a resolved path has no dot segments")
}

private func checkAuthority(_ text: String) {
    guard let authority = Authority(text, defaultPort: 80) else {
        hold(Authority(text, defaultPort: nil) == nil, "a port that may be left out makes no authority less")
        return
    }
    hold(
        Authority(authority.description, defaultPort: nil) == authority,
        "an authority that is written is read as the same")
    for scheme in [Scheme.http, .https] {
        let short = authority.description(for: scheme)
        hold(Authority(short, defaultPort: scheme.defaultPort) == authority, "and as in a URL, too")
    }
    hold(!authority.host.contains { "@/\\?# %\r\n\0".contains($0) }, "a host has nothing that ends one")
}

/// Checks that the C library accepts the same addresses.
private func checkIPAddress(_ text: String) {
    let ours = IPAddress(text)
    if let ours { hold(IPAddress(ours.description) == ours, "an address that is written is read as the same") }
    guard !text.utf8.contains(0) else { return }
    var v4 = [UInt8](repeating: 0, count: 4)
    var v6 = [UInt8](repeating: 0, count: 16)
    let theirs: IPAddress? =
        if inet_pton(AF_INET, text, &v4) == 1 {
            IPAddress(bytes: v4)
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            IPAddress(bytes: v6)
        } else {
            nil
        }
    hold(
        ours == theirs,
        "an address is what inet_pton makes of it: \(String(describing: theirs)), not \(String(describing: ours))")
}

private func checkNetwork(_ text: String) {
    guard let network = try? CIDR(text) else { return }
    hold((try? CIDR(network.description)) == network, "a network that is written is read as the same")
    hold(network.contains(network.address) && network.contains(network), "a network has its own address")
}

/// Checks that the parsers of request lines and of URLs agree on the destination of a request.
private func checkTarget(_ text: String) {
    guard let target = target(of: "GET", text) else { return }
    guard case .absolute(let scheme, let authority, let path) = target else { return }
    guard let url = try? HTTPURL(text) else {
        // A target that is no URL, for example with a backslash, is passed on to the server as it is.
        return
    }
    hold(url.scheme == scheme && url.authority == authority, "a request goes where its URL says")
    hold(!path.isEmpty, "a request has a path")
}

private func target(of method: String, _ text: String) -> RequestTarget? {
    var bytes = Array("\(method) \(text) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    var parser = RequestParser(limits: HeadLimits())
    return bytes.withUnsafeMutableBytes { space in
        (try? parser.parse(UnsafeRawBufferPointer(space)))??.head.target
    }
}

/// Checks that the table of patterns finds the patterns that match one by one.
private func checkHostPatterns(_ texts: [String]) {
    let patterns = texts.compactMap { try? HostPattern($0) }
    var index = HostIndex()
    for (number, pattern) in patterns.enumerated() { index.insert(pattern, number: number) }
    for text in texts {
        guard let authority = Authority(text, defaultPort: 443) else { continue }
        let first = patterns.firstIndex { $0.matches(authority) }
        hold(index.first(authority) { _ in true } == first, "the table finds the first pattern that matches")
        for wide in patterns {
            for narrow in patterns where wide.covers(narrow) && narrow.matches(authority) {
                hold(wide.matches(authority), "a pattern that covers another matches what that does")
            }
        }
    }
}

private func checkPathPatterns(_ texts: [String]) {
    let patterns = texts.compactMap { try? PathPattern($0) }
    for text in texts where text.utf8.first == UInt8(ascii: "/") {
        for wide in patterns {
            for narrow in patterns where wide.covers(narrow) && narrow.matches(text) {
                hold(wide.matches(text), "a path pattern that covers another matches what that does")
            }
        }
    }
}
