// SPDX-License-Identifier: Apache-2.0

extension ReferencePages {
    static var environment: ReferencePage {
        ReferencePage(
            topic: .environment,
            introduction: [
                "Pintle's own connections ignore proxy variables unless the configuration says `upstream_proxy: env`. Any text of "
                    + "the configuration, and of header fields of `pintle fetch`, may be `env:NAME`: the value of that variable."
            ],
            sections: [
                .init(title: "Read", kind: "variable", entries: ReadVariable.allCases.map(\.entry)),
                .init(
                    title: "Set for programs, always",
                    text: "By `pintle run`, `pintle env` and `pintle doctor`.", kind: "variable",
                    entries: ProxyEnvironment.names(trusting: false).map(Self.given)),
                .init(
                    title: "Set for programs, if tunnels may be intercepted",
                    text:
                        "With files that have the authority's certificate, so that programs trust what they are shown; certificates "
                        + "that such a variable named before stay trusted.",
                    kind: "variable",
                    entries: ProxyEnvironment.names(trusting: true).dropFirst(
                        ProxyEnvironment.names(trusting: false).count
                    ).map(Self.given)),
            ], more: ["run.md", "clients.md"])
    }

    private static func given(_ name: String) -> ReferencePage.Entry {
        .init(name, [("value", Self.value(of: name))], ProxyEnvironment.readers(of: name))
    }

    /// Returns the value that a program gets, in words.
    private static func value(of name: String) -> String {
        switch name.lowercased() {
        case "no_proxy": "empty, unless `--inherit-no-proxy` keeps it"
        case "node_use_env_proxy": "1"
        case "java_tool_options": "options, after those that were there"
        case "wgetrc", "apt_config": "a file: the program's settings, and the path of a bundle"
        case "node_extra_ca_certs", "deno_cert": "a file with the authority"
        case let name where name.hasSuffix("_proxy"): "the proxy's URL"
        default: "a file with the system's roots and the authority"
        }
    }
}

extension ProxyEnvironment {
    /// Returns the programs that read one of the variables, in words; empty for other names.
    static func readers(of name: String) -> String {
        switch name {
        case "http_proxy": "The proxy for http. curl, wget and git read only the lower case."
        case "https_proxy": "The proxy for https."
        case "all_proxy": "The proxy for programs that read neither of these."
        case "HTTP_PROXY": "The proxy for http, for programs that read the upper case."
        case "HTTPS_PROXY": "The proxy for https, for programs that read the upper case."
        case "ALL_PROXY": "The proxy for other programs that read the upper case."
        case "no_proxy", "NO_PROXY": "Hosts that are reached without the proxy."
        case "NODE_USE_ENV_PROXY": "Node reads the variables above, from 22.21 and 24.5 on."
        case "JAVA_TOOL_OPTIONS": "Java: the proxy's host and port, and a trust store if tunnels may be intercepted."
        case "SSL_CERT_FILE": "OpenSSL, Go, Ruby and many others."
        case "CURL_CA_BUNDLE": "curl, but no other program with libcurl."
        case "REQUESTS_CA_BUNDLE": "Python's requests."
        case "GIT_SSL_CAINFO": "git."
        case "PIP_CERT": "pip."
        case "AWS_CA_BUNDLE": "The AWS command line and SDKs."
        case "CARGO_HTTP_CAINFO": "cargo."
        case "NPM_CONFIG_CAFILE": "npm."
        case "BUNDLE_SSL_CA_CERT": "Bundler."
        case "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": "gRPC."
        case "NIX_SSL_CERT_FILE": "Nix."
        case "PERL_LWP_SSL_CA_FILE": "Perl's LWP."
        case "WGETRC": "wget, which reads no variable with certificates."
        case "APT_CONFIG": "apt."
        case "NODE_EXTRA_CA_CERTS": "Node, which adds them to its own roots."
        case "DENO_CERT": "Deno, which adds them to its own roots."
        default: ""
        }
    }
}

/// A variable of the environment that Pintle reads.
enum ReadVariable: String, CaseIterable {
    case configuration = "PINTLE_CONFIG"
    case configurationHome = "XDG_CONFIG_HOME"
    case stateHome = "XDG_STATE_HOME"
    case dataHome = "XDG_DATA_HOME"
    case home = "HOME"
    case path = "PATH"
    case temporary = "TMPDIR"
    case shell = "SHELL"
    case noColor = "NO_COLOR"
    case terminal = "TERM"
    case pager = "PAGER"
    case rootsFile = "SSL_CERT_FILE"
    case rootsFolder = "SSL_CERT_DIR"
    case httpProxy = "http_proxy"
    case httpsProxy = "https_proxy"
    case upperHTTPSProxy = "HTTPS_PROXY"
    case allProxy = "all_proxy"
    case upperAllProxy = "ALL_PROXY"
    case noProxy = "no_proxy"
    case upperNoProxy = "NO_PROXY"
    case java = "JAVA_TOOL_OPTIONS"
    case wget = "WGETRC"
    case apt = "APT_CONFIG"
    case github = "GITHUB_ACTIONS"
    case githubSummary = "GITHUB_STEP_SUMMARY"
    case gitlab = "GITLAB_CI"
    case listenCount = "LISTEN_FDS"
    case listenProcess = "LISTEN_PID"
    case listenNames = "LISTEN_FDNAMES"
    case manager = "NOTIFY_SOCKET"
    case watchdog = "WATCHDOG_USEC"
    case watchdogProcess = "WATCHDOG_PID"
    case turnLimit = "PINTLE_TURN_LIMIT"

    fileprivate var entry: ReferencePage.Entry { .init(self.rawValue, [("read by", self.readers)], self.meaning) }

    private var readers: String {
        switch self {
        case .configuration, .configurationHome, .stateHome, .dataHome, .home: "all commands"
        case .rootsFile, .rootsFolder, .httpProxy, .httpsProxy, .upperHTTPSProxy, .allProxy, .upperAllProxy:
            "all commands"
        case .noProxy, .upperNoProxy: "all commands, `run --inherit-no-proxy`"
        case .path: "`run`, `doctor`, `help`"
        case .temporary: "`run`, `doctor`"
        case .shell: "`env`"
        case .noColor: "`run`, `fetch`, `audit`, `help`"
        case .terminal: "`run`, `fetch`, `audit`, `help`"
        case .pager: "`help`"
        case .java, .wget, .apt: "`run`, `env`, `doctor`"
        case .github, .githubSummary, .gitlab: "`run`"
        case .listenCount, .listenProcess, .listenNames, .manager, .watchdog, .watchdogProcess: "`serve`"
        case .turnLimit: "`serve`"
        }
    }

    private var meaning: String {
        switch self {
        case .configuration: "The configuration file, if `-c` names none."
        case .configurationHome:
            "The folder with `pintle/pintle.yaml`. Default `~/.config`; a relative path is ignored."
        case .stateHome: "The folder with `pintle/`: sockets, tokens, cache, history. Default `~/.local/state`."
        case .dataHome: "The folder with `pintle/`: the authority. Default `~/.local/share`."
        case .home: "The folder for these defaults."
        case .path: "Folders in which programs are looked for."
        case .temporary: "The place of temporary folders. Default `/tmp`; a relative path is ignored."
        case .shell: "The shell for which variables are written, if `--shell` names none: `fish`, or else `sh`."
        case .noColor: "No colour and no bold text, if it is not empty."
        case .terminal: "`dumb`: no progress bars, no bold text and no `less`."
        case .pager:
            "The program that shows pages of the reference, run by the shell; empty: none. Default `less -FRX`."
        case .rootsFile: "The system's roots: a file in the place of the usual one."
        case .rootsFolder: "The system's roots: folders in the place of the usual ones, with colons between them."
        case .httpProxy: "The proxy for http, with `upstream_proxy: env`. In upper case it is not read."
        case .httpsProxy, .upperHTTPSProxy: "The proxy for https, with `upstream_proxy: env`."
        case .allProxy, .upperAllProxy: "The proxy for both, with `upstream_proxy: env`, if there is none of their own."
        case .noProxy, .upperNoProxy: "Hosts that are reached directly, with `upstream_proxy: env`."
        case .java: "Options that stay, before those of the proxy; the trust store that they name stays trusted."
        case .wget: "Settings of wget that stay. Default `~/.wgetrc`."
        case .apt: "Settings of apt that stay."
        case .github: "`true`: findings are written as annotations."
        case .githubSummary: "The file that the summary is appended to."
        case .gitlab: "`true`: the summary is written as a section that folds."
        case .listenCount: "The number of sockets on which a service manager listens (sd_listen_fds(3))."
        case .listenProcess: "The process that they are meant for."
        case .listenNames: "Their names, with colons between them; those called `https` use TLS."
        case .manager: "The socket for notes about readiness, reloads and stops (sd_notify(3))."
        case .watchdog: "The time within which the manager wants a sign of life."
        case .watchdogProcess: "The process of which it wants one."
        case .turnLimit:
            "The processor time after which a turn of an engine thread is logged as `loop.slow_turn`, or `off`."
        }
    }
}
