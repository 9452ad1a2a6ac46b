// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension Sampler {
    /// The most characters of a text that is made.
    private static let longest = 32 * 1024

    /// Makes a text.
    mutating func text(for demands: Demands, _ isUnusual: Bool) -> String? {
        guard demands.minLength <= demands.maxLength, demands.minLength <= Self.longest else { return nil }
        if !demands.patterns.isEmpty { return self.text(matching: demands, isUnusual) }
        if let format = demands.format, let samples = FormatSamples(format, &self.choices) {
            let fitting = (isUnusual ? samples.unusual : samples.usual).filter { Self.fits($0, demands) }
            if let text = self.choices.pick(fitting) {
                if isUnusual { self.note("an unusual \(format), \(Wording.quoted(text))") }
                return text
            }
        }
        if isUnusual, let text = self.unusualText(demands) { return text }
        return self.words(demands)
    }

    private static func fits(_ text: String, _ demands: Demands) -> Bool {
        let length = text.unicodeScalars.count
        return length >= demands.minLength && length <= demands.maxLength
    }

    private static let words = [
        "amber", "birch", "cedar", "delta", "ember", "fern", "garnet", "harbor", "indigo", "juniper", "kestrel",
        "linden",
        "maple", "north", "opal", "prairie", "quartz", "river", "saffron", "thistle", "umber", "violet", "willow",
        "yarrow",
    ]

    private mutating func words(_ demands: Demands) -> String {
        var text = self.choices.pick(Self.words) ?? "text"
        if self.choices.isOne(in: 2), let second = self.choices.pick(Self.words) { text += " " + second }
        while text.utf8.count < demands.minLength { text += " " + (self.choices.pick(Self.words) ?? "text") }
        guard text.utf8.count > demands.maxLength else { return text }
        // Cut text does not end with a space.
        return text.prefix(demands.maxLength).replacing(" ", with: "-").description
    }

    /// Text that programs forget.
    private mutating func unusualText(_ demands: Demands) -> String? {
        var texts = [
            ("", "empty"), (" ", "a space"), ("Zoë Ångström 日本 🦆", "not ASCII"),
            ("e\u{301}", "a letter with a combining mark"),
            ("\u{202E}abc", "a mark that turns the direction of writing"),
            ("\"quoted\" \\ and / it's", "quotation marks and a backslash"), ("two\nlines\tand a tab", "two lines"),
            ("null", "the word null"), ("0", "the digit 0"), ("<b>&amp;</b>", "markup"), ("nul\u{0}inside", "a U+0000"),
        ]
        if demands.minLength > 0 {
            texts.append((String(repeating: "x", count: demands.minLength), "the shortest"))
        }
        let longest = demands.maxLength == .max ? 1_000 : demands.maxLength
        if longest <= 4_096 {
            texts.append(
                (String(repeating: "long ", count: longest / 5 + 1).prefix(longest).description, "the longest"))
            texts.append((String(repeating: "ü", count: longest), "the longest, not ASCII"))
        }
        let fitting = texts.filter { Self.fits($0.0, demands) }
        guard let (text, note) = self.choices.pick(fitting) else { return nil }
        self.note(demands.maxLength == .max && note.hasPrefix("the longest") ? "1000 characters" : note)
        return text
    }

    // MARK: Patterns

    private mutating func text(matching demands: Demands, _ isUnusual: Bool) -> String? {
        let samples = demands.format.flatMap { FormatSamples($0, &self.choices) }
        for text in samples?.usual ?? [] where self.matches(text, demands) { return text }
        for pattern in demands.patterns.prefix(8) {
            guard let expression = PatternSampler(pattern.source) else { continue }
            for attempt in 0..<8 where self.budget.spend(16) {
                let size: PatternSampler.Size =
                    isUnusual && attempt < 2 ? (self.choices.isOne(in: 2) ? .least : .most) : .usual
                let range = demands.minLength...max(demands.minLength, min(demands.maxLength, Self.longest))
                guard
                    let text = expression.text(
                        size, length: range, isLong: attempt % 2 == 1, &self.choices, within: self.budget),
                    self.budget.spend(text.utf8.count / 16), self.matches(text, demands)
                else { continue }
                if size == .least { self.note("a short text for the pattern") }
                if size == .most { self.note("a long text for the pattern") }
                return text
            }
        }
        let others = [self.words(demands), "", "0", "1", "a", "A", "2026-03-14", "https://example.com/"]
        return others.first { self.matches($0, demands) }
    }

    private func matches(_ text: String, _ demands: Demands) -> Bool {
        guard Self.fits(text, demands) else { return false }
        return demands.patterns.allSatisfy { pattern in
            guard self.budget.spend(8 + text.utf8.count / 16) else { return false }
            // The validator has the last word, and more steps.
            return pattern.search(text, steps: Pattern.usualSteps(forLength: text.utf8.count)) == .matches
        }
    }

    /// Makes a name that matches a pattern.
    mutating func name(matching pattern: Pattern) -> String? {
        guard let expression = PatternSampler(pattern.source) else { return nil }
        for attempt in 0..<4 where self.budget.spend(16) {
            guard
                let text = expression.text(
                    .usual, length: 0...256, isLong: attempt % 2 == 1, &self.choices, within: self.budget),
                pattern.search(text, steps: Pattern.usualSteps(forLength: text.utf8.count)) == .matches
            else { continue }
            return text
        }
        return nil
    }
}
