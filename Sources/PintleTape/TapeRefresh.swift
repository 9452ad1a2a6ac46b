// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension Fields {
    /// Returns the fields with their dates moved (`replay.refresh`): Date, Expires, Last-Modified, Retry-After, and the expiry of
    /// cookies. Values that are no dates stay.
    ///
    /// - Parameter seconds: the time from the recording to now.
    package func refreshed(by seconds: Int64) -> Fields {
        var fields = Fields()
        for (name, value) in self.pairs {
            switch name.lowercased() {
            case "date", "expires", "last-modified", "retry-after":
                fields.append(name, Self.moved(value, by: seconds) ?? value)
            case "set-cookie": fields.append(name, Self.movedCookie(value, by: seconds))
            default: fields.append(name, value)
            }
        }
        return fields
    }

    private static func moved(_ date: String, by seconds: Int64) -> String? {
        guard let time = HTTPDate.seconds(date) else { return nil }
        let moved = time + seconds
        // Until the year 9999, as a date of HTTP has four digits.
        return (0..<253_402_300_800).contains(moved) ? HTTPDate.text(moved) : nil
    }

    private static func movedCookie(_ cookie: String, by seconds: Int64) -> String {
        cookie.split(separator: ";", omittingEmptySubsequences: false).map { part in
            guard let equals = part.firstIndex(of: "="),
                part[..<equals].drop(while: { $0 == " " }).lowercased() == "expires"
            else { return String(part) }
            let value = part[part.index(after: equals)...]
            // Many servers write hyphens within the date, as in Netscape's specification.
            let date = value.split(separator: "-", omittingEmptySubsequences: false).joined(separator: " ")
            return self.moved(date, by: seconds).map { "\(part[...equals])\($0)" } ?? String(part)
        }.joined(separator: ";")
    }
}
