// SPDX-License-Identifier: Apache-2.0

/// The variables that lead programs to a proxy, and let them believe its certificates where it may intercept.
///
/// A pure value: what is inherited is passed in. Which program reads which variable is in docs/clients.md.
struct ProxyEnvironment: Sendable, Equatable {
    /// Files that let programs trust a proxy which intercepts.
    struct Trust: Sendable, Equatable {
        /// PEM with the system's roots and the proxy's authority: most programs read it in place of the system's roots.
        var bundle: String
        /// PEM with the proxy's authority and the configuration's extra roots, for programs that add them to their own roots.
        var authority: String
        /// A PKCS#12 store with what `bundle` has; or with the certificates of the store that JAVA_TOOL_OPTIONS named before, and
        /// those of `authority`.
        var javaStore: String
        var javaStorePassword: String
        /// A configuration of wget that names `bundle`, and has what the user's own says.
        var wgetConfiguration: String
        /// The same for apt.
        var aptConfiguration: String
        /// By the name of a variable, the file that it gets in place of `bundle` or `authority`: it also has the certificates that
        /// the variable named before. Default none.
        var merged: [String: String] = [:]
    }

    struct Variable: Sendable, Equatable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    let proxy: ProxyAddress
    /// Hosts that are asked for without the proxy, as `no_proxy` lists them. Default none.
    var exempt = ""
    /// The JAVA_TOOL_OPTIONS that there are already; ours come behind, where they count.
    var javaOptions = ""
    /// Nil where nothing may be intercepted.
    var trust: Trust?

    /// In the order in which they are written.
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

    /// The variables by which an environment names certificates already, with their files and folders.
    static func certificates(namedIn environment: [String: String]) -> [(variable: String, path: String)] {
        (self.bundleNames + self.authorityNames).compactMap { name in
            let path = ([name] + (self.readOtherwise[name] ?? [])).lazy.compactMap { environment[$0] }.first {
                !$0.isEmpty
            }
            return path.map { (name, $0) }
        }
    }

    /// Every name that ``variables`` may have.
    ///
    /// - Parameter trusting: whether those for certificates are among them.
    static func names(trusting: Bool) -> [String] {
        let always = self.proxyNames + self.exemptNames + [self.nodeName, self.javaName]
        return trusting ? always + self.bundleNames + [self.wgetName, self.aptName] + self.authorityNames : always
    }

    // MARK: Names

    // curl, wget and git read the lower case alone; others the upper case alone.
    private static let proxyNames = [
        "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    ]
    private static let exemptNames = ["no_proxy", "NO_PROXY"]
    private static let nodeName = "NODE_USE_ENV_PROXY"
    static let javaName = "JAVA_TOOL_OPTIONS"
    private static let bundleNames = [
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "AWS_CA_BUNDLE",
        "CARGO_HTTP_CAINFO", "NPM_CONFIG_CAFILE", "BUNDLE_SSL_CA_CERT", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
        "NIX_SSL_CERT_FILE",
    ]
    /// The variables that a program reads in place of one that is not set, in its order.
    private static let readOtherwise = [
        "CURL_CA_BUNDLE": ["SSL_CERT_FILE"], "REQUESTS_CA_BUNDLE": ["CURL_CA_BUNDLE"],
        "PIP_CERT": ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"], "AWS_CA_BUNDLE": ["REQUESTS_CA_BUNDLE"],
        "CARGO_HTTP_CAINFO": ["SSL_CERT_FILE"], "BUNDLE_SSL_CA_CERT": ["SSL_CERT_FILE"],
        "NIX_SSL_CERT_FILE": ["SSL_CERT_FILE"],
    ]
    private static let wgetName = "WGETRC"
    private static let aptName = "APT_CONFIG"
    private static let authorityNames = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"]

    // MARK: Java

    /// The JAVA_TOOL_OPTIONS that are told; nil where there is nothing to say.
    private var options: String? {
        var own: [String] = []
        // Java speaks with no proxy over TLS. What it took for one would be answered by an alert.
        if !self.proxy.isTLS {
            let host = self.proxy.host.filter { !"[]".contains($0) }
            for scheme in ["http", "https"] {
                own += ["-D\(scheme).proxyHost=\(host)", "-D\(scheme).proxyPort=\(self.proxy.port)"]
            }
            // Both schemes read this one. Without it, Java asks for localhost by itself.
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
    /// The trust store that they name, with its password; nil where they name none.
    static func trustStore(in text: String) -> (path: String, password: String?)? {
        func value(of name: String) -> String? {
            // The last one counts.
            self.words(of: text).last { $0.hasPrefix("-D\(name)=") }.map { String($0.dropFirst(name.count + 3)) }
        }
        guard let path = value(of: "javax.net.ssl.trustStore"), !path.isEmpty else { return nil }
        return (path, value(of: "javax.net.ssl.trustStorePassword"))
    }

    /// As Java reads them: at blanks, but for those between quotation marks of either kind; a backslash escapes nothing.
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

/// The words of Java's options that differ from the variables of everybody else.
enum JavaExceptions {
    /// `no_proxy` as `http.nonProxyHosts`: patterns between bars, where a name does not stand for those below it.
    static func text(_ exempt: String) -> String {
        let words = exempt.split { $0 == "," || $0 == " " || $0 == "\t" || $0 == "\n" }
        return words.flatMap { word -> [String] in
            if word == "*" { return ["*"] }
            // A network has no form there.
            if word.contains("/") { return [] }
            let name = word.hasPrefix(".") ? word.dropFirst() : word
            let isAddress = name.contains(":") || name.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
            return isAddress ? [String(name)] : [String(name), "*.\(name)"]
        }.joined(separator: "|")
    }

    /// An option of JAVA_TOOL_OPTIONS, which is read at blanks, but for those between quotation marks; a backslash escapes
    /// nothing.
    static func quoted(_ option: String) -> String {
        guard option.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0 == "\"" || $0 == "'" }) else {
            return option
        }
        return "\"\(option.mappingScalars { $0 == "\"" ? "\"'\"'\"" : nil })\""
    }
}
