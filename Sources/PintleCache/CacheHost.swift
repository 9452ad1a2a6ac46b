// SPDX-License-Identifier: Apache-2.0

/// The things that a ``CacheSession`` passes on without looking into them, as its owner has them.
package protocol CacheHost {
    /// The bytes of a response.
    associatedtype Body: Sendable
    /// A client that waits for a response.
    associatedtype Waiter: Sendable
    /// The object that carries out a fetch.
    associatedtype Fetcher: Sendable

    /// The rules of the cache.
    static var rules: CacheRules { get }
}
