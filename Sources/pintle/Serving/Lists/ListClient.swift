// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// Asks the server of a list for its text.
///
/// It has a session of its own, to which no rule about destinations applies: rules need the list.
enum ListClient {
    /// A text that may be put in force.
    struct Text: Sendable {
        let copy: ListCopy
        let hosts: HostList
    }

    /// Asks for a text, or if the one that is known is still the present one.
    ///
    /// - Returns: the known text, with a new time, if the server confirms it.
    /// - Throws: the reason why the answer cannot be used.
    static func ask(_ fetch: ListFetch, knowing known: Text?, on engine: Engine) async throws(ListFailure) -> Text {
        let session = try Self.session(fetch, engine)
        let answer: Result<Text, ListFailure>
        do throws(ListFailure) {
            answer = .success(try await Self.ask(session, fetch, known))
        } catch {
            answer = .failure(error)
        }
        await session.invalidateAndCancel()
        return try answer.get()
    }

    private static func session(_ fetch: ListFetch, _ engine: Engine) throws(ListFailure) -> Session {
        var configuration = SessionConfiguration()
        configuration.redirects = .never
        configuration.connectTimeout = fetch.timeout
        configuration.timeout = fetch.timeout
        configuration.resourceTimeout = fetch.timeout
        configuration.clientIdentity = fetch.identity
        configuration.proxy = fetch.proxy
        configuration.additionalFields = ["User-Agent": "pintle/\(Version.number)"]
        do {
            return try Session(engine: engine, configuration: configuration, policy: fetch.trust)
        } catch {
            throw ListFailure("\(error)")
        }
    }

    private static func ask(_ session: Session, _ fetch: ListFetch, _ known: Text?) async throws(ListFailure) -> Text {
        var request = SessionRequest("GET", fetch.url)
        if let tag = known?.copy.entityTag { request.fields.append("If-None-Match", tag) }
        if let date = known?.copy.lastModified { request.fields.append("If-Modified-Since", date) }
        let (head, body): (ResponseHead, [UInt8])
        do {
            let response = try await session.stream(request)
            head = response.head
            body = Array(try await response.body.collect(upTo: HostListText.byteLimit).readableBytesView)
        } catch {
            throw ListFailure((error as? SessionError)?.description ?? "\(error)")
        }
        if head.status == 304, let known, !request.fields.pairs.isEmpty {
            return Text(copy: known.copy.confirmed(at: .now()), hosts: known.hosts)
        }
        guard head.status == 200 else { throw ListFailure("it answers with status \(head.status)") }
        let copy = ListCopy(
            url: fetch.url.description, text: body, entityTag: head.fields["ETag"],
            lastModified: head.fields["Last-Modified"], confirmed: .now())
        return try Text(copy)
    }
}

extension ListClient.Text {
    /// - Throws: the reason why the text is no list.
    init(_ copy: ListCopy) throws(ListFailure) {
        let text = HostListText(copy.text)
        if let fault = text.faults.first { throw ListFailure("its text is no list: \(fault.description)") }
        // A server that lost its data must not take all denials away.
        guard text.list.count > 0 else { throw ListFailure("its text has no entry") }
        self.init(copy: copy, hosts: text.list)
    }
}
