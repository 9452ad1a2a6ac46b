// SPDX-License-Identifier: Apache-2.0

/// The removals that are not carried out on the disk yet: nothing is read from there that one of them covers.
struct PendingRemovals: Sendable {
    private struct OfURL: Sendable {
        /// The number of removals of the URL that wait.
        var count = 0
        /// The number of answers that had been given to the disk when the last of them came.
        var written: UInt64 = 0
    }

    /// Requests cause these, so they may be many.
    private var urls: [String: OfURL] = [:]
    /// Commands cause these.
    private var others: [AnswerStore.Selection] = []

    var isEmpty: Bool { self.urls.isEmpty && self.others.isEmpty }

    /// - Parameter written: the number of answers that were given to the disk so far.
    mutating func add(_ selection: AnswerStore.Selection, written: UInt64) {
        guard case .url(let url) = selection else { return self.others.append(selection) }
        self.urls[url, default: OfURL()].count += 1
        self.urls[url]?.written = written
    }

    /// Notes that a removal is carried out.
    mutating func end(_ selection: AnswerStore.Selection) {
        guard case .url(let url) = selection else {
            if let place = self.others.firstIndex(of: selection) { self.others.remove(at: place) }
            return
        }
        guard let pending = self.urls[url] else { preconditionFailure("BUG: a removal ends twice") }
        if pending.count == 1 { self.urls[url] = nil } else { self.urls[url]?.count -= 1 }
    }

    /// True if a removal of the same URL waits, and nothing was given to the disk after it.
    func has(_ selection: AnswerStore.Selection, written: UInt64) -> Bool {
        if case .url(let url) = selection { self.urls[url]?.written == written } else { false }
    }

    /// True if an answer is to be removed.
    ///
    /// - Parameter tags: its surrogate keys.
    func cover(_ url: String, tags: [String]) -> Bool {
        self.urls[url] != nil || self.others.contains { $0.covers(url, tags: tags) }
    }
}

extension AnswerStore.Selection {
    /// The memory that a removal takes until it is carried out, in bytes, on the high side.
    var cost: Int {
        switch self {
        case .url(let text), .prefix(let text), .tag(let text): 2 * text.utf8.count + 256
        case .all: 256
        }
    }
}
