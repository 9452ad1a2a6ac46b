// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The request fields on which a response depends (RFC 9111 §4.1).
enum Variance: Equatable {
    /// These fields, in lower case, each once; empty for a response that does not depend on fields.
    case fields([String])
    /// `*`, or a malformed list: the response depends on something that is not in the request.
    case any
    /// There are more names than are compared.
    case tooMany

    /// The most names in the Vary field of a stored response.
    static let nameLimit = 16
    /// The most members, including repeated ones: a hostile list has a member every two bytes.
    static let memberLimit = 64

    /// Reads Vary, and adds fields that it should have named.
    ///
    /// Two omissions are so common and so harmful that the field is added: Accept-Encoding if the content has a coding, because
    /// a client that did not ask for the coding cannot read it; and Origin if Access-Control-Allow-Origin names one, because it
    /// may be that of the client.
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

    /// Fields with credentials. A shared cache does not keep their values, and therefore no response that depends on them. The
    /// owner of a private cache may replace the values, for example by a digest.
    static let secret: Set<String> = ["authorization", "cookie", "proxy-authorization"]
}

/// The normalised values of a request's fields, each computed once.
struct SelectingValues {
    private let fields: Fields
    private var values: [String: [UInt8]?] = [:]

    init(_ request: RequestHead) { self.fields = request.fields }

    /// True if the request has the stored values.
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

    /// List fields in which white space is known to have no meaning.
    private static let lists: Set<String> = ["accept", "accept-charset", "accept-encoding", "accept-language"]

    /// Combines the lines of one name; in lists, removes white space between members and empty members. Nothing else is
    /// changed, so that values that an origin could distinguish stay different.
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

    /// Appends the members of a list, without white space around them and around their semicolons; quoted strings stay
    /// unchanged.
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
                    // White space around a semicolon has no meaning; elsewhere it may have one.
                    joined.append(contentsOf: line[spaces])
                }
                joined.append(byte)
                (isInMember, spaces) = (true, 0..<0)
                isQuoted = byte == UInt8(ascii: "\"")
            }
        }
    }
}
