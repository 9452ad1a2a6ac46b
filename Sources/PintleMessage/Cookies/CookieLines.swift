// SPDX-License-Identifier: Apache-2.0

/// Cookies as lines of text, in the form of Netscape's `cookies.txt` that curl, wget and Python read and write.
///
/// Seven fields stand between tabs: domain, whether names below it count, path, whether it is secure, seconds since 1970 or
/// zero, name and value. `#HttpOnly_` in front of a line says so of its cookie; other lines that begin with `#` are
/// comments. There is no place for SameSite, for a cookie without a name, and for a tab in one.
package enum CookieLines {
    private static let httpOnly = "#HttpOnly_"
    private static let head = """
        # Netscape HTTP Cookie File
        # Written by Pintle, and written anew when cookies change.


        """

    /// A line of which no cookie can be made. The reason has no word of the line.
    package struct Malformed: Error, Sendable, Equatable {
        /// Counted from 1.
        package let line: Int
        package let reason: String
    }

    /// The lines of those cookies that have a form there.
    package static func text(of cookies: [Cookie]) -> String {
        var text = Self.head
        for cookie in cookies where !cookie.name.isEmpty && !cookie.hasTab {
            if cookie.isHTTPOnly { text += Self.httpOnly }
            // Readers tell by the dot, others by the word behind it.
            text += cookie.isHostOnly ? "\(cookie.domain)\tFALSE" : ".\(cookie.domain)\tTRUE"
            // Zero is the end of the session; a cookie that ended then is not kept.
            text += "\t\(cookie.path)\t\(cookie.isSecure ? "TRUE" : "FALSE")\t\(max(cookie.expires ?? 0, 0))"
            text += "\t\(cookie.name)\t\(cookie.value)\n"
        }
        return text
    }

    /// Reads lines.
    ///
    /// - Parameters:
    ///   - isShared: tells whether strangers have names below a name, so that no cookie is for all of them.
    ///   - passesOver: is told of a line of which no cookie can be made, and says whether to go on without it.
    ///   - keep: is given each cookie, those included that have expired.
    /// - Throws: ``Malformed`` for the first line that is not passed over.
    package static func read(
        _ bytes: [UInt8], isShared: (String) -> Bool, passesOver: (Malformed) -> Bool, keep: (Cookie) -> Void
    ) throws(Malformed) {
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            do throws(Reason) {
                if let cookie = try Self.cookie(line, isShared: isShared) { keep(cookie) }
            } catch {
                let malformed = Malformed(line: number, reason: error.text)
                guard passesOver(malformed) else { throw malformed }
            }
        }
    }

    private struct Reason: Error {
        let text: String

        init(_ text: String) { self.text = text }
    }

    /// - Returns: nil for comments, and for lines with nothing in them.
    private static func cookie(_ line: ArraySlice<UInt8>, isShared: (String) -> Bool) throws(Reason) -> Cookie? {
        var line = line.drop { $0 == 0x20 || $0 == 0x09 }
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        let isHTTPOnly = line.starts(with: Self.httpOnly.utf8)
        if isHTTPOnly { line = line.dropFirst(Self.httpOnly.utf8.count) }
        guard let first = line.first, isHTTPOnly || first != UInt8(ascii: "#") else { return nil }
        var fields: [String] = []
        for part in line.split(separator: UInt8(ascii: "\t"), maxSplits: 7, omittingEmptySubsequences: false) {
            guard let field = String(validating: part, as: UTF8.self) else { throw Reason("it is not UTF-8") }
            fields.append(field)
        }
        // Some writers leave out an empty value with its tab.
        if fields.count == 6 { fields.append("") }
        guard fields.count == 7 else { throw Reason("seven fields stand between tabs, and it has \(fields.count)") }
        guard let isWide = Self.flag(fields[1]), let isSecure = Self.flag(fields[3]) else {
            throw Reason("the second field and the fourth are TRUE or FALSE")
        }
        guard let expires = Self.seconds(fields[4]) else {
            throw Reason("the fifth field is a number of seconds since 1970, or 0 for the end of the session")
        }
        do throws(CookieError) {
            let cookie = try Cookie(
                name: fields[5], value: fields[6], domain: Self.withoutPort(fields[0]), path: fields[2],
                expires: expires == 0 ? nil : expires, isSecure: isSecure, isHTTPOnly: isHTTPOnly, isHostOnly: !isWide)
            guard cookie.isHostOnly || !isShared(cookie.domain) else { throw .publicSuffix }
            return cookie
        } catch {
            throw Reason(error.description)
        }
    }

    private static func flag(_ text: String) -> Bool? {
        if ASCII.equalsIgnoringCase(text.utf8, "TRUE".utf8) { return true }
        return ASCII.equalsIgnoringCase(text.utf8, "FALSE".utf8) ? false : nil
    }

    /// What is too large is as long as possible. Python writes nothing for the end of the session.
    private static func seconds(_ text: String) -> Int64? {
        guard text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return text.isEmpty ? 0 : Int64(text) ?? .max
    }

    /// wget names the port that has set a cookie. Cookies have none (RFC 6265 §8.5).
    private static func withoutPort(_ host: String) -> String {
        let parts = host.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, parts[1].allSatisfy(ASCII.isDigit) else { return host }
        return String(parts[0]) ?? host
    }
}

extension Cookie {
    fileprivate var hasTab: Bool {
        [self.name, self.value, self.path].contains { $0.utf8.contains(UInt8(ascii: "\t")) }
    }
}
