// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleSystem

/// The responses on their way from origins, by key, in the order of their requests.
struct AnswersUnderWay {
    /// The flights of a key; the last one is the latest, which other requests may join.
    private var flights: [CacheKey: WaitingLine<Flight>] = [:]
    /// The watches of responses for one client alone.
    private var watches: [CacheKey: WaitingLine<RemovalWatch>] = [:]
    /// The number of requests so far.
    private var number: UInt64 = 0

    var allFlights: [Flight] { self.flights.values.flatMap(\.all) }
    var allWatches: [RemovalWatch] { self.watches.values.flatMap(\.all) }

    /// The flight of a key that other requests may join, or a new one.
    mutating func flight(for key: CacheKey, joining: Bool) -> (flight: Flight, isNew: Bool) {
        if joining, let flight = self.flights[key]?.lastElement, !flight.isRevoked { return (flight, false) }
        self.number += 1
        let flight = Flight(key, number: self.number)
        self.flights[key, default: WaitingLine()].append(flight, number: self.number)
        return (flight, true)
    }

    mutating func end(_ flight: Flight) {
        self.flights[flight.key]?.remove(flight.number)
        if self.flights[flight.key]?.isEmpty == true { self.flights[flight.key] = nil }
    }

    mutating func watch(_ key: CacheKey) -> RemovalWatch {
        self.number += 1
        let watch = RemovalWatch(key, number: self.number)
        self.watches[key, default: WaitingLine()].append(watch, number: self.number)
        return watch
    }

    mutating func end(_ watch: RemovalWatch) {
        self.watches[watch.key]?.remove(watch.number)
        if self.watches[watch.key]?.isEmpty == true { self.watches[watch.key] = nil }
    }

    /// The responses for the same key whose requests came earlier.
    func earlier(than source: any AnswerUnderWay) -> [any AnswerUnderWay] {
        let flights: [any AnswerUnderWay] = self.flights[source.key]?.all ?? []
        let watches: [any AnswerUnderWay] = self.watches[source.key]?.all ?? []
        return (flights + watches).filter { $0.number < source.number }
    }
}
