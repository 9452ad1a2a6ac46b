// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem
package import PintleTrust

/// Certificates in files, as AFNetworking reads them from an app's bundle: one `.cer` file in DER for each.
package enum CertificateFolder {
    /// A file to be written.
    package struct File: Sendable, Equatable {
        /// The name without a folder.
        package let name: String
        /// The certificate in DER.
        package let bytes: [UInt8]
    }

    static func read(_ path: String) throws(PinFormatError) -> PinFormat.Content {
        Self.content(try Self.certificates(path), path)
    }

    /// Returns the certificates of a file, or of the files of a folder.
    ///
    /// - Throws: `.malformed` for a file with other contents, `.unreadable`.
    package static func certificates(_ path: String) throws(PinFormatError) -> [Certificate] {
        do throws(TrustError) {
            return try Certificate.load(path: path)
        } catch {
            // TrustError has one code for a missing file and for a wrong one, so access(2) decides.
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

    /// Returns the absolute path, so that a configuration in any folder may name it.
    static func absolute(_ path: String) -> String { realpath(path) ?? path }

    /// Returns the files for the certificates of `sets`, and the facts that are lost.
    ///
    /// - Throws: `.notCarried` if a set has pins without a certificate.
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

    /// Returns a file name made from the subject, to be recognized in the folder. A peer may have chosen the subject, so
    /// only ASCII letters, digits, dots and hyphens are kept.
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
    /// The subject and the last day for the line of a comment, cut short, without controls: a peer may choose the subject.
    package var shortLabel: String {
        let subject = self.subject.isEmpty ? self.names.first ?? "no subject" : self.subject
        return "\(String(subject.prefix(100)).plain), until \(self.notAfter.day)"
    }
}
