// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleCacheStore

/// A store of responses behind the memory of a ``SharedCache``: a disk, or one that several proxies share.
///
/// The cache has its changes carried out one at a time, in their order.
protocol SecondTier: Sendable {
    /// Finds the response that `choose` selects among the stored ones of a key. Its body stays in the store.
    ///
    /// - Returns: nil if `choose` selects none, or if the response cannot be read.
    func find(_ key: CacheKey, choosing choose: @Sendable ([StoredResponse]) -> Int?) async -> DiskEntry?

    /// Carries out a change. A response that cannot be stored leaves no older one in its place.
    ///
    /// - Parameter key: nil for a removal that is not of one key.
    /// - Returns: the number of removed responses, for a purge.
    func carryOut(_ change: CacheChange, at key: CacheKey?) async -> Int

    /// True if the store may take a body.
    ///
    /// - Parameter length: in bytes; nil if unknown.
    func takes(_ length: UInt64?) -> Bool

    /// Writes a body while it arrives.
    ///
    /// - Parameters:
    ///   - response: the head of the body's response.
    ///   - length: in bytes; nil if unknown.
    ///   - done: called once, on any thread: with the writer when the whole body is written, with nil if that will never
    ///     happen.
    func write(
        _ body: SharedBody, of response: StoredResponse, at key: CacheKey, length: UInt64?,
        done: @escaping @Sendable (DiskCache.Writer?) -> Void)

    /// The number of its responses, and the bytes that they take.
    var statistics: DiskCache.Statistics { get }

    func close() async
}
