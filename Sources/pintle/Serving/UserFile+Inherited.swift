// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The paths of this user, by the environment that the program has inherited.
extension UserFile {
    /// The path, which may lead nowhere; nil if the environment names neither the folder nor a home.
    var path: String? { self.path(in: Inherited.environment) }

    /// The path of the folder that it stands in; nil as ``path`` is.
    var folder: String? { self.folder(in: Inherited.environment) }
}
