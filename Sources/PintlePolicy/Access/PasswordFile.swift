// SPDX-License-Identifier: Apache-2.0

internal import CPintleCrypt
private import PintleMessage
internal import PintleSystem

/// The users that a file names, each with a bcrypt hash of a password, as `htpasswd -B` writes it.
package struct PasswordFile: Sendable, Equatable {
    /// Size limit in bytes: enough for some ten thousand users.
    static let byteLimit = 1 << 20
    /// The costs that `htpasswd -C` accepts. Each step doubles the time: 17 takes some ten seconds.
    private static let costs = 4...17

    private var hashes: [String: String] = [:]
    /// A hash that matches no known password. Unknown names are checked against it, so that they take as long as known ones.
    private var decoy = ""

    /// The number of users.
    package var count: Int { self.hashes.count }

    /// Reads the text of a file: a line `NAME:HASH` for each user. Skips empty lines and lines that begin with `#`.
    ///
    /// - Parameter report: called for each faulty line, with its number (from 1) and the fault.
    init(_ text: String, report: (_ line: Int, _ message: String) -> Void) {
        var highestCost = Self.costs.lowerBound
        // A carriage return and a line feed are one `Character` in Swift.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            if line.allSatisfy({ $0 == " " || $0 == "\t" }) || line.hasPrefix("#") { continue }
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
                report(index + 1, "must be a user's name, a colon and a bcrypt hash")
                continue
            }
            let (name, hash) = (String(line[..<colon]), String(line[line.index(after: colon)...]))
            guard let cost = Self.cost(of: hash) else {
                // Never the hash itself: with some kinds it is the password.
                report(index + 1, "the hash of \"\(name.excerpt)\" is not bcrypt; make it with: htpasswd -B")
                continue
            }
            guard Self.costs.contains(cost) else {
                let range = "\(Self.costs.lowerBound) to \(Self.costs.upperBound)"
                report(index + 1, "the hash of \"\(name.excerpt)\" has cost \(cost); costs are from \(range)")
                continue
            }
            guard self.hashes.updateValue(hash, forKey: name) == nil else {
                report(index + 1, "the user \"\(name.excerpt)\" is there twice")
                continue
            }
            highestCost = max(highestCost, cost)
        }
        let digits = highestCost < 10 ? "0\(highestCost)" : "\(highestCost)"
        self.decoy = "$2b$\(digits)$" + String(repeating: ".", count: 53)
    }

    /// The names of the users, sorted.
    var names: [String] { self.hashes.keys.sorted() }

    /// True if the file names the user.
    package func has(user: String) -> Bool { self.hashes[user] != nil }

    /// The user's name as the file spells it; nil if it names no such user. Clients may compose letters with marks otherwise, but rules
    /// compare the bytes of names.
    package func spelling(of user: String) -> String? { self.hashes.index(forKey: user).map { self.hashes.keys[$0] } }

    /// True if `password` is the user's password. Takes as long as bcrypt does, so an event loop must not call it.
    package func has(user: String, password: [UInt8]) -> Bool {
        // bcrypt takes C strings, which end at the first zero byte: a password with a zero byte never matches.
        let isText = !password.contains(0)
        let hash = self.hashes[user]
        let matches = Self.matches(isText ? password : [], hash ?? self.decoy)
        return matches && hash != nil && isText
    }

    private static func matches(_ password: [UInt8], _ hash: String) -> Bool {
        let size = pintle_crypt_state_size()
        let state = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<Int>.alignment)
        state.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        defer {
            // Erases the traces of the password.
            state.initializeMemory(as: UInt8.self, repeating: 0, count: size)
            state.deallocate()
        }
        let phrase = (password + [0]).map { CChar(bitPattern: $0) }
        guard let made = pintle_crypt(phrase, hash, state) else { return false }
        return String(cString: made).isSecret(hash)
    }

    /// The cost of a bcrypt hash; nil for anything else.
    private static func cost(of hash: String) -> Int? {
        let bytes = Array(hash.utf8)
        guard bytes.count == 60, ["$2a$", "$2b$", "$2y$"].contains(String(hash.prefix(4))),
            bytes[6] == UInt8(ascii: "$"),
            bytes[4..<6].allSatisfy(ASCII.isDigit),
            bytes[7...].allSatisfy({
                ASCII.isDigit($0) || ASCII.lowercased($0) &- 0x61 < 26 || $0 == UInt8(ascii: ".")
                    || $0 == UInt8(ascii: "/")
            })
        else { return nil }
        return Int(bytes[4] - 0x30) * 10 + Int(bytes[5] - 0x30)
    }
}
