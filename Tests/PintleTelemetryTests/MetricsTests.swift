// SPDX-License-Identifier: Apache-2.0

#if Metrics
import CoreMetrics
import MetricsTestKit
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTelemetry
import PintleTesting
import Testing

/// Figures about a client's tasks, as a program's metrics get them.
@Suite(.timeLimit(.minutes(15))) struct MetricsTests {
    private let metrics = TestMetrics()

    private func client(_ origin: RawOrigin, _ steps: Interceptor...) throws -> HTTPSession {
        var client = try HTTPSession(base: "http://127.0.0.1:\(origin.port)")
        client.interceptors = steps
        return client
    }

    @Test func `an answer is measured: its time, its bytes, its method and its status`() async throws {
        let origin = try RawOrigin(answeringInTurn: "HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\ndone")
        let client = try self.client(origin, .metrics(to: self.metrics) { [("route", $0.originalRequest.url.path)] })
        try await client.post("orders?secret", body: .text("12345"))
        let dimensions = [
            ("http.request.method", "POST"), ("http.response.status_code", "201"), ("route", "/orders?secret"),
        ]
        let timer = try self.metrics.expectTimer("http.client.request.duration", dimensions)
        #expect(timer.values.count == 1 && timer.values.allSatisfy { $0 > 0 })
        #expect(
            try self.metrics.expectRecorder("http.client.request.body.size", dimensions).values == [5])
        #expect(
            try self.metrics.expectRecorder("http.client.response.body.size", dimensions).values == [4])
        #expect(self.metrics.counters.isEmpty)
    }

    @Test func `requests that were made again are counted, and a method of somebody's making is no dimension`()
        async throws
    {
        let origin = try RawOrigin(
            answeringInTurn: "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        let client = try self.client(origin, .metrics(to: self.metrics), .retry())
        _ = try? await client.task("BREW", "pot", as: HTTPResponseSerializer()) { $0.isIdempotent = true }.run()
        let dimensions = [
            ("http.request.method", "_OTHER"), ("http.response.status_code", "404"), ("error.type", "404"),
        ]
        #expect(try self.metrics.expectCounter("http.client.request.resends", dimensions).totalValue == 2)
        #expect(try self.metrics.expectTimer("http.client.request.duration", dimensions).values.count == 1)
    }

    @Test func `a task without a response is measured under its error, by the factory of the task that made it`()
        async throws
    {
        let origin = try RawOrigin { _ in }
        let client = try self.client(origin, .metrics())
        await withMetricsFactory(self.metrics) {
            _ = try? await client.get("nothing") { $0.isIdempotent = false }
        }
        let timers = self.metrics.timers(label: "http.client.request.duration")
        #expect(timers.count == 1)
        let dimensions = Dictionary(uniqueKeysWithValues: timers.first?.dimensions ?? [])
        #expect(dimensions["http.request.method"] == "GET" && dimensions["http.response.status_code"] == nil)
        #expect(dimensions["error.type"]?.isEmpty == false)
    }
}
#endif
