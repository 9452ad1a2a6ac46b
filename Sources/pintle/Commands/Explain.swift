// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
internal import PintleMessage
internal import PintlePolicy

struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what a configuration does with one request, and why, without network.",
        discussion: """
            For CONNECT give host:port in place of the URL; for a request to the gateway the path, and --header 'Host: name'; for a \
            connection that 'run --isolate' captures --captured CONNECT host:port.
            """)

    @OptionGroup var configuration: ConfigurationOptions

    @Argument(help: "The method, as in GET.")
    var method: String

    @Argument(help: "The URL that the client asks for, or the path where it asks the gateway.")
    var url: String

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "A header field of the request, as 'Name: value'; credentials as Name:env:NAME.", valueName: "field"))
    var headers: [String] = []

    @Flag(help: "The connection was captured: its client did not ask the proxy.")
    var captured = false

    func run() throws {
        guard FieldSyntax.isName(self.method) else {
            throw CommandFailure(.usage, "pintle explain: \(self.method.debugDescription) is not a method, as in GET")
        }
        guard !self.captured || self.method == "CONNECT" else {
            throw CommandFailure(
                .usage, "pintle explain: --captured is about a connection; give CONNECT and host:port with it")
        }
        let surroundings = LoaderEnvironment.system(environment: Inherited.environment)
        var head = RequestHead(method: self.method, target: try self.target())
        let reader = GivenField(of: "pintle explain", surroundings)
        for text in self.headers {
            let (name, value) = try reader.read(text)
            head.fields.append(name, value)
        }
        let (policy, origin) = try self.configuration.load()
        Output.error("configuration: \(origin)")
        let explanation: Explanation
        do throws(Problem) {
            explanation = try Explanation(policy, head, isCaptured: self.captured)
        } catch {
            throw CommandFailure(
                .found, "pintle explain: answered with \(error.status) \(error.name.title): \(error.detail)")
        }
        for line in explanation.lines { try Output.prose(line.description) }
    }

    private func target() throws(CommandFailure) -> RequestTarget {
        if self.method == "CONNECT" {
            guard let authority = Authority(self.url, defaultPort: 443) else {
                throw CommandFailure(.usage, "pintle explain: \(self.url.debugDescription) is not host:port")
            }
            return .authority(authority)
        }
        if self.url.hasPrefix("/") { return try self.gatewayTarget() }
        do throws(HTTPURLError) {
            let url = try HTTPURL(self.url)
            return .absolute(scheme: url.scheme, authority: url.authority, path: url.path)
        } catch {
            throw CommandFailure(.usage, "pintle explain: \(self.url.debugDescription): \(error)")
        }
    }

    /// Returns the target of a request that uses the proxy as a gateway.
    private func gatewayTarget() throws(CommandFailure) -> RequestTarget {
        guard self.headers.contains(where: { $0.lowercased().hasPrefix("host:") }) else {
            throw CommandFailure(
                .usage,
                "pintle explain: a path is asked of the gateway, which chooses by the Host; add --header 'Host: name'")
        }
        do throws(HTTPURLError) {
            // Normalized as by a client: dot segments are removed, and characters that are not allowed are escaped.
            return .origin(path: try HTTPURL("http://host\(self.url)").path)
        } catch {
            throw CommandFailure(.usage, "pintle explain: \(self.url.debugDescription): \(error)")
        }
    }
}
