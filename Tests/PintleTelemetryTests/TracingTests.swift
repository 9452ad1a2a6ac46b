// SPDX-License-Identifier: Apache-2.0

#if Tracing
import InMemoryTracing
import PintleMessage
import PintleSession
import PintleTelemetry
import PintleTesting
import Testing
import Tracing

/// Spans of a client's tasks, and the context that goes out with them.
@Suite(.timeLimit(.minutes(15))) struct TracingTests {
    private let tracer = InMemoryTracer()

    private func client(_ origin: RawOrigin, _ steps: Interceptor...) throws -> HTTPSession {
        var client = try HTTPSession(base: "http://127.0.0.1:\(origin.port)")
        client.interceptors = steps
        return client
    }

    private static let busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
    private static let done = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"

    @Test func `a request's span lies below the one that it was made in, and its context goes along`() async throws {
        let origin = try RawOrigin(answeringInTurn: Self.done)
        let client = try self.client(origin, .tracing(with: self.tracer))
        let outer = try await self.tracer.withSpan("outer") { span in
            _ = try await client.get("a?secret=1")
            return span.spanContext
        }
        let span = try #require(self.tracer.finishedSpans.first)
        #expect(span.operationName == "GET" && span.kind == .client && span.status == nil)
        #expect(span.parentSpanID == outer.spanID && span.traceID == outer.traceID)
        #expect(
            span.attributes
                == [
                    "http.request.method": "GET", "server.address": "127.0.0.1",
                    "server.port": .int64(Int64(origin.port)),
                    "url.full": "http://127.0.0.1:\(origin.port)/a", "http.response.status_code": 200,
                    "network.protocol.version": "1.1",
                ])
        let injections = self.tracer.performedContextInjections
        #expect(injections.map(\.values[InMemoryTracer.spanIDKey]) == [span.spanID])
        #expect(origin.requests.first?[InMemoryTracer.spanIDKey] == span.spanID)
        #expect(origin.requests.first?[InMemoryTracer.traceIDKey] == span.traceID)
    }

    @Test func `each attempt has a span of its own, which ends before the next begins`() async throws {
        let origin = try RawOrigin(answeringInTurn: Self.busy, Self.done)
        let client = try self.client(origin, .tracing(with: self.tracer) { "\($0.method) a" }, .retry())
        _ = try await client.get("a")
        let spans = self.tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["GET a", "GET a"])
        #expect(spans.map { $0.attributes.get("http.response.status_code") } == [.int64(503), .int64(200)])
        #expect(spans.map { $0.attributes.get("http.request.resend_count") } == [nil, .int64(1)])
        #expect(spans.map { $0.attributes.get("error.type") } == [.string("503"), nil])
        #expect(spans.map { $0.status?.code } == [.error, nil])
        #expect(
            spans.count == 2
                && spans[0].endInstant.nanosecondsSinceEpoch <= spans[1].startInstant.nanosecondsSinceEpoch)
        #expect(self.tracer.activeSpans.isEmpty)
    }

    @Test func `a task that fails ends its span with its error, and another origin hears nothing of the trace`()
        async throws
    {
        let base = try RawOrigin(answeringInTurn: Self.done)
        let other = try RawOrigin { _ = try $0.readRequest() }
        let client = try self.client(base, .tracing(with: self.tracer))
        let error = await #expect(throws: SessionError.self) {
            _ = try await client.get("http://127.0.0.1:\(other.port)/b") { $0.isIdempotent = false }
        }
        let span = try #require(self.tracer.finishedSpans.first)
        #expect(span.attributes.get("error.type") == (error?.code.rawValue).map { .string($0) })
        #expect(span.status?.code == .error && span.errors.count == 1)
        #expect(self.tracer.performedContextInjections.isEmpty)
    }

    @Test func `the tracer of the task that made a request has its span`() async throws {
        let origin = try RawOrigin(answeringInTurn: Self.done)
        let client = try self.client(origin, .tracing())
        try await withTracer(self.tracer) { _ = try await client.get("a") }
        #expect(self.tracer.finishedSpans.count == 1)
    }
}
#endif
