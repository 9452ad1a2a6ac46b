// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization

/// The reasons for the treatment of a request, by the configuration in force: as `pintle explain` gives them.
struct ExplanationAnswer {
    private let policy: Policy
    private let file: String?
    private let redaction: Redaction

    init(_ program: any AdminProgram) {
        (self.policy, self.file, self.redaction) = (program.active.policy, program.configurationFile, program.redaction)
    }

    /// `method`, `url`, `user`, `tag`, and `header` for each field, as `Name: value`.
    func text(_ query: AdminQuery) throws(AdminGate.Refusal) -> [UInt8] {
        let method = query["method"] ?? "GET"
        guard FieldSyntax.isName(method), let url = query["url"], let target = Self.target(url, of: method) else {
            throw AdminGate.Refusal(
                status: 400, title: "Not a request",
                detail: "give `method` and `url`: a URL, host:port for CONNECT, or the path of a request to the gateway"
            )
        }
        var head = RequestHead(method: method, target: target)
        for line in query.values(of: "header") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, FieldSyntax.isName(String(parts[0])) else {
                throw AdminGate.Refusal(
                    status: 400, title: "Not a field", detail: "\(line) is not a field, as in `Name: value`")
            }
            head.fields.append(String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
        guard !head.fields.contains(.proxyAuthorization) else {
            throw AdminGate.Refusal(
                status: 400, title: "Not a field",
                detail: "Proxy-Authorization says who the client is; give `user` and `tag` instead")
        }
        let client: ProxyIdentity
        do throws(Malformed) {
            client = try self.policy.identity(user: query["user"], tag: query["tag"])
        } catch {
            throw AdminGate.Refusal(status: 400, title: "Not a client", detail: error.reason)
        }
        return JSONText.value(.object(self.members(head, of: client)))
    }

    private static func target(_ url: String, of method: String) -> RequestTarget? {
        if method == "CONNECT" { return Authority(url, defaultPort: 443).map { .authority($0) } }
        if url.hasPrefix("/") { return .origin(path: url) }
        return (try? HTTPURL(url)).map { .absolute(scheme: $0.scheme, authority: $0.authority, path: $0.path) }
    }

    /// The reasons for the treatment of a request; see ``ExplanationDocument``.
    func members(_ head: RequestHead, of client: ProxyIdentity) -> [(String, Parameter?)] {
        ExplanationDocument(self.policy, head, of: client, file: self.file, redaction: self.redaction).members
    }
}

/// The head of a request that goes upstream, without secrets.
struct SentAnswer {
    let parameter: Parameter

    init(_ head: RequestHead, _ redaction: Redaction) {
        self.parameter = .object([
            ("method", .string(head.method)), ("url", head.target.url.map { .string(redaction.url($0)) }),
            ("fields", FieldsAnswer(head.fields, redaction).parameter),
        ])
    }
}

/// Header fields as pairs, without secrets.
struct FieldsAnswer {
    let parameter: Parameter

    init(_ fields: Fields, _ redaction: Redaction) {
        self.parameter = .array(
            fields.pairs.map { .strings([$0.name, redaction.field(name: $0.name, value: $0.value)]) })
    }
}
