// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// The reference of problems.
extension Problem.Name {
    /// The event, in a sentence.
    var meaning: String {
        switch self {
        case .clientDenied: "The client's address may not use the proxy."
        case .proxyAuthRequired: "The proxy wants a user name and a password, or did not accept those that it got."
        case .destinationDenied: "The policy does not allow the destination."
        case .loopDetected: "The request has passed this proxy before."
        case .badRequest:
            "The request is not valid HTTP, or could be read in two ways. 501 is for unknown transfer codings, 505 "
                + "for other versions of HTTP."
        case .headerTooLarge: "The head of the request is longer than the proxy takes."
        case .requestTimeout: "The client did not send the rest of its request in time."
        case .bodyTooLarge:
            "A body is longer than the rules of its route allow: 413 for the request's, 502 for the response's."
        case .unserializableRequest: "The request cannot be written as its route says, or breaks its API contract."
        case .dnsFailure: "The host's name has no address."
        case .connectFailure:
            "No connection to the origin could be made, or the upstream proxy did not let the request pass."
        case .connectTimeout:
            "The connection was not made within the route's `connect_timeout`, TLS handshake included."
        case .upstreamTimeout: "The origin was silent for too long."
        case .upstreamProtocol: "The origin's answer is not valid HTTP, or broke off before its head was complete."
        case .tlsFailure: "There is a server, but no TLS handshake with it."
        case .pinMismatch: "No certificate of the origin's chain has a pinned key. The request was not sent."
        case .certificateInvalid:
            "The origin's certificate does not prove that it is the origin. The request was not sent."
        case .responseStatus: "The origin answered with a status that the route does not accept."
        case .responseContentType: "The origin answered with a media type that the route does not accept."
        case .responseBody: "The body of the response is not what the route says."
        case .networkUnreachable: "This machine has no way to the origin's network."
        case .overloaded: "A limit is reached; the same request may pass later (`Retry-After`)."
        case .cacheMiss: "The route answers from the cache alone, and nothing is kept for this request."
        case .recordingMissing: "The route answers from recordings alone, and there is none for this request."
        case .credentialMisuse:
            "The request has the placeholder of a credential that is not for it; nothing was sent."
        }
    }

    /// The most likely cause.
    var likelyCause: String {
        switch self {
        case .clientDenied:
            "The client is on another machine, and `clients.allow` has loopback alone unless it says otherwise."
        case .proxyAuthRequired: "The proxy's URL in the client has no user, or the password is not that of the file."
        case .destinationDenied:
            "A rule of `destinations` denies it, `default: deny` and no rule allows it, its port is not one of "
                + "`connect_ports` or `ports`, or its address is private or the proxy's own."
        case .loopDetected:
            "A route's `upstream`, or `upstream_proxy`, leads back to the proxy, or two proxies have one name in "
                + "`via`."
        case .badRequest: "The client speaks another protocol to this port, or writes ambiguous requests."
        case .headerTooLarge: "Large cookies or tokens, or very many fields."
        case .requestTimeout: "The client paused or is gone, or its network is very slow."
        case .bodyTooLarge:
            "The route must see the whole body (`serialize`, `body`, a contract) and it is over "
                + "`limits.body_buffer`; or the response is over `response.max_body`."
        case .unserializableRequest:
            "The body is not of its Content-Type, has a value that the format of `serialize` cannot express, or "
                + "differs from the OpenAPI document."
        case .dnsFailure: "The name is misspelled, or only other name servers know it."
        case .connectFailure: "No server listens on that port, or a firewall refuses it."
        case .connectTimeout: "A firewall drops the packets, or the server is overloaded."
        case .upstreamTimeout: "The origin is slow, or hangs."
        case .upstreamProtocol: "The origin closed the connection early, or speaks another protocol on that port."
        case .tlsFailure:
            "The port speaks no TLS, the versions differ (`min_tls`), or the server wants a client certificate."
        case .pinMismatch: "The origin has a new key, or another server answers in its place."
        case .certificateInvalid:
            "It has expired, is for another name, or its issuer is not among the roots of the trust policy."
        case .responseStatus: "The origin reports an error, or the contract does not declare the status."
        case .responseContentType: "An error page in the place of data, such as HTML of a login or of another proxy."
        case .responseBody: "It is broken, of another format, or does not satisfy the schema."
        case .networkUnreachable: "A network or a VPN is down, or there is no IPv6 here."
        case .overloaded:
            "Too many connections, tunnels or held bytes at a time, or the process has too few descriptors; a "
                + "client that never closes its connections may be enough."
        case .cacheMiss: "The answer was never fetched under another policy, was purged, or had to make room."
        case .recordingMissing:
            "The request differs from the recorded one; the sentence says in which part, if it is a single one."
        case .credentialMisuse:
            "A program sends its token to another host, path or method, over http, or within another part of a "
                + "request."
        }
    }

    /// Advice for the reader of the problem.
    var remedy: String {
        switch self {
        case .clientDenied: "Add the client's network to `clients.allow`, or run the client on this machine."
        case .proxyAuthRequired:
            "Write `http://USER:PASSWORD@HOST:PORT` in the client. `htpasswd -B FILE USER` sets a password in the "
                + "file of `clients.basic_auth.users`; `pintle reload` reads it again."
        case .destinationDenied:
            "The sentence names the rule; `pintle explain METHOD URL` shows it with its line. Add the host to "
                + "`destinations.allow` if it is meant."
        case .loopDetected: "Correct the address that leads back; give each proxy a `via` of its own."
        case .badRequest:
            "The sentence in `detail` names the fault; docs/http.md lists each input with its answer. Correct the "
                + "client."
        case .headerTooLarge:
            "Raise `limits.header_bytes`, `limits.header_line` or `limits.header_count`; the sentence names the one."
        case .requestTimeout:
            "Repeat the request. Raise `limits.header_timeout` or `limits.body_timeout` if such pauses are meant."
        case .bodyTooLarge: "Raise that limit if such bodies are meant, or take the rule off the route."
        case .unserializableRequest: "The sentence names the place in the body. Correct the client, or the contract."
        case .dnsFailure:
            "Try `getent hosts NAME` on the machine of the proxy; correct the name, or /etc/resolv.conf."
        case .connectFailure:
            "See that the server runs, and that the port is right; `address` in the log line is the one that was "
                + "tried."
        case .connectTimeout:
            "Try from the machine of the proxy without it. Raise `request.connect_timeout` for slow servers."
        case .upstreamTimeout:
            "Raise the route's `request.timeout` if such answers take long; docs/timeouts.md has the defaults."
        case .upstreamProtocol:
            "The sentence says what came. Look into the origin's log; see that `upstream` has the right scheme and "
                + "port."
        case .tlsFailure:
            "See that the port is right. `trust.NAME.min_tls` and `trust.NAME.client_certificate` are the keys "
                + "about it."
        case .pinMismatch:
            "Compare `chain` with `configured_pins` in the problem. Ask the origin's owner about the key by another "
                + "way before you add its pin; `pintle pins show HOST` prints it."
        case .certificateInvalid:
            "The sentence names the rule (`pintle help findings`). Have the certificate renewed; add a private "
                + "issuer to `trust.NAME.extra_roots`."
        case .responseStatus:
            "`upstream_status` has it. Correct the origin, or add the status to `response.status` or the contract."
        case .responseContentType:
            "`upstream_content_type` has it. Correct the origin, or add the type to `response.content_types`."
        case .responseBody:
            "The sentence and `causes` name the place in the body. Correct the origin, or `response.body`."
        case .networkUnreachable: "See `ip route get ADDRESS`; the log has `reachability.changed`."
        case .overloaded:
            "The sentence names the limit: raise it below `limits` or in the route's `coalesce`, or find the client "
                + "with `pintle top`."
        case .cacheMiss: "Set the route's `cache.policy` to `protocol` or `prefer_cache`, or fill the cache first."
        case .recordingMissing:
            "Record it (`mode: record`, or `miss: record`), or leave the part out of `replay.match`. `pintle tapes "
                + "list` shows what is there."
        case .credentialMisuse: "Find out why it goes there. If it should, add the request to `credentials.NAME.for`."
        }
    }
}
