// SPDX-License-Identifier: Apache-2.0

extension Policy {
    /// What the policy says about a CONNECT: the tunnel goes where it was asked to, whatever upstream a route has.
    ///
    /// It names no trust policy: nothing looks into a tunnel, and a line that named one would claim what was not checked.
    package func decideTunnel(_ query: RouteQuery) -> Decision {
        Decision(
            route: self.routes.first(matching: query), scheme: query.scheme, authority: query.authority,
            path: query.path, destination: self.destinations.judge(query.authority),
            trust: nil)
    }
}
