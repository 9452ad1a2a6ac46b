// SPDX-License-Identifier: Apache-2.0
// The switch between light and dark, and buttons that copy blocks of code.
"use strict";

(() => {
  const SCHEMES = ["auto", "light", "dark"];
  const root = document.documentElement;
  const button = document.getElementById("Scheme");
  const said = document.getElementById("Said");

  function show() {
    const scheme = root.dataset.scheme ?? "auto";
    button.textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[scheme];
    button.setAttribute("aria-label", `Colours: ${scheme}`);
    return scheme;
  }

  button.addEventListener("click", () => {
    const next = SCHEMES[(SCHEMES.indexOf(show()) + 1) % SCHEMES.length];
    if (next === "auto") delete root.dataset.scheme;
    else root.dataset.scheme = next;
    try {
      if (next === "auto") localStorage.removeItem("pintle-scheme");
      else localStorage.setItem("pintle-scheme", next);
    } catch {
      // The choice then holds for this page alone.
    }
    said.textContent = `Colours: ${show()}`;
  });
  show();
  button.hidden = false;

  // Of a session only the commands are of use elsewhere, with the lines that continue them.
  function commands(text) {
    const lines = [];
    let goesOn = false;
    for (const line of text.split("\n")) {
      if (line.startsWith("$ ") || (lines.length && line.startsWith("> "))) lines.push(line.slice(2));
      else if (goesOn) lines.push(line);
      goesOn = (goesOn || /^[$>] /.test(line)) && line.endsWith("\\");
    }
    return lines.length ? lines.join("\n") + "\n" : text;
  }

  for (const block of document.querySelectorAll(".code")) {
    const text = block.querySelector("code").textContent;
    const copy = document.createElement("button");
    copy.type = "button";
    copy.className = "copy";
    copy.textContent = "Copy";
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.dataset.language === "console" ? commands(text) : text);
        said.textContent = copy.textContent = "Copied";
      } catch {
        said.textContent = copy.textContent = "Not allowed";
      }
      setTimeout(() => { copy.textContent = "Copy"; }, 2000);
    });
    block.append(copy);
  }

  // On a wide page the list of pages stays, and shows where the reader is.
  document.querySelector("#Navigation [aria-current]")?.scrollIntoView({ block: "nearest" });
})();
