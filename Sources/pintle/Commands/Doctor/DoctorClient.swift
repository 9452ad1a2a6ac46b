// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A program that may be installed, with its command line for a request and its ways to find a proxy.
struct DoctorClient: Sendable {
    /// The folder that a program may write to, and the origin of its requests.
    struct Place: Sendable {
        /// The origin: `http://pintle.test` or `https://pintle.test`.
        let origin: String
        /// A folder for this program alone, which is removed at the end.
        let folder: String
    }

    let name: String
    /// The possible names of its file; the first that exists is used.
    let programs: [String]
    /// Arguments that print the version. They fail if something is missing, for example a module of Python.
    let version: [String]
    /// Arguments that make one request.
    let arguments: @Sendable (Place) -> [String]
    /// Further variables, so that the program leaves no files behind.
    var variables: @Sendable (Place) -> [ProxyEnvironment.Variable] = { _ in [] }
    /// Files that it needs in its folder.
    var files: @Sendable (Place) -> [(name: String, text: String)] = { _ in [] }
    /// The variables with which it finds the proxy, and those with which it trusts the proxy's certificates.
    let reads: (proxy: String, trust: String)
    /// Advice if it does not use the proxy.
    let towardsProxy: String
    /// Advice if it does not trust the proxy's certificate.
    let towardsTrust: String
}

extension DoctorClient {
    /// All programs, in the order in which they are tried.
    static let all: [DoctorClient] = [
        DoctorClient(
            name: "curl", programs: ["curl"], version: ["--version"],
            arguments: {
                ["--silent", "--show-error", "--fail", "--output", "\($0.folder)/page", "\($0.origin)/page"]
            },
            reads: ("http_proxy, https_proxy", "CURL_CA_BUNDLE"),
            towardsProxy: "see whether ~/.curlrc has `noproxy` or another `proxy`",
            towardsTrust:
                "see whether ~/.curlrc has a `cacert`; a curl of another TLS library may read SSL_CERT_FILE alone"),
        DoctorClient(
            name: "wget", programs: ["wget"], version: ["--version"],
            arguments: {
                ["--quiet", "--tries=1", "--no-hsts", "--output-document=\($0.folder)/page", "\($0.origin)/page"]
            },
            reads: ("http_proxy, https_proxy", "WGETRC"),
            towardsProxy: "see whether /etc/wgetrc has `use_proxy = off`",
            towardsTrust: "give it --ca-certificate, or put `ca_certificate = FILE` into ~/.wgetrc"),
        DoctorClient(
            name: "git", programs: ["git"], version: ["--version"],
            arguments: { ["ls-remote", "\($0.origin)/git"] },
            variables: { _ in [.init("GIT_TERMINAL_PROMPT", "0")] },
            reads: ("http_proxy, https_proxy", "GIT_SSL_CAINFO"),
            towardsProxy: "see `git config --get-regexp 'http.*proxy'`, which comes before the environment",
            towardsTrust: "see `git config --get-regexp 'http.*ssl'`"),
        DoctorClient(
            name: "pip", programs: ["pip3", "pip"], version: ["--version"],
            arguments: {
                [
                    "--disable-pip-version-check", "--retries", "0", "--no-input", "download", "--quiet",
                    "--no-cache-dir",
                    "--dest", $0.folder, "--requirement", "\($0.origin)/requirements.txt",
                ]
            },
            reads: ("http_proxy, https_proxy", "PIP_CERT"),
            towardsProxy: "see `pip config list`: a `proxy` there comes before the environment",
            towardsTrust: "see `pip config list`: a `cert` there; pip with truststore reads the system's roots alone"),
        .python("urllib", "urllib.request", trust: "SSL_CERT_FILE", "urllib.request.urlopen(sys.argv[1]).read()"),
        .python("requests", "requests", trust: "REQUESTS_CA_BUNDLE", "requests.get(sys.argv[1]).raise_for_status()"),
        .python("httpx", "httpx", trust: "SSL_CERT_FILE", "httpx.get(sys.argv[1]).raise_for_status()"),
        .python(
            "aiohttp", "aiohttp", trust: "SSL_CERT_FILE",
            """
            import asyncio
            async def main():
                async with aiohttp.ClientSession(trust_env=True, raise_for_status=True) as session:
                    async with session.get(sys.argv[1]) as response: await response.read()
            asyncio.run(main())
            """, "a session goes to no proxy without `trust_env=True`"),
        DoctorClient(
            name: "node", programs: ["node", "nodejs"], version: ["--version"],
            arguments: {
                [
                    "-e", "fetch(process.argv[1]).then(r => r.ok ? r.text() : Promise.reject(r.status))",
                    "\($0.origin)/page",
                ]
            },
            reads: ("NODE_USE_ENV_PROXY, http_proxy, https_proxy", "NODE_EXTRA_CA_CERTS"),
            towardsProxy:
                "Node reads these variables from 22.21 and 24.5 on; before, programs need an agent, such as undici's "
                + "EnvHttpProxyAgent",
            towardsTrust: "see whether NODE_OPTIONS has --use-system-ca or --use-bundled-ca"),
        DoctorClient(
            name: "npm", programs: ["npm"], version: ["--version"],
            arguments: {
                [
                    "view", "pintle-probe", "version", "--registry", "\($0.origin)/npm/", "--cache", "\($0.folder)/npm",
                    "--fetch-retries", "0", "--no-update-notifier",
                ]
            },
            reads: ("http_proxy, https_proxy", "NPM_CONFIG_CAFILE"),
            towardsProxy: "see `npm config get proxy` and `npm config get noproxy`, which come before the environment",
            towardsTrust: "see `npm config get ca`"),
        DoctorClient(
            name: "java", programs: ["java"], version: ["-version"],
            arguments: { ["\($0.folder)/Probe.java", "\($0.origin)/page"] },
            files: { _ in [("Probe.java", Self.javaProbe)] },
            reads: ("JAVA_TOOL_OPTIONS", "JAVA_TOOL_OPTIONS"),
            towardsProxy:
                "a program that chooses its proxies itself needs its own setting; a JRE cannot run the probe at all",
            towardsTrust: "see whether the program sets javax.net.ssl.trustStore itself"),
        DoctorClient(
            name: "cargo", programs: ["cargo"], version: ["--version"],
            arguments: { ["search", "--index", "sparse+\($0.origin)/cargo/", "pintle-probe"] },
            variables: { [.init("CARGO_HOME", $0.folder), .init("CARGO_NET_RETRY", "0")] },
            reads: ("http_proxy, https_proxy", "CARGO_HTTP_CAINFO"),
            towardsProxy: "see `http.proxy` in ~/.cargo/config.toml, which comes before the environment",
            towardsTrust: "see `http.cainfo` in ~/.cargo/config.toml"),
        DoctorClient(
            name: "go", programs: ["go"], version: ["version"],
            arguments: { _ in ["list", "-m", "-versions", "pintle.test/probe"] },
            variables: { place in
                [
                    .init("GOPROXY", "\(place.origin)/go"), .init("GOPATH", place.folder), .init("GONOSUMDB", "*"),
                    .init("GOCACHE", "\(place.folder)/cache"), .init("GOTOOLCHAIN", "local"),
                    .init("GOFLAGS", "-modcacherw"),
                ]
            },
            reads: ("http_proxy, https_proxy", "SSL_CERT_FILE"),
            towardsProxy: "a program with a transport of its own needs `Proxy: http.ProxyFromEnvironment`",
            towardsTrust: "a program with roots of its own needs Pintle's among them"),
        .apt,
        .chromium,
    ]

    private static func python(
        _ name: String, _ module: String, trust: String, _ program: String, _ advice: String? = nil
    ) -> DoctorClient {
        let reason = "a program that makes a client with trust_env=False, or its own ssl context, decides for itself"
        return DoctorClient(
            name: name, programs: ["python3", "python"],
            version: [
                "-c",
                "import sys, \(module) as m; sys.stdout.write(getattr(m, '__version__', sys.version.split()[0]))",
            ],
            arguments: { ["-c", "import sys, \(module)\n\(program)", "\($0.origin)/page"] },
            reads: ("http_proxy, https_proxy", trust), towardsProxy: advice ?? reason, towardsTrust: reason)
    }

    /// If root starts apt, it fetches as its own user, which has no access to root's folders.
    private static let apt = DoctorClient(
        name: "apt", programs: ["apt-get"], version: ["--version"],
        arguments: { place in
            let folder = place.folder
            return [
                "-q", "-o", "Dir::State=\(folder)", "-o", "Dir::State::Lists=\(folder)/lists", "-o",
                "Dir::State::Status=\(folder)/status", "-o", "Dir::Cache=\(folder)", "-o",
                "Dir::Etc::SourceList=\(folder)/sources.list", "-o", "Dir::Etc::SourceParts=-", "-o",
                "Dir::Etc::PreferencesParts=-", "-o", "Acquire::Retries=0", "-o", "APT::Update::Error-Mode=any",
                "update",
            ]
        },
        files: { place in
            [
                ("sources.list", "deb [trusted=yes] \(place.origin)/ apt/\n"), ("status", ""),
                ("lists/partial/.keep", ""),
                ("archives/partial/.keep", ""),
            ]
        },
        reads: ("http_proxy, https_proxy", "APT_CONFIG"),
        towardsProxy: "see `apt-config dump Acquire::http`, which comes before the environment",
        towardsTrust:
            "apt started by root fetches as the user _apt, who must be able to read the bundle: put it where everybody may, and "
            + "`Acquire::https::CAInfo \"FILE\";` into /etc/apt/apt.conf.d/")

    private static let chromium = DoctorClient(
        name: "chromium", programs: ["chromium", "chromium-browser", "google-chrome"], version: ["--version"],
        arguments: { place in
            [
                "--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--user-data-dir=\(place.folder)/profile", "--dump-dom",
                "\(place.origin)/page",
            ] + (getuid() == 0 ? ["--no-sandbox"] : [])
        },
        reads: ("http_proxy, https_proxy", "a store of its own"),
        towardsProxy: "on a desktop it takes the proxy of the system's settings; start it with --proxy-server=ADDRESS",
        towardsTrust: "run `pintle ca init` once, and then what `pintle ca trust` says of Chromium")

    private static let javaProbe = """
        import java.net.*;
        public class Probe {
            public static void main(String[] arguments) throws Exception {
                var connection = (HttpURLConnection) new URI(arguments[0]).toURL().openConnection();
                if (connection.getResponseCode() != 200) throw new Exception("status " + connection.getResponseCode());
                connection.getInputStream().readAllBytes();
            }
        }
        """
}
