// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "pintle-benchmarks",
    dependencies: [.package(name: "pintle", path: "..")],
    targets: ["FormBenchmark", "JSONBenchmark"].map { name in
        .executableTarget(
            name: name, dependencies: [.product(name: "Pintle", package: "pintle")],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")])
    }
)
