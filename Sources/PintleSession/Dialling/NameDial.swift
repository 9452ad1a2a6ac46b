// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage

/// One connection to a host by its name: the name is looked up, and its addresses are dialled in the order of an
/// ``AddressRace``, after the judge has allowed each.
final class NameDial: RunningDial, @unchecked Sendable {
    // Why @unchecked holds: only its loop's thread uses it. The thread of a lookup passes a weak reference on.

    private let target: DialTarget
    private let dialler: CurlDialler
    private let start: NIODeadline
    private let deadline: NIODeadline
    /// The longest time for the lookup alone.
    private let lookupLimit: TimeAmount
    private var completion: DialCompletion?
    private var race: AddressRace?
    private var dials: [SocketAddress: AddressDial] = [:]
    /// The most telling failure so far.
    private var failure: SessionError?
    private var metrics = TransferMetrics()
    private lazy var timer = LoopTimer { [weak self] in self?.proceed() }

    init(_ target: DialTarget, of dialler: CurlDialler, _ completion: @escaping DialCompletion) {
        self.target = target
        self.dialler = dialler
        self.start = dialler.loop.turnTime
        self.deadline = self.start + target.timeLimit
        self.lookupLimit = min(target.lookupLimit ?? target.timeLimit, target.timeLimit)
        self.completion = completion
    }

    private var loop: Loop { self.dialler.loop }

    /// True while the dial runs: its own time-out error tells whether an address was found.
    var keepsTime: Bool { self.completion != nil }

    /// Begins the dial; its completion is called in a later turn or at the end of this one.
    func begin() { self.loop.atEndOfTurn(self) }

    func cancel() {
        self.completion = nil
        self.end()
    }

    // MARK: The name

    private func lookUp() {
        let name = self.target.dialled.host
        if let known = self.dialler.addresses(of: name) { return self.found(known) }
        self.loop.arm(self.timer, at: self.start + self.lookupLimit)
        let refusal = self.dialler.names.begin(name, for: self.target.client) { [loop = self.loop, weak self] answer in
            loop.execute { [weak self] in self?.found(answer) }
        }
        if let refusal {
            let words = "\(self.target.authority) cannot be looked up now: \(refusal)"
            self.finish(.failure(SessionError(.overloaded, words)))
        }
    }

    private func found(_ answer: NameLookups.Answer) {
        // The dial was cancelled, or its time was over.
        guard self.completion != nil, self.race == nil else { return }
        let nothing = "\(self.target.dialledHost) has no address"
        switch answer {
        case .success(let addresses) where !addresses.isEmpty:
            self.dialler.note(addresses, of: self.target.dialled.host)
            self.found(addresses)
        case .success: self.finish(.failure(SessionError(.dnsFailure, nothing)))
        case .failure(let failure):
            self.finish(.failure(SessionError(.dnsFailure, nothing, cause: "\(failure)")))
        }
    }

    private func found(_ addresses: [SocketAddress]) {
        self.metrics.nameLookup = self.elapsed
        self.race = AddressRace(addresses, winner: self.dialler.winner(of: self.target.dialled.host))
        self.proceed()
    }

    // MARK: The race

    private func proceed() {
        precondition(self.completion != nil, "BUG: a dial goes on that has ended")
        let now = self.loop.turnTime
        let end = self.race == nil ? self.start + self.lookupLimit : self.deadline
        guard now < end else { return self.finish(.failure(self.timeout)) }
        while true {
            switch self.race?.step(at: now) {
            case .dial(let address): self.dial(address)
            case .giveUp(let address): self.dials.removeValue(forKey: address)?.cancel()
            case .rest(let moment): return self.loop.arm(self.timer, at: min(moment, self.deadline))
            case .wait, nil: return self.loop.arm(self.timer, at: self.deadline)
            case .over:
                guard let failure else { preconditionFailure("BUG: a race is lost that nobody has run") }
                return self.finish(.failure(failure))
            }
        }
    }

    private func dial(_ address: SocketAddress) {
        var place = address
        place.port = Int(self.target.dialled.port)
        // Why unowned holds: `end` cancels the dials.
        let dial = AddressDial(self.target, at: place, of: self.dialler) { [unowned self] result, metrics in
            self.dialled(address, result, metrics.address)
        }
        self.dials[address] = dial
        dial.begin()
    }

    private func dialled(_ address: SocketAddress, _ result: Result<Int32, SessionError>, _ spelled: String) {
        self.dials[address] = nil
        switch result {
        case .success:
            self.dialler.note(winner: address, of: self.target.dialled.host)
            self.metrics.connect = self.elapsed
            self.metrics.address = spelled
            self.finish(result)
        case .failure(let error):
            if self.failure.map({ $0.code.weight < error.code.weight }) ?? true { self.failure = error }
            self.race?.failed(address)
            self.proceed()
        }
    }

    private var timeout: SessionError {
        guard self.race == nil else {
            return .connectTimeout(
                self.target.authority, by: self.target.proxy?.server, within: self.target.namedLimit)
        }
        let words = "\(self.target.dialledHost) has no address within \(self.target.namedLookupLimit.inWords)"
        return SessionError(.dnsFailure, words)
    }

    private var elapsed: Duration { .nanoseconds((self.loop.turnTime - self.start).nanoseconds) }

    // MARK: The end

    private func finish(_ result: Result<Int32, SessionError>) {
        let completion = self.completion
        self.completion = nil
        self.end()
        if self.race != nil, case .failure(let error) = result, error.isConnectFailure {
            // The host may have moved to other addresses.
            self.dialler.forget(self.target.dialled.host)
        }
        self.metrics.total = self.elapsed
        completion?(result, self.metrics)
    }

    private func end() {
        self.loop.disarm(self.timer)
        for dial in self.dials.values { dial.cancel() }
        self.dials = [:]
    }
}

extension NameDial: TurnEndWork {
    func runAtEndOfTurn() {
        if self.completion != nil { self.lookUp() }
    }
}

extension SessionError.Code {
    /// The rank of one address's failure, if a host has several: a limit or rule of this program ranks above a refusal
    /// by the host, that above other errors; a missing route is last.
    fileprivate var weight: Int {
        switch self {
        case .exhausted: 4
        case .addressDenied: 3
        case .connectionRefused: 2
        case .networkUnreachable: 0
        default: 1
        }
    }
}
