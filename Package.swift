// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// One set of settings for every Swift target: what does not hold in one room holds in none.
let house: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Keeps the program's own dependencies from being resolved for those who want the library alone.
let forProgram: TargetDependencyCondition? = .when(traits: ["Program"])

let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: forProgram)

/// Whether the runtime stays outside in release builds, too: for tests, whose library brings it as a shared one.
let isSharingRuntime = Context.environment["PINTLE_SHARED_RUNTIME"] != nil

/// How the program is linked for those who run it. No library has such flags, and neither has a debug build.
///
/// - The Swift runtime and FoundationEssentials are inside: one file without a runtime to install beside it, and direct calls into
///   it, which shows where every request wakes an idle processor.
/// - Functions that are the same bytes are one, whose name a profile then shows: nothing here tells functions by their address.
/// - The functions that requests run through lie side by side (`scripts/order`): each request is some percent cheaper.
/// - Nothing is exported, though `-static-stdlib` asks for it: what nobody calls is left out then.
/// - The unwind tables go, 5 MB, with their index: no C++ exception passes through the program, and who looks at a stack follows
///   the frame pointers, which Swift keeps.
/// - The names of functions and the debug information go; `scripts/dist` keeps them in a file beside the program.
/// - Symbols are bound at the start, so that their table can be read-only afterwards.
/// - Addresses that the loader must adjust are packed, which glibc 2.36 understands; libcurl 7.88 is not found with less.
let shipped: [LinkerSetting] =
    isSharingRuntime
    ? []
    : [
        .unsafeFlags(
            [
                "-static-stdlib", "-use-ld=lld",
                "-Xlinker", "--no-export-dynamic", "-Xlinker", "--icf=all", "-Xlinker", "-O2",
                "-Xlinker", "--no-eh-frame-hdr", "-Xlinker", "-T\(Context.packageDirectory)/scripts/kit/shipped.ld",
                "-Xlinker", "-z", "-Xlinker", "now", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
                "-Xlinker", "--symbol-ordering-file=\(Context.packageDirectory)/scripts/kit/order.txt",
                "-Xlinker", "--no-warn-symbol-ordering",
            ] + (Context.environment["PINTLE_SYMBOLS"] == nil ? ["-Xlinker", "--strip-all"] : []),
            .when(configuration: .release))
    ]

/// Rooms in which hardly anybody waits for a processor are made for size, where the program is built as it ships: a command line,
/// what it does once, and certificates, whose time is OpenSSL's.
let small: [SwiftSetting] = isSharingRuntime ? [] : [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// A room of the house. Imports point one way: only to rooms above it in this list.
func room(_ name: String, _ dependencies: [Target.Dependency], _ more: [SwiftSetting] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: house + more)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["PintleTesting"], swiftSettings: house)
}

let package = Package(
    name: "pintle",
    products: [
        .executable(name: "pintle", targets: ["pintle"]),
        // The library by itself: no routes, no YAML, no listening sockets. Who depends on it with `traits: []` resolves
        // only what it needs.
        .library(name: "Pintle", targets: ["Pintle"]),
        // The counterparts of AFNetworking's operations, image downloader and caches, and of its extensions of UIKit.
        .library(name: "PintleExtras", targets: ["PintleExtras"]),
        // For the tests of programs that use the library.
        .library(name: "PintleSessionTesting", targets: ["PintleSessionTesting"]),
    ],
    traits: [
        .trait(name: "Program", description: "The proxy and its commands."),
        .trait(name: "Metrics", description: "Interceptor.metrics(to:dimensions:), with swift-metrics."),
        .trait(name: "Tracing", description: "Interceptor.tracing(with:name:), with swift-distributed-tracing."),
        .default(enabledTraits: ["Program", "Metrics", "Tracing"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CPintleCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CPintleOpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPintleZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CPintleBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(name: "CPintleZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CPintlePCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .systemLibrary(name: "CPintleSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPintleYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CPintleCrypt", providers: [.apt(["libcrypt-dev"])]),

        .target(name: "CPintleLinux"),
        .target(name: "CPintleProcess"),
        // The files of the page are part of the program's own bytes.
        .target(name: "CPintlePage", exclude: ["page"]),
        // So are the schemas of conf/, for `pintle config schema`.
        .target(name: "CPintleSchemas"),

        room("PintleSystem", []),
        room("PintleCoding", ["CPintleZlib", "CPintleBrotli", "CPintleZstd"]),
        room("PintleMessage", ["PintleSystem"]),
        room("PintleSerialization", ["PintleSystem", "PintleCoding", "PintleMessage"]),
        room("PintleSchema", ["PintleSystem", "PintleMessage", "PintleSerialization", "CPintlePCRE2"], small),
        room("PintleImage", ["PintleMessage", "PintleSerialization", "PintleCoding"], small),
        room("PintleStub", ["PintleSystem", "PintleMessage"], small),
        room("PintleCache", ["PintleSystem", "PintleMessage"]),
        room("PintleLoop", ["PintleSystem", "CPintleLinux", nio]),
        room("PintleActivity", ["PintleSystem", logging]),
        room("PintleTrust", ["PintleSystem", "CPintleOpenSSL"], small),
        room("PintleWebSocket", ["PintleMessage", "PintleCoding", "PintleTrust", nio]),
        room(
            "PintleSession",
            [
                "PintleSystem", "PintleCoding", "PintleMessage", "PintleSerialization", "PintleActivity", "PintleTrust",
                "PintleWebSocket", "PintleLoop", "CPintleCurl", "CPintleLinux", nio, logging,
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
            ]),
        room("PintleDatabase", ["PintleSystem", "CPintleSQLite"], small),
        room("PintleStorage", ["PintleSystem", "CPintleLinux"]),
        room("PintleAttestation", ["PintleSystem", "PintleSerialization", "PintleTrust"], small),
        room(
            "PintleTape",
            ["PintleSystem", "PintleCoding", "PintleMessage", "PintleSerialization", "PintleActivity"], small),
        room(
            "PintleReachability", ["PintleSystem", "PintleLoop", "PintleSession", "CPintleLinux", nio], small),
        room(
            "PintleTelemetry",
            [
                "PintleSystem", "PintleMessage", "PintleSession",
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
            ], small),
        // The program has a cache of its own, and is linked without this one.
        room(
            "PintleHTTPCache",
            ["PintleSystem", "PintleMessage", "PintleCache", "PintleTrust", "PintleSession", "PintleStorage", nio]),
        // Beside the client, which knows nothing of it. The program is linked without it.
        room(
            "PintleExtras",
            [
                "PintleSystem", "PintleMessage", "PintleSerialization", "PintleActivity", "PintleStorage",
                "PintleSession", nio,
            ]),
        // Another name for the rooms above that a program imports.
        room(
            "Pintle",
            [
                "PintleMessage", "PintleSerialization", "PintleImage", "PintleStorage", "PintleTrust",
                "PintleWebSocket", "PintleSession", "PintleReachability", "PintleTelemetry", "PintleHTTPCache", nio,
            ]),
        room(
            "PintleSessionTesting",
            [
                "PintleSystem", "PintleMessage", "PintleSerialization", "PintleSession", nio,
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        room(
            "PintlePolicy",
            [
                "PintleSystem", "PintleMessage", "PintleSerialization", "PintleCoding", "PintleSchema", "PintleImage",
                "PintleActivity", "PintleTrust", "PintleSession", "PintleTape",
                "CPintleCrypt", "CPintleYAML", nio,
            ]),
        room(
            "PintlePins", ["PintleSystem", "PintleMessage", "PintleSerialization", "PintleTrust", "PintlePolicy"],
            small),
        room("PintleCacheStore", ["PintleSystem", "PintleCoding", "PintleDatabase", nio]),
        room(
            "PintleWatch",
            ["PintleSystem", "PintleMessage", "PintleSerialization", "PintleActivity", "PintleTape", "PintlePolicy"],
            small),
        room(
            "PintleRehearsal",
            [
                "PintleSystem", "PintleMessage", "PintleSerialization", "PintleSchema", "PintleActivity", "PintleTrust",
                "PintleTape", "PintlePolicy", "PintleWatch",
            ],
            small),
        room(
            "PintleProxy",
            [
                "PintleSystem", "PintleMessage", "PintleSerialization", "PintleActivity", "PintleTrust",
                "PintleSession", "PintleReachability", "PintlePolicy", "PintleLoop", "PintleWebSocket", "PintleCache",
                "PintleStorage", "PintleCacheStore", "PintleTape", "PintleWatch",
                nio, logging,
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
            ]),
        room(
            "PintleAudit",
            [
                "PintleSystem", "PintleMessage", "PintleSerialization", "PintleTrust", "PintleLoop", "PintleSession",
                "PintlePolicy", "PintleDatabase", nio,
            ], small),
        room(
            "PintleAdmin",
            [
                "PintleSystem", "PintleMessage", "PintleSerialization", "PintleActivity", "PintleTrust", "PintleLoop",
                "PintleWebSocket", "PintleCache", "PintlePolicy", "PintlePins", "PintleProxy", "PintleWatch",
                "CPintlePage",
                nio,
            ], small),
        .executableTarget(
            name: "pintle",
            dependencies: [
                "PintleSystem", "PintleCoding", "PintleMessage", "PintleSerialization", "PintleImage", "PintleActivity",
                "PintleTrust", "PintleSession", "PintleReachability", "PintlePolicy", "PintlePins", "PintleProxy",
                "PintleAdmin", "PintleAudit", "PintleCache", "PintleCacheStore", "PintleLoop", "PintleStorage",
                "PintleWatch", "PintleRehearsal", "PintleTape", "PintleAttestation", "PintleStub",
                "CPintleProcess", "CPintleSchemas", nio, logging,
                arguments,
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: forProgram),
            ],
            swiftSettings: house + small
                + (isSharingRuntime ? [] : [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]),
            linkerSettings: shipped),
        // The catalogue of PintleSession shows parts of these, and the tests run them.
        .executableTarget(
            name: "PintleExamples", dependencies: ["Pintle", "PintleExtras", "PintleSessionTesting", nio, logging],
            path: "Examples", exclude: ["Programs/README.md"], swiftSettings: house),
        // Killed by the tests of PintleCacheStore, and run on disks that are full.
        .executableTarget(
            name: "PintleCacheTrial", dependencies: ["PintleCacheStore", "PintleSystem", nio],
            path: "Tests/Programs/CacheTrial",
            swiftSettings: house),
        // A captured network without a proxy, for the tests of its rules.
        .executableTarget(
            name: "PintleNetworkTrial",
            dependencies: ["PintleSystem", "PintleMessage", "PintleStub", "PintleLoop", "CPintleProcess", nio],
            path: "Tests/Programs/NetworkTrial",
            swiftSettings: house),
        // Certificates, origins and clients for the tests.
        .target(
            name: "PintleTesting", dependencies: ["PintleSystem", "PintleTrust", "CPintleOpenSSL"],
            path: "Tests/PintleTesting", swiftSettings: house),

        tests("PintleSystemTests", ["PintleSystem"]),
        tests("PintleCodingTests", ["PintleCoding"]),
        tests("PintleMessageTests", ["PintleMessage", "PintleTrust"]),
        tests("PintleSerializationTests", ["PintleSerialization", "PintleMessage"]),
        tests("PintleSchemaTests", ["PintleSchema", "PintleSerialization"]),
        tests("PintleTests", ["Pintle"]),
        tests("PintleImageTests", ["PintleImage", "PintleMessage", "PintleSerialization"]),
        tests("PintleStubTests", ["PintleStub", "PintleMessage", "PintleSystem"]),
        tests("PintleCacheTests", ["PintleCache", "PintleMessage"]),
        tests(
            "PintleTapeTests",
            ["PintleTape", "PintleActivity", "PintleMessage", "PintleSerialization", "PintleSystem"]),
        tests(
            "PintleAttestationTests", ["PintleAttestation", "PintleSerialization", "PintleSystem", "PintleTrust"]),
        tests("PintleDatabaseTests", ["PintleDatabase"]),
        tests("PintleStorageTests", ["PintleStorage", "PintleSystem"]),
        tests("PintleLoopTests", ["PintleLoop", nio]),
        tests("PintleActivityTests", ["PintleActivity", "PintleSystem", logging]),
        tests("PintleTrustTests", ["PintleTrust", "CPintleOpenSSL"]),
        tests(
            "PintleWebSocketTests",
            ["PintleWebSocket", "PintleSession", "PintleCoding", "PintleMessage", "PintleTrust", nio]),
        tests(
            "PintleSessionTests",
            [
                "PintleSession", "PintleWebSocket", "PintleTrust", "PintleMessage", "PintleSerialization",
                "PintleImage", "PintleActivity", "PintleStorage", "PintleHTTPCache", "PintleExtras", "PintleLoop", nio,
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
            ]),
        tests(
            "PintleExtrasTests",
            [
                "PintleExtras", "PintleSession", "PintleStorage", "PintleHTTPCache", "PintleTrust", "PintleMessage",
                "PintleSerialization", "PintleImage", "PintleSystem", nio,
            ]),
        tests("PintleReachabilityTests", ["PintleReachability", "PintleSession", "PintleLoop", nio]),
        tests(
            "PintleTelemetryTests",
            [
                "PintleTelemetry", "PintleSession", "PintleMessage", "PintleSerialization",
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])),
            ]),
        tests("PintleHTTPCacheTests", ["PintleHTTPCache", "PintleSession", "PintleMessage", "PintleCache", nio]),
        tests(
            "PintleSessionTestingTests",
            ["PintleSessionTesting", "PintleSession", "PintleMessage", "PintleSerialization", "PintleSystem", nio]),
        tests(
            "PintlePolicyTests",
            [
                "PintlePolicy", "PintleSession", "PintleMessage", "PintleSerialization", "PintleActivity",
                "PintleTape", "PintleTrust",
                nio,
            ]),
        tests(
            "PintleWatchTests",
            ["PintleWatch", "PintlePolicy", "PintleActivity", "PintleMessage", "PintleSerialization", "PintleSystem"]),
        tests(
            "PintleRehearsalTests",
            [
                "PintleRehearsal", "PintleWatch", "PintlePolicy", "PintleActivity", "PintleMessage",
                "PintleSerialization", "PintleSchema", "PintleTrust",
            ]),
        tests(
            "PintleAdminTests",
            [
                "PintleAdmin", "PintleProxy", "PintlePolicy", "PintleActivity", "PintleMessage", "PintleSerialization",
                nio,
            ]),
        tests("PintlePinsTests", ["PintlePins", "PintlePolicy", "PintleMessage", "PintleTrust"]),
        tests(
            "PintleProxyTests",
            [
                "PintleProxy", "PintlePolicy", "PintleSession", "PintleTrust", "PintleActivity", "PintleLoop",
                "PintleMessage", "PintleSerialization", logging, nio,
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
            ]),
        tests("PintleAuditTests", ["PintleAudit", "PintlePolicy", "PintleMessage", "PintleSession", "PintleTrust"]),
        tests(
            "PintleCacheStoreTests", ["PintleCacheStore", "PintleCacheTrial", "PintleDatabase", "PintleSystem", nio]),
        tests(
            "PintleCommandTests",
            [
                "pintle", "PintleMessage", "PintleSerialization", "PintleActivity", "PintleSchema", "PintlePolicy",
                "PintleSession", "PintleProxy", "PintleTrust", "PintleWatch", "PintleAdmin", "PintleSystem",
                "PintleNetworkTrial", "CPintleProcess",
                nio, logging, arguments,
            ]),
        // The binaries themselves are what these tests start.
        tests(
            "EndToEndTests",
            [
                "pintle", "PintleAdmin", "PintleExamples", "PintleMessage", "PintleSession", "PintleSystem",
                "PintleTrust", nio,
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
            ]),
    ]
)

// Every build compiles the fuzzers. Programs they are only for `scripts/fuzz`, which brings the compiler's coverage and a
// main function.
package.targets.append(
    .target(
        name: "PintleFuzzing", dependencies: ["PintleMessage", "PintleSerialization"], path: "Fuzz/Support",
        swiftSettings: house))
for name in [
    "Address", "Attestation", "Cache", "Certificate", "CertificatePath", "ClientHello", "Coding", "Configuration",
    "DNS", "DiskCache",
    "Form", "HTTP2", "Image", "JSON",
    "Leaf", "Multipart", "OpenAPI", "PinFile", "PropertyList", "Response", "Revocation", "Schema", "ServerFlight",
    "StapledStatus", "Stream", "WebSocket", "Wire", "XML",
] {
    let (place, libraries): (String, [Target.Dependency]) = (
        "Fuzz/\(name)",
        [
            "PintleFuzzing", "PintleMessage", "PintleSerialization", "PintleCoding", "PintleSchema", "PintleImage",
            "PintleCache", "PintleTrust", "PintleWebSocket", "PintleSession", "PintlePolicy", "PintlePins",
            "PintleCacheStore", "PintleStub", "PintleAttestation", nio,
        ]
            + (name == "HTTP2"
                ? [
                    "PintleProxy", .product(name: "NIOEmbedded", package: "swift-nio"),
                    .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                    .product(name: "NIOHPACK", package: "swift-nio-http2"),
                ] : [])
    )
    package.targets.append(
        Context.environment["PINTLE_FUZZ"] == nil
            ? .target(name: "\(name)Fuzz", dependencies: libraries, path: place, swiftSettings: house)
            : .executableTarget(name: "\(name)Fuzz", dependencies: libraries, path: place, swiftSettings: house))
}

// The tests of some rooms alone, for `scripts/test-rooms` and `scripts/sanitize`: SwiftPM links the tests of a package into one
// program, for which it would build every room.
if let rooms = Context.environment["PINTLE_ROOMS"]?.split(separator: " ") {
    package.targets.removeAll { target in target.type == .test && !rooms.contains { target.name == "\($0)Tests" } }
}
