// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust

/// Certificates that the `openssl` command made, and the pins that it computes of them.
struct OpenSSLCertificates {
    /// Kinds of keys, as `openssl req -newkey` names them.
    static let kinds = [
        "rsa": "rsa:2048", "ec": "ec -pkeyopt ec_paramgen_curve:prime256v1",
        "ec384": "ec -pkeyopt ec_paramgen_curve:secp384r1", "ed": "ed25519",
    ]

    let folder: TemporaryFolder
    /// `sha256/…` for each kind.
    let pins: [String: String]

    /// Makes a folder `certs` with a DER file of each kind, `KIND.cer`, and `KIND.pem` and `KIND.key` beside it.
    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.write("", to: "certs/.keep")
        var pins: [String: String] = [:]
        for (name, kind) in Self.kinds {
            let path = "\(self.folder.path)/\(name)"
            _ = try ShellFilter.run(
                """
                openssl req -x509 -newkey \(kind) -nodes -days 400 -subj "/CN=\(name)" \
                -addext "subjectAltName=DNS:\(name).example,IP:127.0.0.1" -keyout \(path).key -out \(path).pem 2>&1 && \
                openssl x509 -in \(path).pem -outform DER -out \(self.folder.path)/certs/\(name).cer
                """)
            let digest = try ShellFilter.run(
                "openssl x509 -in \(path).pem -noout -pubkey | openssl pkey -pubin -outform DER | "
                    + "openssl dgst -sha256 -binary | openssl base64 -A")
            pins[name] = "sha256/\(String(decoding: digest, as: UTF8.self))"
        }
        self.pins = pins
    }

    /// The pins in the order of the files' names.
    var list: [String] { self.pins.keys.sorted().compactMap { self.pins[$0] } }
}

/// Runs `pintle pins` to its end.
func pins(_ arguments: String..., folder: String? = nil) throws -> ChildProcess {
    try PintleProcess.run(["pins"] + arguments, folder: folder)
}
