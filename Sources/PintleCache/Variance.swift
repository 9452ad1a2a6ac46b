// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The fields of a request that a response depends on (RFC 9111 §4.1).
enum Variance: Equatable {
    /// These, in lower case, each once; none for a response that answers whatever the fields.
    case fields([String])
    /// `*`, or what is no list of names: something that no request shows.
    case any
    /// More names than are compared.
    case tooMany

    /// The most names in a Vary field that is stored.
    static let nameLimit = 16

    /// Reads Vary, and adds what it should have named.
    ///
    /// Two omissions are so common, and do so much harm, that the field is taken for named: Accept-Encoding where the
    /// content is coded, since a client that did not ask for the coding cannot read it; and Origin where
    /// Access-Control-Allow-Origin names one, since it may be the client's own.
    init(of head: ResponseHead) {
        var names: [String] = []
        var isAny = false
        var isTooLong = false
        head.fields.forEachValue(of: "Vary") { value in
            for part in value.split(separator: UInt8(ascii: ",")) where !isTooLong {
                let member = ASCII.trimmed(part)
                if member.isEmpty { continue }
                guard ASCII.isToken(member), !member.elementsEqual("*".utf8) else {
                    isAny = true
                    continue
                }
                let name = String(decoding: member.map(ASCII.lowercased), as: UTF8.self)
                if names.contains(name) { continue }
                isTooLong = names.count == Self.nameLimit
                names.append(name)
            }
        }
        if isAny || isTooLong {
            self = isAny ? .any : .tooMany
            return
        }
        func add(_ name: String) { if !names.contains(name) { names.append(name) } }
        if head.fields.contains(.contentEncoding) { add("accept-encoding") }
        if head.fields.contains("Access-Control-Allow-Origin", where: { !$0.elementsEqual("*".utf8) }) { add("origin") }
        self = .fields(names)
    }

    /// Fields with credentials: their values are not kept, so nothing that depends on them is.
    static let secret: Set<String> = ["authorization", "cookie", "proxy-authorization"]
}

/// The normalised values of a request's fields, each made once.
struct SelectingValues {
    private let fields: Fields
    private var values: [String: [UInt8]?] = [:]

    init(_ request: RequestHead) { self.fields = request.fields }

    /// True where the request has the values that were stored.
    mutating func match(_ selecting: [SelectingField]) -> Bool {
        selecting.allSatisfy { self.value(of: $0.name) == $0.value }
    }

    /// The fields with these names.
    mutating func fields(_ names: [String]) -> [SelectingField] {
        names.map { SelectingField(name: $0, value: self.value(of: $0)) }
    }

    private mutating func value(of name: String) -> [UInt8]? {
        if let known = self.values[name] { return known }
        let value = Self.normalised(name, self.fields)
        self.values[name] = .some(value)
        return value
    }

    /// Lists whose white space is known to mean nothing.
    private static let lists: Set<String> = ["accept", "accept-charset", "accept-encoding", "accept-language"]

    /// The lines of one name as one; in lists without white space between members and without empty members. Nothing
    /// else is changed: what an origin could tell apart stays apart.
    private static func normalised(_ name: String, _ fields: Fields) -> [UInt8]? {
        var value: [UInt8]?
        let isList = Self.lists.contains(name)
        fields.forEachValue(of: name) { line in
            var joined = value ?? []
            if isList {
                for member in Self.members(line) {
                    if !joined.isEmpty { joined.append(UInt8(ascii: ",")) }
                    joined += member
                }
            } else {
                if value != nil { joined += [UInt8(ascii: ","), 0x20] }
                joined.append(contentsOf: line)
            }
            value = joined
        }
        return value
    }

    /// The members of a list, without white space around them and their semicolons; quoted strings stay as they are.
    private static func members(_ line: UnsafeRawBufferPointer) -> [[UInt8]] {
        var members: [[UInt8]] = [[]]
        var isQuoted = false
        var isEscaped = false
        var spaces: [UInt8] = []
        for byte in line {
            if isQuoted {
                members[members.count - 1].append(byte)
                if !isEscaped, byte == UInt8(ascii: "\"") { isQuoted = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case 0x20, 0x09: spaces.append(byte)
            case UInt8(ascii: ","):
                spaces = []
                members.append([])
            default:
                // White space at either side of a semicolon, or at the beginning of a member, says nothing.
                let last = members[members.count - 1].last
                if byte != UInt8(ascii: ";"), let last, last != UInt8(ascii: ";") {
                    members[members.count - 1] += spaces
                }
                spaces = []
                isQuoted = byte == UInt8(ascii: "\"")
                members[members.count - 1].append(byte)
            }
        }
        return members.filter { !$0.isEmpty }
    }
}
