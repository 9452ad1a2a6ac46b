// SPDX-License-Identifier: Apache-2.0
// Searches all pages in the browser. The index is a script that is loaded at the first search: pages opened as files may load no data.
"use strict";

(() => {
  const root = document.documentElement.dataset.root;
  const dialog = document.getElementById("Search");
  const field = document.getElementById("Words");
  const list = document.getElementById("Found");
  const count = document.getElementById("Count");
  const MOST = 30;
  let loading = null;
  let chosen = -1;

  function load() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}assets/index.js`;
      script.onload = () => resolve(prepare(window.pintleIndex));
      script.onerror = () => reject(new Error("assets/index.js is missing"));
      document.head.append(script);
    });
    return loading;
  }

  function prepare(index) {
    return index.sections.map(([place, anchor, heading, text]) => {
      const [address, title, job, weight] = index.pages[place];
      return { address, title, job, weight, anchor, heading, text, inTitle: title.toLowerCase(), inHeading: heading.toLowerCase(), inText: text.toLowerCase() };
    });
  }

  // 0 if a word is not there. Beginnings of words count twice as much as their insides, and up to four of them count.
  function hit(text, word) {
    let sum = 0;
    for (let at = text.indexOf(word), times = 0; at >= 0 && times < 4; at = text.indexOf(word, at + word.length), times += 1) {
      sum += at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]) ? 2 : 1;
    }
    return sum;
  }

  // Each word must be in the section or in the title of its page. What is in headings counts most.
  function score(section, words) {
    let sum = 0;
    for (const word of words) {
      const inHeading = hit(section.inHeading, word);
      const found = 12 * inHeading + 4 * hit(section.inTitle, word) + 2 * hit(section.inText, word);
      if (!found) return 0;
      sum += found + (section.inHeading === word ? 30 : 0);
    }
    return sum * section.weight;
  }

  function find(sections, words) {
    return sections
      .map((section, order) => ({ section, order, score: score(section, words) }))
      .filter(one => one.score > 0)
      .sort((one, other) => other.score - one.score || one.order - other.order)
      .map(one => one.section);
  }

  // The text around the first word, with all words marked.
  function excerpt(section, words) {
    const first = Math.min(...words.map(word => section.inText.indexOf(word)).filter(at => at >= 0));
    const start = Number.isFinite(first) ? Math.max(0, section.text.lastIndexOf(" ", Math.max(0, first - 50)) + 1) : 0;
    const text = section.text.slice(start, start + 170);
    const element = document.createElement("span");
    element.className = "excerpt";
    if (start > 0) element.append("… ");
    const lower = text.toLowerCase();
    let at = 0;
    while (at < text.length) {
      const next = words.map(word => [lower.indexOf(word, at), word.length]).filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next) break;
      element.append(text.slice(at, next[0]));
      const mark = document.createElement("mark");
      mark.textContent = text.slice(next[0], next[0] + next[1]);
      element.append(mark);
      at = next[0] + next[1];
    }
    element.append(text.slice(at));
    if (start + 170 < section.text.length) element.append(" …");
    return element;
  }

  function item(section, words, order) {
    const element = document.createElement("a");
    element.id = `Found-${order}`;
    element.href = `${root}${section.address}${section.anchor ? `#${section.anchor}` : ""}`;
    // The focus stays in the field.
    element.tabIndex = -1;
    element.setAttribute("role", "option");
    element.setAttribute("aria-selected", "false");
    const heading = document.createElement("strong");
    heading.textContent = section.heading || section.title;
    const place = document.createElement("span");
    place.className = "place";
    place.textContent = section.heading === section.title ? section.job : `${section.job} › ${section.title}`;
    element.append(heading, place, excerpt(section, words));
    return element;
  }

  function choose(order) {
    const items = [...list.children];
    if (!items.length) return;
    items[chosen]?.setAttribute("aria-selected", "false");
    chosen = (order + items.length) % items.length;
    items[chosen].setAttribute("aria-selected", "true");
    items[chosen].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", items[chosen].id);
  }

  async function search() {
    const asked = field.value;
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
    let found = [];
    try {
      const sections = await load();
      if (asked !== field.value) return;
      if (words.length) found = find(sections, words);
    } catch (error) {
      count.textContent = `The search does not work: ${error.message}.`;
      return;
    }
    chosen = -1;
    field.removeAttribute("aria-activedescendant");
    list.replaceChildren(...found.slice(0, MOST).map((section, order) => item(section, words, order)));
    list.hidden = !found.length;
    field.setAttribute("aria-expanded", String(found.length > 0));
    count.textContent = !words.length ? "" : found.length > MOST ? `The best ${MOST} of ${found.length} places` : found.length === 1 ? "1 place" : found.length ? `${found.length} places` : "Nothing has all of these words.";
    if (found.length) choose(0);
  }

  function open() {
    if (dialog.open) return;
    document.getElementById("Navigation").hidePopover?.();
    dialog.showModal();
    field.select();
    search();
  }

  field.addEventListener("input", search);
  field.addEventListener("keydown", event => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    else if (event.key === "Enter") list.children[chosen]?.click();
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });
  document.addEventListener("keydown", event => {
    const isTyping = event.target.closest?.("input, textarea, [contenteditable]");
    const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    const isCommand = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    if (!isSlash && !isCommand) return;
    event.preventDefault();
    open();
  });
  const button = document.getElementById("Find");
  button.addEventListener("click", open);
  button.hidden = false;
})();
