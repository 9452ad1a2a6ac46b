// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// A real nginx with its own folder and ports: one process, http on one port and https on one for each identity.
///
/// Locations that always exist: `/hello`; `/echo`, which returns method, target and some fields; `/connection`, which
/// returns the number of the connection, the number of requests on it and whether its TLS session was resumed; `/json`,
/// `/html`, `/status/NNN`; `/files/`, which serves ``files``; and `/store/`, which keeps content that is PUT there.
package final class NginxOrigin: @unchecked Sendable {
    // Why @unchecked holds: only `start` and `stop` change `process`, and one test calls them in turn.
    package let httpPort: Int
    /// One port for each identity, in order.
    package let httpsPorts: [Int]
    private let folder: TemporaryFolder
    private let address: String
    private let network: NetworkNamespace?
    /// Further parameters of each `listen` directive.
    private let listening: String
    private var process: ChildProcess?

    /// Starts nginx and waits until it listens.
    ///
    /// - Parameters:
    ///   - https: the identities of the https servers.
    ///   - locations: more of nginx's own configuration, for each server.
    ///   - address: the address on which it listens.
    ///   - network: the network that it runs in; the test's own network unless given.
    ///   - http2: true if HTTP/2 is spoken: on the https ports to clients that choose it, on the http port to all clients.
    package init(
        https identities: [TestIdentity] = [], locations: String = "", address: String = "127.0.0.1",
        in network: NetworkNamespace? = nil, http2: Bool = false
    ) throws {
        self.address = address
        self.network = network
        self.listening = http2 ? " http2" : ""
        self.folder = try TemporaryFolder()
        self.httpPort = try FreePort.find()
        self.httpsPorts = try identities.map { _ in try FreePort.find() }
        // nginx's workers may run as another user.
        chmod(self.folder.path, 0o755)
        for name in ["files", "store", "temporary"] {
            let path = "\(self.folder.path)/\(name)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            chmod(path, 0o777)
        }
        try self.folder.write(Self.commonLocations(in: self.folder.path) + locations, to: "locations.conf")
        for (number, identity) in identities.enumerated() { try self.show(identity, at: number) }
        try self.folder.write(self.configuration, to: "nginx.conf")
        try self.start()
    }

    deinit { self.stop() }

    /// The port of the only identity.
    package var httpsPort: Int { self.httpsPorts[0] }

    /// Replaces the certificate of one https server, from the next ``start()`` on.
    package func show(_ identity: TestIdentity, at number: Int = 0) throws {
        _ = try self.folder.write(identity, as: "site\(number)")
    }

    /// Puts a file below `/files/`.
    package func serve(_ bytes: [UInt8], as name: String) throws {
        chmod(try self.folder.write(bytes, to: "files/\(name)"), 0o644)
    }

    /// Makes a file below `/files/` longer, with zero bytes that take no space on the disk.
    package func growServed(_ name: String, to size: Int) throws {
        guard truncate("\(self.folder.path)/files/\(name)", off_t(size)) == 0 else {
            throw TestFailure("\(name) cannot be made longer: errno \(errno)")
        }
    }

    /// Returns the content that was PUT to `/store/NAME`.
    package func stored(_ name: String) -> [UInt8]? {
        fileBytes("\(self.folder.path)/store/\(name)")
    }

    /// Starts nginx; when started again, it has the same ports.
    package func start() throws {
        let process = try ChildProcess(
            "/usr/sbin/nginx", ["-p", self.folder.path, "-c", "\(self.folder.path)/nginx.conf", "-e", "stderr"],
            in: self.network)
        // nginx logs its version after its sockets listen.
        try process.waitForLine("its first notice") { $0.contains("nginx/") }
        self.process = process
    }

    /// Kills nginx; connections break.
    package func stop() {
        self.process?.signal(SIGKILL)
        _ = try? self.process?.waitForExit()
        self.process = nil
    }

    private var configuration: String {
        let secure = self.httpsPorts.enumerated().map { number, port in
            """
            server {
                listen \(self.address):\(port) ssl\(self.listening);
                ssl_certificate site\(number).pem;
                ssl_certificate_key site\(number).key;
                include locations.conf;
            }
            """
        }
        return """
            daemon off;
            master_process off;
            worker_processes 1;
            pid nginx.pid;
            error_log stderr notice;
            events { worker_connections 1024; }
            http {
                access_log off;
                client_max_body_size 0;
                client_body_temp_path temporary/body;
                proxy_temp_path temporary/proxy;
                fastcgi_temp_path temporary/fastcgi;
                uwsgi_temp_path temporary/uwsgi;
                scgi_temp_path temporary/scgi;
                keepalive_requests 1000000;
                ssl_session_cache shared:tls:1m;
                default_type application/octet-stream;
                types { application/json json; text/html html; text/plain txt; }
                server {
                    listen \(self.address):\(self.httpPort)\(self.listening);
                    include locations.conf;
                }
                \(secure.joined(separator: "\n"))
            }

            """
    }

    private static func commonLocations(in folder: String) -> String {
        """
        location = /hello { default_type text/plain; return 200 "hello\\n"; }
        location = /echo {
            default_type text/plain;
            return 200 "$request_method $request_uri\\nhost=$http_host\\nvia=$http_via\\nx=$http_x_test\\n";
        }
        location = /connection { default_type text/plain; return 200 "$connection $connection_requests $ssl_session_reused"; }
        location = /json { default_type application/json; return 200 '{"a":1,"gone":null,"list":[1,null,2]}'; }
        location = /html { default_type text/html; return 200 "<p>hello</p>"; }
        location = /status/204 { return 204; }
        location = /status/404 { default_type application/json; return 404 '{"error":"none"}'; }
        location = /status/500 { default_type application/json; return 500 '{"error":"all"}'; }
        location /files/ { root \(folder); }
        location /store/ { root \(folder); dav_methods PUT; create_full_put_path on; }

        """
    }
}
