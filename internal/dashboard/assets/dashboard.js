// What the dashboard does beyond what forms and links do by themselves. Every screen
// works without it.
"use strict";

// A form that ends something asks first.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.sure;
  if (question && !window.confirm(question)) event.preventDefault();
});

// What is chosen is shown at once.
for (const form of document.querySelectorAll("form[data-live]")) {
  form.addEventListener("change", () => form.requestSubmit());
}
for (const field of document.querySelectorAll("select[data-live]")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}

// A menu closes when one clicks elsewhere, or presses Escape.
const closeMenus = (except) => {
  for (const menu of document.querySelectorAll("details.self[open]")) {
    if (!menu.contains(except)) menu.open = false;
  }
};
document.addEventListener("click", (event) => closeMenus(event.target));
document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeMenus(null); });

// The time that one's own clock shows stands beside UTC.
for (const at of document.querySelectorAll("time[datetime]")) {
  const date = new Date(at.dateTime);
  if (Number.isNaN(date.getTime()) || date.getTimezoneOffset() === 0) continue;
  const local = document.createElement("span");
  local.className = "local";
  const otherDay = date.getDate() !== date.getUTCDate();
  local.textContent = date.toLocaleString(undefined, otherDay ? { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" } : { hour: "2-digit", minute: "2-digit" }) + " here";
  at.title = date.toLocaleString(undefined, { timeZoneName: "short" });
  at.after(" ", local);
}

// A form is sent once, however often its button is pressed; coming back to the page
// opens it again.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || !("once" in event.target.dataset)) return;
  if (event.target.dataset.sent) { event.preventDefault(); return; }
  event.target.dataset.sent = "yes";
  for (const button of event.target.querySelectorAll("button")) button.setAttribute("aria-busy", "true");
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("button")) button.removeAttribute("aria-busy");
  }
});

for (const button of document.querySelectorAll("[data-print]")) button.addEventListener("click", () => window.print());

// The keyboard: / searches, g and a letter goes somewhere, j and k walk through rows,
// ? shows all of them.
const rows = () => [...document.querySelectorAll("table.list tbody tr")].map((row) => row.querySelector("a")).filter(Boolean);
const walk = (step) => {
  const links = rows();
  if (links.length === 0) return;
  const at = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + step))].focus();
};
let goes = false;
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.key === "Escape" && typing) { typing.blur(); return; }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (goes) {
    goes = false;
    const place = document.querySelector(`nav a[data-go="${CSS.escape(event.key)}"]`);
    if (place) { event.preventDefault(); place.click(); }
    return;
  }
  const help = document.getElementById("keys");
  switch (event.key) {
    case "/": { const field = document.querySelector("input[type=search]"); if (field) { event.preventDefault(); field.focus(); field.select(); } break; }
    case "g": goes = true; window.setTimeout(() => { goes = false; }, 1500); break;
    case "j": event.preventDefault(); walk(1); break;
    case "k": event.preventDefault(); walk(-1); break;
    case "?": if (help && !help.open) { event.preventDefault(); help.showModal(); } break;
  }
});
for (const opener of document.querySelectorAll("[data-keys]")) opener.addEventListener("click", () => document.getElementById("keys").showModal());

// Charts: one stacked line for each gateway or campaign, in the page's own colours. The
// table beneath has the same numbers.
const draw = (place) => {
  const { currency, days, names, series } = JSON.parse(place.dataset.chart);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const palette = ["--accent", "--good", "--warn", "--bad", "--muted"].map(colour);
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
  place.replaceChildren();
  return new uPlot({
    width: place.clientWidth, height: 240, tzDate: (at) => uPlot.tzDate(new Date(at * 1e3), "Etc/UTC"),
    cursor: { points: { size: 7 } }, legend: { live: true },
    axes: [axis, { ...axis, size: 72 }],
    series: [{ label: "Day", value: "{YYYY}-{MM}-{DD}" }, ...names.map((label, i) => ({
      label, stroke: palette[i % palette.length], width: 2, points: { show: days.length < 40, size: 5 }, dash: i >= palette.length ? [6, 4] : undefined,
      value: (_, amount) => amount == null ? "" : `${amount.toFixed(2)} ${currency}`,
    }))],
  }, [days, ...series], place);
};
for (const place of document.querySelectorAll("[data-chart]")) {
  let plot = draw(place);
  new ResizeObserver(() => { if (place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: 240 }); }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { plot.destroy(); plot = draw(place); });
}

// A form with a passkey asks the device first, and sends what it answers. The hidden field
// carries the answer; without script the form says nothing that is accepted.
for (const form of document.querySelectorAll("form[data-passkey]")) {
  const problem = form.querySelector(".problem");
  const tell = (sentence) => { problem.textContent = sentence; problem.hidden = !sentence; };
  form.addEventListener("submit", async (event) => {
    if (form.elements.second && form.elements.second.value !== "passkey") return;
    event.preventDefault();
    tell("");
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) return tell("This browser knows no passkeys.");
    const button = form.querySelector("button");
    button.disabled = true; // until the device has answered
    try {
      const ticket = form.elements.ticket?.value;
      const asked = await fetch(form.dataset.question, { method: "POST", body: ticket ? new URLSearchParams({ ticket }) : undefined });
      if (!asked.ok || asked.redirected) return tell("That was too long ago. Load the page again.");
      const { publicKey, asked: sealed } = await asked.json();
      if (sealed) form.elements.asked.value = sealed;
      const answer = form.dataset.passkey === "create"
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
      form.elements.answer.value = JSON.stringify(answer.toJSON());
      form.submit();
    } catch (error) {
      tell(error.name === "InvalidStateError" ? "This device has a passkey of yours already." : "The device gave no passkey. Try again.");
    } finally {
      button.disabled = false;
    }
  });
}

// A payment page is looked at beside its form, as it would be saved.
for (const look of document.querySelectorAll("[data-preview]")) {
  const form = "draft" in look.dataset ? document.querySelector("form.record") : null;
  const frame = look.parentElement.querySelector("iframe");
  const show = () => {
    const page = new URL(look.dataset.preview, location.origin);
    for (const field of look.querySelectorAll("select")) page.searchParams.set(field.name, field.value);
    if (form) for (const [name, value] of new FormData(form)) page.searchParams.append(name, value);
    frame.contentWindow.location.replace(page);
  };
  let soon;
  const later = () => { clearTimeout(soon); soon = setTimeout(show, 250); };
  look.addEventListener("change", show);
  form?.addEventListener("input", later);
}

// A logo is seen as soon as its address is typed or picked, and what becomes of a colour
// is said.
const pickable = (field) => {
  const box = field.closest(".field");
  const picture = box.querySelector(".plate img");
  const missing = box.querySelector(".bad");
  picture.addEventListener("load", () => { picture.hidden = false; missing.hidden = true; });
  picture.addEventListener("error", () => { picture.hidden = true; missing.hidden = !field.value; });
  if (picture.complete && picture.naturalWidth === 0) picture.dispatchEvent(new Event("error")); // before this ran
  let soon;
  field.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(() => {
      if (field.value) picture.src = field.dataset.logo + encodeURIComponent(field.value);
      else { picture.hidden = true; missing.hidden = true; }
    }, 400);
  });
};
for (const field of document.querySelectorAll("[data-logo]")) pickable(field);
for (const button of document.querySelectorAll("[data-pick]")) {
  const seen = button.querySelector("img");
  seen.addEventListener("error", () => { button.hidden = true; });
  if (seen.complete && seen.naturalWidth === 0) button.hidden = true;
  button.addEventListener("click", () => {
    const field = document.getElementById(button.dataset.into);
    field.value = button.dataset.pick;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
for (const swatch of document.querySelectorAll("input[type=color]")) {
  let soon;
  swatch.addEventListener("input", () => {
    const box = swatch.closest(".field");
    box.querySelector("code").textContent = swatch.value;
    if (!swatch.dataset.words) return;
    clearTimeout(soon);
    soon = setTimeout(async () => {
      const said = await fetch(swatch.dataset.words + encodeURIComponent(swatch.value));
      if (said.ok && !said.redirected) box.querySelector(".hint").textContent = await said.text();
    }, 200);
  });
}

// A file is sent with a bar that shows how much of it is taken in. Without script the
// browser sends it alone, and shows less.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!("upload" in form.dataset)) return;
  event.preventDefault();
  const request = new XMLHttpRequest();
  const shown = form.querySelector(".progress");
  const button = form.querySelector("button");
  shown.hidden = false;
  button.disabled = true;
  request.upload.onprogress = ({ loaded, total }) => {
    const part = Math.floor((100 * loaded) / total);
    shown.querySelector("progress").value = part;
    shown.querySelector("span").textContent = part < 100 ? `${part} %` : "The last lines are being written …";
  };
  request.onload = () => {
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    document.querySelector("main").replaceWith(page.querySelector("main"));
    document.querySelector("main").focus();
    window.scrollTo(0, 0);
  };
  request.onerror = () => {
    button.disabled = false;
    shown.querySelector("span").textContent = "The connection was lost. Send the file again: what was taken is not taken twice.";
  };
  request.open("POST", form.action);
  request.send(new FormData(form));
});

// Where the screens are a row that is longer than the phone, the present one is in sight.
document.querySelector(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
