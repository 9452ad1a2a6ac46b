// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintlePolicy
internal import PintleTrust

/// The formats in which pins are kept; the raw values are their names in `pintle pins convert`.
package enum PinFormat: String, Sendable, CaseIterable {
    /// A certificate file, or a folder of them, as AFNetworking reads them from an app's bundle.
    case cer
    /// A list of `sha256/…`, one per line.
    case sha256
    /// The value of curl's `--pinnedpubkey`, alone or in a file for `curl --config`.
    case curl
    /// `Public-Key-Pins` fields (RFC 7469).
    case hpkp
    /// TrustKit's `TSKPinnedDomains`, in a property list of its own or in an app's Info.plist.
    case trustkit
    /// Android's network security configuration.
    case android
    /// The calls that build an OkHttp `CertificatePinner`, in Kotlin or Java.
    case okhttp
    /// `verify_certificate_spki` of Envoy's certificate validation contexts.
    case envoy
    /// The section `trust` of Pintle's own configuration.
    case pintle

    /// The largest file that is read, in bytes.
    package static let byteLimit = 4 << 20

    /// The contents of a file with pins.
    package struct Content: Sendable, Equatable {
        /// The sets in the order of ``PinSet/normalized(_:)``, at least one, each with at least one pin.
        package var sets: [PinSet]
        /// Sentences about other contents of the file, which are not about pins.
        package var remarks: [String]
    }

    /// Pins in the text of a format.
    package struct Text: Sendable, Equatable {
        package var text: String
        /// Sentences about facts that the format cannot express, or expresses differently.
        package var losses: [String]
    }

    /// Reads pins.
    ///
    /// - Parameter path: a file; for ``cer`` also a folder.
    /// - Throws: `.malformed`, naming file and line, also if there is no pin; `.unreadable`.
    package func read(path: String, _ surroundings: LoaderEnvironment) throws(PinFormatError) -> Content {
        if self == .cer { return try CertificateFolder.read(path) }
        let bytes: [UInt8]
        do throws(LoaderEnvironment.ReadingError) {
            bytes = try surroundings.read(path, Self.byteLimit)
        } catch {
            throw PinFormatError(.unreadable, error.words(for: path, limit: Self.byteLimit))
        }
        return try self.read(bytes, file: path, surroundings)
    }

    /// Reads pins from memory.
    ///
    /// - Parameter file: the name of the file, for messages.
    package func read(
        _ bytes: [UInt8], file: String, _ surroundings: LoaderEnvironment
    ) throws(PinFormatError) -> Content {
        var content: Content
        switch self {
        case .cer: content = try CertificateFolder.read(bytes, file)
        case .sha256: content = try DigestList.read(bytes, file)
        case .curl: content = try CurlFormat.read(bytes, file)
        case .hpkp: content = try HPKPFormat.read(bytes, file)
        case .trustkit: content = try TrustKitFormat.read(bytes, file)
        case .android: content = try AndroidFormat.read(bytes, file)
        case .okhttp: content = try OkHttpFormat.read(bytes, file)
        case .envoy: content = try EnvoyFormat.read(bytes, file)
        case .pintle: content = try PintleFormat.read(bytes, file, surroundings)
        }
        guard !content.sets.isEmpty else {
            throw PinFormatError(file: file, line: nil, "there is no pin in it; \(self.hint)")
        }
        for index in content.sets.indices {
            content.sets[index].hosts.removeAll { $0.isUnknown && $0.scope == .itself }
            // The action at an end is meaningless without an end.
            if content.sets[index].expires == nil { content.sets[index].onExpiry = .system }
            content.sets[index].reportURIs = content.sets[index].reportURIs.map(\.uriEncoded).filter { !$0.isEmpty }
        }
        content.sets = PinSet.normalized(content.sets)
        return content
    }

    /// A hint for messages: the contents that a file of the format with pins has.
    private var hint: String {
        switch self {
        case .cer: "a certificate is due, as PEM or DER"
        case .sha256: "a line of it is sha256/ and 44 base64 digits"
        case .curl: "it has sha256// and 44 base64 digits, more of them after a semicolon"
        case .hpkp: "a line of it is Public-Key-Pins: pin-sha256=\"…\"; max-age=5184000"
        case .trustkit: "it has TSKPinnedDomains with TSKPublicKeyHashes for each domain"
        case .android: "it has <pin-set> with <pin digest=\"SHA-256\"> within <domain-config>"
        case .okhttp: "it has calls .add(\"host\", \"sha256/…\")"
        case .envoy: "it has verify_certificate_spki in a validation_context"
        case .pintle: "an entry of trust has pinning: public_key and pins"
        }
    }

    /// Writes pins.
    ///
    /// - Parameter isBare: true to write no comments; facts that only comments could note count as lost.
    /// - Throws: `.notCarried` if the format cannot express the sets at all. ``CertificateFolder`` writes ``cer``.
    package func write(_ sets: [PinSet], isBare: Bool = false) throws(PinFormatError) -> Text {
        var writer = PinWriter(format: self, isBare: isBare)
        switch self {
        case .cer: throw PinFormatError(.notCarried, "certificates are written into a folder; name one with --out")
        case .sha256: DigestList.write(sets, &writer)
        case .curl: CurlFormat.write(sets, &writer)
        case .hpkp: HPKPFormat.write(sets, &writer)
        case .trustkit: try TrustKitFormat.write(sets, &writer)
        case .android: try AndroidFormat.write(sets, &writer)
        case .okhttp: try OkHttpFormat.write(sets, &writer)
        case .envoy: EnvoyFormat.write(sets, &writer)
        case .pintle: try PintleFormat.write(sets, &writer)
        }
        return Text(text: writer.lines.joined(separator: "\n") + "\n", losses: writer.losses)
    }
}

extension String {
    /// The text with the characters that a URI allows: spaces, controls and characters beyond ASCII are percent-encoded.
    fileprivate var uriEncoded: String {
        self.utf8.reduce(into: "") { result, byte in
            result += (0x21...0x7E).contains(byte) ? String(UnicodeScalar(byte)) : byte.percentEncoded
        }
    }
}

extension PinnedHost {
    /// Returns the host that is written in place of an unknown one: `host.invalid`, `host-2.invalid` and so on.
    static func unknown(_ index: Int) -> PinnedHost {
        PinnedHost(index == 0 ? self.unknown : "host-\(index + 1).invalid")
    }

    /// True if it stands for an unknown host.
    package var isUnknown: Bool {
        if self.name == Self.unknown { return true }
        guard self.name.hasPrefix("host-"), self.name.hasSuffix(".invalid") else { return false }
        return Int(self.name.dropFirst(5).dropLast(8)) != nil
    }
}
