// SPDX-License-Identifier: Apache-2.0

/// A name of a subjectAltName, or the base of a name constraint (RFC 5280 §4.2.1.6).
enum GeneralName: Equatable {
    case email([UInt8])
    case dns([UInt8])
    case directory(DistinguishedName)
    case uri([UInt8])
    /// An address: 4 or 16 bytes in a subjectAltName, twice as many in a constraint; not checked here.
    case address([UInt8])
    /// A form that no rule uses: otherName, x400Address, ediPartyName, registeredID.
    ///
    /// Its payload is a whole `Int`, so that the compiler finds no spare bits in which to mark the pointers of the other
    /// cases: a leak checker would not recognize marked pointers in values that live as long as the process.
    case unknown(form: Int)

    init(_ element: DERElement) throws(DERError) {
        switch element.tag {
        case DERTag.implicit(1): self = .email(try GeneralName.ascii(element.content))
        case DERTag.implicit(2): self = .dns(try GeneralName.ascii(element.content))
        case DERTag.constructed(4): self = .directory(try NameAttributes(element.content).name)
        case DERTag.implicit(6): self = .uri(try GeneralName.ascii(element.content))
        case DERTag.implicit(7): self = .address(Array(element.content))
        case DERTag.constructed(0): self = .unknown(form: 0)
        case DERTag.constructed(3): self = .unknown(form: 3)
        case DERTag.constructed(5): self = .unknown(form: 5)
        case DERTag.implicit(8): self = .unknown(form: 8)
        default: throw DERError()
        }
    }

    /// Makes the host that a common name stands for: an address if the whole text is one, otherwise a DNS name.
    init(commonName: String) {
        self = IPAddressName(commonName).map { .address($0.bytes) } ?? .dns(Array(commonName.utf8))
    }

    /// Returns the names of a GeneralNames, which must have at least one.
    static func all(in bytes: ArraySlice<UInt8>) throws(DERError) -> [GeneralName] {
        var reader = try DERReader(sequence: bytes)
        var names: [GeneralName] = []
        while !reader.isAtEnd { names.append(try GeneralName(try reader.next())) }
        guard !names.isEmpty else { throw DERError() }
        return names
    }

    /// Returns the bytes of an IA5String, which must have seven bits each.
    private static func ascii(_ bytes: ArraySlice<UInt8>) throws(DERError) -> [UInt8] {
        guard bytes.allSatisfy({ $0 < 0x80 }) else { throw DERError() }
        return Array(bytes)
    }

    /// The number of bytes that a comparison may have to examine.
    var size: Int {
        switch self {
        case .email(let bytes), .dns(let bytes), .uri(let bytes), .address(let bytes): bytes.count
        case .directory(let name): name.size
        case .unknown: 0
        }
    }

    /// The number of the form, which tells whether a constraint applies to a name at all.
    var form: Int {
        switch self {
        case .email: 1
        case .dns: 2
        case .directory: 4
        case .uri: 6
        case .address: 7
        case .unknown(let form): form
        }
    }
}
