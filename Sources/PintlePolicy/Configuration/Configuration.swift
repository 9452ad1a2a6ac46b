// SPDX-License-Identifier: Apache-2.0

/// What a configuration file says, as plain values that were checked but not compiled.
///
/// Each default stands once, beside its property. `Configuration()` is the embedded default: a forward proxy on
/// 127.0.0.1:3128 for loopback clients, with system trust and without interception or an admin endpoint.
package struct Configuration: Sendable, Equatable {
    /// The only version of the format that there is.
    package static let version = 1

    /// Where clients are served. Default 127.0.0.1:3128: the port that proxies are looked for on, out of reach of
    /// the network until someone decides otherwise.
    package var listen: [ListenAddress] = [.standard]
    /// What clients are shown on listeners with TLS; nil where there are none.
    package var listenTLS: IdentityFiles?
    /// Whether violations stop traffic. Default `enforce`: a rule that only reports must be asked for.
    package var enforcement: Enforcement = .enforce
    /// The pseudonym in Via fields, or nil for none. Default `pintle`: loops are found by it.
    package var via: String? = "pintle"
    /// Engine threads and the connections to origins.
    package var engine = EngineConfiguration()
    /// What is written about exchanges.
    package var log = LogConfiguration()
    /// What one client, one message and the whole process may use.
    package var limits = LimitsConfiguration()
    /// Who may use the proxy.
    package var clients = ClientsConfiguration()
    /// What messages to and from the servers that it names must keep to, on every route.
    package var contract: ContractConfiguration?
    /// Where the proxy may connect to.
    package var destinations = DestinationsConfiguration()
    /// The proxies that requests go by. Default none, whatever the environment says.
    package var upstreamProxy: UpstreamProxyConfiguration?
    /// What is done before a CONNECT tunnel opens.
    package var tunnels = TunnelsConfiguration()
    /// The hosts whose tunnels are opened. Default none.
    package var interception = InterceptionConfiguration()
    /// Trust policies in the order of the file. Default none: every origin is held to the system's roots.
    package var trust: [TrustConfiguration] = []
    /// The fate of https destinations that no trust policy names. Default `allow`.
    package var unpinnedHosts: UnpinnedHosts = .allow
    /// The files that are included, in the order in which they are read.
    package var includedFiles: [String] = []
    /// Routes in the order of the file; the first match wins. Default none: requests pass unchanged.
    package var routes: [RouteConfiguration] = []
    /// How much is kept of what origins have answered.
    package var cache = CacheConfiguration()
    /// The activity state machine and its log.
    package var activity = ActivityConfiguration()

    /// Makes the embedded default.
    package init() {}
}

/// Whether breaking a rule stops the traffic or is only written down.
package enum Enforcement: String, Sendable, CaseIterable {
    /// Violations are refused.
    case enforce
    /// Violations are logged and counted; traffic passes.
    case report
}

/// The treatment of https destinations that no trust policy names.
package enum UnpinnedHosts: String, Sendable, CaseIterable {
    /// They pass.
    case allow
    /// They pass, and are logged and counted as violations.
    case report
    /// They are refused.
    case deny
}

/// A value and where the file has it.
package struct Located<Value: Sendable & Hashable>: Sendable, Hashable {
    package var value: Value
    /// Where the value begins.
    package var position: SourcePosition

    package init(_ value: Value, at position: SourcePosition) {
        self.value = value
        self.position = position
    }
}

/// A place in a configuration file; line and column count from 1, columns in Unicode scalars.
package struct SourcePosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let line: Int
    package let column: Int
    /// The file, where it is one that the main file includes.
    package let file: String?

    package init(line: Int, column: Int, in file: String? = nil) {
        self.line = line
        self.column = column
        self.file = file
    }

    /// Places in the main file come first.
    package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.file ?? "", left.line, left.column) < (right.file ?? "", right.line, right.column)
    }

    /// `line:column`, with the file before it where it is not the main one.
    package var description: String {
        self.file.map { "\($0):\(self.line):\(self.column)" } ?? "\(self.line):\(self.column)"
    }

    /// `file:line:column`.
    package func description(inMain main: String) -> String { self.file == nil ? "\(main):\(self)" : self.description }

    /// `line 3`, or `line 3 of routes.yaml`.
    package var words: String { self.file.map { "line \(self.line) of \($0)" } ?? "line \(self.line)" }
}
