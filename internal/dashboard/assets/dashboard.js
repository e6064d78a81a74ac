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
  if (!Number.isNaN(date.getTime())) at.title = date.toLocaleString(undefined, { timeZoneName: "short" });
}

// A form with a passkey asks the device first, and sends what it answers. The hidden field
// carries the answer; without script the form says nothing that is accepted.
for (const form of document.querySelectorAll("form[data-passkey]")) {
  const problem = form.querySelector(".problem");
  const tell = (sentence) => { problem.textContent = sentence; problem.hidden = !sentence; };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    tell("");
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) return tell("This browser knows no passkeys.");
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      const asked = await fetch(form.dataset.question, { method: "POST" });
      if (!asked.ok || asked.redirected) return tell("That was too long ago. Load the page again.");
      const { publicKey } = await asked.json();
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
