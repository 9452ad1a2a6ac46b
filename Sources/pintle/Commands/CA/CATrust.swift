// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleTrust

struct CATrust: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Say how programs and systems come to trust your authority.",
        discussion: "Nothing is changed: who is to be trusted by a whole system is for its owner to say.")

    func run() throws {
        _ = try CA.read()
        let file = try CA.folder().certificateFile
        try Output.data(Self.instructions(for: file))
    }

    /// Returns the instructions.
    ///
    /// - Parameter file: the path of the certificate.
    static func instructions(for file: String) -> String {
        """
        For one program, which is enough for most work:
          eval "$(pintle env)"        # curl, wget, git, pip, node, cargo, java and others, in this shell
          pintle run -- COMMAND       # the same for one command

        For everything on this machine that uses the system's roots:
          Debian, Ubuntu   sudo cp '\(file)' /usr/local/share/ca-certificates/pintle.crt && sudo update-ca-certificates
          Fedora, RHEL     sudo cp '\(file)' /etc/pki/ca-trust/source/anchors/pintle.pem && sudo update-ca-trust
          Arch             sudo trust anchor '\(file)'
          Alpine           sudo cp '\(file)' /usr/local/share/ca-certificates/pintle.crt && sudo update-ca-certificates

        For programs with a store of their own:
          Chromium, Chrome mkdir -p $HOME/.pki/nssdb && certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n Pintle -i '\(file)'
          Firefox          certutil -d sql:PROFILE -A -t C,, -n Pintle -i '\(file)'
          Java             keytool -importcert -noprompt -cacerts -storepass changeit -alias pintle -file '\(file)'

        To take it back: remove the file and run the command again, or certutil -D -n Pintle, or keytool -delete -alias pintle.
        """
    }
}
