// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSystem

/// Answers by Negotiate. They may need the key distribution centre, so they are made off the loop, and a cancelled task
/// does not wait for them.
extension TaskRun {
    /// Begins a negotiation.
    ///
    /// - Returns: the context of the server's later tokens, and the value of Authorization.
    /// - Throws: ``SessionError`` with `cannotSend` if there is no ticket, or no library.
    func negotiation(_ challenge: Challenge) async throws(SessionError) -> (NegotiateContext, String) {
        let host = challenge.authority.host
        return try await self.elsewhere { () throws(SessionError) in
            let context = try NegotiateContext(host: host)
            return (context, try context.authorization(answering: nil))
        }
    }

    /// Continues a negotiation.
    ///
    /// - Returns: the next value of Authorization; nil if no negotiation was begun, or the server's token does not
    ///   continue it, which means a refusal.
    func continuation(
        of context: NegotiateContext?, _ challenge: Challenge
    ) async throws(SessionError) -> String? {
        guard let context, context.isOpen, challenge.scheme == "negotiate", let token = challenge.offer.token68 else {
            return nil
        }
        do throws(SessionError) {
            return try await self.elsewhere { () throws(SessionError) in try context.authorization(answering: token) }
        } catch {
            try self.checkFailure()
            return nil
        }
    }

    private func elsewhere<Value: Sendable>(
        _ work: @escaping @Sendable () throws(SessionError) -> Value
    ) async throws(SessionError) -> Value {
        let result = try await self.ask {
            await Result { () async throws(SessionError) -> Value in try await ThreadPool.shared.result(of: work) }
        }
        return try result.get()
    }
}
