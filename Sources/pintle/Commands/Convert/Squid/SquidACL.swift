// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// A list of `acl` lines with one name.
struct SquidACL: Equatable {
    enum Condition: Equatable {
        /// The client's address.
        case source([AddressSpan])
        /// The address of the server.
        case destination([AddressSpan])
        /// The host of the request.
        case domain([HostPattern])
        case port([ClosedRange<Int>])
        /// The request is a CONNECT.
        case connect
        /// The client has shown a right password.
        case authenticated
        /// A kind of request that Pintle has none of: Squid's own pages, FTP.
        case never
        /// A condition that Pintle does not have, in words.
        case unknown(String)
    }

    let name: String
    /// The type as the file spells it.
    let type: String
    var condition: Condition
    /// Values that the condition lacks, since they are no names: addresses among names.
    var leftOut: [String] = []

    /// Lists that are there without an `acl` line.
    static let predefined: [String: SquidACL] = {
        let lists: [(String, String, Condition)] = [
            ("all", "src", .source(AddressSpan.all)),
            ("manager", "url_regex", .never),
            ("localhost", "src", .source(Self.ranges("127.0.0.1", "::1"))),
            ("to_localhost", "dst", .destination(Self.ranges("127.0.0.0/8", "0.0.0.0/32", "::1", "::"))),
            ("to_linklocal", "dst", .destination(Self.ranges("169.254.0.0/16", "fe80::/10"))),
            ("CONNECT", "method", .connect),
        ]
        return Dictionary(uniqueKeysWithValues: lists.map { ($0.0, SquidACL(name: $0.0, type: $0.1, condition: $0.2)) })
    }()

    private static func ranges(_ texts: String...) -> [AddressSpan] { texts.compactMap(AddressSpan.init(squid:)) }

    /// Reads the values of a line.
    ///
    /// - Parameter values: without options such as `-n`, and with the contents of files in their places.
    static func condition(_ type: String, _ values: [String]) -> Condition {
        switch type {
        case "src": Self.addresses(values).map { .source($0) } ?? .unknown("src with a name, which Squid looks up once")
        case "dst":
            Self.addresses(values).map { .destination($0) } ?? .unknown("dst with a name, which Squid looks up once")
        case "dstdomain": .domain(values.flatMap { Self.patterns($0) ?? [] })
        case "port": Self.ports(values).map { .port($0) } ?? .unknown("port with a value that is no port")
        case "method" where values == ["CONNECT"]: .connect
        case "method": .unknown("method \(values.joined(separator: " ").excerpt): destinations know no methods")
        case "proxy_auth" where values == ["REQUIRED"]: .authenticated
        case "proxy_auth": .unknown("proxy_auth with names: all users of Pintle's file may do the same")
        case "proto" where values.allSatisfy({ ["cache_object", "FTP", "ftp"].contains($0) }): .never
        case "dstdom_regex", "url_regex", "urlpath_regex": .unknown("\(type): Pintle has no regular expressions")
        default: .unknown("acl of type \(type.excerpt)")
        }
    }

    /// Returns the values of a line that its condition lacks.
    static func leftOut(_ type: String, _ values: [String]) -> [String] {
        type == "dstdomain" ? values.filter { Self.patterns($0) == nil } : []
    }

    /// Adds a further line of the list.
    ///
    /// The values so far are taken out first, so that they are not copied for each of many lines.
    mutating func add(_ line: Condition) {
        switch line {
        case .source(let others):
            guard case .source(var values) = self.condition else { return self.mix(line) }
            self.condition = .never
            values += others
            self.condition = .source(values)
        case .destination(let others):
            guard case .destination(var values) = self.condition else { return self.mix(line) }
            self.condition = .never
            values += others
            self.condition = .destination(values)
        case .domain(let others):
            guard case .domain(var values) = self.condition else { return self.mix(line) }
            self.condition = .never
            values += others
            self.condition = .domain(values)
        case .port(let others):
            guard case .port(var values) = self.condition else { return self.mix(line) }
            self.condition = .never
            values += others
            self.condition = .port(values)
        case .connect, .authenticated, .never, .unknown: self.mix(line)
        }
    }

    /// Adds a line of another kind, or one without values.
    private mutating func mix(_ line: Condition) {
        if case .unknown = self.condition { return }
        if case .unknown = line {
            self.condition = line
        } else if self.condition != line {
            self.condition = .unknown("an acl with different kinds of values")
        }
    }

    private static func addresses(_ values: [String]) -> [AddressSpan]? {
        var ranges: [AddressSpan] = []
        for value in values {
            if ["all", "0/0", "0.0.0.0/0"].contains(value) {
                ranges += AddressSpan.all
            } else if value == "ipv4" || value == "ipv6" {
                ranges.append(AddressSpan.all[value == "ipv4" ? 0 : 1])
            } else {
                guard let range = AddressSpan(squid: value) else { return nil }
                ranges.append(range)
            }
        }
        return ranges
    }

    /// A leading dot stands for the name and everything below it.
    ///
    /// - Returns: nil if the value is no name.
    private static func patterns(_ value: String) -> [HostPattern]? {
        let name = value.lowercased().drop { $0 == "." }
        guard let exact = try? HostPattern(String(name)), case .exact = exact.host, exact.port == nil else {
            return nil
        }
        guard value.hasPrefix(".") else { return [exact] }
        guard let below = try? HostPattern("*.\(name)") else { return nil }
        return [exact, below]
    }

    private static func ports(_ values: [String]) -> [ClosedRange<Int>]? {
        var ranges: [ClosedRange<Int>] = []
        for value in values {
            let ends = value.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last
            else { return nil }
            ranges.append(Int(first)...Int(last))
        }
        return ranges
    }
}

/// A line of `http_access`.
struct SquidRule: Equatable {
    struct Term: Equatable {
        let list: SquidACL
        let isNegated: Bool
    }

    let isAllowing: Bool
    /// All of them must hold.
    let terms: [Term]
    let line: Int

    /// The conditions that Pintle lacks, in words.
    var unknown: [String] {
        self.terms.compactMap { term in
            if case .unknown(let words) = term.list.condition { "\(term.list.name) (\(words))" } else { nil }
        }
    }

    /// True if no request of Pintle matches.
    var isIdle: Bool { self.terms.contains { $0.list.condition == .never && !$0.isNegated } }
}
