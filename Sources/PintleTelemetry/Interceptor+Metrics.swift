// SPDX-License-Identifier: Apache-2.0

#if Metrics
public import CoreMetrics
internal import PintleMessage
public import PintleSession
internal import PintleSystem

extension Interceptor {
    /// Measures the tasks of a client with swift-metrics, under the names of OpenTelemetry's conventions for HTTP clients:
    /// the timer `http.client.request.duration`, from a task's creation to its end; the recorders
    /// `http.client.request.body.size` and `http.client.response.body.size` in bytes; and the counter
    /// `http.client.request.resends` of requests that were sent again, redirects and challenges included.
    ///
    /// Their dimensions are `http.request.method`, `http.response.status_code` if there was a response, and `error.type` if
    /// the task failed (the error's code) or the status is 400 or more. Hosts and paths are no dimensions, because a
    /// program that uses many of them would keep a metric for each.
    ///
    /// - Parameters:
    ///   - factory: the factory of the metrics; nil for the one that applies when a task is created: the task-local one, or
    ///     the system's.
    ///   - dimensions: returns further dimensions, such as the route of a request. Called on an engine thread, at the end of
    ///     the task.
    public static func metrics(
        to factory: (any MetricsFactory)? = nil,
        dimensions: @escaping @Sendable (_ task: SessionTask) -> [(String, String)] = { _ in [] }
    ) -> Interceptor {
        Interceptor { interceptor in
            interceptor.created = { task in
                task[Measurement.self] = Measurement(
                    factory: factory ?? MetricsSystem.factory, beginning: .now)
            }
            interceptor.completed = { task, error in
                guard let measurement = task[Measurement.self] else { return }
                measurement.record(task, error, dimensions(task))
            }
        }
    }
}

/// The measurement of one task, from its creation to its end.
private struct Measurement: SessionTaskKey {
    typealias Value = Measurement

    let factory: any MetricsFactory
    let beginning: ContinuousClock.Instant

    func record(_ task: SessionTask, _ error: SessionError?, _ more: [(String, String)]) {
        let (status, progress) = (task.response?.status, task.progress)
        var dimensions = [("http.request.method", task.originalRequest.conventionalMethod)]
        if let status { dimensions.append(("http.response.status_code", "\(status)")) }
        if let type = HTTPConventions.errorType(status, error) { dimensions.append(("error.type", type)) }
        dimensions += more

        Timer(label: "http.client.request.duration", dimensions: dimensions, factory: self.factory)
            .recordNanoseconds(self.beginning.duration(to: .now).wholeNanoseconds)
        Recorder(label: "http.client.request.body.size", dimensions: dimensions, factory: self.factory)
            .record(Int64(clamping: progress.sent))
        Recorder(label: "http.client.response.body.size", dimensions: dimensions, factory: self.factory)
            .record(Int64(clamping: progress.received))
        let resends = task.metrics.transactions.count - 1
        guard resends > 0 else { return }
        Counter(label: "http.client.request.resends", dimensions: dimensions, factory: self.factory)
            .increment(by: resends)
    }
}
#endif
