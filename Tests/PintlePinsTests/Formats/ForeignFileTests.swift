// SPDX-License-Identifier: Apache-2.0

import PintlePins
import PintleTrust
import Testing

/// Files as other programs have them, which Pintle did not write.
struct ForeignFileTests {
    private static let one = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    private static let two = "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="

    private func pins() throws -> [Pin] { [try Pin("sha256/\(Self.one)"), try Pin("sha256/\(Self.two)")] }

    @Test func `a list has comments, blank lines and every spelling of a pin`() throws {
        let text =
            "\u{FEFF}# keys of 2026\r\n\r\n  sha256/\(Self.one)  # in use\r\nsha256//\(Self.two)\r\nsha256/\(Self.one)\r\n"
        let content = try PinFormat.sha256.read(text)
        #expect(content.sets == [PinSet(pins: try self.pins())])
    }

    @Test(arguments: [
        "sha256//\(one);sha256//\(two)", "curl --pinnedpubkey 'sha256//\(one);sha256//\(two)' https://api.example/",
        "curl -s --pinnedpubkey=\"sha256//\(one);sha256//\(two)\"", "pinnedpubkey = \"sha256//\(one);sha256//\(two)\"",
        "# for curl -K\n--pinnedpubkey sha256//\(one);sha256//\(two)",
    ])
    func `curl's pins are found in a value, a command and a configuration`(text: String) throws {
        #expect(try PinFormat.curl.read(text).sets == [PinSet(pins: try self.pins())])
    }

    @Test func `other options in curl's configuration are left out by name`() throws {
        let content = try PinFormat.curl.read("silent = true\npinnedpubkey = \"sha256//\(Self.one)\"\n")
        #expect(content.remarks == ["pins:1: other options of curl are not about pins"])
        #expect(content.sets == [PinSet(pins: [try self.pins()[0]])])
    }

    @Test func `the example of RFC 7469 §2.1.5 is read`() throws {
        let text = """
            Public-Key-Pins: max-age=2592000;
                pin-sha256="E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=";
                pin-sha256="LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=";
                report-uri="http://example.com/pkp-report"; includeSubDomains
            """
        let set = try #require(try PinFormat.hpkp.read(text).sets.first)
        #expect(
            set.pins.map(\.description) == [
                "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=",
                "sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
            ])
        #expect(set.maxAge == 2_592_000 && set.reportURIs == ["http://example.com/pkp-report"] && set.isEnforced)
        #expect(set.hosts == [PinnedHost(PinnedHost.unknown, .itselfAndBelow)])
        let report = try PinFormat.hpkp.read(
            "public-key-pins-report-only:max-age=1;PIN-SHA256=\(Self.one);x=\"a;\\\"b\"")
        #expect(
            report.sets[0].isEnforced == false && report.remarks == ["pins:1: the directive \"x\" is not about pins"])
    }

    @Test func `TrustKit's settings are found in an Info plist, other keys are left out by name`() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleName</key><string>App</string>
            <key>TSKConfiguration</key><dict>
              <key>TSKSwizzleNetworkDelegates</key><true/>
              <key>TSKPinnedDomains</key><dict>
                <key>yahoo.example</key><dict>
                  <key>TSKExpirationDate</key><string>2027-12-01</string>
                  <key>TSKIncludeSubdomains</key><true/>
                  <key>TSKEnforcePinning</key><false/>
                  <key>TSKDisableDefaultReportUri</key><true/>
                  <key>TSKReportUris</key><array><string>https://r.example/?a=1&amp;b=2</string></array>
                  <key>TSKPublicKeyHashes</key><array><string>\(Self.one)</string><string>\(Self.two)</string></array>
                </dict>
                <key>blog.yahoo.example</key><dict>
                  <key>TSKExcludeSubdomainFromParentPolicy</key><true/>
                </dict>
              </dict>
            </dict></dict></plist>
            """
        let content = try PinFormat.trustkit.read(text)
        var set = PinSet(hosts: [PinnedHost("yahoo.example", .itselfAndBelow)], pins: try self.pins())
        set.expires = UnixTime(day: "2027-12-01")
        set.isEnforced = false
        set.reportURIs = ["https://r.example/?a=1&b=2"]
        #expect(content.sets == [set])
        #expect(
            content.remarks == [
                "pins:7: \"yahoo.example\": TSKDisableDefaultReportUri is not about pins",
                "pins:15: \"blog.yahoo.example\" is left out of its parent's pins, which no set of pins can say",
                "pins: TSKSwizzleNetworkDelegates is not about pins",
            ])
    }

    @Test func `Android's nested domains inherit pins, or have their own`() throws {
        let text = """
            <?xml version="1.0" encoding="utf-8"?>
            <!-- ours -->
            <network-security-config>
              <base-config cleartextTrafficPermitted="false"/>
              <domain-config cleartextTrafficPermitted="false">
                <domain includeSubdomains="true">Example.test</domain>
                <pin-set expiration="2027-01-31">
                  <pin digest="SHA-256">
                    \(Self.one)
                  </pin>
                </pin-set>
                <trust-anchors><certificates src="system"/></trust-anchors>
                <domain-config><domain>a.example.test</domain></domain-config>
                <domain-config>
                  <domain>b.example.test</domain>
                  <pin-set><pin digest="SHA-256"><![CDATA[\(Self.two)]]></pin></pin-set>
                </domain-config>
              </domain-config>
              <domain-config><domain>free.test</domain></domain-config>
            </network-security-config>
            """
        let content = try PinFormat.android.read(text)
        var inherited = PinSet(
            hosts: [PinnedHost("a.example.test"), PinnedHost("example.test", .itselfAndBelow)],
            pins: [try self.pins()[0]])
        inherited.expires = UnixTime(day: "2027-01-31")
        let own = PinSet(hosts: [PinnedHost("b.example.test")], pins: [try self.pins()[1]])
        #expect(content.sets == [inherited, own])
        #expect(
            content.remarks == [
                "pins:4: <base-config> is not about pins", "pins:5: cleartextTrafficPermitted is not about pins",
                "pins:12: <trust-anchors> is not about pins", "pins:19: free.test: there are no pins for it",
            ])
    }

    @Test func `OkHttp's calls are found in Java, among others`() throws {
        let text = """
            import okhttp3.CertificatePinner; // .add("not.example", "sha256/nonsense")
            class Client { /* .add("not.example", "sha256/nonsense") */
              List<String> names = list.add("sha256/nonsense");
              CertificatePinner pinner = new CertificatePinner.Builder()
                  .add("api.example",
                       "sha256/\(Self.one)" /* in use */)
                  .add("**.pay.example", "sha256/\(Self.two)")
                  .add("*.cdn.example", "sha256/\(Self.two)")
                  .add("api.example", "sha256/\(Self.two)")
                  .build();
            }
            """
        let pins = try self.pins()
        let sets = try PinFormat.okhttp.read(text).sets
        #expect(
            sets == [
                PinSet(hosts: [PinnedHost("api.example")], pins: pins),
                PinSet(
                    hosts: [PinnedHost("cdn.example", .oneLabelBelow), PinnedHost("pay.example", .itselfAndBelow)],
                    pins: [pins[1]]),
            ])
    }

    @Test func `Envoy's lists are found where they stand, in YAML and JSON`() throws {
        let yaml = """
            clusters:
              - name: api
                transport_socket:
                  typed_config:
                    common_tls_context:
                      validation_context:
                        trusted_ca: {filename: /etc/ssl/certs/ca-certificates.crt}
                        verify_certificate_spki: [\(Self.one), "\(Self.two)"]
            """
        #expect(try PinFormat.envoy.read(yaml).sets == [PinSet(pins: try self.pins())])
        let json = "{\"name\": \"s\", \"validationContext\": {\"verifyCertificateSpki\": [\"\(Self.one)\"]}}"
        #expect(try PinFormat.envoy.read(json).sets == [PinSet(name: "s", pins: [try self.pins()[0]])])
    }

    @Test func `Pintle's policies are read, and what they say besides is left out by name`() throws {
        let text = """
            version: 1
            enforcement: report
            trust:
              default: {roots: system}
              pay:
                hosts: ["*.pay.example:8443", "pay.example:8443", "10.0.0.0/8"]
                pinning: public_key
                pins: ["sha256/\(Self.one)"]
                validates_domain_name: false
                match: leaf
                expires: 2027-01-01T06:00:00+01:00
                enforcement: enforce
              soft: {hosts: [a.example], pinning: public_key, pins: ["sha256//\(Self.two)"]}
            """
        let content = try PinFormat.pintle.read(text)
        var pay = PinSet(
            name: "pay", hosts: [PinnedHost("10.0.0.0/8"), PinnedHost("pay.example", .itselfAndBelow, port: 8443)],
            pins: [try self.pins()[0]])
        pay.expires = UnixTime(iso8601: "2027-01-01T05:00:00Z")
        pay.onExpiry = .fail
        var soft = PinSet(name: "soft", hosts: [PinnedHost("a.example")], pins: [try self.pins()[1]])
        soft.isEnforced = false
        #expect(content.sets == [pay, soft])
        #expect(
            content.remarks == [
                "pins:4:3: trust.default: pins nothing", "pins:5:3: trust.pay: validates_domain_name is not carried",
                "pins:5:3: trust.pay: match is not carried",
            ])
    }
}
