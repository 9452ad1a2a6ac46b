// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

/// Lists of destinations that come with the program (`include: ["preset:NAME"]`).
struct PresetTests {
    @Test(arguments: Preset.all.map(\.name))
    func `each allows its hosts and no others`(name: String) throws {
        let policy = try policy("include: [\"preset:\(name)\"]\ndestinations: {default: deny, allow: [own.example]}")
        let preset = try #require(Preset.all.first { $0.name == name })
        #expect(policy.configuration.destinations.allow.map(\.description) == ["own.example"] + preset.allow)
        #expect(policy.configuration.includedFiles == ["preset:\(name)"])
        #expect(policy.configuration.place(ofRule: "destinations.allow[1]")?.file == "preset:\(name)")
    }

    @Test func `names are sorted and unique, and hosts have ports`() throws {
        #expect(Preset.all.map(\.name) == Set(Preset.all.map(\.name)).sorted())
        for host in Preset.all.flatMap(\.allow) { #expect(try HostPattern(host).port != nil, "\(host)") }
    }

    @Test(arguments: [
        ("[\"preset:pypy\"]", ":11: include[0]: \"preset:pypy\" is no preset; did you mean \"preset:pypi\"?"),
        ("[\"preset:pypi\", \"preset:pypi\"]", ":26: include[1]: preset:pypi is included before"),
    ])
    func `other names, and one that comes twice, are refused`(list: String, expected: String) {
        #expect(problems("version: 1\ninclude: \(list)") == ["pintle.yaml:2\(expected)"])
    }
}
