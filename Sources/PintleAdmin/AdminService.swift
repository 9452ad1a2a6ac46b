// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
package import PintleProxy
internal import PintleSerialization
internal import PintleSystem
internal import PintleWatch

/// The admin endpoint: the page, and what the page, scripts and Prometheus read (contract §4).
///
/// It answers on the loop of a second proxy, on a thread that carries no exchange. Long work is done on other threads.
package struct AdminService: LocalService {
    private let gate: AdminGate
    private let program: any AdminProgram
    private let recent: RecentExchanges

    /// - Parameters:
    ///   - hosts: `admin_hosts`.
    ///   - user: the user id of this process.
    package init(
        _ program: any AdminProgram, showing recent: RecentExchanges, credentials: AdminCredentials, hosts: [String],
        user: UInt32
    ) {
        self.gate = AdminGate(credentials: credentials, hosts: hosts, user: user)
        (self.program, self.recent) = (program, recent)
    }

    package func answer(_ request: LocalRequest, by answer: LocalAnswer) {
        let admitted: AdminGate.Admitted
        do throws(AdminGate.Refusal) {
            admitted = try self.gate.judge(request)
        } catch {
            return answer.send(AdminReply(error))
        }
        if admitted.endpoint == .events {
            return EventStream.begin(
                AdminQuery(admitted.query), request.head, by: answer, of: self.program, self.recent)
        }
        if admitted.endpoint == .devTools {
            return DevToolsSocket.begin(request, by: answer, of: self.program, self.recent)
        }
        let bound = LoopBound(answer, loop: answer.loop)
        Task {
            let reply = await self.reply(to: request, admitted)
            bound.run { if !$0.isOver { $0.send(reply) } }
        }
    }

    private func reply(to request: LocalRequest, _ admitted: AdminGate.Admitted) async -> AdminReply {
        do throws(AdminGate.Refusal) {
            return try await self.content(request, admitted, AdminQuery(admitted.query))
        } catch {
            return AdminReply(error)
        }
    }

    private func content(
        _ request: LocalRequest, _ admitted: AdminGate.Admitted, _ query: AdminQuery
    ) async throws(AdminGate.Refusal) -> AdminReply {
        let program = self.program
        switch admitted.endpoint {
        case .health: return AdminReply(text: "ok\n")
        case .readiness:
            let reason = program.unreadiness
            return AdminReply(reason == nil ? 200 : 503, text: "\(reason ?? "ready")\n")
        case .metrics:
            let accepted = request.head.fields.values(of: "Accept")
            let format = MetricsFormat(accept: accepted.isEmpty ? nil : accepted.joined(separator: ","))
            let text = await program.metrics().text(as: format)
            return AdminReply(200, format.contentType, Array(text.utf8), [("Vary", "Accept")])
        case .proxyScript: return try ProxyScript(program.places, asked: request.head.fields["Host"]).reply
        case .authority:
            guard let authority = program.authority else {
                throw AdminGate.Refusal(
                    status: 404, title: "No authority", detail: "no tunnel is intercepted, so that there is none")
            }
            return AdminReply(200, "application/x-pem-file", Array(authority.utf8))
        case .page: return PageFiles.page(isSignedIn: admitted.isSignedIn)
        case .assets: return try PageFiles.asset(admitted.name)
        case .session: return try self.session(request, admitted)
        case .activity: return AdminReply(json: ActivityAnswer(program, self.recent).text)
        case .exchanges:
            return try await self.aside { [recent] () throws(AdminGate.Refusal) in
                AdminReply(json: try ExchangeList(recent, program).text(query))
            }
        case .exchange:
            guard let kept = self.recent.find(id: admitted.name) else {
                throw AdminGate.Refusal(
                    status: 404, title: "Not kept", detail: "\(admitted.name) is not among the exchanges that are kept")
            }
            return AdminReply(json: ExchangeDetail(kept.exchange, program).text)
        case .running:
            return try await RunningAnswer(await program.running(), program.redaction).reply(query)
        case .routes: return AdminReply(json: RoutesAnswer(program).text)
        case .trust: return AdminReply(json: await TrustAnswer(program).text)
        case .hosts:
            return await self.aside { [recent] in AdminReply(json: HostsAnswer(recent).text) }
        case .archive:
            return try await self.aside { [recent] () throws(AdminGate.Refusal) in
                AdminReply(
                    200, "application/json",
                    ExchangeArchive(recent, program.redaction, version: program.version).text(try query.filter()),
                    [("Content-Disposition", "attachment; filename=\"pintle.har\"")])
            }
        case .questions: return AdminReply(json: QuestionsAnswer(program.active.questions).text)
        case .question:
            return try QuestionsAnswer(program.active.questions)
                .answer(admitted.name, Array(request.body.readableBytesView))
        case .signedAnswer:
            let webhook = program.active.policy.configuration.ask.webhook
            return try QuestionsAnswer(program.active.questions).answer(
                signed: Array(request.body.readableBytesView), request.head.fields[AnswerSignature.field],
                to: admitted.name, webhook)
        case .explanation: return AdminReply(json: try ExplanationAnswer(program).text(query))
        case .reload: return await self.reload(request)
        case .purge: return try await self.purge(request)
        case .preview:
            let text = String(decoding: request.body.readableBytesView, as: UTF8.self)
            return try await self.aside { [recent] () throws(AdminGate.Refusal) in
                AdminReply(json: try PreviewAnswer(recent, program).text(text))
            }
        case .devToolsVersion: return AdminReply(json: self.target(for: request).version)
        case .devToolsTargets: return AdminReply(json: self.target(for: request).list)
        case .events, .devTools: preconditionFailure("BUG: a stream is a whole answer")
        }
    }

    private func target(for request: LocalRequest) -> DevToolsTarget {
        DevToolsTarget(self.program, self.gate.credentials, asked: request.head.fields["Host"] ?? "localhost")
    }

    /// Works on a thread without other duties.
    private func aside<Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> AdminReply
    ) async throws(Failure) -> AdminReply {
        try await ThreadPool.shared.result(of: work)
    }

    // MARK: Changes

    /// Trades the token for a cookie, or takes the cookie back.
    private func session(
        _ request: LocalRequest, _ admitted: AdminGate.Admitted
    ) throws(AdminGate.Refusal) -> AdminReply {
        let attributes = "Path=/; HttpOnly; SameSite=Strict"
        if request.head.method == "DELETE" {
            return AdminReply(empty: 204, [("Set-Cookie", "\(admitted.cookieName)=; Max-Age=0; \(attributes)")])
        }
        let given = String(decoding: request.body.readableBytesView, as: UTF8.self)
        guard self.gate.credentials.isToken(given) else {
            throw AdminGate.Refusal(
                status: 401, title: "Not the token",
                detail: "this is not the token of the running process; `pintle status` prints the link with it")
        }
        let cookie = self.gate.credentials.cookie
        return AdminReply(empty: 204, [("Set-Cookie", "\(admitted.cookieName)=\(cookie); \(attributes)")])
    }

    private func reload(_ request: LocalRequest) async -> AdminReply {
        let wanted = request.head.fields["If-Match"].map { String($0.filter { $0 != "\"" }) }
        var refusal: AdminGate.Refusal
        switch await self.program.reload(ifRevision: wanted == "*" ? nil : wanted) {
        case .done(let lines):
            let answer = Parameter.object([
                ("revision", .string(self.program.revision)), ("lines", .strings(lines)),
            ])
            return AdminReply(json: JSONText.value(answer))
        case .outdated:
            refusal = AdminGate.Refusal(
                status: 412, title: "Another configuration is in force",
                detail: "the revision in force is \(self.program.revision)")
        case .refused(let lines):
            refusal = AdminGate.Refusal(
                status: 422, title: "Not reloaded", detail: lines.first ?? "the configuration was not reloaded")
            refusal.more = [("lines", .strings(lines))]
        }
        return AdminReply(refusal)
    }

    private func purge(_ request: LocalRequest) async throws(AdminGate.Refusal) -> AdminReply {
        let selection = try Self.selection(of: request)
        guard let count = await self.program.purge(selection) else {
            throw AdminGate.Refusal(
                status: 422, title: "Nothing is stored", detail: "no route stores answers; set routes[].cache")
        }
        return AdminReply(json: JSONText.value(.object([("count", .integer(Int64(count)))])))
    }

    private static func selection(of request: LocalRequest) throws(AdminGate.Refusal) -> CacheSelection {
        let document = try? JSONScanner().parse(Array(request.body.readableBytesView))
        if case .string(let url) = document?["url"] { return CacheSelection(url: url) ?? .url(url) }
        if case .string(let prefix) = document?["prefix"] { return CacheSelection(prefix: prefix) }
        if case .string(let tag) = document?["tag"] { return .tag(tag) }
        if case .bool(true) = document?["all"] { return .all }
        throw AdminGate.Refusal(
            status: 400, title: "Nothing is named",
            detail: "the body is {\"url\": …}, {\"prefix\": …}, {\"tag\": …} or {\"all\": true}")
    }
}

extension LocalAnswer {
    func send(_ reply: AdminReply) { self.send(reply.head, reply.body) }
}
