// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc

/// Two keys of a terminal that a command uses, without a byte of its input.
///
/// Pintle's process group gets the foreground, and two letters take the places of the characters that send SIGQUIT and
/// SIGTSTP: the terminal's driver consumes these keys. Everything else that is typed, before and meanwhile, stays in the
/// terminal for the command, because Pintle reads nothing. Ctrl-C still sends SIGINT, if it did so before.
///
/// The command's group is in the background meanwhile. A command that begins to read is stopped by SIGTTIN; its supervisor
/// continues it afterwards.
struct Keyboard {
    private let descriptor: Int32
    /// The modes that the command has set.
    private let modes: termios
    /// The foreground group that gets the terminal back.
    private let group: pid_t

    /// True if the signals of the keys reach this process. One that was started with them ignored keeps ignoring them.
    static var isUsable: Bool {
        let ignored = pintle_inherited_ignored_signals()
        return [SIGQUIT, SIGTSTP].allSatisfy { ignored & 1 << UInt64($0 - 1) == 0 }
    }

    /// Takes the keys.
    ///
    /// - Parameter child: the command's process. Its group gets the terminal if this process's group has it now.
    /// - Returns: nil if the command is in the background, or if the terminal has gone.
    init?(of terminal: ForegroundTerminal, child: pid_t) {
        self.descriptor = terminal.descriptor
        let foreground = tcgetpgrp(self.descriptor)
        // The shell has the terminal while its job is in the background.
        guard foreground > 0, foreground != getpgid(getppid()) else { return nil }
        self.group = foreground == getpgrp() ? child : foreground
        var modes = termios()
        guard tcgetattr(self.descriptor, &modes) == 0 else { return nil }
        self.modes = modes
        let descriptor = self.descriptor
        ForegroundTerminal.withoutStopping { tcsetpgrp(descriptor, getpgrp()) }
    }

    /// Chooses the letters of the keys.
    func listen(to letters: (first: Character, second: Character)) {
        var modes = self.modes
        // A command that takes Ctrl-C as a byte gets it as one.
        if modes.c_lflag & tcflag_t(ISIG) == 0 { modes[VINTR] = Self.none }
        // Without NOFLSH a signal would discard the input that waits.
        modes.c_lflag |= tcflag_t(ISIG | NOFLSH)
        modes[VQUIT] = letters.first.asciiValue ?? Self.none
        modes[VSUSP] = letters.second.asciiValue ?? Self.none
        self.set(modes)
    }

    /// False if the command has changed the modes meanwhile: a key may then have been another one.
    func hears(_ letters: (first: Character, second: Character)) -> Bool {
        var modes = termios()
        return tcgetattr(self.descriptor, &modes) == 0 && modes.c_lflag & tcflag_t(ISIG) != 0
            && modes[VQUIT] == letters.first.asciiValue && modes[VSUSP] == letters.second.asciiValue
    }

    /// The value that disables a character (`_POSIX_VDISABLE`).
    private static let none: cc_t = 0

    /// Gives the terminal back, unless the command or a shell has taken it.
    ///
    /// - Parameter signal: is sent to the foreground group of the command then; 0 for none.
    func giveBack(sending signal: Int32 = 0) {
        guard tcgetpgrp(self.descriptor) == getpgrp() else { return }
        self.set(self.modes)
        ForegroundTerminal.withoutStopping { tcsetpgrp(self.descriptor, self.group) }
        if signal != 0 { kill(-self.group, signal) }
    }

    private func set(_ modes: termios) {
        ForegroundTerminal.withoutStopping {
            var modes = modes
            // At once: other ways would discard input, or wait until the command's output is read.
            tcsetattr(self.descriptor, TCSANOW, &modes)
        }
    }
}

extension termios {
    /// A control character, by its index.
    fileprivate subscript(_ index: Int32) -> cc_t {
        get { withUnsafeBytes(of: self.c_cc) { $0[Int(index)] } }
        set { withUnsafeMutableBytes(of: &self.c_cc) { $0[Int(index)] = newValue } }
    }
}
