// SPDX-License-Identifier: Apache-2.0

/// The variables that lead programs to a proxy, and let them trust its certificates if it may intercept.
///
/// A pure value: the inherited environment is passed in. docs/clients.md lists the variables of each program.
struct ProxyEnvironment: Sendable, Equatable {
    /// The files with which programs trust an intercepting proxy.
    struct Trust: Sendable, Equatable {
        /// PEM with the system's roots and the proxy's authority, which most programs read instead of the system's roots.
        var bundle: String
        /// PEM with the proxy's authority and the configuration's extra roots, for programs that add them to their own
        /// roots.
        var authority: String
        /// A PKCS#12 store with the certificates of `bundle`. If JAVA_TOOL_OPTIONS already named a store, it has the
        /// certificates of that store and of `authority` instead.
        var javaStore: String
        var javaStorePassword: String
        /// A configuration for wget with the user's own settings and the path of `bundle`.
        var wgetConfiguration: String
        /// A configuration for apt with the user's own settings and the path of `bundle`.
        var aptConfiguration: String
        /// Files that replace `bundle` or `authority`, by the name of the variable: they also have the certificates that
        /// the variable named before. Default none.
        var merged: [String: String] = [:]
    }

    struct Variable: Sendable, Equatable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    let proxy: ProxyAddress
    /// Hosts that bypass the proxy, in the format of `no_proxy`. Default none.
    var exempt = ""
    /// The existing JAVA_TOOL_OPTIONS. The proxy's options are appended, because the last ones take effect.
    var javaOptions = ""
    /// The files for trust; nil if nothing is intercepted.
    var trust: Trust?

    /// The variables, in the order in which they are written.
    var variables: [Variable] {
        let address = self.proxy.description
        var variables = Self.proxyNames.map { Variable($0, address) }
        variables += Self.exemptNames.map { Variable($0, self.exempt) }
        variables.append(Variable(Self.nodeName, "1"))
        if let options = self.options { variables.append(Variable(Self.javaName, options)) }
        guard let trust else { return variables }
        variables += Self.bundleNames.map { Variable($0, trust.merged[$0] ?? trust.bundle) }
        variables.append(Variable(Self.wgetName, trust.wgetConfiguration))
        variables.append(Variable(Self.aptName, trust.aptConfiguration))
        return variables + Self.authorityNames.map { Variable($0, trust.merged[$0] ?? trust.authority) }
    }

    /// Returns the variables of an environment that already name certificates, with the paths of their files and folders.
    static func certificates(namedIn environment: [String: String]) -> [(variable: String, path: String)] {
        (self.bundleNames + self.authorityNames).compactMap { name in
            let path = ([name] + (self.readOtherwise[name] ?? [])).lazy.compactMap { environment[$0] }.first {
                !$0.isEmpty
            }
            return path.map { (name, $0) }
        }
    }

    /// Returns every name that ``variables`` may have.
    ///
    /// - Parameter trusting: true to include the names of the variables for certificates.
    static func names(trusting: Bool) -> [String] {
        let always = self.proxyNames + self.exemptNames + [self.nodeName, self.javaName]
        return trusting ? always + self.bundleNames + [self.wgetName, self.aptName] + self.authorityNames : always
    }

    // MARK: Names

    // curl, wget and git read only the lower case; other programs only the upper case.
    private static let proxyNames = [
        "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    ]
    private static let exemptNames = ["no_proxy", "NO_PROXY"]
    private static let nodeName = "NODE_USE_ENV_PROXY"
    static let javaName = "JAVA_TOOL_OPTIONS"
    private static let bundleNames = [
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "AWS_CA_BUNDLE",
        "CARGO_HTTP_CAINFO", "NPM_CONFIG_CAFILE", "BUNDLE_SSL_CA_CERT", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
        "NIX_SSL_CERT_FILE", "PERL_LWP_SSL_CA_FILE",
    ]
    /// The variables that a program reads if the first one is not set, in its order.
    private static let readOtherwise = [
        "CURL_CA_BUNDLE": ["SSL_CERT_FILE"], "REQUESTS_CA_BUNDLE": ["CURL_CA_BUNDLE"],
        "PIP_CERT": ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"], "AWS_CA_BUNDLE": ["REQUESTS_CA_BUNDLE"],
        "CARGO_HTTP_CAINFO": ["SSL_CERT_FILE"], "BUNDLE_SSL_CA_CERT": ["SSL_CERT_FILE"],
        "NIX_SSL_CERT_FILE": ["SSL_CERT_FILE"], "PERL_LWP_SSL_CA_FILE": ["HTTPS_CA_FILE"],
    ]
    private static let wgetName = "WGETRC"
    private static let aptName = "APT_CONFIG"
    private static let authorityNames = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"]

    // MARK: Java

    /// The value of JAVA_TOOL_OPTIONS; nil if there are no options.
    private var options: String? {
        var own: [String] = []
        // Java cannot talk to a proxy over TLS; its plaintext would be answered with an alert.
        if !self.proxy.isTLS {
            let host = self.proxy.host.filter { !"[]".contains($0) }
            for scheme in ["http", "https"] {
                own += ["-D\(scheme).proxyHost=\(host)", "-D\(scheme).proxyPort=\(self.proxy.port)"]
            }
            // Both schemes read this option. Without it, Java requests localhost directly.
            own.append("-Dhttp.nonProxyHosts=\(JavaExceptions.text(self.exempt))")
        }
        if let trust {
            own += [
                "-Djavax.net.ssl.trustStore=\(trust.javaStore)", "-Djavax.net.ssl.trustStoreType=PKCS12",
                "-Djavax.net.ssl.trustStorePassword=\(trust.javaStorePassword)",
            ]
        }
        guard !own.isEmpty else { return nil }
        return ([self.javaOptions] + own.map(JavaExceptions.quoted)).filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// The options of JAVA_TOOL_OPTIONS.
enum JavaOptions {
    /// Returns the trust store that the options name, with its password; nil if they name none.
    static func trustStore(in text: String) -> (path: String, password: String?)? {
        func value(of name: String) -> String? {
            // The last occurrence takes effect.
            self.words(of: text).last { $0.hasPrefix("-D\(name)=") }.map { String($0.dropFirst(name.count + 3)) }
        }
        guard let path = value(of: "javax.net.ssl.trustStore"), !path.isEmpty else { return nil }
        return (path, value(of: "javax.net.ssl.trustStorePassword"))
    }

    /// Splits the options like Java: at white space outside of quotation marks of either kind; a backslash escapes nothing.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var word: String?
        var mark: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if let opened = mark {
                if scalar == opened { mark = nil } else { word?.unicodeScalars.append(scalar) }
            } else if scalar == "\"" || scalar == "'" {
                (mark, word) = (scalar, word ?? "")
            } else if scalar.properties.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                word = word ?? ""
                word?.unicodeScalars.append(scalar)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }
}

/// Options of Java whose syntax differs from the variables of other programs.
enum JavaExceptions {
    /// Converts `no_proxy` to `http.nonProxyHosts`: patterns separated by bars, where a name does not include its
    /// subdomains.
    static func text(_ exempt: String) -> String {
        let words = exempt.split { $0 == "," || $0 == " " || $0 == "\t" || $0 == "\n" }
        return words.flatMap { word -> [String] in
            if word == "*" { return ["*"] }
            // Java has no syntax for networks.
            if word.contains("/") { return [] }
            let name = word.hasPrefix(".") ? word.dropFirst() : word
            let isAddress = name.contains(":") || name.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
            return isAddress ? [String(name)] : [String(name), "*.\(name)"]
        }.joined(separator: "|")
    }

    /// Quotes an option of JAVA_TOOL_OPTIONS, which Java splits at white space outside of quotation marks; a backslash
    /// escapes nothing.
    static func quoted(_ option: String) -> String {
        guard option.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0 == "\"" || $0 == "'" }) else {
            return option
        }
        return "\"\(option.mappingScalars { $0 == "\"" ? "\"'\"'\"" : nil })\""
    }
}
