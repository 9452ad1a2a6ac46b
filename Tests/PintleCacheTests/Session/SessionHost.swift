// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleMessage

/// The host of a session in these tests: clients and fetches are numbers.
enum SessionHost: CacheHost {
    typealias Body = SessionBytes
    typealias Waiter = Int
    typealias Fetcher = UInt64

    /// So few variants that they do not all fit.
    static let rules = {
        var rules = CacheRules()
        rules.variantLimit = 10
        return rules
    }()
}

/// Bytes of a representation, with the responses that brought them.
struct SessionBytes: Sendable, Equatable {
    struct Piece: Sendable, Equatable {
        let range: Range<UInt64>
        /// The number of a response of the origin.
        let response: Int
    }

    var pieces: [Piece]

    init(_ range: Range<UInt64>, of response: Int) { self.pieces = [Piece(range: range, response: response)] }

    /// Joins pieces.
    ///
    /// - Returns: nil if they do not have all bytes of a range.
    init?(_ pieces: [Piece], _ range: Range<UInt64>) {
        self.pieces = pieces.sorted { $0.range.lowerBound < $1.range.lowerBound }
        if self.sources(of: range) == nil { return nil }
    }

    /// The numbers of the responses that brought the bytes of a range; nil if a byte is missing.
    func sources(of range: Range<UInt64>) -> Set<Int>? {
        var sources: Set<Int> = []
        var place = range.lowerBound
        for piece in self.pieces where piece.range.overlaps(range) {
            if piece.range.lowerBound > place { return nil }
            place = max(place, piece.range.upperBound)
            sources.insert(piece.response)
        }
        return place >= range.upperBound ? sources : nil
    }
}

extension SessionCourse.Ask {
    /// The question that the host puts.
    ///
    /// - Parameter tag: that of the origin's present version.
    func question(isQueued: Bool, tag: String?) -> CacheQuestion {
        var fields = Fields()
        switch self.kind {
        case .get, .head: break
        case .noCache: fields.append("Cache-Control", "no-cache")
        case .onlyIfCached: fields.append("Cache-Control", "only-if-cached")
        case .range(let start, let count): fields.append("Range", "bytes=\(start)-\(start + count - 1)")
        case .ifNoneMatch: fields.append("If-None-Match", tag ?? "\"none\"")
        }
        if self.user > 0 { fields.append("Authorization", "Bearer \(self.user)") }
        if self.cookie > 0 { fields.append("Cookie", "user=\(self.cookie)") }
        if self.variant > 0 { fields.append("X-Variant", "\(self.variant)") }
        let request = RequestHead(
            method: self.kind == .head ? "HEAD" : "GET", target: .origin(path: "/"), fields: fields)
        return CacheQuestion(request, mode: self.mode.cacheMode, joins: self.joins, isQueued: isQueued)
    }
}

extension SessionCourse.Ask.Mode {
    var cacheMode: CacheMode? {
        switch self {
        case .usual: .protocol
        case .ignoreLocal: .ignoreLocal
        case .preferCache: .preferCache
        case .onlyCache: .onlyCache
        case .mergeOnly: nil
        }
    }
}

extension SessionCourse.Removal {
    var selection: CacheSelection {
        switch self {
        case .url: .url(SessionHost.url)
        case .otherURL: .url("http://other.test/")
        case .tag1: .tag("tag1")
        case .tag2: .tag("tag2")
        case .all: .all
        }
    }
}

extension SessionHost {
    static var url: String { "http://a.test/" }
}
