// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleLoop

extension Probe {
    /// The outcome of probing the addresses of a host.
    package struct Race: Sendable {
        /// The first result that was accepted.
        package let winner: ProbeResult?
        /// The results before it that were not accepted.
        package let others: [(address: SocketAddress, result: ProbeResult)]
    }

    /// Probes addresses side by side, in the order of an ``AddressRace``, until one of them has an accepted result.
    ///
    /// - Parameters:
    ///   - make: makes the probe of an address. The caller must have checked that the address may be dialled.
    ///   - isWanted: returns true if a result ends the race.
    package static func race(
        over addresses: [SocketAddress], on loop: Loop, _ make: @escaping @Sendable (SocketAddress) -> Probe,
        until isWanted: (ProbeResult) -> Bool
    ) async -> Race {
        await withTaskGroup(of: (address: SocketAddress, result: ProbeResult)?.self) { group in
            var race = AddressRace(addresses)
            var others: [(address: SocketAddress, result: ProbeResult)] = []
            while true {
                switch race.step(at: .now()) {
                case .dial(let address):
                    group.addTask { (address, await make(address).run(on: loop)) }
                    continue
                // A probe has its own time limit.
                case .giveUp: continue
                case .rest(let moment):
                    group.addTask {
                        try? await loop.scheduleTask(deadline: moment) {}.futureResult.get()
                        return nil
                    }
                case .wait: break
                case .over: return Race(winner: nil, others: others)
                }
                guard let next = await group.next() else { return Race(winner: nil, others: others) }
                guard let next else { continue }
                if isWanted(next.result) {
                    group.cancelAll()
                    return Race(winner: next.result, others: others)
                }
                others.append(next)
                race.failed(next.address)
            }
        }
    }
}
