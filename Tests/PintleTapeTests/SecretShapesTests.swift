// SPDX-License-Identifier: Apache-2.0

import PintleTape
import Testing

@Suite struct `Shapes of secrets` {
    private static func masked(_ text: String) -> String {
        var hidden: [String] = []
        return String(decoding: SecretShapes.masked(Array(text.utf8), &hidden), as: UTF8.self)
    }

    @Test func `each known shape is found whole, wherever it stands`() {
        var planted = PlantedSecrets(seed: 31)
        for round in 0..<7 {
            for (kind, secret) in planted.all() {
                for text in [
                    secret, "a \(secret) b", "\"\(secret)\"", "/v1/\(secret)/x", "k=\(secret)&l", "%22\(secret)%22",
                    "\\n\(secret)\\n", "<a>\(secret)</a>",
                ] {
                    let masked = Self.masked(text)
                    #expect(!masked.contains(secret), "\(kind) in round \(round): \(text)")
                    #expect(masked.contains("***"), "\(kind): \(text)")
                    #expect(Self.masked(masked) == masked, "\(kind): \(masked)")
                }
            }
        }
    }

    @Test(arguments: [
        ("Authorization: Bearer abcdef0123456789xyz", "Authorization: Bearer ***"),
        ("curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='", "curl -H 'Authorization: Basic ***'"),
        ("postgres://root:hunter22@db.example:5432/x", "postgres://***@db.example:5432/x"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = ***"),
        ("{\"SecretAccessKey\":\"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\"}", "{\"SecretAccessKey\":\"***\"}"),
        (
            "DefaultEndpointsProtocol=https;AccountKey=Zm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZg==;x",
            "DefaultEndpointsProtocol=https;AccountKey=***;x"
        ),
        (
            "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX.",
            "https://hooks.slack.com/services/***."
        ),
        (
            "https://discord.com/api/webhooks/123456789012345678/abcdefghijABCDEFGHIJ",
            "https://discord.com/api/webhooks/***"
        ),
        (
            "https://api.telegram.org/bot123456789:AAabcdefghijklmnopqrstuvwxyz1234567/getMe",
            "https://api.telegram.org/bot***/getMe"
        ),
        ("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEpA\n-----END RSA PRIVATE KEY-----\n", "***\n"),
        ("{\"key\":\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\"}", "{\"key\":\"***\\n\"}"),
        ("-----BEGIN EC PRIVATE KEY-----\nMIIEcut off", "***"),
    ])
    func `secrets with a context are found`(text: String, expected: String) {
        #expect(Self.masked(text) == expected)
    }

    @Test(arguments: [
        "Basic information about the bearer authentication scheme", "task-management-for-the-risk-averse-person",
        "https://medium.com/@someone/a-story", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "/users/17/orders/123456789", "2026-01-02T03:04:05Z", "Bearer realm=\"example\", error=\"invalid_token\"",
        "the SKU is SK1234", "eyJ is a prefix", "***", "Bearer ***", "https://***@host/",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "550e8400-e29b-41d4-a716-446655440000",
        "sk-a-long-name-with-hyphens-and-no-digits-at-all",
    ])
    func `texts that only look similar stay`(text: String) {
        #expect(Self.masked(text) == text)
    }

    @Test func `a mask of one length for each byte keeps the lengths`() {
        var hidden: [String] = []
        let text = Array("\u{0}\u{5}AKIAIOSFODNN7EXAMPLE\u{1}".utf8)
        let masked = SecretShapes.masked(text, keepsLength: true, &hidden)
        #expect(masked == Array("\u{0}\u{5}********************\u{1}".utf8))
        #expect(hidden == ["AKIAIOSFODNN7EXAMPLE"])
    }

    @Test func `hostile texts take time in proportion to their length`() {
        // Steps are bounded by the sets' runs, so each text is read a few times at most; a quadratic scan would not end.
        for unit in [
            "eyJ-", "eyJa.", "MMMMMMMMMMMMMMMMMMMMMMMM.", "://", "-----BEGIN PRIVATE", "12345678:", "bearer ", "sk-",
            "secretkey=",
        ] {
            let text = [UInt8]([[UInt8]](repeating: Array(unit.utf8), count: 1_000_000 / unit.utf8.count).joined())
            var hidden: [String] = []
            #expect(SecretShapes.masked(text, &hidden).count <= text.count + 3)
        }
    }
}
