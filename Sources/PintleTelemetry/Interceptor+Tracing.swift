// SPDX-License-Identifier: Apache-2.0

#if Tracing
internal import PintleMessage
public import PintleSession
internal import PintleSystem
public import Tracing

extension Interceptor {
    /// Gives each attempt of a task a span of swift-distributed-tracing, as a child of the span in which the task was
    /// created, and sends the span's context with the request, in the tracer's format (`traceparent`).
    ///
    /// Attributes are those of OpenTelemetry's conventions for HTTP clients; `url.full` has no query, because queries may
    /// contain secrets. If the client has a base URL, contexts are sent to its origin only. The span begins after the
    /// interceptors before this one have changed the request, and before those that follow change it.
    ///
    /// - Parameters:
    ///   - tracer: the tracer; nil for the one that applies when a task is created: the task-local one, or the system's.
    ///   - name: returns the name of a request's span; the default is its method. There should be few names.
    public static func tracing(
        with tracer: (any Tracer)? = nil,
        name: @escaping @Sendable (_ request: SessionRequest) -> String = { $0.method }
    ) -> Interceptor {
        Interceptor { interceptor in
            interceptor.created = { task in
                task[TaskTrace.self] = TaskTrace(
                    tracer: tracer ?? InstrumentationSystem.tracer, parent: .current ?? .topLevel)
            }
            interceptor.adapt = { request, attempt in
                attempt.task[TaskTrace.self]?.begin(&request, attempt, name(request))
            }
            interceptor.retry = { outcome, attempt in
                attempt.task[TaskTrace.self]?.note(outcome)
                return .accept
            }
            interceptor.completed = { task, error in
                task[TaskTrace.self]?.end(task, error)
            }
        }
    }
}

/// The spans of one task's attempts, of which only one is open at a time.
private final class TaskTrace: SessionTaskKey, Sendable {
    typealias Value = TaskTrace

    private struct State: Sendable {
        var span: (any Span)?
        /// The result of the attempt whose span is open, used if another attempt follows.
        var outcome: (Interceptor.Outcome, moment: DefaultTracerClock.Timestamp)?
    }

    private let tracer: any Tracer
    private let parent: InstrumentationContext
    private let state = Locked(State())

    init(tracer: any Tracer, parent: InstrumentationContext) {
        self.tracer = tracer
        self.parent = parent
    }

    func begin(_ request: inout SessionRequest, _ attempt: Interceptor.Attempt, _ name: String) {
        self.endAttempt()
        let span = self.tracer.startAnySpan(name, context: self.parent, ofKind: .client)
        span.updateAttributes { attributes in
            let url = request.url
            attributes["http.request.method"] = request.conventionalMethod
            if request.conventionalMethod != request.method {
                attributes["http.request.method_original"] = request.method
            }
            attributes["server.address"] = url.authority.host.description
            attributes["server.port"] = Int(url.authority.port)
            attributes["url.full"] = url.withoutQuery
            if attempt.number > 1 { attributes["http.request.resend_count"] = attempt.number - 1 }
        }
        self.state.withLock { $0.span = span }
        guard !attempt.isElsewhere else { return }
        self.tracer.inject(span.context, into: &request.fields, using: FieldInjector())
    }

    /// Stores the possible end of an attempt, because the wait before the next attempt belongs to neither.
    func note(_ outcome: Interceptor.Outcome) {
        let now = DefaultTracerClock.now
        self.state.withLock { $0.outcome = (outcome, now) }
    }

    private func endAttempt() {
        let taken = self.taken()
        guard let span = taken.span, let outcome = taken.outcome else { return }
        switch outcome.0 {
        case .response(let head): span.describe(head.status, nil)
        case .failure(let error): span.describe(nil, error)
        }
        span.end(at: outcome.moment)
    }

    func end(_ task: SessionTask, _ error: SessionError?) {
        guard let span = self.taken().span else { return }
        span.describe(task.response?.status, error)
        let version = task.metrics.transactions.last?.httpVersion ?? ""
        if !version.isEmpty { span.attributes["network.protocol.version"] = version }
        span.end()
    }

    private func taken() -> State {
        self.state.withLock { state in
            defer { state = State() }
            return state
        }
    }
}

extension Span {
    fileprivate func describe(_ status: UInt16?, _ error: SessionError?) {
        self.updateAttributes { attributes in
            if let status { attributes["http.response.status_code"] = Int(status) }
            if let type = HTTPConventions.errorType(status, error) { attributes["error.type"] = type }
        }
        if let error { self.recordError(error) }
        if error != nil || (status ?? 0) >= 400 { self.setStatus(SpanStatus(code: .error)) }
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout Fields) { fields.set(key, value) }
}

extension HTTPURL {
    fileprivate var withoutQuery: String {
        "\(self.scheme.rawValue)://\(self.authority)\(self.path.prefix { $0 != "?" })"
    }
}
#endif
