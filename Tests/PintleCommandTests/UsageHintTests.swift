// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import pintle

/// Near misses on the command line.
struct UsageHintTests {
    private let hint: UsageHint

    init() throws { self.hint = UsageHint(program: try #require(KnownCommand.reading(Pintle.self))) }

    @Test(arguments: [
        ("chek", "pintle check"), ("Serve", "pintle serve"), ("verfy-run", "pintle verify-run"),
        ("pins shwo api.example", "pintle pins show"), ("ca exprt", "pintle ca export"),
        ("audit dif", "pintle audit diff"), ("config shema", "pintle config schema"),
        ("audit --format jsn", "--format json"), ("audit --format=jnit", "--format junit"),
        ("audit diff --format txt", "--format text"), ("check x.yaml --against y --format jso", "--format json"),
        ("pins convert --from afn --to crul x", "--to curl"), ("env --shell pwershell", "--shell powershell"),
        ("run --miss fial -- true", "--miss fail"), ("tail --format jsn", "--format json"),
        ("init --for gatway", "--for gateway"), ("fetch http://a.test/ --expect-body jsn", "--expect-body json"),
    ])
    func `a slip is answered with the nearest command or value`(line: String, meant: String) {
        let words = line.split(separator: " ").map(String.init)
        #expect(self.hint.sentence(for: words) == "Did you mean: \(meant)")
    }

    @Test(arguments: [
        ("serve", "serve x.yaml"), ("verify", "verify x.yaml"), ("pins lint", "pins lint x.yaml"),
        ("pins forecast", "pins forecast --format json x.yaml"),
    ])
    func `a configuration without its option is answered with that`(command: String, line: String) {
        let sentence = self.hint.sentence(for: line.split(separator: " ").map(String.init))
        #expect(sentence == "A configuration is named by -c, as in: pintle \(command) -c x.yaml")
    }

    @Test(arguments: [
        "", "completely-else", "pins elsewhere", "audit --format yaml-and-more", "audit --format text",
        "fetch --param a=b",
        "run -- true --miss fial", "check --sample jsn",
        "audit diff x.yaml", "pins convert x.yaml",
    ])
    func `without a near miss there is no guess`(line: String) {
        #expect(self.hint.sentence(for: line.split(separator: " ").map(String.init)) == nil)
    }
}
