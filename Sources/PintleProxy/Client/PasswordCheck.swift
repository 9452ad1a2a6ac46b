// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem
internal import PintleTrust

/// Checks the passwords of `clients.basic_auth`. bcrypt takes time; so it runs on other threads, in the order of a
/// ``PasswordQueue``. Correct passwords are remembered while they are in use, as digests with a salt of this process.
final class PasswordCheck: Sendable {
    /// The immediate result of a check.
    enum Answer {
        case right
        case wrong
        /// The password is being checked.
        case pending
        /// Too many checks wait, of this client or of all clients together.
        case busy
    }

    typealias Completion = @Sendable (_ isRight: Bool) -> Void

    fileprivate struct Job: Sendable {
        let user: String
        let password: [UInt8]
        let digest: [UInt8]
        let client: Client?
    }

    /// The subject of a check. Two clients with the same credentials have a check each, so that neither waits for the other's
    /// turn.
    fileprivate struct Subject: Hashable, Sendable {
        let client: Client?
        let digest: [UInt8]
    }

    fileprivate struct State: Sendable {
        /// The digests of correct passwords, with the time at which each expires if it is not used before.
        var right: [[UInt8]: NIODeadline] = [:]
        /// Clients that have shown a correct password, with the time until which they have priority.
        var proven: [Client: NIODeadline] = [:]
        var waiting: [Subject: [Completion]] = [:]
        var queue = PasswordQueue<Job>()
        var running = 0
    }

    /// The time for which an unused password is remembered.
    private static let validity = TimeAmount.minutes(1)
    private static let mostRight = 1024
    private static let provenValidity = TimeAmount.hours(1)
    private static let mostProven = 4096

    let configuration: BasicAuthConfiguration
    private let salt: [UInt8]
    private let state = Locked(State())
    /// Half of the processors; the other half is for admitted clients.
    private let mostRunning = max(1, Engine.availableProcessors / 2)
    private let threads = ThreadPool(most: Engine.availableProcessors / 2)
    private let now: @Sendable () -> NIODeadline

    init(_ configuration: BasicAuthConfiguration, now: @escaping @Sendable () -> NIODeadline = { .now() }) {
        self.configuration = configuration
        self.salt = (0..<32).map { _ in UInt8.random(in: 0...255) }
        self.now = now
    }

    /// Checks the credentials of a client.
    ///
    /// - Parameters:
    ///   - fields: the fields of the request; it must have exactly one Proxy-Authorization.
    ///   - completion: called on another thread, only if the result is `pending`.
    func check(_ fields: Fields, of client: Client?, completion: @escaping Completion) -> Answer {
        let values = fields.values(of: "Proxy-Authorization")
        guard values.count == 1, let credentials = BasicCredentials(values[0]) else { return .wrong }
        // Without the tag: a client with many of them needs one check.
        let user = self.configuration.users.identity(named: credentials.user).user ?? ""
        guard
            let digest = try? MessageDigest.sha256.digest(
                of: self.salt + Array(user.utf8) + [UInt8(ascii: ":")] + credentials.password)
        else { return .wrong }
        let now = self.now()
        return self.state.withLock { state in
            if let end = state.right[digest], end > now {
                state.right[digest] = now + Self.validity
                if let client { Self.remember(client, in: &state.proven, until: now + Self.provenValidity, now) }
                return .right
            }
            let subject = Subject(client: client, digest: digest)
            if state.waiting[subject] != nil {
                state.waiting[subject]?.append(completion)
                return .pending
            }
            let isProven = client.flatMap { state.proven[$0] }.map { $0 > now } ?? false
            let job = Job(user: user, password: credentials.password, digest: digest, client: client)
            if state.running < self.mostRunning {
                if (try? self.threads.run { self.work() }) != nil { state.running += 1 }
                guard state.running > 0 else { return .busy }
            }
            guard state.queue.append(job, of: client, isProven: isProven) else { return .busy }
            state.waiting[subject] = [completion]
            return .pending
        }
    }

    /// Checks one password after another until none waits.
    private func work() {
        while let job = self.state.withLock({ $0.nextJob() }) { self.check(job) }
    }

    private func check(_ job: Job) {
        let isRight = self.configuration.users.has(user: job.user, password: job.password)
        let now = self.now()
        let waiting = self.state.withLock { state in
            if isRight {
                if state.right.count >= Self.mostRight { state.right = state.right.filter { $0.value > now } }
                if state.right.count >= Self.mostRight { state.right = [:] }
                state.right[job.digest] = now + Self.validity
                if let client = job.client {
                    Self.remember(client, in: &state.proven, until: now + Self.provenValidity, now)
                }
            }
            return state.waiting.removeValue(forKey: Subject(client: job.client, digest: job.digest)) ?? []
        }
        for completion in waiting { completion(isRight) }
    }

    private static func remember(
        _ client: Client, in proven: inout [Client: NIODeadline], until end: NIODeadline, _ now: NIODeadline
    ) {
        if proven[client] == nil, proven.count >= self.mostProven {
            proven = proven.filter { $0.value > now }
            if proven.count >= self.mostProven { proven = [:] }
        }
        proven[client] = end
    }
}

extension PasswordCheck.State {
    fileprivate mutating func nextJob() -> PasswordCheck.Job? {
        let job = self.queue.popFirst()
        if job == nil { self.running -= 1 }
        return job
    }
}
