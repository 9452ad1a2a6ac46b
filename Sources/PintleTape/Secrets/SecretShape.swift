// SPDX-License-Identifier: Apache-2.0

/// The bytes of which tokens are made.
enum TokenBytes: Int, CaseIterable {
    /// Letters, digits and `_`.
    case word
    /// Letters and digits.
    case alphanumeric
    /// Digits and upper-case letters.
    case upper
    case hexadecimal
    /// Base64 with `-` and `_`.
    case url64
    /// Base64 with `+`, `/` and padding.
    case base64
    /// Base64 of both kinds, and points (RFC 9110 §11.2).
    case token68
    /// Segments of a path, and escapes.
    case path

    func has(_ byte: UInt8) -> Bool { Self.tables[self.rawValue][Int(byte)] }

    private static let tables: [[Bool]] = allCases.map { set in
        (0...255).map { (byte: Int) in set.contains(UInt8(byte)) }
    }

    private func contains(_ byte: UInt8) -> Bool {
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        let isLetter = isUpper || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        return switch self {
        case .word: isLetter || isDigit || byte == UInt8(ascii: "_")
        case .alphanumeric: isLetter || isDigit
        case .upper: isUpper || isDigit
        case .hexadecimal: isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20) && isLetter
        case .url64: isLetter || isDigit || "-_".utf8.contains(byte)
        case .base64: isLetter || isDigit || "+/=".utf8.contains(byte)
        case .token68: isLetter || isDigit || "-._~+/=".utf8.contains(byte)
        case .path: isLetter || isDigit || "-_/%".utf8.contains(byte)
        }
    }
}

/// A token that its prefix tells. The sources are the services' own documentation of their formats.
struct SecretShape {
    let prefix: [UInt8]
    let bytes: TokenBytes
    /// The fewest bytes behind the prefix.
    let least: Int
    /// True if there must be exactly so many.
    let isExact: Bool
    /// True if words with hyphens may have the same prefix, which have no digits.
    let mustBeMixed: Bool
    let kind: String

    private init(
        _ prefix: String, _ bytes: TokenBytes, _ least: Int, _ kind: String, isExact: Bool = false, mixed: Bool = false
    ) {
        (self.prefix, self.bytes, self.least, self.kind) = (Array(prefix.utf8), bytes, least, kind)
        (self.isExact, self.mustBeMixed) = (isExact, mixed)
    }

    /// The shapes by the first bytes of their prefixes, the longest prefix first.
    static let byFirstByte = Dictionary(grouping: all) { $0.prefix[0] }
        .mapValues { shapes in shapes.sorted { $0.prefix.count > $1.prefix.count } }

    private static let all: [SecretShape] =
        ["AKIA", "ASIA", "ABIA", "ACCA"].map { Self($0, .upper, 16, "AWS access key", isExact: true) }
        + ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map { Self($0, .word, 30, "GitHub token") }
        + ["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-"].map {
            Self($0, .url64, 20, "GitLab token")
        }
        + ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxo-", "xapp-"].map {
            Self($0, .url64, 10, "Slack token", mixed: true)
        }
        + ["sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"].map { Self($0, .word, 16, "Stripe key") }
        + ["shpat_", "shpss_", "shpca_", "shppa_"].map { Self($0, .hexadecimal, 32, "Shopify token") }
        + ["dop_v1_", "doo_v1_", "dor_v1_"].map { Self($0, .hexadecimal, 64, "DigitalOcean token") }
        + ["hvs.", "hvb.", "hvr."].map { Self($0, .url64, 24, "Vault token") }
        + ["sq0atp-", "sq0csp-", "sq0idp-"].map { Self($0, .url64, 22, "Square token") }
        + [
            Self("github_pat_", .word, 40, "GitHub token"),
            Self("AIza", .url64, 35, "Google API key", isExact: true),
            Self("ya29.", .url64, 20, "Google token"), Self("GOCSPX-", .url64, 28, "Google client secret"),
            Self("sk-ant-", .url64, 20, "Anthropic key", mixed: true),
            Self("sk-proj-", .url64, 20, "OpenAI key", mixed: true),
            Self("sk-svcacct-", .url64, 20, "OpenAI key", mixed: true),
            Self("sk-or-v1-", .url64, 32, "OpenRouter key", mixed: true),
            Self("sk-", .url64, 20, "OpenAI key", mixed: true),
            Self("npm_", .alphanumeric, 36, "npm token"), Self("pypi-", .url64, 50, "PyPI token", mixed: true),
            Self("SG.", .token68, 60, "SendGrid key"), Self("SK", .hexadecimal, 32, "Twilio key", isExact: true),
            Self("hf_", .alphanumeric, 30, "Hugging Face token"),
            Self("key-", .hexadecimal, 32, "Mailgun key", isExact: true),
            Self("EAAA", .url64, 60, "Square token", isExact: true),
            Self("AGE-SECRET-KEY-1", .upper, 58, "age key"), Self("dapi", .hexadecimal, 32, "Databricks token"),
            Self("glsa_", .word, 32, "Grafana token"), Self("lin_api_", .alphanumeric, 32, "Linear key"),
            Self("PMAK-", .url64, 40, "Postman key", mixed: true), Self("figd_", .url64, 40, "Figma token"),
        ]
}
