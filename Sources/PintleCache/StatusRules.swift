// SPDX-License-Identifier: Apache-2.0

/// Rules about storing responses that depend on their status.
enum StatusRules {
    /// True for statuses that may get a heuristic lifetime (RFC 9110 §15.1).
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

    /// True for statuses that concern the request instead of its URL: its conditions, range, credentials, form, rate or
    /// connection. Stored, they would answer requests to which they do not apply.
    ///
    /// RFC 6585 forbids storing 428, 429, 431 and 511. 304 and 206 have rules of their own.
    static func isAboutRequest(_ status: UInt16) -> Bool {
        switch status {
        case 304, 400, 401, 402, 406...408, 411...413, 415...417, 421, 422, 424...426, 428, 429, 431, 505, 510, 511:
            true
        default: false
        }
    }
}
