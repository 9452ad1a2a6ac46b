// SPDX-License-Identifier: Apache-2.0

import Glibc

extension Timestamp {
    /// The time on the clock of this machine's zone: `09:42:26`. People at a terminal compare it with their own clock; everywhere
    /// else times are in UTC.
    var timeOfDay: String {
        var seconds = time_t(self.milliseconds / 1000)
        var local = tm()
        localtime_r(&seconds, &local)
        return [local.tm_hour, local.tm_min, local.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}
