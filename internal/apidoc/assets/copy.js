// Puts a button on every block that is worth copying, and folds the menu after
// a choice. Without this script the page reads the same.
"use strict";

for (const block of document.querySelectorAll("pre[data-copy]")) {
  const text = block.textContent;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  const heading = block.previousElementSibling;
  if (heading.matches("summary")) heading.after(button);
  else heading.append(button);
}

const menu = document.querySelector(".menu");
menu.addEventListener("click", (event) => {
  if (event.target.closest("a")) menu.open = false;
});
