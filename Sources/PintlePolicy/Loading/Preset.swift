// SPDX-License-Identifier: Apache-2.0

/// A list of destinations that comes with the program, for `include: ["preset:NAME"]`: the hosts that a well-known client speaks with.
///
/// The hosts are those that the services document for firewalls, or their clients' defaults.
package struct Preset: Sendable, Equatable {
    /// The name behind `preset:`.
    package let name: String
    /// The purpose, in some words.
    package let summary: String
    /// Patterns for `destinations.allow`.
    package let allow: [String]

    /// The beginning of an entry of `include` that names a preset.
    static let prefix = "preset:"

    /// All presets, by their names.
    package static let all = [
        Preset(
            name: "alpine", summary: "packages of Alpine Linux",
            allow: ["dl-cdn.alpinelinux.org:80", "dl-cdn.alpinelinux.org:443"]),
        Preset(
            name: "crates", summary: "packages of Rust (cargo)",
            allow: ["crates.io:443", "index.crates.io:443", "static.crates.io:443"]),
        Preset(
            name: "debian", summary: "packages of Debian (apt)",
            allow: [
                "deb.debian.org:80", "deb.debian.org:443", "security.debian.org:80", "security.debian.org:443",
            ]),
        Preset(
            name: "docker", summary: "images of Docker Hub",
            allow: [
                "auth.docker.io:443", "registry-1.docker.io:443", "production.cloudflare.docker.com:443",
                "docker-images-prod.6aa30f8b08e16409b46e0173d6de2f56.r2.cloudflarestorage.com:443",
            ]),
        Preset(
            name: "github", summary: "repositories, releases and packages of GitHub, over https",
            allow: [
                "github.com:443", "api.github.com:443", "codeload.github.com:443", "*.githubusercontent.com:443",
                "github-cloud.s3.amazonaws.com:443", "ghcr.io:443",
            ]),
        Preset(
            name: "gitlab", summary: "repositories and packages of GitLab.com, over https",
            allow: ["gitlab.com:443", "registry.gitlab.com:443", "cdn.registry.gitlab-static.net:443"]),
        Preset(
            name: "go", summary: "modules of Go",
            allow: ["proxy.golang.org:443", "sum.golang.org:443", "storage.googleapis.com:443"]),
        Preset(
            name: "maven", summary: "packages of Maven Central",
            allow: ["repo.maven.apache.org:443", "repo1.maven.org:443"]),
        Preset(name: "npm", summary: "packages of npm", allow: ["registry.npmjs.org:443"]),
        Preset(
            name: "nuget", summary: "packages of NuGet", allow: ["api.nuget.org:443", "globalcdn.nuget.org:443"]),
        Preset(
            name: "pypi", summary: "packages of Python (pip)", allow: ["pypi.org:443", "files.pythonhosted.org:443"]),
        Preset(
            name: "rubygems", summary: "packages of Ruby",
            allow: ["rubygems.org:443", "index.rubygems.org:443"]),
        Preset(
            name: "ubuntu", summary: "packages of Ubuntu (apt)",
            allow: [
                "archive.ubuntu.com:80", "archive.ubuntu.com:443", "security.ubuntu.com:80", "security.ubuntu.com:443",
                "ports.ubuntu.com:80", "ports.ubuntu.com:443",
            ]),
    ]

    /// The preset as the file that it stands for.
    package var text: String {
        let lines =
            ["# \(self.summary)", "version: 1", "destinations:", "  allow:"] + self.allow.map { "    - \"\($0)\"" }
        return lines.map { "\($0)\n" }.joined()
    }

    /// The bytes of an entry of ``Configuration/includedFiles`` that is a preset; nil if it is a file.
    package static func bytes(of path: String) -> [UInt8]? {
        Self.all.first { path == Self.prefix + $0.name }.map { Array($0.text.utf8) }
    }
}
