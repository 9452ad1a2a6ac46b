// SPDX-License-Identifier: Apache-2.0

extension ReferencePages {
    static var files: ReferencePage {
        ReferencePage(
            topic: .files,
            introduction: [
                "Without `XDG_STATE_HOME`, `XDG_DATA_HOME` and `XDG_CONFIG_HOME` the folders are `~/.local/state`, "
                    + "`~/.local/share` and `~/.config`. Pintle makes what is missing. Files that others could change, or keys "
                    + "that others could read, are refused with the reason."
            ],
            sections: [
                .init(title: "Written by you", kind: "path", entries: Self.written),
                .init(title: "State", kind: "path", entries: Self.state),
                .init(title: "The authority", kind: "path", entries: Self.authority),
                .init(title: "Made for a while", kind: "path", entries: Self.passing),
                .init(title: "Of the system", kind: "path", entries: Self.system),
            ], more: ["configuration.md", "cache-store.md", "install.md"])
    }

    private static func entry(_ path: String, _ owner: String, _ text: String) -> ReferencePage.Entry {
        .init(path, [("command", owner)], text)
    }

    private static let written = [
        Self.entry(
            "./pintle.yaml", "all",
            "The configuration, if neither `-c` nor `PINTLE_CONFIG` names one and the working directory has it."),
        Self.entry("$XDG_CONFIG_HOME/pintle/pintle.yaml", "all", "The configuration, if there is none of these."),
        Self.entry("*.pintle-test.yaml", "`test`", "Policy tests, in the folder of the key `tests`."),
        Self.entry("~/.wgetrc", "`run`, `env`", "wget's settings, which the file in `WGETRC` repeats."),
    ]

    private static let state = [
        Self.entry(
            "$XDG_STATE_HOME/pintle/run/PID.sock", "`serve`",
            "The control socket of a running proxy, mode 0600: `reload`, `status`, `tail`, `top`, `wait` and `purge` use it."
        ),
        Self.entry("$XDG_STATE_HOME/pintle/run/PID.token", "`serve`", "The token of the admin endpoint, mode 0600."),
        Self.entry("$XDG_STATE_HOME/pintle/cache/", "`serve`", "Stored responses, unless `cache.path` says otherwise."),
        Self.entry(
            "$XDG_STATE_HOME/pintle/lists/", "all commands that read the configuration",
            "The last good texts of lists of hosts that other machines keep, mode 0600."),
        Self.entry(
            "$XDG_STATE_HOME/pintle/audit.sqlite", "`audit`",
            "The history of audits, unless `--history` says otherwise."),
        Self.entry(
            "log.exchanges", "`serve`",
            "The exchange log, if the key is a path; a reload opens it again, for logrotate."),
        Self.entry("recordings.path", "`serve`, `run`", "Recordings, a folder for each tape."),
    ]

    private static let authority = [
        Self.entry(
            "$XDG_DATA_HOME/pintle/ca/ca.pem", "`ca init`", "The certificate of your authority, for programs to trust."),
        Self.entry(
            "$XDG_DATA_HOME/pintle/ca/ca.key", "`ca init`", "Its private key, mode 0600. It never leaves the machine."),
        Self.entry(
            "$XDG_DATA_HOME/pintle/trust/", "`env`",
            "The files that the variables of `pintle env` name: `bundle.pem`, `authority.pem`, `store.p12`, `wgetrc`, `apt.conf`, "
                + "and VARIABLE`.pem` for certificates that were named before."),
    ]

    private static let passing = [
        Self.entry(
            "--port-file FILE", "`serve`",
            "The ports and sockets that the proxy listens on, one a line, when it is ready."),
        Self.entry("PATH, PATH.lock", "`serve`", "A listener `unix:PATH`, mode 0600, and the sign that it is in use."),
        Self.entry("$TMPDIR/pintle-run-XXXXXX/", "`run`", "The command's trust files; removed at its end."),
        Self.entry(
            "$TMPDIR/pintle-credentials-XXXXXX/", "`run --isolate`",
            "Files of credentials as the command sees them; removed at its end."),
        Self.entry("$TMPDIR/pintle-doctor-XXXXXX/", "`doctor`", "The programs' working directory; removed at the end."),
        Self.entry(
            "FILE.part, FILE.part.json", "`fetch`",
            "A download that is not complete, and the data by which `--resume` continues it."),
    ]

    private static let system = [
        Self.entry(
            "/etc/ssl/certs/ca-certificates.crt", "all",
            "The system's roots, or the bundle of another distribution; `SSL_CERT_FILE` and `SSL_CERT_DIR` replace them."
        ),
        Self.entry("/etc/resolv.conf, /etc/hosts", "all", "Name servers and names."),
        Self.entry("/etc/pintle/pintle.yaml", "packages", "The configuration of the installed service."),
        Self.entry("/var/lib/pintle, /var/log/pintle", "packages", "The state and the logs of the installed service."),
    ]
}
