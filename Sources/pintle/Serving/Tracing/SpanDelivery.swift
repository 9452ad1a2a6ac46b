// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem
internal import PintleTrust
internal import PintleWatch

/// Posts spans to their receiver, and posts them again as OTLP asks: if there is no answer, or one with the status 429, 502, 503 or
/// 504, and after the time of Retry-After.
///
/// It has its own engine and a session without any proxy: spans take no time from exchanges, and do not pass through the proxy that
/// they are about.
struct SpanDelivery: Sendable {
    private let receiver: String
    private let engine: Engine
    private let session: Session
    private let client: HTTPSession
    private let losses: LostSpans

    /// The statuses after which OTLP has clients try again.
    private static let transient: Set<UInt16> = [429, 502, 503, 504]
    private static let timeout = Duration.seconds(10)
    /// The most bytes of an answer that are read.
    private static let longestAnswer = 64 << 10

    init(to receiver: HTTPURL, version: String, losses: LostSpans) throws(CommandFailure) {
        (self.receiver, self.losses) = (receiver.description, losses)
        var configuration = SessionConfiguration()
        (configuration.connectTimeout, configuration.timeout) = (Self.timeout, Self.timeout)
        configuration.redirects = .never
        configuration.additionalFields = ["User-Agent": "pintle/\(version)"]
        do {
            self.engine = try Engine(threads: 1)
            self.session = try Session(engine: self.engine, configuration: configuration)
            var client = try HTTPSession(self.session)
            client.interceptors = [Self.noting(losses), .retry(Self.retries)]
            self.client = client
        } catch {
            throw CommandFailure(.incomplete, "tracing: \(error)")
        }
    }

    private static var retries: RetryPolicy {
        var policy = RetryPolicy()
        (policy.limit, policy.statusCodes) = (4, Self.transient)
        (policy.firstDelay, policy.longestDelay) = (.seconds(1), .seconds(8))
        policy.longestRetryAfter = .seconds(30)
        return policy
    }

    /// Warns of a receiver that does not take spans at the first attempt, and not only when they are given up.
    private static func noting(_ losses: LostSpans) -> Interceptor {
        Interceptor { interceptor in
            interceptor.retry = { outcome, _ in
                switch outcome {
                case .failure(let error) where error.code != .cancelled: losses.note(error.message)
                case .response(let head) where Self.transient.contains(head.status):
                    losses.note("the receiver answers with status \(head.status)")
                case .failure, .response: break
                }
                return .accept
            }
        }
    }

    /// Posts a document, and counts its spans as lost if the receiver does not take them.
    func post(_ document: [UInt8], spans: Int) async {
        do {
            let body = RequestBody.bytes(document, type: OTLPDocument.mediaType)
            let response = try await self.client.stream(self.receiver, method: "POST", body: body) { request in
                // A receiver that gets spans twice knows them by their ids.
                request.isIdempotent = true
            }
            let answer = try await response.body.collect(upTo: Self.longestAnswer)
            guard (200...299).contains(response.head.status) else {
                return self.losses.note("the receiver answers with status \(response.head.status)", spans: spans)
            }
            let rejection = OTLPAnswer(Array(answer.readableBytesView))
            guard rejection.rejected > 0 else { return }
            self.losses.note("the receiver rejects spans: \(rejection.reason)", spans: rejection.rejected)
        } catch {
            self.losses.note((error as? SessionError)?.message ?? "\(error)", spans: spans)
        }
    }

    func stop() async {
        await self.session.invalidateAndCancel()
        await self.engine.stopped()
    }
}
