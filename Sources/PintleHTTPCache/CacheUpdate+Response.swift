// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleCache
internal import PintleMessage

extension CacheUpdate {
    /// The response that answers the request; nil if the update concerns another response.
    var response: StoredResponse? {
        switch self {
        case .store(let response), .answerOnce(let response, _, keepsStored: _): response
        case .outdated, .unrelated: nil
        }
    }
}

extension CacheTime {
    /// Reads the system's clock.
    static func now() -> CacheTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return CacheTime(seconds: Int64(time.tv_sec))
    }
}
