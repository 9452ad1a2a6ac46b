// SPDX-License-Identifier: Apache-2.0

/// The content of a configuration file, as plain values that are checked but not compiled.
///
/// Each default stands once, beside its property. `Configuration()` is the embedded default: a forward proxy on
/// 127.0.0.1:3128 for loopback clients, with system trust and without interception.
package struct Configuration: Sendable, Equatable {
    /// The only version of the file format.
    package static let version = 1

    /// The places that clients connect to. Default 127.0.0.1:3128: the usual port of a proxy, unreachable from the network
    /// until an operator decides otherwise.
    package var listen: [ListenAddress] = [.standard]
    /// The certificate that clients are shown on listeners with TLS; nil if there are no such listeners.
    package var listenTLS: IdentityFiles?
    /// The endpoint for operators.
    package var admin = AdminConfiguration()
    /// The treatment of violations. Default `enforce`: an operator must ask for rules that only report.
    package var enforcement: Enforcement = .enforce
    /// The pseudonym in Via fields, by which loops are found; nil for no Via. Default `pintle`.
    package var via: String? = "pintle"
    /// Engine threads and the connections to origins.
    package var engine = EngineConfiguration()
    /// The log of exchanges.
    package var log = LogConfiguration()
    /// The traces of exchanges; nil for none. Default none.
    package var tracing: TracingConfiguration?
    /// The bodies that are kept beside exchanges; nil for none. Default none.
    package var capture: CaptureConfiguration?
    /// The network of a command that is run in isolation, and connections that are captured.
    package var isolation = IsolationConfiguration()
    /// Secrets that the programs of a command use and cannot read. Default none.
    package var credentials: [CredentialConfiguration] = []
    /// Limits for one client, one message and the whole process.
    package var limits = LimitsConfiguration()
    /// The clients that may use the proxy.
    package var clients = ClientsConfiguration()
    /// The API description that messages to and from the servers it names must keep to, on every route.
    package var contract: ContractConfiguration?
    /// Lists of hosts for rules about destinations, in the order of the files. Default none.
    package var lists: [ListConfiguration] = []
    /// The destinations that the proxy may connect to.
    package var destinations = DestinationsConfiguration()
    /// The bounds of the questions of `destinations`.
    package var ask = AskConfiguration()
    /// The upstream proxies that requests go through. Default none, whatever the environment says.
    package var upstreamProxy: UpstreamProxyConfiguration?
    /// The checks before a CONNECT tunnel opens.
    package var tunnels = TunnelsConfiguration()
    /// The hosts whose tunnels are intercepted. Default none.
    package var interception = InterceptionConfiguration()
    /// Trust policies in the order of the file. Default none: every origin is verified against the system's roots.
    package var trust: [TrustConfiguration] = []
    /// The treatment of https destinations that no trust policy names. Default `allow`.
    package var unpinnedHosts: UnpinnedHosts = .allow
    /// The files that are included, in the order in which they are read.
    package var includedFiles: [String] = []
    /// Routes in the order of the file; the first match wins. Default none: requests pass unchanged.
    package var routes: [RouteConfiguration] = []
    /// The size and place of the cache.
    package var cache = CacheConfiguration()
    /// The activity state machine and its log.
    package var activity = ActivityConfiguration()
    /// The permission for answers that do not come from an origin, and named sets of faults.
    package var simulation = SimulationConfiguration()
    /// The place and the form of recordings.
    package var recordings = RecordingsConfiguration()
    /// The folder with the policy tests of this file, already relative to the process; nil for none.
    package var tests: Located<String>?

    /// Makes the embedded default.
    package init() {}
}

/// The treatment of traffic that breaks a rule.
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

/// A value and its place in the file.
package struct Located<Value: Sendable & Hashable>: Sendable, Hashable {
    package var value: Value
    /// The place of the value's first character.
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
    /// The included file; nil for the main file.
    package let file: String?

    package init(line: Int, column: Int, in file: String? = nil) {
        self.line = line
        self.column = column
        self.file = file
    }

    /// Orders by file, line and column; places in the main file come first.
    package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.file ?? "", left.line, left.column) < (right.file ?? "", right.line, right.column)
    }

    /// `line:column`, with the file before it unless it is the main one.
    package var description: String {
        self.file.map { "\($0):\(self.line):\(self.column)" } ?? "\(self.line):\(self.column)"
    }

    /// `file:line:column`.
    package func description(inMain main: String) -> String { self.file == nil ? "\(main):\(self)" : self.description }

    /// `line 3`, or `line 3 of routes.yaml`.
    package var words: String { self.file.map { "line \(self.line) of \($0)" } ?? "line \(self.line)" }
}
