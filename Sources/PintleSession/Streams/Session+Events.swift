// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleSystem

extension Session {
    /// Returns the events of a server, over as many connections as necessary.
    ///
    /// A connection that ends, or fails in a way that may pass, is made again by the rules of `reconnection`, with the
    /// id of the last event. A connection that is silent for longer than the request's time-out has failed; servers
    /// send comments to prevent that.
    ///
    /// - Parameters:
    ///   - request: gets an Accept and a Cache-Control if it has none. The source writes Last-Event-ID.
    ///   - source: a body, for services that answer a question with a stream. Such a request is sent once, unless its
    ///     method is among ``EventReconnection/methods``.
    ///   - lastEventID: the id of the last event read before, for example by another process; empty for none.
    ///   - limit: the highest number of bytes of an event, and of a line. Default 1 MiB.
    ///   - reconnection: the rules for reconnecting; nil for never.
    ///   - onChange: called for connections and pauses, between two events and on any thread.
    public func serverSentEvents(
        _ request: SessionRequest, from source: UploadSource? = nil, lastEventID: String = "", limit: Int = 1 << 20,
        reconnection: EventReconnection? = EventReconnection(),
        onChange: (@Sendable (EventSource.Change) -> Void)? = nil
    ) -> EventSource {
        EventSource(
            session: self, request: request, source: source, interception: nil, lastEventID: lastEventID, limit: limit,
            reconnection: reconnection, onChange: onChange)
    }

    /// Waits, unless the task is cancelled or the session ends.
    ///
    /// - Throws: ``SessionError`` with `cancelled`. The end of the session shows in its next use.
    func wait(for pause: Duration) async throws(SessionError) {
        let isOver = Latch()
        // When the session is invalid, its engine may be stopped, and with it the timer.
        let watch = Task { [events = self.eventStream()] in
            for await case .sessionInvalidated in events { break }
            if !Task.isCancelled { isOver.happen() }
        }
        let timer = self.engine.loops[0].scheduleTask(in: TimeAmount(limit: pause)) { isOver.happen() }
        defer {
            timer.cancel()
            watch.cancel()
        }
        await withTaskCancellationHandler {
            await isOver.wait()
        } onCancel: {
            isOver.happen()
        }
        if Task.isCancelled { throw .cancelled }
    }
}
