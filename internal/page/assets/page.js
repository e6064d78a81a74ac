// The page works without this script. With it an IBAN is grouped and checked
// while it is typed, a payment shows its result without a reload, and what was
// typed outlives one. ibanForms, the registry that the server checks by, stands
// above.
"use strict";
{
  const stage = document.body.dataset.stage;
  const byID = (id) => document.getElementById(id);

  // What comes along when an IBAN is copied: blanks and stops, the word before
  // it, a BIC behind it. The server forgives the same.
  const noise = /[\s\p{Cf}.:,;/_|()]/gu;
  const bicBehind = /^(BIC|SWIFT|BICSWIFT)?[A-Z]{6}[0-9A-Z]{2}([0-9A-Z]{3})?$/;
  const compact = (text) => text.replace(/[ -]/g, "").toUpperCase();
  const group = (text) => text.replace(/(.{4})(?=.)/g, "$1 ");
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
  const clean = (text) => {
    text = text.replace(noise, " ").trim().replace(/^IBAN *(?=.)/i, "");
    const whole = compact(text), form = Object.hasOwn(ibanForms, whole.slice(0, 2)) && layout(ibanForms[whole.slice(0, 2)]);
    if (!form || !bicBehind.test(whole.slice(form.length))) return text;
    let end = 0;
    for (let left = form.length; left > 0; end++) if (!" -".includes(text[end])) left--;
    return text.slice(0, end);
  };

  // layout spells a structure out: "2n1a" is "nna".
  const layout = (form) => "aann" + form.replace(/(\d+)([nac])/g, (_, count, kind) => kind.repeat(count));
  const fits = { n: /[0-9]/, a: /[A-Z]/, c: /[0-9A-Z]/ };

  // checksum is ISO 7064 MOD 97-10 over the rearranged characters.
  const checksum = (iban) => {
    let remainder = 0;
    for (const character of iban.slice(4) + iban.slice(0, 4)) {
      for (const digit of parseInt(character, 36).toString()) remainder = (remainder * 10 + Number(digit)) % 97;
    }
    return remainder;
  };

  // findFault says what is wrong with an IBAN, in the order in which the
  // server looks, or nothing.
  const findFault = (text, words, sepa) => {
    const iban = compact(clean(text));
    if (/[^0-9A-Z]/.test(iban)) return words.character;
    if (iban === "") return words.missing;
    const code = iban.slice(0, 2);
    if (!/^[A-Z]{2}$/.test(code)) return words.noCountry;
    if (!Object.hasOwn(ibanForms, code)) return fill(words.country, { code });
    const kinds = layout(ibanForms[code]);
    if (iban.length !== kinds.length) return fill(words.length, { length: iban.length, code, expected: kinds.length });
    for (let i = 0; i < kinds.length; i++) {
      if (!fits[kinds[i]].test(iban[i])) return fill(kinds[i] === "n" ? words.digit : words.letter, { position: i + 1 });
    }
    const digits = Number(iban.slice(2, 4));
    if (checksum(iban) !== 1 || digits < 2 || digits > 98) return words.checksum;
    return sepa.includes(code) ? "" : words.outside;
  };

  // setUpIBAN groups the field by four. Each change is made as the browser's
  // own editing makes it, so that it can be undone.
  const setUpIBAN = (field, changed) => {
    const change = (text, caret) => {
      const old = field.value;
      let from = 0, keep = 0;
      while (from < Math.min(old.length, text.length) && old[from] === text[from]) from++;
      while (keep < Math.min(old.length, text.length) - from && old.at(-1 - keep) === text.at(-1 - keep)) keep++;
      if (old !== text) {
        const middle = text.slice(from, text.length - keep);
        field.setSelectionRange(from, old.length - keep);
        const done = middle === "" ? document.execCommand("delete") : document.execCommand("insertText", false, middle);
        if (!done || field.value !== text) field.value = text;
      }
      field.setSelectionRange(caret, caret);
    };
    // place writes what stands before and behind the caret. Behind a full
    // group the caret stands before the space, unless something was typed.
    const place = (before, behind, typing) => {
      const caret = group(before).length + (typing && behind !== "" && before.length % 4 === 0 && before !== "" ? 1 : 0);
      working = true;
      change(group(before + behind), caret);
      working = false;
      changed();
    };
    let working = false;
    const edit = (event) => {
      const { selectionStart: start, selectionEnd: end, value } = field;
      let before = compact(value.slice(0, start)), behind = compact(value.slice(end));
      const kind = event.inputType;
      if (kind === "insertText" || kind === "insertReplacementText") before += compact((event.data ?? event.dataTransfer?.getData("text") ?? "").replace(noise, ""));
      else if (kind === "deleteContentBackward") { if (start === end) before = before.slice(0, -1); }
      else if (kind === "deleteContentForward") { if (start === end) behind = behind.slice(1); }
      else return;
      event.preventDefault();
      place(before, behind, kind.startsWith("insert"));
    };
    const regroup = () => {
      const before = compact(field.value.slice(0, field.selectionStart)), iban = compact(clean(field.value));
      const grouped = group(iban);
      if (grouped !== field.value) {
        field.value = grouped;
        if (document.activeElement === field) field.setSelectionRange(group(before).length, group(before).length);
      }
      changed();
    };
    field.addEventListener("beforeinput", (event) => { if (!working && !event.isComposing && event.cancelable) edit(event); });
    field.addEventListener("input", (event) => {
      if (working || event.isComposing) return;
      if (event.inputType?.startsWith("history")) changed();
      else regroup();
    });
    field.addEventListener("compositionend", regroup);
    field.addEventListener("change", regroup); // a browser that fills the field in
    field.addEventListener("paste", (event) => {
      const pasted = event.clipboardData?.getData("text");
      if (!pasted) return;
      event.preventDefault();
      const { selectionStart: start, selectionEnd: end, value } = field;
      const behind = compact(value.slice(end));
      const before = compact(clean(value.slice(0, start) + " " + clean(pasted)));
      place(behind === "" ? before : compact(value.slice(0, start)) + compact(clean(pasted)), behind, true);
    });
    if (field.value !== "") regroup();
    return regroup;
  };

  // A line that appears moves what is below it: while a finger or a mouse
  // presses something there, it waits until the click has arrived.
  let pressing = false;
  const waiting = [];
  const afterPress = (work) => { if (pressing) waiting.push(work); else work(); };
  document.addEventListener("pointerdown", () => { pressing = true; });
  for (const kind of ["pointerup", "pointercancel"]) {
    document.addEventListener(kind, () => setTimeout(() => {
      pressing = false;
      for (const work of waiting.splice(0)) work();
    }));
  }

  const post = (path, values) => fetch(path, { method: "POST", body: new URLSearchParams(values), referrerPolicy: "no-referrer", keepalive: true });

  const setUpForm = (form) => {
    const words = JSON.parse(form.dataset.words);
    const sepa = form.dataset.sepa.split(" ");
    const { iban, iban_holder_name: holder, address: street, city: town, mandate: agree } = form.elements;
    // The payer's address is asked for where the banks of the country want it.
    const address = byID("address");
    const asksAddress = () => address?.dataset.countries.split(" ").includes(compact(iban.value).slice(0, 2)) ?? false;
    const addressFault = (field) => (asksAddress() && field.value.trim() === "" ? words.address : "");
    const bank = byID("bank"), ghost = byID("ghost"), hint = byID("iban-hint"), hintText = hint.textContent;
    const button = form.querySelector("button.main");
    const faults = {
      iban: () => findFault(iban.value, words, sepa),
      holder: () => (holder.value.trim() === "" ? words.holder : ""),
      street: () => addressFault(street),
      town: () => addressFault(town),
      agree: () => (agree && !agree.checked ? words.agree : ""),
    };

    const show = (field, name, fault) => {
      const line = byID(name + "-error");
      if (line.textContent !== fault) line.textContent = fault;
      field.closest(".field").classList.toggle("wrong", fault !== "");
      if (fault) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
      return fault === "";
    };

    // The rest of a country's form stands behind what is typed, and the count
    // below it.
    const sketch = () => {
      const text = compact(iban.value), form = Object.hasOwn(ibanForms, text.slice(0, 2)) && layout(ibanForms[text.slice(0, 2)]);
      const open = form && text.length < form.length;
      const typed = document.createElement("i");
      typed.textContent = iban.value;
      ghost.replaceChildren(...(open ? [typed, group(text + "·".repeat(form.length - text.length)).slice(iban.value.length)] : []));
      hint.textContent = open && text.length > 2 ? fill(words.count, { n: text.length, length: form.length }) : hintText;
      // All digits after the country: a number pad helps.
      iban.inputMode = form && /^aan*$/.test(form) ? "numeric" : "text";
      if (text === "") return;
      // The longest numbers fit a narrow screen when they close up: the margins
      // first, the letters then.
      const account = iban.parentNode;
      iban.style.letterSpacing = ghost.style.letterSpacing = "";
      account.classList.remove("close");
      account.classList.toggle("close", iban.scrollWidth > iban.clientWidth);
      const beyond = iban.scrollWidth - iban.clientWidth;
      if (beyond > 0) iban.style.letterSpacing = ghost.style.letterSpacing = -Math.min(beyond / iban.value.length + 0.05, 1.5) + "px";
    };

    // The bank stands in the field where there is room for it, else below.
    const roomy = matchMedia("(min-width: 900px)");
    const showBank = (name) => {
      bank.classList.remove("inside");
      iban.style.paddingRight = "";
      if (bank.textContent !== name) bank.textContent = name;
      if (name === "" || !roomy.matches) return;
      bank.classList.add("inside");
      iban.style.paddingRight = bank.offsetWidth + 28 + "px";
      if (iban.scrollWidth <= iban.clientWidth) return;
      bank.classList.remove("inside");
      iban.style.paddingRight = "";
    };
    roomy.addEventListener("change", () => { sketch(); showBank(bank.textContent); });

    // The bank's name, asked for once an IBAN is complete. An account that was
    // just refused gets no tick.
    let asked = "declined" in form.dataset ? compact(iban.value) : "";
    const nameBank = async () => {
      const text = compact(iban.value);
      if (text === asked) return;
      asked = text;
      showBank("");
      if (faults.iban() !== "") return;
      let name;
      try {
        const answer = await post("bank/", { iban: text });
        if (answer.ok) name = (await answer.json()).bank_name;
      } catch {
        // The name is a courtesy; without a network there is none.
      }
      if (compact(iban.value) === text) showBank(name ?? words.valid);
    };

    // What is typed is kept sealed with the server, for a reload.
    let keeping;
    const keep = () => {
      clearTimeout(keeping);
      keeping = setTimeout(() => post("draft/", new FormData(form)).catch(() => {}), 150);
    };
    form.addEventListener("input", keep);

    const regroup = setUpIBAN(iban, () => {
      sketch();
      if (address) address.hidden = !asksAddress();
      if (iban.hasAttribute("aria-invalid") && faults.iban() === "") show(iban, "iban", "");
      nameBank();
      if (document.activeElement === iban) keep();
    });
    sketch();
    iban.addEventListener("blur", () => afterPress(() => { if (iban.value !== "") show(iban, "iban", faults.iban()); }));
    // Enter leads to the next field, and from the last one pays where the box is
    // the consent.
    let isLed = false;
    const onEnter = (field, go) => field?.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      isLed = true;
      go();
    });
    // A key that led on must not press what it led to, should its second half arrive there:
    // no key in a field pays where the button is the consent.
    document.addEventListener("keydown", () => { isLed = false; }, true);
    document.addEventListener("keypress", (event) => { if (isLed && event.key === "Enter") event.preventDefault(); }, true);
    const finish = () => { if (agree) form.requestSubmit(button); else button.focus(); };
    onEnter(iban, () => holder.focus());
    onEnter(holder, () => { if (asksAddress()) street.focus(); else finish(); });
    onEnter(street, () => town.focus());
    onEnter(town, finish);
    const lines = [[holder, "holder"], ...(address ? [[street, "street"], [town, "town"]] : [])];
    for (const [field, name] of lines) field.addEventListener("input", () => { if (faults[name]() === "") show(field, name, ""); });
    agree?.addEventListener("change", () => { if (agree.checked) show(agree, "agree", ""); });

    // A test account is filled in on the spot.
    for (const test of document.querySelectorAll("button[name=test_iban]")) {
      test.addEventListener("click", (event) => {
        event.preventDefault();
        iban.value = test.value;
        iban.focus();
        regroup();
        show(iban, "iban", "");
        test.closest("details").open = false;
      });
    }

    form.addEventListener("submit", (event) => {
      if ("preview" in document.body.dataset) event.preventDefault();
      if (event.submitter?.name === "language" || event.submitter?.name === "test_iban") return;
      if (button.getAttribute("aria-busy") === "true") {
        event.preventDefault();
        return;
      }
      const wrong = [[iban, "iban"], ...lines, ...(agree ? [[agree, "agree"]] : [])].filter(([field, name]) => !show(field, name, faults[name]()));
      if (wrong.length > 0) {
        event.preventDefault();
        wrong[0][0].focus();
        return;
      }
      clearTimeout(keeping);
      makeBusy(button, words.busy);
      sayMore(byID("progress"), [words.long, words.longer]);
    });
  };

  // A gateway that is slow is spoken of after 5 seconds and again after 15.
  const sayMore = (line, [long, longer]) => {
    setTimeout(() => { line.textContent = long; }, 5000);
    setTimeout(() => { line.textContent = longer; }, 15000);
  };

  const makeBusy = (button, words) => {
    button.style.width = button.offsetWidth + "px";
    button.style.height = button.offsetHeight + "px";
    button.setAttribute("aria-busy", "true");
    button.querySelector(".words").textContent = words;
  };

  // While a payment is processed: look now and then whether there is news.
  const watch = async (pause) => {
    await new Promise((done) => setTimeout(done, pause));
    try {
      const answer = await fetch("state/", { cache: "no-store", referrerPolicy: "no-referrer" });
      if (answer.ok && (await answer.json()).state !== stage) {
        location.replace("./");
        return;
      }
    } catch {
      // No network: the next look may have one.
    }
    watch(Math.min(pause * 1.5, 10000));
  };

  // The way to the bank is taken once; back from there the bank is asked, as
  // the button would. The mark between them says nothing but that.
  const setUpVerify = (form) => {
    const mark = "bank " + location.pathname, way = byID("to-bank"), progress = byID("progress");
    if ("preview" in document.body.dataset) return;
    const leave = () => { try { sessionStorage.setItem(mark, "1"); return true; } catch { return false; } };
    way?.addEventListener("click", leave);
    form.addEventListener("submit", (event) => {
      const button = form.querySelector("button");
      if (button.getAttribute("aria-busy") === "true") event.preventDefault();
      else makeBusy(button, form.dataset.busy);
    });
    try {
      if (sessionStorage.getItem(mark)) {
        sessionStorage.removeItem(mark);
        if (way?.hasAttribute("data-go")) form.requestSubmit();
        return;
      }
    } catch { return; } // storage is off: the buttons are there
    if (!way?.hasAttribute("data-go")) return;
    progress.textContent = progress.dataset.words;
    setTimeout(() => { if (leave()) location.assign(way.href); }, 2500);
  };

  const pay = byID("pay");
  const verify = byID("verify");
  const print = byID("print");
  const slow = byID("more")?.dataset.slow;
  const wide = matchMedia("(min-width: 900px)");
  for (const fold of document.querySelectorAll(".fold")) {
    fold.open = wide.matches;
    wide.addEventListener("change", () => { fold.open = wide.matches; });
  }
  if (pay) setUpForm(pay);
  if (verify) setUpVerify(verify);
  if (stage === "processing" && !("preview" in document.body.dataset)) watch(1000);
  if (slow) sayMore(byID("more"), JSON.parse(slow));
  if (print) {
    print.hidden = false;
    print.addEventListener("click", () => window.print());
  }
  byID("notice")?.focus();

  // An open list closes when something else is clicked, or with Escape.
  document.addEventListener("click", (event) => {
    for (const open of document.querySelectorAll(".languages[open]")) if (!open.contains(event.target)) open.open = false;
  });
  document.addEventListener("keydown", (event) => {
    const open = event.key === "Escape" && document.activeElement?.closest(".languages[open], .strip details[open]");
    if (open) {
      open.open = false;
      open.querySelector("summary").focus();
    }
  });

  // A page that the browser kept shows how things stood then: ask anew.
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}
