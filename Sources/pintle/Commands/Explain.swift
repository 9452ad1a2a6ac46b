// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
internal import PintleMessage
internal import PintlePolicy

struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what a configuration does with one request, and why, without network.",
        usage: "pintle explain [<options>] <method> <url>\npintle explain [--format <format>] [--pid <number>] <id>",
        discussion: """
            For CONNECT give host:port in place of the URL; for a request to the gateway the path, and --header 'Host: name'; for a \
            connection that 'run --isolate' captures --captured CONNECT host:port.

            The id of an exchange in place of a request asks a running proxy: what it did with that exchange, by which rule, and \
            what its configuration says of such a request. The proxy keeps the latest exchanges if it has an admin endpoint.

            Exit code 0 when the rules let the request pass; 1 when Pintle refuses it, or asks a person first; 2 when the command \
            line is wrong; 3 when the configuration is; 4 when no proxy keeps the exchange.
            """)

    @OptionGroup var configuration: ConfigurationOptions

    @Argument(help: "The method, as in GET; or the id of an exchange, which its line in the log has.")
    var method: String

    @Argument(help: "The URL that the client asks for, or the path where it asks the gateway.")
    var url: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "A header field of the request, as 'Name: value'; credentials as Name:env:NAME.", valueName: "field"))
    var headers: [String] = []

    @Option(help: ArgumentHelp("The user of the client, one of clients.basic_auth.", valueName: "name"))
    var user: String?

    @Option(help: ArgumentHelp("The tag of the client, which it adds to its name.", valueName: "tag"))
    var tag: String?

    @Flag(help: "The connection was captured: its client did not ask the proxy.")
    var captured = false

    @Option(help: "The form of the explanation.")
    var format = ExplainFormat.text

    @Option(help: ArgumentHelp("For an exchange: the proxy's process, where several run.", valueName: "number"))
    var pid: Int?

    /// True if the one argument has the form of an exchange's id: two hexadecimal numbers.
    private var namesExchange: Bool {
        let parts = self.method.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isHexDigit) }
    }

    func validate() throws {
        if self.url != nil {
            guard self.pid == nil else {
                throw ValidationError("--pid is for an exchange of a running proxy; a request is explained by a file.")
            }
            return
        }
        guard self.namesExchange else {
            throw ValidationError("Give a method and a URL, or the id of an exchange.")
        }
        guard self.configuration.file == nil, self.headers.isEmpty, !self.captured, self.user == nil, self.tag == nil
        else {
            throw ValidationError(
                "An exchange is explained by the proxy that had it; leave out -c, --header, --user, --tag and --captured."
            )
        }
    }

    func run() async throws {
        guard let url else {
            let proxy = try RunningProxy(process: self.pid)
            guard try self.format.write(exchange: self.method, of: proxy) else {
                throw CommandFailure(.found, lines: [])
            }
            return
        }
        guard FieldSyntax.isName(self.method) else {
            throw CommandFailure(.usage, "pintle explain: \(self.method.debugDescription) is not a method, as in GET")
        }
        guard !self.captured || (self.user == nil && self.tag == nil) else {
            throw CommandFailure(
                .usage, "pintle explain: a client that is captured shows no name; leave out --user and --tag")
        }
        guard !self.captured || self.method == "CONNECT" else {
            throw CommandFailure(
                .usage, "pintle explain: --captured is about a connection; give CONNECT and host:port with it")
        }
        let surroundings = LoaderEnvironment.system(environment: Inherited.environment)
        var head = RequestHead(method: self.method, target: try self.target(url))
        let reader = GivenField(of: "pintle explain", surroundings)
        for text in self.headers {
            let (name, value) = try reader.read(text)
            head.fields.append(name, value)
        }
        guard !head.fields.contains(.proxyAuthorization) else {
            throw CommandFailure(
                .usage,
                "pintle explain: --header Proxy-Authorization says who the client is; give --user and --tag instead")
        }
        let (policy, origin) = try await self.configuration.load()
        Output.error("configuration: \(origin)")
        let client: ProxyIdentity
        do throws(Malformed) {
            client = try policy.identity(user: self.user, tag: self.tag)
        } catch {
            throw CommandFailure(.usage, "pintle explain: \(error.reason)")
        }
        let outcome = try self.format.write(
            head, of: client, isCaptured: self.captured, by: policy, from: origin)
        guard outcome.isPass else { throw CommandFailure(.found, lines: []) }
    }

    private func target(_ url: String) throws(CommandFailure) -> RequestTarget {
        if self.method == "CONNECT" {
            guard let authority = Authority(url, defaultPort: 443) else {
                throw CommandFailure(.usage, "pintle explain: \(url.debugDescription) is not host:port")
            }
            return .authority(authority)
        }
        if url == "*" {
            throw CommandFailure(
                .usage,
                "pintle explain: * asks about the proxy, which answers by itself; give a URL, as in OPTIONS http://host/"
            )
        }
        if url.hasPrefix("/") { return try self.gatewayTarget(url) }
        do throws(HTTPURLError) {
            let asked = try HTTPURL(url)
            return .absolute(scheme: asked.scheme, authority: asked.authority, path: asked.path)
        } catch {
            throw CommandFailure(.usage, "pintle explain: \(url.debugDescription): \(error)")
        }
    }

    /// Returns the target of a request that uses the proxy as a gateway.
    private func gatewayTarget(_ url: String) throws(CommandFailure) -> RequestTarget {
        guard self.headers.contains(where: { $0.lowercased().hasPrefix("host:") }) else {
            throw CommandFailure(
                .usage,
                "pintle explain: a path is asked of the gateway, which chooses by the Host; add --header 'Host: name'")
        }
        do throws(HTTPURLError) {
            // Normalized as by a client: dot segments are removed, and characters that are not allowed are escaped.
            return .origin(path: try HTTPURL("http://host\(url)").path)
        } catch {
            throw CommandFailure(.usage, "pintle explain: \(url.debugDescription): \(error)")
        }
    }
}
