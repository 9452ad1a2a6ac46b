// SPDX-License-Identifier: Apache-2.0

/// Texts of a format: usual ones, and valid ones that programs forget.
struct FormatSamples {
    let usual: [String]
    let unusual: [String]

    /// - Returns: nil for an unknown format.
    init?(_ format: String, _ choices: inout SeededChoices) {
        switch format {
        case "date-time", "date", "time", "duration": self = Self.time(format, &choices)
        case "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6": self = Self.name(format, &choices)
        case "uri", "uri-reference", "iri", "iri-reference", "url", "uri-template":
            self = Self.reference(format, &choices)
        case "uuid":
            self.init(
                [Self.uuid(&choices)],
                [
                    "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
                    Self.uuid(&choices).uppercased(), "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
                ])
        case "json-pointer": self.init(["/items/0/name", "/data"], ["", "/", "/a~1b/m~0n", "/ü/0"])
        case "relative-json-pointer": self.init(["1/name"], ["0#", "0"])
        case "regex": self.init(["^[a-z]+$", "[0-9]{3}"], ["", "(?<word>\\p{L}+)\\k<word>"])
        case "byte": self.init(["UGludGxl", "c2FtcGxl"], ["", "AA==", "+/+/"])
        case "binary": self.init(["content"], ["", "\u{FFFD}"])
        case "password": self.init(["correct horse battery staple"], ["pass\u{A0}wörd"])
        default: return nil
        }
    }

    private init(_ usual: [String], _ unusual: [String]) { (self.usual, self.unusual) = (usual, unusual) }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func time(_ format: String, _ choices: inout SeededChoices) -> FormatSamples {
        let date =
            "\(2020 + choices.number(below: 7))-\(Self.two(1 + choices.number(below: 12)))"
            + "-\(Self.two(1 + choices.number(below: 28)))"
        let time = [24, 60, 60].map { Self.two(choices.number(below: $0)) }.joined(separator: ":") + "Z"
        return switch format {
        case "date-time":
            FormatSamples(
                ["\(date)T\(time)"],
                [
                    "2016-12-31T23:59:60Z", "2026-03-14T09:26:53.123456789+05:30", "\(date)t\(time.lowercased())",
                    "1969-12-31T23:59:59-00:00", "9999-12-31T23:59:59.999Z", "2024-02-29T00:00:00+14:00",
                    "0001-01-01T00:00:00Z", "2017-01-01T05:29:60+05:30",
                ])
        case "date": FormatSamples([date], ["2024-02-29", "0001-01-01", "9999-12-31", "1900-02-28"])
        case "time": FormatSamples([time], ["23:59:60Z", "00:00:00.000001+14:00", "09:26:53z", "23:59:59-00:00"])
        default: FormatSamples(["PT1H30M", "P3D"], ["PT0S", "P1Y2M10DT2H30M", "P4W"])
        }
    }

    private static func name(_ format: String, _ choices: inout SeededChoices) -> FormatSamples {
        let number = 1 + choices.number(below: 254)
        return switch format {
        case "email", "idn-email":
            FormatSamples(
                ["ada.lovelace@example.com", "grace@example.org", "user\(number)@example.net"],
                [
                    "first+tag@example.com", "o'neil@example.com", "\"quoted part\"@example.com", "root@[192.0.2.1]",
                    "a@[IPv6:2001:db8::1]", "x@localhost",
                ])
        case "hostname", "idn-hostname":
            FormatSamples(
                ["api.example.com", "host\(number).example.org"],
                ["localhost", "xn--bcher-kva.example", "3com.example", "A.EXAMPLE"])
        case "ipv4": FormatSamples(["192.0.2.\(number)"], ["0.0.0.0", "255.255.255.255", "127.0.0.1"])
        default:
            FormatSamples(
                ["2001:db8::\(String(number, radix: 16))"],
                ["::", "::1", "::ffff:192.0.2.1", "2001:0DB8:0000:0000:0000:0000:0000:0001"])
        }
    }

    private static func reference(_ format: String, _ choices: inout SeededChoices) -> FormatSamples {
        let number = 1 + choices.number(below: 999)
        if format == "uri-template" { return FormatSamples(["/items/{id}"], ["", "{?page,size*}", "{+path}/here"]) }
        let whole = [
            "urn:isbn:9780131103627", "https://[2001:db8::1]:8443/%C3%A9?q=a%20b#part", "mailto:ada@example.com",
            "HTTP://EXAMPLE.COM", "https://user@example.com:/", "data:,",
        ]
        let usual = ["https://example.com/items/\(number)"]
        guard format.hasSuffix("reference") else { return FormatSamples(usual, whole) }
        return FormatSamples(
            usual + ["/items/\(number)"], whole + ["", "?page=2", "#top", "//example.com", "../a;b=c"])
    }

    private static func uuid(_ choices: inout SeededChoices) -> String {
        let digits = Array("0123456789abcdef")
        return String(
            "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".map { character in
                switch character {
                case "x": digits[choices.number(below: 16)]
                case "y": digits[8 + choices.number(below: 4)]
                default: character
                }
            })
    }
}
