// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintlePolicy
internal import PintleProxy

/// The window through which a browser sees the traffic of a run, while it runs: an admin endpoint on a free port of 127.0.0.1, with
/// the page and for developer tools.
struct RunWindow: Sendable {
    let watching: Watching
    let origin: ConfigurationOrigin

    /// Opens the endpoint, and prints its links: on standard error, before the command writes anything.
    func open(on server: ServingProxy, in lifecycle: Lifecycle, _ logger: Logger) throws(CommandFailure) {
        let program = RunningProgram(server, nil, lifecycle, self.origin, self.watching)
        let admin = try AdminServer(program, at: .loopback(), hosts: [], showing: self.watching.recent, logger: logger)
        try lifecycle.started(.admin) { await admin.stop() }
        Output.error("pintle: the page is at \(admin.link)")
        if let link = admin.devToolsLink {
            Output.error("pintle: paste into a Chromium for its developer tools: \(link)")
        }
    }
}
