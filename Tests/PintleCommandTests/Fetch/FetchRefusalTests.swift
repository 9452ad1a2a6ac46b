// SPDX-License-Identifier: Apache-2.0

import PintleSession
import PintleTesting
import Testing

@testable import pintle

/// Command lines of `fetch` that make no sense, and their error messages.
struct FetchRefusalTests {
    /// The exit code and the message of a command line.
    private func refusal(_ arguments: [String]) -> (code: ProcessExit, message: String)? {
        do {
            _ = try fetchPlan(arguments)
            return nil
        } catch {
            guard let failure = error as? CommandFailure else { return nil }
            return (failure.code, failure.lines.joined(separator: "\n"))
        }
    }

    @Test(arguments: [
        ("", "URL is missing; pintle fetch --help shows how it is used"),
        ("GET", "URL: the URL has no scheme; begin it with https:// or http:// (at byte 0)"),
        ("http://a.test/1 http://a.test/2", "2 URLs: say with --parallel how many to request at a time"),
        ("http://a.test/ --parallel 0", "--parallel 0: must be from 1 to 64"),
        ("http://a.test/x --parallel 2", "--parallel needs -o and a folder for the bodies"),
        ("http://a.test/x --parallel 2 -o /nowhere/at/all", "-o /nowhere/at/all: is no folder; make it first"),
        (
            "http://a.test/x http://b.test/x --parallel 2 -o /tmp",
            "URL 1 and URL 2 would both be written to x"
        ),
        (
            "http://a.test/x http://b.test/ --parallel 2 -o /tmp",
            "URL 2: its path ends with no name for a file; request it by itself"
        ),
        ("http://a.test/ -o /tmp", "-o /tmp: is a folder; name a file in it"),
        ("HEAD http://a.test/ -o x", "-o: the response to HEAD has no body to write"),
        (
            "http://a.test/ -i -o x",
            "--include: a file has the body alone, so that it can be resumed; redirect standard output instead of -o"
        ),
        ("http://a.test/ --resume", "--resume needs -o and the file to go on with"),
        ("POST http://a.test/ --resume -o x", "--resume: only GET can go on where it ended, not POST"),
        (
            "http://a.test/ --resume -o x --header Range:bytes=1-",
            "--resume asks for a range itself; leave Range out"
        ),
        (
            "http://a.test/ --json - --form a=1",
            "--json is the whole body, so --form has no place; write parameters into the URL's query"
        ),
        (
            "http://a.test/ --json - --param a=1",
            "--json is the whole body, so --param has no place; write parameters into the URL's query"
        ),
        ("http://a.test/ --json - --serialize json", "--json is sent as it is; leave --serialize out"),
        (
            "http://a.test/ --form a=1 --param b=1",
            "--form and --param would both be the body; use one of them for all"
        ),
        (
            "http://a.test/ --serialize json",
            "--serialize json: there is no --param and no --form to serialize"
        ),
        (
            "http://a.test/ --serialize plist --form a=1",
            "--form is sent as http or multipart; for plist use --param"
        ),
        (
            "http://a.test/ --serialize http --form a=@/etc/hostname",
            "--serialize http cannot carry the files of --form; use multipart"
        ),
        ("http://a.test/ POST", "the method comes first, as in: pintle fetch POST http://a.test/"),
        ("GET http://a.test/ --form a=1", "GET carries no body; use POST or PUT, or --param for the query"),
        ("HEAD http://a.test/ --json -", "HEAD carries no body; use POST or PUT, or --param for the query"),
        ("http://a.test/ --param a", "--param: needs a name, an equals sign and a value, as in --param page=2"),
        ("http://a.test/ --form =a", "--form: needs a name, an equals sign and a value, as in --form page=2"),
        (
            "http://a.test/ --header Accept",
            "--header: needs a colon between name and value, as in 'Accept: text/html'"
        ),
        ("http://a.test/ --header a/b:c", "--header: \"a/b\" is not a field name"),
        (
            "http://a.test/ --header authorization:token",
            "--header authorization: everybody on this machine can read a command line; give the value as env:NAME or "
                + "file:PATH"
        ),
        ("http://a.test/ --throttle 1KiB/1s", "--throttle: there is no body whose sending it could slow down"),
        (
            "http://a.test/ --form a=1 --throttle 1KiB",
            "--throttle 1KiB: must be a size and a duration, as 16KiB/200ms"
        ),
        (
            "http://a.test/ --form a=1 --throttle 1KiB/fast",
            "--throttle 1KiB/fast: must be a duration: a whole number with a unit, as in 250ms, 10s, 5m, 1h or 2d"
        ),
        (
            "http://a.test/ --expect-status 2x",
            "--expect-status: each must be a status or a range from 100 to 599, as in 304, 200-299 or 2xx"
        ),
        (
            "http://a.test/ --expect-type json",
            "--expect-type: must be one media type, as in application/json; there are no wildcards"
        ),
    ])
    func `a command line that makes no sense is refused with 2`(line: String, message: String) {
        let refusal = self.refusal(line.split(separator: " ").map(String.init))
        #expect(
            refusal?.code == .usage && refusal?.message == "pintle fetch: \(message)", "\(String(describing: refusal))")
    }

    @Test(arguments: [
        ("--header X:env:NO", "--header X: there is no environment variable NO"),
        ("--param x=file:nowhere", "--param x: there is no file nowhere"),
    ])
    func `a value that cannot be had is refused with 4`(option: String, message: String) {
        let refusal = self.refusal(["http://a.test/"] + option.split(separator: " ").map(String.init))
        #expect(refusal?.code == .incomplete && refusal?.message == "pintle fetch: \(message)")
    }

    @Test func `a file that cannot be read is refused with 4`() {
        for options in [["--form", "f=@/nowhere/at/all"], ["--roots", "/nowhere/at/all.pem"]] {
            let refusal = self.refusal(["https://a.test/"] + options)
            #expect(refusal?.code == .incomplete && refusal?.message.contains("/nowhere/at/all") == true, "\(options)")
        }
    }

    @Test func `a pin that is none is refused with 2`() {
        let refusal = self.refusal(["https://a.test/", "--pin", "sha256/AAAA"])
        #expect(refusal?.code == .usage)
        #expect(refusal?.message.hasPrefix("pintle fetch: --pin: 3 bytes after base64") == true)
    }

    @Test func `every kind of failure has an exit code`() {
        let found: Set<SessionError.Code> = [.untrusted, .cleartext, .rejected]
        let usage: Set<SessionError.Code> = [.invalidURL, .invalidRequest]
        for code in SessionError.Code.allCases {
            let expected: ProcessExit = found.contains(code) ? .found : usage.contains(code) ? .usage : .incomplete
            #expect(FetchFailure.exit(for: code) == expected, "\(code)")
        }
    }
}
