// SPDX-License-Identifier: Apache-2.0

/// The say of a response's status in whether it is stored.
enum StatusRules {
    /// True for statuses that may be given a lifetime by guessing (RFC 9110 §15.1).
    static func isHeuristicallyCacheable(_ status: UInt16) -> Bool {
        switch status {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// True for final statuses whose meaning for caches is known here (RFC 9111 §3, §5.2.2.3).
    static func isUnderstood(_ status: UInt16) -> Bool {
        switch status {
        case 200...206, 300...305, 307, 308, 400...410, 411...417, 421, 422, 424...426, 428, 429, 431, 451, 500...506,
            510,
            511:
            true
        default: false
        }
    }

    /// True for statuses that say something about the request and not about its URL: its conditions, range,
    /// credentials, form, pace or connection. Stored, they would answer requests that have none of it.
    ///
    /// RFC 6585 forbids to store 428, 429, 431 and 511. 304 and 206 have rules of their own.
    static func isAboutRequest(_ status: UInt16) -> Bool {
        switch status {
        case 304, 400, 401, 402, 406...408, 411...413, 415...417, 421, 422, 424...426, 428, 429, 431, 505, 510, 511:
            true
        default: false
        }
    }
}
