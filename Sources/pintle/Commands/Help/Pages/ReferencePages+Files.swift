// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

extension ReferencePages {
    static var files: ReferencePage {
        ReferencePage(
            topic: .files,
            introduction: [
                "Without `XDG_STATE_HOME`, `XDG_DATA_HOME` and `XDG_CONFIG_HOME` the folders are \(UserFolder.inWords). "
                    + "Pintle makes what is missing. Files that others could change, or keys that others could read, are "
                    + "refused with the reason. Reports and other files that options name stand where the options say."
            ],
            sections: [
                .init(
                    title: "Written by you", kind: "path",
                    entries: [Self.local] + Self.entries(.configuration) + Self.written),
                .init(title: "State", kind: "path", entries: Self.entries(.state) + Self.configured),
                .init(title: "The authority", kind: "path", entries: Self.entries(.data)),
                .init(
                    title: "Made for a while", kind: "path",
                    entries: Self.passing + PrivateFolder.allCases.map(\.entry)),
                .init(
                    title: "Beside other files", kind: "path",
                    entries: CompanionFile.allCases.map(\.entry) + [Self.schemas]),
                .init(title: "Of the packages", kind: "path", entries: Self.ofPackages),
                .init(title: "Of the system", kind: "path", entries: Self.ofSystem),
                .init(
                    title: "Of the kernel",
                    text:
                        "`PID` and `TID` are numbers of processes and threads. Without a file, what it tells is not known.",
                    kind: "path", entries: Self.ofKernel),
            ], more: ["configuration.md", "cache-store.md", "install.md"])
    }

    private static func entry(_ path: String, _ owner: String, _ text: String) -> ReferencePage.Entry {
        .init(path, [("command", owner)], text)
    }

    /// The files in Pintle's part of a folder of the user.
    private static func entries(_ folder: UserFolder) -> [ReferencePage.Entry] {
        UserFile.allCases.filter { $0.place == folder }.map(\.entry)
    }

    private static let local = Self.entry(
        "./\(UserFile.configuration.name)", "all",
        "The configuration, if neither `-c` nor `PINTLE_CONFIG` names one and the working directory has it.")

    private static let written = [
        Self.entry(
            TestFiles.suffixes.map { "*\($0)" }.joined(separator: ", "), "`test`",
            "Policy tests, in the folder of the key `tests`."),
        Self.entry("~/.wgetrc", "`run`, `env`", "wget's settings, which the file in `WGETRC` repeats."),
    ]

    private static let configured = [
        Self.entry(
            "log.exchanges", "`serve`",
            "The exchange log, if the key is a path; a reload opens it again, for logrotate."),
        Self.entry("recordings.path", "`serve`, `run`", "Recordings, a folder for each tape."),
    ]

    private static let passing = [
        Self.entry(
            "--port-file FILE", "`serve`",
            "The ports and sockets that the proxy listens on, one a line, when it is ready."),
        Self.entry("unix:PATH", "`serve`", "A listener on a Unix socket, mode 0600; removed at its end."),
    ]

    private static let schemas = Self.entry(
        "NAME.schemas/", "`run --learn NAME.yaml`", "JSON Schemas of the bodies that were seen.")

    private static let ofPackages = [
        Self.entry("/etc/pintle/pintle.yaml", "packages", "The configuration of the installed service."),
        Self.entry(
            "/var/lib/pintle, /var/log/pintle, /run/pintle", "packages",
            "The state, the logs and the sockets of the installed service."),
    ]

    private static let ofSystem = [
        Self.entry(
            "/etc/ssl/certs/ca-certificates.crt, /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem, "
                + "/etc/pki/tls/certs/ca-bundle.crt, /etc/ssl/ca-bundle.pem, /etc/ssl/cert.pem", "all",
            "The system's roots: the first of these that there is; `SSL_CERT_FILE` and `SSL_CERT_DIR` replace them."),
        Self.entry("/etc/resolv.conf, /etc/hosts", "all", "Name servers and names."),
        Self.entry(
            "/run, /var/run, /tmp", "`run --isolate`",
            "Folders in which the machine's sockets are hidden from the command, unless `isolate.expose` names them."
        ),
        Self.entry("/tmp", "all", "The place of temporary folders, without `TMPDIR`."),
        Self.entry(
            "/dev/null", "`run`, `doctor`", "The input of programs; it also stands in the place of hidden sockets."),
    ]

    private static let ofKernel = [
        Self.entry(
            "/proc, /proc/PID/comm, /proc/PID/fd", "`serve`, `run`",
            "The fields `process` and `pid`: the names of clients, and the sockets that they hold."),
        Self.entry(
            "/proc/PID/net/tcp, /proc/PID/net/tcp6, /proc/PID/task, /proc/PID/task/TID/children, /sys/kernel/tracing",
            "`run`",
            "Connections of the command that pass the proxy by."),
        Self.entry(
            "/proc/PID/net/snmp, /proc/PID/net/snmp6", "`run --isolate`",
            "The number of attempts to reach a destination without a route."),
        Self.entry(
            "/proc/net/unix, /proc/self/mountinfo", "`run --isolate`",
            "The sockets to hide, and the places to hide them at."),
        Self.entry(
            "/proc/self/mountinfo, /proc/self/cgroup, /proc/pressure/memory", "`serve`",
            "Signs that memory runs short, with `memory.pressure` and `memory.events` of the control group: the cache gives "
                + "memory back."),
        Self.entry(
            "/proc/self/fd", "all",
            "Open descriptors: those that a command gets, and files that are open under another path."),
        Self.entry("/proc/self/task/PID/children", "`run`", "Processes whose parents have ended."),
        Self.entry(
            "/proc/self/status", "`fetch`, `run --isolate`",
            "The mode of new files (umask); whether a filter of system calls applies."),
        Self.entry("/proc/self/maps", "`serve`", "The pages of the start, whose memory is given back."),
        Self.entry("/proc/stat", "`serve`", "Time that a hypervisor gave to others, for `PINTLE_TURN_LIMIT`."),
        Self.entry("/sys/class/net/NAME/uevent", "`serve`", "The kinds of network links, for `reachability.changed`."),
        Self.entry(
            "/proc/sys/kernel/unprivileged_userns_clone, /proc/sys/kernel/apparmor_restrict_unprivileged_userns, "
                + "/proc/sys/user", "`run --isolate`", "The setting that forbids namespaces, for the message."),
        Self.entry(
            "/proc/self/uid_map, /proc/self/gid_map, /proc/self/setgroups", "`run --isolate`",
            "Written in the command's user namespace: the user that it is."),
        Self.entry(
            "/proc/sys/net/ipv4/ip_unprivileged_port_start, /proc/sys/net/netfilter/nf_conntrack_udp_timeout",
            "`run --isolate`",
            "Written in the command's network: its own servers may have any port, and questions for names are soon forgotten."
        ),
    ]
}

extension UserFolder {
    /// The folders without variables: "`~/.local/state`, `~/.local/share` and `~/.config`".
    fileprivate static var inWords: String {
        let (state, data, configuration) = (Self.state.home, Self.data.home, Self.configuration.home)
        return "\(state), \(data) and \(configuration)"
    }

    private var home: String { "`~/\(self.fallback)`" }
}

extension UserFile {
    fileprivate var entry: ReferencePage.Entry { .init(self.shown, [("command", self.owner)], self.meaning) }

    private var owner: String {
        switch self {
        case .configuration: "all"
        case .socket, .token, .cache: "`serve`"
        case .lists: "all commands that read the configuration"
        case .history: "`audit`"
        case .certificate, .key: "`ca init`"
        case .trust: "`env`"
        }
    }

    private var meaning: String {
        switch self {
        case .configuration: "The configuration, if there is none of these."
        case .socket:
            "The control socket of a running proxy, mode 0600: `reload`, `status`, `tail`, `top`, `wait` and `purge` use it."
        case .token: "The token of the admin endpoint, mode 0600."
        case .cache: "Stored responses, unless `cache.path` says otherwise."
        case .lists: "The last good texts of lists of hosts that other machines keep, mode 0600."
        case .history: "The history of audits, unless `--history` says otherwise."
        case .certificate: "The certificate of your authority, for programs to trust."
        case .key: "Its private key, mode 0600. It never leaves the machine."
        case .trust:
            "The files that the variables of `pintle env` name: "
                + TrustFiles.Name.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                + ", and VARIABLE`.pem` for certificates that were named before."
        }
    }
}

extension PrivateFolder {
    fileprivate var entry: ReferencePage.Entry { .init(self.shown, [("command", self.owner)], self.meaning) }

    private var owner: String {
        switch self {
        case .run: "`run`"
        case .credentials, .names: "`run --isolate`"
        case .doctor: "`doctor`"
        }
    }

    private var meaning: String {
        switch self {
        case .run: "The command's trust files; removed at its end."
        case .credentials: "Files of credentials as the command sees them; removed at its end."
        case .names: "The lists of name servers and of hosts as the command sees them; removed at its beginning."
        case .doctor: "The programs' working directory; removed at the end."
        }
    }
}

extension CompanionFile {
    fileprivate var entry: ReferencePage.Entry { .init(self.shown, [("command", self.owner)], self.meaning) }

    private var owner: String {
        switch self {
        case .part, .note: "`fetch`"
        case .lock: "`serve`, `audit`"
        case .temporary: "all"
        case .changes, .changeIndex: "`serve`, `audit`"
        case .damaged: "`audit`"
        }
    }

    private var meaning: String {
        switch self {
        case .part: "A download that is not complete."
        case .note: "The data by which `--resume` continues it."
        case .lock: "The sign that a listener `unix:FILE` or the history of audits is in use."
        case .temporary: "A file that is being written; it gets the name of the other one when it is whole."
        case .changes:
            "Changes of a database, as of the history of audits, that are not in it yet: copy it together with them."
        case .changeIndex: "SQLite's index of these changes."
        case .damaged: "A history of audits that was damaged; a new one was begun."
        }
    }
}
