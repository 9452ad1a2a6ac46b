// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleSystem

extension Session {
    /// The events of a server, which are waited for over as many connections as it takes.
    ///
    /// A connection that ends, or fails for a reason that may pass, is made again as `reconnection` says, and tells the
    /// server which event was the last. One that is silent for longer than the request's time-out has failed; servers
    /// send comments to prevent that.
    ///
    /// - Parameters:
    ///   - request: gets an Accept and a Cache-Control where it has none. A Last-Event-ID is written by the source.
    ///   - source: a body, as services have it that answer a question with a stream. Such a request is sent once, unless
    ///     its method is among ``EventReconnection/methods``.
    ///   - lastEventID: what was read before, such as by another process; empty for nothing.
    ///   - limit: the most bytes of an event, and of a line. Default 1 MiB.
    ///   - reconnection: when connections are made again; nil for never.
    ///   - onChange: told of connections and pauses, between two events and on no particular thread.
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
    /// - Throws: ``SessionError`` with `cancelled`; the end of the session is noticed by who uses it next.
    func wait(for pause: Duration) async throws(SessionError) {
        let isOver = OneTimeEvent()
        // Once it is invalid its engine may be stopped, and with it the timer.
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
