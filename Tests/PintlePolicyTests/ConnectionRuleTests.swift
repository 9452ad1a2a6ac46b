// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSerialization
import PintleSession
import Testing

/// `request.service_type` and `request.interface`: the marks and interfaces of a route's connections.
struct ConnectionRuleTests {
    private func transfer(_ request: String) throws -> TransferRequest {
        let head = try RequestHead(spelled: ["GET http://a.test/"], minorVersion: 1)
        let plan = RequestPlan(head, .none, by: try policy("routes: [{name: r, request: {\(request)}}]"))
        return try plan.request(from: head, .streamed, of: .local, within: .unlimited).transfer
    }

    @Test(arguments: ServiceType.allCases)
    func `a transfer is told how its packets are marked`(type: ServiceType) throws {
        let marked = try self.transfer("service_type: \(type.rawValue)").serviceType
        // An unmarked request shares the connections of other requests.
        #expect(marked == (type == .default ? nil : type))
    }

    @Test func `a transfer is told which interface it leaves by`() throws {
        #expect(try self.transfer("interface: eth0").interface == "eth0")
        #expect(try self.transfer("interface: \"wg-0.100\"").interface == "wg-0.100")
        #expect(try self.transfer("timeout: 5s").interface == nil)
    }

    private static let form = "must be the name of a network interface, as in eth0: at most 15 characters"

    @Test(arguments: [
        (
            "service_type: video_call",
            "2:44: routes[0].request.service_type: \"video_call\": must be default, voip, video, background, voice, "
                + "responsive_data, av_streaming or call_signaling"
        ),
        (
            "service_type: voipp",
            "2:44: routes[0].request.service_type: \"voipp\": must be default, voip, video, background, "
                + "voice, responsive_data, av_streaming or call_signaling; did you mean voip?"
        ),
        ("interface: \"\"", "2:41: routes[0].request.interface: \"\": \(form)"),
        ("interface: a/b", "2:41: routes[0].request.interface: \"a/b\": \(form)"),
        ("interface: a b", "2:41: routes[0].request.interface: \"a b\": \(form)"),
        ("interface: eth012345678901", nil),
        ("interface: eth0123456789012", "2:41: routes[0].request.interface: \"eth0123456789012\": \(form)"),
        (
            "interfaces: eth0",
            "2:30: routes[0].request: unknown key \"interfaces\"; did you mean \"interface\"?"
        ),
    ])
    func `a wrong value is refused`(request: String, problem: String?) {
        let found = problems("version: 1\nroutes: [{name: r, request: {\(request)}}]")
        #expect(found == (problem.map { ["pintle.yaml:" + $0] } ?? []))
    }

    @Test func `check says it`() throws {
        let policy = try policy("routes: [{name: r, request: {service_type: voip, interface: eth0}}]")
        #expect(
            Lint(policy).findings.first?.message
                == "\"r\": every method every host → where it was aimed; marks packets as voip; leaves by eth0")
    }
}
