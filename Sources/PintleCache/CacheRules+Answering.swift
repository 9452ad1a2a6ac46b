// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// Makes the answer to a request from a stored response: its conditions and its range are judged here (RFC 9111
    /// §4.3.2, RFC 9110 §13.2, §14.2).
    ///
    /// - Parameters:
    ///   - request: as the client made it.
    ///   - age: for the Age field, in seconds; nil where the origin has just answered or confirmed it (RFC 9111 §5.1).
    /// - Returns: nil where only other bytes are held than the answer needs.
    package func answer(to request: RequestHead, from stored: StoredResponse, age: Int64?) -> StoredAnswer? {
        var head = stored.head
        // Makes room for Age, and for Cache-Status and Via, which follow.
        head.fields.reserve(bytes: 128, lines: 3)
        // Appends without a search: a stored head has no Age.
        if let age { head.fields.append("Age", String(age)) }
        // Conditions are for what would otherwise be a success (RFC 9110 §13.2.1).
        if 200...299 ~= head.status, Self.isUnchanged(for: request, stored) {
            return StoredAnswer(head: Self.notModified(head), body: nil, contentLength: nil)
        }
        guard stored.hasContent(for: request) else { return nil }
        switch RequestedRange(of: request, for: stored) {
        case .whole:
            let isEmpty = head.status == 204 || head.status == 205
            let hasBody = request.method != "HEAD" && !isEmpty
            return StoredAnswer(
                head: head, body: hasBody ? 0..<stored.length : nil,
                contentLength: head.status == 204 ? nil : isEmpty ? 0 : stored.length)
        case .bytes(let range):
            (head.status, head.reason) = (206, "Partial Content")
            head.fields.set("Content-Range", ContentRange.bytes(range, of: stored.length).description)
            return StoredAnswer(head: head, body: range, contentLength: range.length)
        case .unsatisfiable:
            return StoredAnswer(head: self.notSatisfiable(head, length: stored.length), body: nil, contentLength: 0)
        }
    }

    /// True where the client has what is stored (RFC 9111 §4.3.2): If-None-Match counts, and only without it
    /// If-Modified-Since.
    private static func isUnchanged(for request: RequestHead, _ stored: StoredResponse) -> Bool {
        guard request.method == "GET" || request.method == "HEAD" else { return false }
        if request.fields.contains("If-None-Match") {
            return EntityTagList.matches(request.fields, Validators(stored.head.fields).tag)
        }
        let values = request.fields.values(of: "If-Modified-Since")
        func read(_ text: String) -> CacheTime? {
            HTTPDate.seconds(anyForm: text, near: stored.responseTime.seconds).map(CacheTime.init)
        }
        guard values.count == 1, let since = read(values[0]) else { return false }
        return Validators(stored.head.fields).modified.flatMap(read) ?? stored.date <= since
    }

    /// The head of a 304: what a client updates its copy with, and nothing that describes content (RFC 9110 §15.4.5).
    private static func notModified(_ stored: ResponseHead) -> ResponseHead {
        var head = ResponseHead(status: 304, reason: "Not Modified", fields: stored.fields)
        Self.removeDescription(&head.fields)
        if head.fields.contains("ETag") { head.fields.remove("Last-Modified") }
        return head
    }

    /// The head of a 416, which nobody stores: under the URL it would answer requests without a range.
    private func notSatisfiable(_ stored: ResponseHead, length: UInt64) -> ResponseHead {
        var head = ResponseHead(status: 416, reason: "Range Not Satisfiable", fields: stored.fields)
        Self.removeDescription(&head.fields)
        for name in ["ETag", "Last-Modified", "Expires", "Content-Location"] { head.fields.remove(name) }
        if let targetedName { head.fields.remove(targetedName) }
        head.fields.set("Cache-Control", "no-store")
        head.fields.set("Content-Range", ContentRange.unsatisfied(length: length).description)
        return head
    }

    private static func removeDescription(_ fields: inout Fields) {
        for name in [
            "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Range",
            "Content-Type",
        ] { fields.remove(name) }
    }
}
