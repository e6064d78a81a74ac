// The page works without this script. With it an IBAN is grouped and checked
// while it is typed, a payment shows its result without a reload, and nothing
// typed is lost. ibanForms, the registry that the server checks by, stands above.
"use strict";
{
  const stage = document.body.dataset.stage;
  const draftKey = "draft " + location.pathname;

  // Text that an IBAN may hold, and what comes along when one is copied.
  const clean = (text) => text.replace(/[\s\p{Cf}]+/gu, " ").trim().replace(/^IBAN[: ]*(?=.)/i, "");
  const compact = (text) => text.replace(/[ -]/g, "").toUpperCase();
  const group = (text) => text.replace(/(.{4})(?=.)/g, "$1 ");
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

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

  // setUpIBAN groups the field by four and keeps the caret behind the same
  // character.
  const setUpIBAN = (field, typed) => {
    const regroup = () => {
      const before = compact(field.value.slice(0, field.selectionStart)).length;
      const iban = compact(field.value);
      const grouped = group(iban);
      if (grouped !== field.value) {
        const atEnd = before === iban.length;
        field.value = grouped;
        // Behind a full group the caret stands before the space while deleting
        // and behind it while typing on.
        const caret = atEnd ? grouped.length : group(iban.slice(0, before)).length + (before % 4 === 0 && before > 0 && !deleting ? 1 : 0);
        if (document.activeElement === field) field.setSelectionRange(caret, caret);
      }
      // All digits after the country: a number pad helps.
      const form = ibanForms[iban.slice(0, 2)];
      field.inputMode = form && !/[ac]/.test(form) ? "numeric" : "text";
      typed();
    };
    let deleting = false;
    field.addEventListener("beforeinput", (event) => {
      deleting = event.inputType.startsWith("delete");
      const { selectionStart: start, selectionEnd: end, value } = field;
      if (start !== end) return;
      // A space is no character of its own: deleting reaches over it.
      if (event.inputType === "deleteContentBackward" && value[start - 1] === " ") field.setSelectionRange(start - 1, start - 1);
      if (event.inputType === "deleteContentForward" && value[start] === " ") field.setSelectionRange(start + 1, start + 1);
    });
    field.addEventListener("input", (event) => { if (!event.isComposing) regroup(); });
    field.addEventListener("compositionend", regroup);
    field.addEventListener("change", regroup); // a browser that fills the field in
    field.addEventListener("paste", (event) => {
      const pasted = event.clipboardData?.getData("text");
      if (!pasted) return;
      event.preventDefault();
      deleting = false;
      field.setRangeText(clean(pasted), field.selectionStart, field.selectionEnd, "end");
      regroup();
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

  const setUpForm = (form) => {
    const words = JSON.parse(form.dataset.words);
    const sepa = form.dataset.sepa.split(" ");
    const { iban, iban_holder_name: holder, mandate: agree } = form.elements;
    const bank = document.getElementById("bank");
    const button = form.querySelector("button.main");
    const faults = {
      iban: () => findFault(iban.value, words, sepa),
      holder: () => (holder.value.trim() === "" ? words.holder : ""),
      agree: () => (agree && !agree.checked ? words.agree : ""),
    };

    const show = (field, name, fault) => {
      const line = document.getElementById(name + "-error");
      if (line.textContent !== fault) line.textContent = fault;
      field.closest(".field").classList.toggle("wrong", fault !== "");
      if (fault) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
      return fault === "";
    };

    // The bank's name, asked for once an IBAN is complete.
    let asked = "";
    const nameBank = async () => {
      const text = compact(iban.value);
      if (text === asked) return;
      asked = text;
      bank.textContent = "";
      if (faults.iban() !== "") return;
      try {
        const answer = await fetch("bank/", { method: "POST", body: new URLSearchParams({ iban: text }), referrerPolicy: "no-referrer" });
        const { bank_name: name } = answer.ok ? await answer.json() : {};
        if (name && compact(iban.value) === text) bank.textContent = name;
      } catch {
        // The name is a courtesy; without a network there is none.
      }
    };

    const regroup = setUpIBAN(iban, () => {
      if (iban.hasAttribute("aria-invalid") && faults.iban() === "") show(iban, "iban", "");
      nameBank();
    });
    iban.addEventListener("blur", () => afterPress(() => { if (iban.value !== "") show(iban, "iban", faults.iban()); }));
    holder.addEventListener("input", () => { if (faults.holder() === "") show(holder, "holder", ""); });
    agree?.addEventListener("change", () => { if (agree.checked) show(agree, "agree", ""); });

    // A test account is filled in on the spot.
    for (const test of document.querySelectorAll("button[name=test_iban]")) {
      test.addEventListener("click", (event) => {
        event.preventDefault();
        iban.value = test.value;
        regroup();
        show(iban, "iban", "");
        test.closest("details").open = false;
        iban.focus();
      });
    }

    form.addEventListener("submit", (event) => {
      if (event.submitter?.name === "language" || event.submitter?.name === "test_iban") return;
      if (button.getAttribute("aria-busy") === "true") {
        event.preventDefault();
        return;
      }
      const wrong = [[iban, "iban"], [holder, "holder"], ...(agree ? [[agree, "agree"]] : [])].filter(([field, name]) => !show(field, name, faults[name]()));
      if (wrong.length > 0) {
        event.preventDefault();
        wrong[0][0].focus();
        return;
      }
      keepDraft({ iban: iban.value, holder: holder.value });
      makeBusy(button, words.busy);
    });

    const draft = readDraft();
    if (draft && iban.value === "") {
      iban.value = draft.iban;
      holder.value = draft.holder;
      regroup();
    }
  };

  // What was typed outlives a refusal, in this tab alone and only until the
  // payment has gone through.
  const keepDraft = (draft) => { try { sessionStorage.setItem(draftKey, JSON.stringify(draft)); } catch { /* storage is off */ } };
  const readDraft = () => { try { return JSON.parse(sessionStorage.getItem(draftKey)); } catch { return null; } };
  const dropDraft = () => { try { sessionStorage.removeItem(draftKey); } catch { /* storage is off */ } };

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

  // Back from the bank: ask it at once, as the button would. The mark is set
  // by the way there, so that a first visit asks nobody.
  const setUpVerify = (form) => {
    const mark = "bank " + location.pathname;
    document.getElementById("to-bank")?.addEventListener("click", () => { try { sessionStorage.setItem(mark, "1"); } catch { /* storage is off */ } });
    form.addEventListener("submit", (event) => {
      const button = form.querySelector("button");
      if (button.getAttribute("aria-busy") === "true") event.preventDefault();
      else makeBusy(button, form.dataset.busy);
    });
    try {
      if (sessionStorage.getItem(mark)) {
        sessionStorage.removeItem(mark);
        form.requestSubmit();
      }
    } catch { /* storage is off: the button is there */ }
  };

  const setUpLeaving = (seconds) => {
    const leaving = setTimeout(() => location.assign(document.getElementById("next").href), seconds * 1000);
    document.getElementById("stay").addEventListener("click", (event) => {
      event.preventDefault();
      clearTimeout(leaving);
      event.target.closest("p").remove();
    });
  };

  const pay = document.getElementById("pay");
  const verify = document.getElementById("verify");
  const print = document.getElementById("print");
  if (pay) setUpForm(pay);
  else if (!["processing", "verify", "mandate"].includes(stage)) dropDraft();
  if (verify) setUpVerify(verify);
  if (stage === "processing") watch(1000);
  if (document.body.dataset.leave) setUpLeaving(Number(document.body.dataset.leave));
  if (print) {
    print.hidden = false;
    print.addEventListener("click", () => window.print());
  }
  document.getElementById("notice")?.focus();

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
