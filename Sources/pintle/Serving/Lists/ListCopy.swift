// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleSystem
internal import PintleTrust

/// The last good text of a list that another machine keeps, with the facts by which it is asked for again.
struct ListCopy: Sendable, Equatable {
    /// The URL that sent the text.
    let url: String
    let text: [UInt8]
    /// The value of ETag, and that of Last-Modified, if the server sent them.
    let entityTag: String?
    let lastModified: String?
    /// The time at which the server last sent or confirmed the text.
    var confirmed: Timestamp

    /// The most bytes of a stored copy beside its text.
    static let mostHeadBytes = 16 << 10
    /// A longer validator is not kept: the text is then fetched as a whole.
    private static let longestValidator = 1024
    private static let mark = "Pintle list 1"

    init(url: String, text: [UInt8], entityTag: String?, lastModified: String?, confirmed: Timestamp) {
        (self.url, self.text, self.confirmed) = (url, text, confirmed)
        func short(_ value: String?) -> String? { value.flatMap { $0.utf8.count <= Self.longestValidator ? $0 : nil } }
        (self.entityTag, self.lastModified) = (short(entityTag), short(lastModified))
    }

    /// The time since the server confirmed the text; nil if the clock was set back since.
    func age(at now: Timestamp) -> Duration? {
        let milliseconds = now.milliseconds - self.confirmed.milliseconds
        return milliseconds < 0 ? nil : .milliseconds(milliseconds)
    }

    /// True if the text need not be asked for again.
    func isYoung(at now: Timestamp, every: Duration) -> Bool { self.age(at: now).map { $0 < every } ?? false }

    /// The SHA-256 of the text in hexadecimal.
    var sha256: String { RunningDigest.sha256(self.text).hexadecimal }

    /// Returns this text as the server confirmed it at another time.
    func confirmed(at time: Timestamp) -> ListCopy {
        var copy = self
        copy.confirmed = time
        return copy
    }

    // MARK: Storage

    /// The copy as a file has it: lines of facts, an empty line, and the text.
    var stored: [UInt8] {
        var lines = [
            Self.mark, "url: \(self.url)", "confirmed: \(self.confirmed.milliseconds)", "sha256: \(self.sha256)",
        ]
        if let entityTag { lines.append("etag: \(entityTag)") }
        if let lastModified { lines.append("last-modified: \(lastModified)") }
        return Array((lines.joined(separator: "\n") + "\n\n").utf8) + self.text
    }

    /// Reads a stored copy; nil if it is damaged.
    init?(stored bytes: [UInt8]) {
        let end = UInt8(ascii: "\n")
        let head = bytes.prefix(Self.mostHeadBytes)
        let pairs = zip(head.indices, head.indices.dropFirst())
        guard let length = pairs.first(where: { head[$0] == end && head[$1] == end })?.0,
            let lines = String(validating: head[..<length], as: UTF8.self)?.split(separator: "\n"),
            lines.first.map(String.init) == Self.mark
        else { return nil }
        var facts: [Substring: Substring] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            facts[line[..<colon]] = line[colon...].dropFirst(2)
        }
        guard let url = facts["url"], let time = facts["confirmed"].flatMap({ Int64($0) }) else { return nil }
        self.init(
            url: String(url), text: Array(bytes[(length + 2)...]), entityTag: facts["etag"].map(String.init),
            lastModified: facts["last-modified"].map(String.init), confirmed: Timestamp(milliseconds: time))
        guard facts["sha256"].map(String.init) == self.sha256 else { return nil }
    }
}
