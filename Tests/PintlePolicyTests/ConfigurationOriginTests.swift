// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

struct ConfigurationOriginTests {
    @Test(
        arguments: [
            ("x.yaml", ["PINTLE_CONFIG": "y.yaml"], ["pintle.yaml"], ConfigurationOrigin.flag("x.yaml")),
            (nil, ["PINTLE_CONFIG": "y.yaml"], ["pintle.yaml"], .environment("y.yaml")),
            (nil, ["PINTLE_CONFIG": ""], ["pintle.yaml"], .workingDirectory("pintle.yaml")),
            (nil, ["XDG_CONFIG_HOME": "/c", "HOME": "/h"], ["/c/pintle/pintle.yaml"], .user("/c/pintle/pintle.yaml")),
            (
                nil, ["XDG_CONFIG_HOME": "c", "HOME": "/h"], ["/h/.config/pintle/pintle.yaml"],
                .user("/h/.config/pintle/pintle.yaml")
            ),
            (nil, ["HOME": "/h"], ["/h/.config/pintle/pintle.yaml"], .user("/h/.config/pintle/pintle.yaml")),
            (nil, ["HOME": "/h"], [], .embedded), (nil, [:], [], .embedded),
        ] as [(String?, [String: String], [String], ConfigurationOrigin)])
    func `the first place that is given or exists is used`(
        flag: String?, environment: [String: String], files: [String], expected: ConfigurationOrigin
    ) {
        let files = Dictionary(uniqueKeysWithValues: files.map { ($0, "version: 1") })
        let surroundings = surroundings(environment: environment, files: files)
        #expect(ConfigurationOrigin.locate(flag: flag, surroundings: surroundings) == expected)
    }

    @Test func `without a file the embedded default is loaded`() throws {
        let (policy, origin) = try PolicyLoader.load(flag: nil, surroundings: surroundings())
        #expect(origin == .embedded)
        #expect(origin.description == "embedded default")
        #expect(policy.configuration == Configuration())
        #expect(policy.configuration.listen.map(\.description) == ["127.0.0.1:3128"])
    }

    @Test func `a file that was asked for and is missing is not replaced by another`() {
        let error = #expect(throws: ConfigurationError.self) {
            try PolicyLoader.load(flag: "x.yaml", surroundings: surroundings(files: ["pintle.yaml": "version: 1"]))
        }
        #expect(error?.description == "x.yaml: there is no file x.yaml")
    }
}
