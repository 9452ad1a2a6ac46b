// SPDX-License-Identifier: Apache-2.0
// Runs before the page is painted, so that the chosen colours are the first ones.
try {
  const scheme = localStorage.getItem("pintle-scheme");
  if (scheme === "light" || scheme === "dark") document.documentElement.dataset.scheme = scheme;
} catch {
  // Without storage the system's scheme holds.
}
