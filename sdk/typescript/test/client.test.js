import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { DeliveryError, Receiver, Sepad, SepadError } from "../sepad.js";
import { delivery } from "../testing.js";

// A service that answers one call after the other as it is told.
async function played(t, ...answers) {
  const calls = [];
  const server = createServer((request, response) => {
    calls.push(request);
    const answer = answers[Math.min(calls.length, answers.length) - 1];
    if (answer === "hang up") return request.socket.destroy();
    response.writeHead(answer.status ?? 200, answer.headers).end(JSON.stringify(answer.body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { calls, client: new Sepad(`http://127.0.0.1:${server.address().port}`, "rk_test_key", { wait: async () => {} }) };
}

const busy = { status: 503, body: { detail: "busy", status_code: 503 }, headers: { "Retry-After": "1" } };

test("a create is repeated under one key", async (t) => {
  const { client, calls } = await played(t, "hang up", busy, { status: 201, body: { session_token: "ps_x" } });
  assert.equal((await client.createSession({ lead: {} })).session_token, "ps_x");
  const keys = new Set(calls.map((call) => call.headers["idempotency-key"]));
  assert.equal(calls.length, 3);
  assert.equal(keys.size, 1);
  assert.ok([...keys][0]);
});

test("what is refused is not repeated, and named by field", async (t) => {
  const { client, calls } = await played(t, { status: 400, body: { detail: { "lead.email": "lead.email is required." }, status_code: 400 } });
  await assert.rejects(client.createSession({}), (problem) => {
    assert.ok(problem instanceof SepadError);
    assert.equal(problem.status, 400);
    assert.equal(problem.fields["lead.email"], "lead.email is required.");
    return true;
  });
  assert.equal(calls.length, 1);
});

test("a payment is sent once, and asked about", async (t) => {
  const { client, calls } = await played(
    t, "hang up", { body: { status: null, payment_in_flight: true } }, { body: { status: "completed", payment_in_flight: false } },
  );
  assert.equal((await client.pay("ps_x", { iban: "x", iban_holder_name: "Ada" })).status, "completed");
  assert.deepEqual(calls.map((call) => call.method), ["POST", "GET", "GET"]);
});

test("a payment that never arrived fails", async (t) => {
  const { client, calls } = await played(t, { status: 500, body: { detail: "?", status_code: 500 } }, { body: { status: null, payment_in_flight: false } });
  await assert.rejects(client.pay("ps_x", {}), { status: 500 });
  assert.deepEqual(calls.map((call) => call.method), ["POST", "GET"]);
});

test("the key goes to the service alone", async (t) => {
  const { client, calls } = await played(t, { body: { next: "http://thief.example/api/v1/x/?cursor=2", results: [{ id: "1" }] } }, { body: { next: null, results: [] } });
  const all = [];
  for await (const record of client.transactions({ start_date: "2026-01-01" })) all.push(record);
  assert.equal(all.length, 1);
  assert.equal(calls[1].url, "/api/v1/x/?cursor=2");
});

test("a place is gone on from with another page size", async (t) => {
  const page = (...ids) => ({ body: { next: "http://x/?cursor=2", has_more: false, results: ids.map((id) => ({ id })) } });
  const { client, calls } = await played(t, page("e1", "e2"));
  const heard = [];
  for await (const event of client.events("1~e1", { pageSize: 1 })) heard.push(event.id);
  assert.deepEqual(heard, ["e2"]);
  assert.equal(calls[0].url, "/api/v1/events/?cursor=1&page_size=1000");
});

test("deliveries are verified", async () => {
  const secret = "whsec_c2VjcmV0LW9mLXRoZS10ZXN0cw==";
  const now = new Date("2026-03-02T09:00:00Z");
  const receiver = new Receiver(["the old one", secret], { now: () => now.getTime() });
  const sent = (options) => delivery(secret, "payment_session.completed", { amount: "29.99" }, { id: "e1", sentAt: now, ...options });
  const good = await sent();
  const event = await receiver.verify(good.headers, good.body);
  assert.deepEqual([event.id, event.type, event.data.amount], ["e1", "payment_session.completed", "29.99"]);
  await receiver.verify(new Headers(good.headers), good.body);
  const refused = (headers, body, reason) => assert.rejects(receiver.verify(headers, body), (problem) => problem instanceof DeliveryError && problem.reason === reason);
  await refused(good.headers, good.body.replace("29.99", "0.01"), "bad_signature");
  await refused({ ...good.headers, "webhook-id": "e2" }, good.body, "bad_signature");
  await refused({ ...good.headers, "webhook-signature": "v1,!!" }, good.body, "bad_signature");
  await refused({ ...good.headers, "webhook-signature": "" }, good.body, "not_signed");
  const old = await sent({ sentAt: new Date(now - 3_600_000) });
  await refused(old.headers, old.body, "too_old");
});

test("a secret that is missing signs nothing", async () => {
  for (const missing of [undefined, "", "whsec_", "\n"]) {
    const sent = await delivery(missing || "whsec_", "payment_session.completed", {});
    await assert.rejects(new Receiver(missing).verify(sent.headers, sent.body), (problem) => problem.reason === "bad_signature");
  }
});
