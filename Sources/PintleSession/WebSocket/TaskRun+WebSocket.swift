// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSerialization
internal import PintleWebSocket

/// The connection of a WebSocket, from the response to its request to its end.
extension TaskRun {
    /// Makes a WebSocket of the connection that the origin has switched, gives it to the waiting caller, and waits
    /// until it is closed.
    func open(
        _ arrival: Arrival, _ opening: WebSocketOpening, of task: SessionTask, _ session: Session
    ) async throws(SessionError) {
        let peer = arrival.request.url.authority
        guard let handoff = arrival.flow.takeHandoff() else {
            let violation = ValidationError(
                .responseStatus, "\(peer) answered \(arrival.head.status) to the handshake of a WebSocket",
                status: arrival.head.status, contentType: arrival.head.fields[.contentType])
            throw try await self.rejection(of: arrival, violation)
        }
        let agreement: WebSocketAgreement
        do throws(WebSocketHandshakeError) {
            agreement = try opening.agreement(with: arrival.head)
        } catch {
            handoff.connection.close()
            throw SessionError(
                .malformedResponse, "the answer of \(peer) opens no WebSocket", cause: error.message, underlying: error)
        }
        self.endTimeLimit()
        let link = self.start(handoff, agreement, opening.options, to: peer) { shared in
            let socket = WebSocket(
                url: arrival.request.url, response: arrival.head, task: task, agreement: agreement, shared: shared,
                session: session)
            opening.deliver(socket)
        }
        session.keep(link, on: self.loop)
        defer {
            session.forget(link, on: self.loop)
            self.link = nil
        }
        do throws(SessionError) {
            try await self.wait { link.isOver }
        } catch {
            link.abort(error)
            throw error
        }
        if let failure = link.failure { throw failure }
    }

    private func start(
        _ handoff: ConnectionHandoff, _ agreement: WebSocketAgreement, _ options: WebSocketOptions, to peer: Authority,
        _ deliver: (WebSocketSharedState) -> Void
    ) -> WebSocketLink {
        let machine = WebSocketMachine(
            role: .client, compression: agreement.compression, settings: options.compression ?? WebSocketCompression(),
            messageLimit: options.messageLimit)
        let shared = WebSocketSharedState()
        let link = WebSocketLink(machine, on: self.loop, to: peer, options: options, shared: shared) {
            self.wake()
        }
        self.link = link
        link.start(handoff.connection, early: handoff.early)
        if self.isSuspended { link.suspend() }
        deliver(shared)
        return link
    }
}
