// SPDX-License-Identifier: Apache-2.0

/// Cookies as lines of text in the format of Netscape's `cookies.txt`, which curl, wget and Python read and write.
///
/// A line has seven fields, separated by tabs: domain, TRUE if names below it get the cookie, path, TRUE if it is Secure,
/// seconds since 1970 or zero, name and value. `#HttpOnly_` in front of a line makes its cookie HttpOnly; other lines that
/// begin with `#` are comments. The format has no place for SameSite, for a cookie without a name, or for a tab in a
/// cookie.
package enum CookieLines {
    private static let httpOnly = "#HttpOnly_"
    private static let head = """
        # Netscape HTTP Cookie File
        # Written by Pintle, and written anew when cookies change.


        """

    /// A line that is not a cookie. The reason does not repeat any of the line.
    package struct Malformed: Error, Sendable, Equatable {
        /// Counted from 1.
        package let line: Int
        package let reason: String
    }

    /// Returns the lines of the cookies, without those that the format has no place for.
    package static func text(of cookies: [Cookie]) -> String {
        var text = Self.head
        for cookie in cookies where !cookie.name.isEmpty && !cookie.hasTab {
            if cookie.isHTTPOnly { text += Self.httpOnly }
            // Some readers look at the dot, others at the next field.
            text += cookie.isHostOnly ? "\(cookie.domain)\tFALSE" : ".\(cookie.domain)\tTRUE"
            // Zero means the end of the session; a cookie that expired in that second is never stored.
            text += "\t\(cookie.path)\t\(cookie.isSecure ? "TRUE" : "FALSE")\t\(max(cookie.expires ?? 0, 0))"
            text += "\t\(cookie.name)\t\(cookie.value)\n"
        }
        return text
    }

    /// Reads lines.
    ///
    /// - Parameters:
    ///   - isShared: returns true for public suffixes, below which different owners have names, so that no cookie is for
    ///     all of them.
    ///   - passesOver: called for each malformed line; returns true to skip the line and continue.
    ///   - keep: called for each cookie, expired ones included.
    /// - Throws: ``Malformed`` for the first malformed line that is not skipped.
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

    /// - Returns: nil for comments and empty lines.
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

    /// A number of seconds, capped at the largest `Int64`. Empty means zero: Python writes nothing for the end of the
    /// session.
    private static func seconds(_ text: String) -> Int64? {
        guard text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return text.isEmpty ? 0 : Int64(text) ?? .max
    }

    /// The host without a port: wget writes the port of the server that set a cookie, but cookies have none (RFC 6265
    /// §8.5).
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
