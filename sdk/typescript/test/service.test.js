import assert from "node:assert/strict";
import { test } from "node:test";

import { Sepad } from "../sepad.js";
import { accounts } from "../testing.js";

// The service is a real one, which the project's tests start and name.
const { SEPAD_SDK_ADDRESS: address, SEPAD_SDK_KEY: key, SEPAD_SDK_ADMIN: admin, SEPAD_SDK_CAMPAIGN: campaign, SEPAD_SDK_MONTHLY: monthly } = process.env;
const options = { skip: address ? false : "SEPAD_SDK_ADDRESS names no service; the project's tests do" };
const client = address && new Sepad(address, key);

const pay = async (of, iban) => {
  const lead = { first_name: "Ada", last_name: "Keller", email: `${crypto.randomUUID()}@shop.example`, country: "DE" };
  const { session_token: token } = await client.createSession({ campaign_id: of, lead, metadata: { cart: "4711" } });
  return { token, result: await client.pay(token, { iban, iban_holder_name: "Ada Keller" }) };
};

const advance = async (by) => {
  const headers = { Authorization: `Bearer ${admin}`, "Content-Type": "application/json" };
  const response = await fetch(`${address}/admin/v1/clock/`, { method: "POST", headers, body: JSON.stringify({ advance: by }) });
  assert.equal(response.status, 200);
};

const readAll = async (feed, most = Infinity) => {
  const ids = [];
  for await (const event of feed) {
    ids.push(event.id);
    if (ids.length === most) break;
  }
  return ids;
};

test("a purchase from beginning to end", options, async () => {
  const { token, result } = await pay(monthly, accounts.approved);
  assert.equal(result.status, "completed");
  const known = await client.result(token);
  assert.equal(known.metadata.cart, "4711");
  assert.equal(known.transaction.id, result.transaction.id);
  const refund = await client.refund(result.transaction.id, { amount: "10.00" });
  assert.equal(refund.refund_of, result.transaction.id);
  assert.equal((await client.transaction(result.transaction.id)).refundable_amount, "19.99");
  const id = result.subscription.id;
  assert.ok((await client.pauseSubscription(id)).paused_at);
  assert.equal((await client.resumeSubscription(id)).paused_at, null);
  assert.equal((await client.changeSubscription(id, { amount: "34.99" })).billing_amount, "34.99");
  const another = await client.newMandate(id, { language: "de" });
  const given = await client.pay(another.session_token, { iban: accounts.approvedAustrian, iban_holder_name: "Ada Keller" });
  assert.equal((await client.subscription(id)).mandate_reference_id, given.sepa.mandate_reference);
  assert.ok((await client.cancelSubscription(id, "period_end")).ends_on);
  await assert.rejects(client.mandate(given.sepa.mandate_reference), { status: 404 });
});

test("refusals and verification", options, async () => {
  await assert.rejects(client.createSession({ campaign_id: campaign }), (problem) => problem.fields.lead !== undefined || problem.fields["lead.email"] !== undefined);
  const { token, result } = await pay(campaign, accounts.declinedInsufficientFunds);
  assert.equal(result.error_details.code, "insufficient_funds");
  await client.cancelSession(token);
  await assert.rejects(client.pay(token, { iban: accounts.approved, iban_holder_name: "Ada" }), { status: 410 });
  const awaiting = await pay(campaign, accounts.verificationApproved);
  assert.ok(awaiting.result.verification_url);
  assert.equal((await client.verify(awaiting.token)).status, "completed");
  assert.equal((await client.validateIban(accounts.approved)).valid, true);
  assert.equal((await client.validateIban("DE00")).valid, false);
});

test("a shop that was offline for a day catches up", options, async () => {
  await pay(campaign, accounts.approved);
  const feed = client.events();
  const known = await readAll(feed);
  let { place } = feed;
  for (const iban of [accounts.approved, accounts.pendingApproved, accounts.pendingDeclined, accounts.chargeback]) await pay(monthly, iban);
  await advance("25h");
  await advance("72h");
  // It is killed again and again while it catches up: all that it has is the place that it kept.
  const caught = [];
  for (let size = 1; ; size = (size % 5) + 1) {
    const again = client.events(place, { pageSize: size });
    const part = await readAll(again, 3);
    place = again.place;
    if (part.length === 0) break;
    caught.push(...part);
  }
  assert.ok(caught.length >= 10);
  assert.deepEqual([...known, ...caught], await readAll(client.events()));
  assert.deepEqual(await readAll(client.events(place)), []);
});

test("lists are walked", options, async () => {
  for (let n = 0; n < 3; n++) await pay(campaign, accounts.approved);
  const ids = new Set();
  const start = new Date(Date.now() - 86_400_000);
  for await (const record of client.transactions({ start_date: start, page_size: 2 })) ids.add(record.id);
  for await (const record of client.transactions({ start_date: start, page_size: 2, date_field: "updated_at" })) ids.delete(record.id);
  assert.equal(ids.size, 0);
});
