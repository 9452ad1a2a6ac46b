// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
internal import PintlePolicy

struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Request URLs over the session engine: parameters, forms, pins, expectations, downloads.",
        usage: "pintle fetch [<options>] [METHOD] URL [URL ...]",
        discussion: """
            The body goes to standard output as it arrives; with -o it goes to FILE.part, which becomes FILE when it is \
            whole and keeps every expectation. Redirects are followed, 20 at most. Proxy variables of the environment \
            are ignored.

            A response whose status is not 2xx is written to standard output all the same and the exit code is 1; with \
            -o, or with any --expect option, nothing is written.

            A VALUE that reads env:NAME or file:PATH stands for what it names. Credentials can be given in no other \
            way: --header 'Authorization: Bearer env:TOKEN'.

            Exit code 0 when all went well; 1 when a status, an expectation, a pin or a certificate is not as it has \
            to be; 2 when the command line is wrong; 4 when a transfer could not be completed.
            """)

    @Argument(
        help: ArgumentHelp(
            "The method, GET unless given, or POST with a body; then the URL, or several with --parallel.",
            valueName: "[METHOD] URL"))
    var words: [String] = []

    // MARK: The request

    @Option(
        help: ArgumentHelp(
            "A parameter; repeatable. It goes into the query of GET, HEAD and DELETE, else into the body.",
            valueName: "k=VALUE"))
    var param: [String] = []

    @Option(help: ArgumentHelp("How parameters become a body. Default http: form-urlencoded."))
    var serialize: FetchPlan.Serialization?

    @Option(
        help: ArgumentHelp(
            "A JSON document as the body, checked and sent as it is; - reads standard input.", valueName: "file"),
        completion: .file())
    var json: String?

    @Option(
        help: ArgumentHelp(
            "A form's field, or a file for it; repeatable. With a file the body is multipart/form-data.",
            valueName: "k=VALUE|k=@FILE"))
    var form: [String] = []

    @Option(help: ArgumentHelp("A header field; repeatable.", valueName: "N:VALUE"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "Send the body in packets of a size with a rest after each, as in 16KiB/200ms.",
            valueName: "size/duration"))
    var throttle: String?

    // MARK: The expected response

    @Option(
        help: ArgumentHelp("Acceptable statuses, as in 200-299,304. Default 2xx.", valueName: "statuses"))
    var expectStatus: [String] = []

    @Option(help: ArgumentHelp("An acceptable media type; repeatable.", valueName: "type"))
    var expectType: [String] = []

    @Option(
        help: ArgumentHelp("What the body must be. Such a body is checked before it is written: 64 MiB at most."))
    var expectBody: FetchPlan.BodyExpectation?

    @Option(help: ArgumentHelp("A key that the server's chain must have; repeatable.", valueName: "sha256/..."))
    var pin: [String] = []

    @Option(
        help: ArgumentHelp("Trust these certificates in place of the system's: a file or a folder.", valueName: "pem"),
        completion: .file())
    var roots: String?

    // MARK: Output and transfers

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write the body to this file; with --parallel, to files in this folder, named as the URLs are.",
            valueName: "file"), completion: .file())
    var output: String?

    @Flag(
        name: [.customShort("i"), .long],
        help: "Write the status line and the fields of the response before its body, as they were received.")
    var include = false

    @Flag(help: "Go on with what an earlier fetch left in FILE.part, if the server still has the same file.")
    var resume = false

    @Option(help: ArgumentHelp("Request several URLs, so many at a time, 1 to 64.", valueName: "n"))
    var parallel: Int?

    @Flag(
        help: """
            When all is over write a line of JSON for each URL: to standard output with -o, to standard error without.
            """)
    var metrics = false

    func run() async throws {
        let environment = Inherited.environment
        var options = self
        try OutputDevice.redirect(&options.output)
        let plan = try FetchPlan(options, surroundings: .system(environment: environment))
        try await Fetcher(plan: plan, terminal: Terminal(environment: environment)).run()
    }
}

extension FetchPlan.Serialization: ExpressibleByArgument {}
extension FetchPlan.BodyExpectation: ExpressibleByArgument {}
