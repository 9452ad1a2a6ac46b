// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSystem

/// The bearer token of a service (RFC 6750), renewed if it is missing or refused.
///
/// However many requests have the token refused, only one renewal runs at a time, and all of them wait for it.
public final class BearerTokens: Sendable {
    /// Gets a new token.
    ///
    /// - Parameter refused: the token that the service no longer accepts; nil if there is none yet.
    public typealias Renewal = @Sendable (_ refused: String?) async throws -> String

    private struct State: Sendable {
        var token: String?
        var renewal: Task<String, any Error>?
    }

    private let state: Locked<State>
    private let renew: Renewal

    /// Makes a store that begins with `token`; if nil, the first request begins with a renewal.
    public init(_ token: String? = nil, renewal: @escaping Renewal) {
        self.state = Locked(State(token: token))
        self.renew = renewal
    }

    /// The current token, perhaps to be stored by the program; nil while there is none.
    public var current: String? { self.state.withLock { $0.token } }

    /// Returns a token other than `refused`: the current one, or that of a renewal, which is begun unless one is
    /// running.
    ///
    /// - Throws: the error of the renewal.
    func token(otherThan refused: String?) async throws -> String {
        let renewal = self.state.withLock { state -> Task<String, any Error> in
            if let token = state.token, token != refused { return Task { token } }
            if let renewal = state.renewal { return renewal }
            // Not a child of any request's task: cancelling one request must not end the renewal that others wait for.
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
        self.state.withLock { state in
            state.renewal = nil
            // After a failure the next request tries again; the refused token is of no more use.
            state.token = try? outcome.get()
        }
        return try outcome.get()
    }
}

extension Interceptor {
    /// Adds the token to requests to the client's own origin, unless they have an Authorization of their own. A request
    /// that is answered with 401 is made again with a new token; a second 401 is final.
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
