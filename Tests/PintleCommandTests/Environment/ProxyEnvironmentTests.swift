// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

@testable import pintle

/// The variables, and their values.
struct ProxyEnvironmentTests {
    private func address(_ places: String...) throws -> ProxyAddress {
        try ProxyAddress(try places.map { try ListenAddress($0) })
    }

    private func value(_ name: String, _ environment: ProxyEnvironment) -> String? {
        environment.variables.first { $0.name == name }?.value
    }

    @Test func `every variable is there in both cases, and none for certificates without interception`() throws {
        let environment = ProxyEnvironment(proxy: try self.address("127.0.0.1:3128"))
        #expect(
            environment.variables.map(\.name) == [
                "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "no_proxy",
                "NO_PROXY",
                "NODE_USE_ENV_PROXY", "JAVA_TOOL_OPTIONS",
            ])
        #expect(environment.variables.map(\.name) == ProxyEnvironment.names(trusting: false))
        #expect(environment.variables.prefix(6).allSatisfy { $0.value == "http://127.0.0.1:3128" })
        #expect(self.value("no_proxy", environment) == "" && self.value("NODE_USE_ENV_PROXY", environment) == "1")
        #expect(
            self.value("JAVA_TOOL_OPTIONS", environment)
                == "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128 "
                + "-Dhttp.nonProxyHosts=")
    }

    @Test(
        arguments: [
            ("", nil, nil), ("-Xmx1g -Da=b", nil, nil), ("-Djavax.net.ssl.trustStore=", nil, nil),
            ("-Djavax.net.ssl.trustStore=/a.jks", "/a.jks", nil),
            (
                "-Djavax.net.ssl.trustStore=/a.jks\t-Djavax.net.ssl.trustStorePassword=x "
                    + "-Djavax.net.ssl.trustStore=/b.p12", "/b.p12", "x"
            ),
            ("'-Djavax.net.ssl.trustStore=/a b.jks' -Dx=y", "/a b.jks", nil),
            ("-Djavax.net.ssl.trustStore=\"/a 'b\\\".jks", "/a 'b\\.jks", nil),
        ] as [(String, String?, String?)])
    func `LOOK-115 Java's options name a trust store`(options: String, path: String?, password: String?) {
        let store = JavaOptions.trustStore(in: options)
        #expect(store?.path == path && store?.password == password, "\(store as Any)")
    }

    @Test func `LOOK-115 a variable that names certificates already gets a file of its own`() throws {
        let named = ProxyEnvironment.certificates(
            namedIn: ["CURL_CA_BUNDLE": "/own.pem", "NODE_EXTRA_CA_CERTS": "/node.pem", "SSL_CERT_FILE": ""])
        #expect(
            named.map { "\($0.variable)=\($0.path)" } == [
                "CURL_CA_BUNDLE=/own.pem", "REQUESTS_CA_BUNDLE=/own.pem", "PIP_CERT=/own.pem",
                "NODE_EXTRA_CA_CERTS=/node.pem",
            ])
        let trust = ProxyEnvironment.Trust(
            bundle: "/d/bundle.pem", authority: "/d/ca.pem", javaStore: "/d/store.p12", javaStorePassword: "changeit",
            wgetConfiguration: "/d/wgetrc", aptConfiguration: "/d/apt.conf",
            merged: ["CURL_CA_BUNDLE": "/d/own.pem", "DENO_CERT": "/d/deno.pem"])
        let environment = ProxyEnvironment(proxy: try self.address("127.0.0.1:3128"), trust: trust)
        #expect(self.value("CURL_CA_BUNDLE", environment) == "/d/own.pem")
        #expect(self.value("SSL_CERT_FILE", environment) == "/d/bundle.pem")
        #expect(self.value("DENO_CERT", environment) == "/d/deno.pem")
        #expect(self.value("NODE_EXTRA_CA_CERTS", environment) == "/d/ca.pem")
    }

    @Test func `files for certificates are told where something may be intercepted`() throws {
        let trust = ProxyEnvironment.Trust(
            bundle: "/d/bundle.pem", authority: "/d/ca.pem", javaStore: "/d d/store.p12", javaStorePassword: "changeit",
            wgetConfiguration: "/d/wgetrc", aptConfiguration: "/d/apt.conf")
        let environment = ProxyEnvironment(proxy: try self.address("127.0.0.1:3128"), trust: trust)
        #expect(environment.variables.map(\.name) == ProxyEnvironment.names(trusting: true))
        for name in [
            "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "AWS_CA_BUNDLE",
            "CARGO_HTTP_CAINFO", "NPM_CONFIG_CAFILE", "BUNDLE_SSL_CA_CERT", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
            "NIX_SSL_CERT_FILE", "PERL_LWP_SSL_CA_FILE",
        ] { #expect(self.value(name, environment) == "/d/bundle.pem") }
        #expect(self.value("WGETRC", environment) == "/d/wgetrc")
        #expect(self.value("APT_CONFIG", environment) == "/d/apt.conf")
        #expect(self.value("NODE_EXTRA_CA_CERTS", environment) == "/d/ca.pem")
        #expect(self.value("DENO_CERT", environment) == "/d/ca.pem")
        #expect(
            self.value("JAVA_TOOL_OPTIONS", environment)?.hasSuffix(
                " \"-Djavax.net.ssl.trustStore=/d d/store.p12\" -Djavax.net.ssl.trustStoreType=PKCS12"
                    + " -Djavax.net.ssl.trustStorePassword=changeit") == true)
    }

    @Test(
        arguments: [
            (["127.0.0.1:3128"], "http://127.0.0.1:3128"), (["0.0.0.0:8080"], "http://127.0.0.1:8080"),
            (["[::]:8080"], "http://[::1]:8080"), (["[::1]:8080"], "http://[::1]:8080"),
            (["192.0.2.7:81"], "http://192.0.2.7:81"), (["https://127.0.0.1:443"], "https://127.0.0.1:443"),
            (["unix:/run/p.sock", "https://127.0.0.1:4430", "127.0.0.1:3128"], "http://127.0.0.1:3128"),
        ] as [([String], String)])
    func `the address is one that a program on this machine reaches`(places: [String], told: String) throws {
        #expect(try ProxyAddress(try places.map { try ListenAddress($0) }).description == told)
    }

    @Test(arguments: [["unix:/run/p.sock"], ["127.0.0.1:0"], ["127.0.0.1:0", "unix:/run/p.sock"]])
    func `a place without an address is told with what to do`(places: [String]) throws {
        let listen = try places.map { try ListenAddress($0) }
        #expect(
            throws: Malformed(
                "the proxy listens on \(places.joined(separator: " ")), which no proxy variable can name; add an address "
                    + "with a port to `listen`, such as 127.0.0.1:3128")
        ) { try ProxyAddress(listen) }
    }

    @Test func `Java is told of no proxy over TLS, and keeps what it was told`() throws {
        let tls = ProxyEnvironment(proxy: try self.address("https://127.0.0.1:3128"), javaOptions: "-Xmx1g")
        #expect(
            self.value("JAVA_TOOL_OPTIONS", tls) == nil && self.value("http_proxy", tls) == "https://127.0.0.1:3128")
        let clear = ProxyEnvironment(proxy: try self.address("[::1]:3128"), javaOptions: "-Xmx1g -Da='b c'")
        #expect(self.value("JAVA_TOOL_OPTIONS", clear)?.hasPrefix("-Xmx1g -Da='b c' -Dhttp.proxyHost=::1 ") == true)
    }

    @Test(
        arguments: [
            ("", ""), ("*", "*"), ("localhost,127.0.0.1", "localhost|*.localhost|127.0.0.1"),
            (".corp.example, ::1 10.0.0.0/8", "corp.example|*.corp.example|::1"),
        ])
    func `exceptions are told to Java in its own words`(exempt: String, options: String) throws {
        #expect(JavaExceptions.text(exempt) == options)
        let environment = ProxyEnvironment(proxy: try self.address("127.0.0.1:3128"), exempt: exempt)
        #expect(self.value("no_proxy", environment) == exempt && self.value("NO_PROXY", environment) == exempt)
        #expect(self.value("JAVA_TOOL_OPTIONS", environment)?.hasSuffix("-Dhttp.nonProxyHosts=\(options)") == true)
    }

    @Test(
        arguments: [
            ("-Da=b", "-Da=b"), ("-Da=b c", "\"-Da=b c\""), ("-Da=it's", "\"-Da=it's\""),
            ("-Da=\"b\" c", "\"-Da=\"'\"'\"b\"'\"'\" c\""),
        ])
    func `an option with blanks or quotation marks stays one`(option: String, quoted: String) {
        #expect(JavaExceptions.quoted(option) == quoted)
    }
}
