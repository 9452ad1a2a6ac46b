// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// Makes the response to a request from a stored response. Evaluates the request's conditions and range (RFC 9111 §4.3.2,
    /// RFC 9110 §13.2, §14.2).
    ///
    /// - Parameters:
    ///   - request: the client's request.
    ///   - age: for the Age field, in seconds; nil if the origin has just sent or confirmed the response (RFC 9111 §5.1).
    /// - Returns: nil if the needed bytes are not stored.
    package func answer(to request: RequestHead, from stored: StoredResponse, age: Int64?) -> StoredAnswer? {
        var head = stored.head
        // Reserves room for Age, and for Cache-Status and Via, which follow.
        head.fields.reserve(bytes: 128, lines: 3)
        // Appends without a search: a stored head has no Age.
        if let age { head.fields.append("Age", String(age)) }
        // Conditions only apply to requests that would otherwise succeed (RFC 9110 §13.2.1).
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

    /// True if the client has the stored representation (RFC 9111 §4.3.2). If-None-Match takes precedence over
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

    /// The head of a 304: fields for the update of the client's copy, without those that describe the content (RFC 9110
    /// §15.4.5).
    private static func notModified(_ stored: ResponseHead) -> ResponseHead {
        var head = ResponseHead(status: 304, reason: "Not Modified", fields: stored.fields)
        Self.removeDescription(&head.fields)
        if head.fields.contains("ETag") { head.fields.remove("Last-Modified") }
        return head
    }

    /// The head of a 416. It forbids caches to store it: under the URL it would answer requests without a range.
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
