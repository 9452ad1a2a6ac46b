// SPDX-License-Identifier: Apache-2.0

internal import PintleCache

/// The removals that are not carried out on disk yet; no response that one of them covers is read from there.
struct PendingRemovals: Sendable {
    private struct OfURL: Sendable {
        /// The number of pending removals of the URL.
        var count = 0
        /// The number of responses given to the disk before the last of them that overtakes these.
        var overtaken: UInt64?
    }

    /// Caused by requests; so there may be many.
    private var urls: [String: OfURL] = [:]
    /// Caused by commands; so there are few.
    private(set) var others: [CacheSelection] = []

    var isEmpty: Bool { self.urls.isEmpty && self.others.isEmpty }

    /// - Parameters:
    ///   - written: the number of responses given to the disk so far.
    ///   - overtakes: true if the removal is carried out before these are stored, which is then needless.
    mutating func add(_ selection: CacheSelection, written: UInt64, overtakes: Bool) {
        guard case .url(let url) = selection else { return self.others.append(selection) }
        self.urls[url, default: OfURL()].count += 1
        if overtakes { self.urls[url]?.overtaken = written }
    }

    /// Notes that a removal is carried out.
    mutating func end(_ selection: CacheSelection) {
        guard case .url(let url) = selection else {
            if let place = self.others.firstIndex(of: selection) { self.others.remove(at: place) }
            return
        }
        guard let pending = self.urls[url] else { preconditionFailure("BUG: a removal ends twice") }
        if pending.count == 1 { self.urls[url] = nil } else { self.urls[url]?.count -= 1 }
    }

    /// True if an overtaking removal of the same URL is pending, and nothing was given to the disk after it.
    func has(_ selection: CacheSelection, written: UInt64) -> Bool {
        if case .url(let url) = selection { self.urls[url]?.overtaken == written } else { false }
    }

    /// True if a pending removal of a URL has overtaken the response with a number.
    func hasOvertaken(_ number: UInt64, of url: String) -> Bool {
        self.urls[url]?.overtaken.map { number <= $0 } ?? false
    }

    /// True if a pending removal covers a response.
    ///
    /// - Parameter tags: the surrogate keys of the response.
    func cover(_ url: String, tags: [String]) -> Bool {
        self.urls[url] != nil || self.others.contains { $0.covers(url, tags: tags) }
    }
}

extension CacheSelection {
    /// The memory that a removal takes until it is carried out, in bytes; a generous estimate.
    var cost: Int {
        switch self {
        case .url(let text), .prefix(let text), .tag(let text): 2 * text.utf8.count + 256
        case .all: 256
        }
    }
}
