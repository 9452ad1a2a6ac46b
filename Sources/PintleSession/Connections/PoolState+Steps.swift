// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

extension PoolState {
    struct Limits {
        /// The most connections to a host that transfers may have at a time; 0 for any number. It does not count those of HTTP/2.
        var perHost: Int
        /// The most open connections beyond which idle ones are closed.
        var idle: Int
        /// The longest time for which a connection is kept idle.
        var idleTime: TimeAmount
    }

    /// The permission to connect that a transfer gets when it comes to a host.
    enum Admission {
        /// It may, and has one of the places for the host's connections.
        case counted
        /// It may, and needs no place.
        case uncounted
        /// It must wait, until ``admitNext(at:)`` returns it.
        case queued
    }

    /// The connections that a request may use.
    enum Choice {
        case any
        /// One that is made for it, or for requests that have come since.
        case new
    }

    /// The way of a transfer to a connection.
    enum Step {
        /// Use this one. If it turns out not to be fit for use, close it or report that it leaves, and ask again.
        case use(Connection)
        /// Make one.
        case dial
        /// Make one. Others may wait for it, until ``endAttempt(at:)``.
        case dialForAll
        /// Wait for the one that is being made: if it turns out to use HTTP/2, it may carry all.
        case join
    }

    /// The use of a connection of HTTP/2 after one of its streams.
    enum StreamEnd {
        /// It carries others, or is about to be closed.
        case carriesOthers
        /// It is idle. Connections may have to be closed for it, or it itself: see ``closeSurplus()``.
        case kept
        /// It takes no more, and is to be closed.
        case close
    }
}

extension PoolState.Step: Equatable where Connection: Equatable {}
