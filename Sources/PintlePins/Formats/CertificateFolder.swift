// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem
package import PintleTrust

/// Certificates in files, as AFNetworking takes them from an app's bundle: a `.cer` file of DER for each.
package enum CertificateFolder {
    /// A file to be written.
    package struct File: Sendable, Equatable {
        /// Without a folder.
        package let name: String
        /// DER.
        package let bytes: [UInt8]
    }

    static func read(_ path: String) throws(PinFormatError) -> PinFormat.Content {
        Self.content(try Self.certificates(path), path)
    }

    /// The certificates of a file, or of the files of a folder.
    ///
    /// - Throws: `.malformed` for a file that holds something else, `.unreadable`.
    package static func certificates(_ path: String) throws(PinFormatError) -> [Certificate] {
        do throws(TrustError) {
            return try Certificate.load(path: path)
        } catch {
            // The same code says that a file is missing and that it holds something else; the system's words tell.
            throw PinFormatError(access(path, R_OK) == 0 ? .malformed : .unreadable, error.description)
        }
    }

    static func read(_ bytes: [UInt8], _ file: String) throws(PinFormatError) -> PinFormat.Content {
        do throws(TrustError) {
            return Self.content(try Certificate.load(pem: bytes, file: file), file)
        } catch {
            throw PinFormatError(.malformed, error.description)
        }
    }

    private static func content(_ certificates: [Certificate], _ path: String) -> PinFormat.Content {
        var set = PinSet(certificates: certificates)
        set.certificatePaths = [Self.absolute(path)]
        return PinFormat.Content(sets: [set], remarks: [])
    }

    /// The path from the root, so that a configuration may name it from any folder.
    static func absolute(_ path: String) -> String { realpath(path) ?? path }

    /// The files for the certificates of `sets`, and what is lost.
    ///
    /// - Throws: `.notCarried` where a set has pins without a certificate.
    package static func files(_ sets: [PinSet]) throws(PinFormatError) -> (files: [File], losses: [String]) {
        var files: [File] = []
        var losses: [String] = []
        var names: Set<String> = []
        var written: Set<Certificate> = []
        for set in sets {
            let known = Set(set.certificates.map(\.spkiPin))
            let bare = set.pins.filter { !known.contains($0) }
            guard bare.isEmpty else {
                throw PinFormatError(
                    .notCarried,
                    "\(set.nameOrHost): \(bare.count == 1 ? "a pin is" : "\(bare.count) pins are") only a digest, which no "
                        + "certificate can be made of, \(bare[0]) first; .cer files need the certificates")
            }
            for key in Note.Key.allCases {
                guard let value = Note.value(of: key, in: set) else { continue }
                losses.append("\(set.nameOrHost): \(key.rawValue) \(value): cer has no place for it")
            }
            for certificate in set.certificates where written.insert(certificate).inserted {
                files.append(File(name: Self.name(of: certificate, &names), bytes: certificate.der))
            }
        }
        return (files, losses)
    }

    /// Made of the subject, so that a folder can be read; a peer may have chosen it, so it holds little but letters.
    private static func name(of certificate: Certificate, _ taken: inout Set<String>) -> String {
        let subject = certificate.subject.split(separator: ",").first { $0.hasPrefix("CN=") }?.dropFirst(3) ?? ""
        let fit = subject.unicodeScalars.prefix(100).map { scalar -> Character in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "." || scalar == "-")
                ? Character(scalar) : "_"
        }
        let base = fit.isEmpty || fit.first == "." ? "certificate" : String(fit)
        var name = base
        var number = 2
        while !taken.insert(name.lowercased()).inserted {
            name = "\(base)-\(number)"
            number += 1
        }
        return "\(name).cer"
    }
}

extension Certificate {
    /// The subject on one line of a comment, cut short, without controls: a peer may choose it.
    package var shortLabel: String {
        let subject = self.subject.isEmpty ? self.names.first ?? "no subject" : self.subject
        return "\(String(subject.prefix(100)).plain), until \(self.notAfter.day)"
    }
}
