// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleMessage

/// The bearer token of a service (RFC 6750), and how a new one is had when it is missing or refused.
///
/// However many requests find a token refused, one renewal is under way at a time, and all wait for it.
public final class BearerTokens: Sendable {
    /// Gets a new token.
    ///
    /// - Parameter refused: the one that the service no longer takes; nil where there is none yet.
    public typealias Renewal = @Sendable (_ refused: String?) async throws -> String

    private struct State: Sendable {
        var token: String?
        var renewal: Task<String, any Error>?
    }

    private let state: NIOLockedValueBox<State>
    private let renew: Renewal

    /// Makes tokens that begin with `token`, or with a renewal where it is nil.
    public init(_ token: String? = nil, renewal: @escaping Renewal) {
        self.state = NIOLockedValueBox(State(token: token))
        self.renew = renewal
    }

    /// The token as it is known now, to be kept for another time perhaps; nil while there is none.
    public var current: String? { self.state.withLockedValue { $0.token } }

    /// A token that is not `refused`: the one that is there, or that of a renewal, which is begun unless it is under way.
    ///
    /// - Throws: what the renewal threw.
    func token(otherThan refused: String?) async throws -> String {
        let renewal = self.state.withLockedValue { state -> Task<String, any Error> in
            if let token = state.token, token != refused { return Task { token } }
            if let renewal = state.renewal { return renewal }
            // Not a part of any request's task: cancelling one must not end what others wait for.
            let renewal = Task.detached { try await self.renewed(refused) }
            state.renewal = renewal
            return renewal
        }
        return try await renewal.value
    }

    private func renewed(_ refused: String?) async throws -> String {
        let outcome: Result<String, any Error>
        do {
            outcome = .success(try await self.renew(refused))
        } catch {
            outcome = .failure(error)
        }
        self.state.withLockedValue { state in
            state.renewal = nil
            // After a failure the next request tries again; the token that was refused is of no more use.
            state.token = try? outcome.get()
        }
        return try outcome.get()
    }
}

extension Interceptor {
    /// Gives requests to the client's own origin the token, unless they have an Authorization of their own, and makes one
    /// again with a new token that is answered with 401. A second 401 stands.
    public static func bearer(_ tokens: BearerTokens) -> Interceptor {
        Interceptor { interceptor in
            interceptor.adapt = { request, attempt in
                guard !attempt.isElsewhere, !request.fields.contains(.authorization) else { return }
                request.fields.set("Authorization", "Bearer \(try await tokens.token(otherThan: nil))")
            }
            interceptor.retry = { outcome, attempt in
                guard outcome.isUnauthorized, !attempt.earlier.contains(where: \.isUnauthorized),
                    let refused = attempt.request.bearerToken,
                    !attempt.task.originalRequest.fields.contains(.authorization)
                else { return .accept }
                _ = try await tokens.token(otherThan: refused)
                return .retry(after: .zero)
            }
        }
    }
}

extension Interceptor.Outcome {
    fileprivate var isUnauthorized: Bool {
        if case .response(let head) = self { head.status == 401 } else { false }
    }
}

extension SessionRequest {
    fileprivate var bearerToken: String? {
        guard let value = self.fields[.authorization], value.hasPrefix("Bearer ") else { return nil }
        return String(value.dropFirst(7))
    }
}
