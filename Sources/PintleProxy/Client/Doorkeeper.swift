// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleTrust

/// Knows the users of `clients.basic_auth`. bcrypt takes its time, so it is done on a thread of its own, and what it found is
/// remembered for a minute, by a digest with a salt of this process.
final class Doorkeeper: Sendable {
    /// What is known of a client by what it says at once.
    enum Glance {
        case known
        case unknown
        /// It takes a look at the password.
        case asking
        /// Too many are being asked.
        case busy
    }

    typealias Completion = @Sendable (_ isKnown: Bool) -> Void

    private struct State {
        /// When each ceases to count.
        var known: [[UInt8]: NIODeadline] = [:]
        /// Who waits for a password that is being looked at.
        var asked: [[UInt8]: [Completion]] = [:]
    }

    private static let validity = TimeAmount.minutes(1)
    private static let mostKnown = 1024
    /// Each is some ten milliseconds of work.
    private static let mostAsked = 128

    /// The field that tells clients how to say who they are (RFC 9110 §11.7.1).
    let challenge: String
    private let users: PasswordFile
    private let salt: [UInt8]
    private let state = NIOLockedValueBox(State())
    private let queue = DispatchQueue(label: "pintle.passwords")

    init(_ configuration: BasicAuthConfiguration) {
        self.users = configuration.users
        self.challenge = "Basic realm=\"\(configuration.realm)\", charset=\"UTF-8\""
        self.salt = (0..<32).map { _ in UInt8.random(in: 0...255) }
    }

    /// Looks at who a client says that it is.
    ///
    /// - Parameters:
    ///   - fields: the request's; only one Proxy-Authorization counts.
    ///   - completion: called on another thread, only where the answer is `asking`.
    func look(at fields: Fields, completion: @escaping Completion) -> Glance {
        let values = fields.values(of: "Proxy-Authorization")
        guard values.count == 1, let credentials = BasicCredentials(values[0]),
            let digest = try? MessageDigest.sha256.digest(
                of: self.salt + Array(credentials.user.utf8) + [UInt8(ascii: ":")] + credentials.password)
        else { return .unknown }
        let now = NIODeadline.now()
        let glance: Glance = self.state.withLockedValue { state in
            if let end = state.known[digest], end > now { return .known }
            if state.asked[digest] != nil {
                state.asked[digest]?.append(completion)
                return .asking
            }
            guard state.asked.count < Self.mostAsked else { return .busy }
            state.asked[digest] = [completion]
            self.queue.async { self.ask(credentials, digest) }
            return .asking
        }
        return glance
    }

    private func ask(_ credentials: BasicCredentials, _ digest: [UInt8]) {
        let isKnown = self.users.has(user: credentials.user, password: credentials.password)
        let waiting = self.state.withLockedValue { state in
            if isKnown {
                let now = NIODeadline.now()
                if state.known.count >= Self.mostKnown { state.known = state.known.filter { $0.value > now } }
                if state.known.count >= Self.mostKnown { state.known = [:] }
                state.known[digest] = now + Self.validity
            }
            return state.asked.removeValue(forKey: digest) ?? []
        }
        for completion in waiting { completion(isKnown) }
    }
}

extension Doorkeeper {
    /// What is answered to a client that is not known.
    func refusal(hasTried: Bool) -> Problem {
        var problem = Problem(
            .proxyAuthRequired,
            hasTried
                ? "no user of clients.basic_auth has this name and password"
                : "clients.basic_auth wants a user's name and password in Proxy-Authorization")
        problem.challenge = self.challenge
        return problem
    }
}
