// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// Stores that Java reads.
struct TrustStoreTests {
    private let folder: TemporaryFolder
    private let root: Certificate
    private let identity: TestIdentity

    init() throws {
        self.folder = try TemporaryFolder()
        let authority = try TestPKI().root()
        self.root = authority.certificate
        self.identity = try TestPKI().leaf(dns: ["a.test"], signedBy: TestPKI().intermediate(signedBy: authority))
    }

    private static let keytool = "/usr/bin/keytool"

    private func read(_ bytes: [UInt8], _ password: String?) throws(TrustError) -> [Certificate] {
        let path = "\(self.folder.path)/store"
        guard (try? Data(bytes).write(to: URL(fileURLWithPath: path))) != nil else { return [] }
        return try TrustStore.certificates(inStore: path, password: password)
    }

    @Test func `LOOK-115 what is written is read, and the password is asked for`() throws {
        let store = try TrustStore.pkcs12(of: [self.root], password: "pintle")
        #expect(try self.read(store, "pintle") == [self.root])
        // Nothing is encrypted in it.
        #expect(try self.read(store, nil) == [self.root])
        let error = #expect(throws: TrustError.self) { try self.read(store, "other") }
        #expect(error?.message.hasSuffix("/store: the store cannot be read: the password does not open it") == true)
    }

    @Test func `LOOK-115 certificates of a key, and such as only make up a chain, are not trusted`() throws {
        #expect(try self.read(try self.identity.pkcs12(password: "p"), "p").isEmpty)
        #expect(try self.read(try self.identity.pkcs12(password: nil), nil).isEmpty)
    }

    /// A store in Java's own format, version 2: a key, and then a trusted certificate.
    private var javaStore: [UInt8] {
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        func text(_ text: String) -> [UInt8] { number(text.utf8.count, 2) + Array(text.utf8) }
        func certificate(_ certificate: Certificate) -> [UInt8] {
            text("X.509") + number(certificate.der.count, 4) + certificate.der
        }
        let head = [0xFE, 0xED, 0xFE, 0xED] + number(2, 4) + number(2, 4)
        let key = number(1, 4) + text("key") + number(0, 8) + number(3, 4) + [1, 2, 3]
        let chain = number(1, 4) + certificate(self.identity.certificate)
        let trusted = number(2, 4) + text("ca") + number(0, 8) + certificate(self.root)
        return head + key + chain + trusted + [UInt8](repeating: 0, count: 20)
    }

    @Test func `LOOK-115 Java's own format is read, and refused wherever it is cut`() throws {
        let store = self.javaStore
        #expect(try self.read(store, nil) == [self.root])
        for count in stride(from: 4, to: store.count - 20, by: 7) {
            #expect(throws: TrustError.self, "\(count)") { try self.read(Array(store.prefix(count)), nil) }
        }
        // A count that lies.
        var lying = store
        lying.replaceSubrange(8..<12, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: TrustError.self) { try self.read(lying, nil) }
        #expect(throws: TrustError.self) { try self.read(Array("no store".utf8), "x") }
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: TrustStoreTests.keytool), "there is no keytool here"),
        arguments: ["JKS", "JCEKS", "PKCS12"])
    func `LOOK-115 keytool's stores have what it was told to trust`(type: String) throws {
        let pem = try self.folder.write(PEMText.certificates([self.root]), to: "root.pem")
        let path = "\(self.folder.path)/made"
        let options = ["-storetype", type, "-keystore", path, "-storepass", "changeit", "-keypass", "changeit"]
        for arguments in [
            ["-importcert", "-noprompt", "-alias", "root", "-file", pem],
            ["-genkeypair", "-alias", "key", "-keyalg", "EC", "-dname", "CN=own"],
        ] {
            let process = try ChildProcess(Self.keytool, arguments + options)
            #expect(try process.waitForExit() == 0, "\(process.lines)")
        }
        #expect(try TrustStore.certificates(inStore: path, password: "changeit") == [self.root])
        // Java encrypts certificates in PKCS#12, and skips those that it cannot read.
        #expect(try TrustStore.certificates(inStore: path, password: nil) == (type == "PKCS12" ? [] : [self.root]))
    }
}
