// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Many servers on addresses of 127.0.0.0/8, all on one port: one real nginx.
package final class NginxFleet: Sendable {
    /// One of the servers.
    package struct Site: Sendable {
        package var address: String
        /// Identities with keys of different kinds; none for a server that speaks plain HTTP.
        package var identities: [TestIdentity]
        /// True if the certificates' signers are sent.
        package var sendsSigners = true
        /// TLS versions by nginx's names.
        package var protocols = "TLSv1.2 TLSv1.3"

        package init(_ address: String, _ identities: [TestIdentity]) {
            self.address = address
            self.identities = identities
        }
    }

    package let port: Int
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Starts nginx and waits until it listens.
    package init(_ sites: [Site]) throws {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
        let port = try FreePort.find()
        let servers = try sites.enumerated().map { number, site in
            let files = try site.identities.enumerated().flatMap { index, identity in
                let name = "site\(number)-\(index)"
                let chain = site.sendsSigners ? identity.chainPEM : identity.certificatePEM
                try folder.write(chain, to: "\(name).pem")
                try folder.write(identity.keyPEM, to: "\(name).key")
                return ["ssl_certificate \(name).pem;", "ssl_certificate_key \(name).key;"]
            }
            // At level 0 OpenSSL accepts keys and versions that are insecure.
            let security = files + ["ssl_protocols \(site.protocols);", "ssl_ciphers ALL:@SECLEVEL=0;"]
            return """
                server {
                    listen \(site.address):\(port)\(files.isEmpty ? "" : " ssl");
                    \(files.isEmpty ? "" : security.joined(separator: " "))
                    location / { return 204; }
                }
                """
        }
        let configuration = """
            daemon off;
            master_process off;
            worker_processes 1;
            pid nginx.pid;
            error_log stderr notice;
            events { worker_connections 4096; }
            http {
                access_log off;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
            \(servers.joined(separator: "\n"))
            }

            """
        try folder.write(configuration, to: "nginx.conf")
        self.port = port
        self.folder = folder
        self.process = try ChildProcess(
            "/usr/sbin/nginx", ["-p", folder.path, "-c", "\(folder.path)/nginx.conf", "-e", "stderr"])
        // nginx logs its version after its sockets listen.
        try self.process.waitForLine("its first notice") { $0.contains("nginx/") }
    }
}
