// Prints how many nanoseconds one validation takes with each library, as JSON.
// The IBANs come as arguments; one that a library refuses counts as an error.
const { validateIBAN } = require("fast-iban");
const { IBAN } = require("ibankit");
const { isValidIBAN } = require("ibantools");

const libraries = {
  "fast-iban": (iban) => validateIBAN(iban, true),
  ibankit: (iban) => IBAN.isValid(iban),
  ibantools: (iban) => isValidIBAN(iban),
};
const ibans = process.argv.slice(2);
const warmUp = 150e6, measured = 250e6; // nanoseconds

function validateFor(nanoseconds, check) {
  const began = process.hrtime.bigint();
  let count = 0, refused = 0, took = 0;
  while (took < nanoseconds) {
    for (let i = 0; i < 1000; i++) {
      if (!check(ibans[i % ibans.length])) refused++;
    }
    count += 1000;
    took = Number(process.hrtime.bigint() - began);
  }
  return { nanoseconds: took / count, errors: refused };
}

const results = {};
for (const [name, check] of Object.entries(libraries)) {
  validateFor(warmUp, check);
  results[name] = validateFor(measured, check);
}
console.log(JSON.stringify(results));
