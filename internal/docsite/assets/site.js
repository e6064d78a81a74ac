// Makes the pages smoother: buttons that copy, code in the reader's language, a
// search that asks nobody. Without this script they read the same.
"use strict";

// Copying.
for (const block of document.querySelectorAll("pre[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  const head = block.previousElementSibling;
  if (!head) block.before(button);
  else if (head.matches("summary")) head.after(button);
  else head.append(button);
}

// Code in several languages: one is shown, the same one everywhere.
const memory = {
  get() { try { return localStorage.getItem("language"); } catch { return null; } },
  set(name) { try { localStorage.setItem("language", name); } catch { /* private browsing */ } },
};
const groups = [...document.querySelectorAll(".tabs")].map((group, number) => {
  const list = document.createElement("div");
  list.className = "tablist";
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  const tabs = [...group.children].map((panel, i) => {
    const caption = panel.querySelector(".caption");
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${number}-${i}`;
    tab.textContent = caption.firstChild.textContent;
    tab.setAttribute("role", "tab");
    caption.firstChild.remove();
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => {
      const before = tab.getBoundingClientRect().top;
      memory.set(tab.textContent);
      choose(tab.textContent);
      scrollBy(0, tab.getBoundingClientRect().top - before);
    });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(i + step + tabs.length) % tabs.length].tab;
      next.focus();
      next.click();
    });
    list.append(tab);
    return { tab, panel };
  });
  group.prepend(list);
  return tabs;
});
function choose(language) {
  for (const tabs of groups) {
    const chosen = tabs.find(({ tab }) => tab.textContent === language) ?? tabs[0];
    for (const { tab, panel } of tabs) {
      const isChosen = tab === chosen.tab;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      panel.hidden = !isChosen;
    }
  }
}
choose(memory.get());

// Where the reader is.
const here = new Map([...document.querySelectorAll(".here a")].map((link) => [link.hash.slice(1), link]));
if (here.size) {
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of here.values()) link.removeAttribute("aria-current");
      here.get(entry.target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "0px 0px -75% 0px" });
  for (const id of here.keys()) seen.observe(document.getElementById(id));
}
document.querySelector(".side [aria-current]")?.scrollIntoView({ block: "center" });

// The menu of small screens.
const menu = document.querySelector(".menu");
menu.addEventListener("click", (event) => {
  if (event.target.closest("a")) menu.open = false;
});

// The search. Its index is a script beside this one, so that it also works from a
// folder, and is loaded when somebody searches.
const box = document.querySelector(".search");
const field = box.querySelector("input");
const found = box.querySelector(".found");
const root = document.querySelector("script[src$='site.js']").getAttribute("src").replace("site.js", "");
box.hidden = false;
let loading;
function load() {
  loading ??= new Promise((done) => {
    const script = document.createElement("script");
    script.src = root + "search-index.js";
    script.addEventListener("load", () => done(globalThis.sepadDocs));
    document.head.append(script);
  });
  return loading;
}
const fold = (text) => text.toLowerCase().normalize("NFKD");

// rank says how well a passage fits all words, 0 where one is missing.
function rank(passage, words) {
  const title = fold(passage.t), page = fold(passage.p), text = fold(passage.x);
  let total = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    let points = 0;
    if (title === word) points += 60;
    if (title.startsWith(word)) points += 25;
    if (title.includes(word)) points += 20;
    if (page.includes(word)) points += 8;
    if (at >= 0) points += 5 + Math.min(text.split(word).length, 6);
    if (!points) return 0;
    total += points;
  }
  return total;
}

function excerpt(text, words) {
  const first = Math.min(...words.map((word) => fold(text).indexOf(word)).filter((at) => at >= 0), text.length);
  const from = first === text.length ? 0 : Math.max(0, first - 40);
  return (from > 0 ? "…" : "") + text.slice(from, from + 130) + (text.length > from + 130 ? "…" : "");
}

// marked puts text into an element, with the words that were searched set off.
function marked(element, text, words) {
  const pattern = new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "gi");
  let last = 0;
  for (const hit of text.matchAll(pattern)) {
    element.append(text.slice(last, hit.index));
    const mark = document.createElement("mark");
    mark.textContent = hit[0];
    element.append(mark);
    last = hit.index + hit[0].length;
  }
  element.append(text.slice(last));
  return element;
}

function close() {
  found.hidden = true;
  field.setAttribute("aria-expanded", "false");
  field.removeAttribute("aria-activedescendant");
}

async function search() {
  const words = fold(field.value).split(/\s+/).filter(Boolean);
  if (!words.length) return close();
  const passages = await load();
  const best = passages.map((passage) => ({ passage, points: rank(passage, words) }))
    .filter(({ points }) => points > 0).sort((a, b) => b.points - a.points).slice(0, 10);
  found.replaceChildren(...best.map(({ passage }, i) => {
    const link = document.createElement("a");
    link.href = root + passage.u;
    link.id = `found-${i}`;
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    link.tabIndex = -1;
    const title = marked(document.createElement("strong"), passage.t, words);
    const where = document.createElement("span");
    where.className = "where";
    where.textContent = passage.p;
    link.append(title, where, marked(document.createElement("span"), excerpt(passage.x, words), words));
    link.addEventListener("click", close);
    return link;
  }));
  if (!best.length) {
    const none = document.createElement("p");
    none.setAttribute("role", "option");
    none.setAttribute("aria-selected", "false");
    none.textContent = "Nothing has all of these words.";
    found.append(none);
  }
  found.hidden = false;
  field.setAttribute("aria-expanded", "true");
  select(0);
}

function select(index) {
  const links = [...found.querySelectorAll("a")];
  if (!links.length) return;
  const i = (index + links.length) % links.length;
  links.forEach((link, j) => link.setAttribute("aria-selected", String(i === j)));
  links[i].scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", links[i].id);
}

field.addEventListener("focus", load, { once: true });
field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  const links = [...found.querySelectorAll("a")];
  const now = links.findIndex((link) => link.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown") select(now + 1);
  else if (event.key === "ArrowUp") select(now - 1);
  else if (event.key === "Enter" && !found.hidden && links[now]) links[now].click();
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea")) return;
  event.preventDefault();
  field.focus();
});
document.addEventListener("click", (event) => {
  if (!box.contains(event.target)) close();
});
