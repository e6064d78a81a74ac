// An OpenID provider for tests: oidc-provider, which is certified, with its own pages to
// sign in. Accounts are the entries of a file that is read at every sign-in, so that a test
// changes what is claimed of somebody.
//
//	node provider.mjs MODULES ACCOUNTS
//
// It prints the address of the issuer, reads the address to which people are sent back, and
// ends with its standard input.
import { createInterface } from "node:readline";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, accounts] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`).href);

const server = createServer();
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));

const lines = createInterface({ input: process.stdin });
lines.once("line", (redirect) => {
  const provider = new Provider(`http://127.0.0.1:${server.address().port}`, {
    clients: [{ client_id: "counter", client_secret: "a secret of the counter", redirect_uris: [redirect] }],
    pkce: { required: () => true },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "sepad_role", "sepad_tenants"] },
    cookies: { keys: ["of a provider that lives for one test"] },
    findAccount: (_, id) => {
      const claims = JSON.parse(readFileSync(accounts, "utf8"))[id];
      return claims && { accountId: id, claims: () => ({ sub: id, ...claims }) };
    },
  });
  server.on("request", provider.callback());
});
lines.on("close", () => process.exit());
