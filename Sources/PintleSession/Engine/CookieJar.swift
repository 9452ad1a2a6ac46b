// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc

/// The cookies of one session, in libcurl's hands (RFC 6265), shared by the session's loops.
final class CookieJar: @unchecked Sendable {
    // Why @unchecked holds: libcurl touches the share's cookies only between the calls of the lock and unlock functions,
    // from whichever thread; nothing else here changes after `init`.
    let share: OpaquePointer
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        guard let share = pintle_share_init() else { preconditionFailure("BUG: libcurl cannot make a share") }
        self.share = share
        self.mutex = .allocate(capacity: 1)
        self.mutex.initialize(to: pthread_mutex_t())
        let code = pthread_mutex_init(self.mutex, nil)
        precondition(code == 0, "BUG: pthread_mutex_init failed with \(code)")
        pintle_share_cookies(
            share, { _, _, _, context in CookieJar.mutex(context).map { _ = pthread_mutex_lock($0) } },
            { _, _, context in CookieJar.mutex(context).map { _ = pthread_mutex_unlock($0) } }, self.mutex)
    }

    /// Every transfer holds the jar, so no handle uses the share any more.
    deinit {
        pintle_share_cleanup(self.share)
        pthread_mutex_destroy(self.mutex)
        self.mutex.deallocate()
    }

    private static func mutex(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<pthread_mutex_t>? {
        context?.assumingMemoryBound(to: pthread_mutex_t.self)
    }
}
