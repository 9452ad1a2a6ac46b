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
    /// The most members, repeated ones counted: a hostile list has a member in two bytes.
    static let memberLimit = 64

    /// Reads Vary, and adds what it should have named.
    ///
    /// Two omissions are so common, and do so much harm, that the field is taken for named: Accept-Encoding where the
    /// content is coded, since a client that did not ask for the coding cannot read it; and Origin where
    /// Access-Control-Allow-Origin names one, since it may be the client's own.
    init(of head: ResponseHead) {
        var names: [String] = []
        var count = 0
        var isAny = false
        head.fields.forEachMember(of: "Vary", separatedBy: UInt8(ascii: ",")) { member in
            count += 1
            isAny = !member.allSatisfy(ASCII.isTokenByte) || (member.count == 1 && member[0] == UInt8(ascii: "*"))
            if isAny || count > Self.memberLimit { return false }
            let name = String(decoding: member.map(ASCII.lowercased), as: UTF8.self)
            if !names.contains(name) { names.append(name) }
            return names.count <= Self.nameLimit
        }
        if isAny || count > Self.memberLimit || names.count > Self.nameLimit {
            self = isAny ? .any : .tooMany
            return
        }
        func add(_ name: String) { if !names.contains(name) { names.append(name) } }
        if head.fields.contains(.contentEncoding) { add("accept-encoding") }
        if head.fields.contains("Access-Control-Allow-Origin", where: { !$0.elementsEqual("*".utf8) }) { add("origin") }
        self = .fields(names)
    }

    /// Fields with credentials: a shared cache does not keep their values, and so nothing that depends on them. The owner of one
    /// user's cache may put something else in their place, such as a digest.
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
        var hasValue = false
        let isList = Self.lists.contains(name)
        fields.forEachValue(of: name) { line in
            var joined = value ?? []
            value = nil
            if isList {
                Self.appendMembers(of: line, to: &joined)
            } else {
                if hasValue { joined += [UInt8(ascii: ","), 0x20] }
                joined.append(contentsOf: line)
            }
            hasValue = true
            value = joined
        }
        return value
    }

    /// Appends the members of a list, without white space around them and their semicolons; quoted strings stay as they
    /// are.
    private static func appendMembers(of line: UnsafeRawBufferPointer, to joined: inout [UInt8]) {
        var isInMember = false
        var isQuoted = false
        var isEscaped = false
        var spaces = 0..<0
        for (place, byte) in line.enumerated() {
            if isQuoted {
                joined.append(byte)
                if !isEscaped, byte == UInt8(ascii: "\"") { isQuoted = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case 0x20, 0x09: spaces = (spaces.isEmpty ? place : spaces.lowerBound)..<place + 1
            case UInt8(ascii: ","): (isInMember, spaces) = (false, 0..<0)
            default:
                if !isInMember {
                    if !joined.isEmpty { joined.append(UInt8(ascii: ",")) }
                } else if byte != UInt8(ascii: ";"), joined.last != UInt8(ascii: ";") {
                    // At either side of a semicolon it says nothing, elsewhere perhaps something.
                    joined.append(contentsOf: line[spaces])
                }
                joined.append(byte)
                (isInMember, spaces) = (true, 0..<0)
                isQuoted = byte == UInt8(ascii: "\"")
            }
        }
    }
}
