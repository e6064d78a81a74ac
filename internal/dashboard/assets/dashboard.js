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
