// SPDX-License-Identifier: Apache-2.0

import PintleSystem

/// Secrets of known shapes, made at random so that none of them is one.
struct PlantedSecrets {
    private var random: SplitMix64

    init(seed: UInt64) { self.random = SplitMix64(seed: seed) }

    private static let alphanumeric = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    private static let upper = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    private static let hexadecimal = Array("0123456789abcdef")

    private mutating func text(_ count: Int, of letters: [Character] = alphanumeric) -> String {
        // Two digits and two letters: a shape that words may have is told by them.
        let tail = letters.contains("g") || letters.contains("Q") ? "7Q8R" : "7a8b"
        let head = (0..<max(0, count - 4)).map { _ in letters[Int.random(in: 0..<letters.count, using: &self.random)] }
        return String(head) + tail
    }

    /// A secret of each shape.
    mutating func all() -> [(kind: String, text: String)] {
        let hex = Self.hexadecimal
        return [
            ("AWS", "AKIA" + self.text(16, of: Self.upper)), ("AWS", "ASIA" + self.text(16, of: Self.upper)),
            ("GitHub", "ghp_" + self.text(36)), ("GitHub", "gho_" + self.text(36)), ("GitHub", "ghu_" + self.text(36)),
            ("GitHub", "ghs_" + self.text(36)), ("GitHub", "github_pat_" + self.text(22) + "_" + self.text(59)),
            ("GitLab", "glpat-" + self.text(20)), ("Slack", "xoxb-" + self.text(12) + "-" + self.text(24)),
            ("Slack", "xoxp-" + self.text(30)), ("Stripe", "sk_live_" + self.text(24)),
            ("Stripe", "rk_live_" + self.text(24)), ("Stripe", "whsec_" + self.text(32)),
            ("Google", "AIza" + self.text(35)), ("Google", "ya29." + self.text(60)),
            ("OpenAI", "sk-" + self.text(48)), ("OpenAI", "sk-proj-" + self.text(60)),
            ("Anthropic", "sk-ant-api03-" + self.text(80)), ("npm", "npm_" + self.text(36)),
            ("PyPI", "pypi-AgEIcHlwaS5vcmc" + self.text(70)),
            ("SendGrid", "SG." + self.text(22) + "." + self.text(43)), ("Twilio", "SK" + self.text(32, of: hex)),
            ("JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI" + self.text(20) + "." + self.text(43)),
            ("Telegram", "123456789:AA" + self.text(33)), ("DigitalOcean", "dop_v1_" + self.text(64, of: hex)),
            ("Discord", "MTA" + self.text(21) + "." + self.text(6) + "." + self.text(38)),
            ("HuggingFace", "hf_" + self.text(34)), ("Square", "sq0atp-" + self.text(22)),
            ("Mailgun", "key-" + self.text(32, of: hex)), ("Shopify", "shpat_" + self.text(32, of: hex)),
            ("age", "AGE-SECRET-KEY-1" + self.text(58, of: Self.upper)), ("Vault", "hvs." + self.text(90)),
        ]
    }
}
