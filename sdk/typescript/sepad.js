// The client of a sepad service for a shop's server: no dependencies, ES modules, types
// in sepad.d.ts. It runs wherever there are fetch and Web Crypto.
//
// What a call costs when it is repeated decides how it is repeated: reads are tried
// again, what makes a record carries an idempotency key and is tried again with the same
// one, and a payment is never sent twice: where its answer is lost, the service is asked
// what became of it (pay).

/** An answer that is no success. */
export class SepadError extends Error {
  constructor(status, detail, fields, retryAfter, requestId) {
    super(`${status}: ${detail ?? Object.entries(fields).map(([name, sentence]) => `${name}: ${sentence}`).join(" ")}`);
    this.name = "SepadError";
    this.status = status;
    this.detail = detail;
    this.fields = fields;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }
}

const usualTries = 4;
const usualTimeout = 45_000; // a payment may take 30 s at its gateway
const firstWait = 200;
const longestWait = 30_000;
const askEvery = 2_000;
const largestPage = 1_000;

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Calls a service with an API key. */
export class Sepad {
  #base;
  #key;
  #options;

  constructor(address, apiKey, options = {}) {
    this.#base = address.replace(/\/+$/, "");
    this.#key = apiKey;
    this.#options = { tries: usualTries, timeout: usualTimeout, fetch: globalThis.fetch, wait: sleep, ...options };
  }

  // Payment sessions

  createSession(request, options = {}) {
    return this.#post("/api/v1/payment-sessions/", request, keyed(options));
  }

  session(token) {
    return this.#get(`/api/v1/payment-sessions/${segment(token)}/`);
  }

  result(token) {
    return this.#get(`/api/v1/payment-sessions/${segment(token)}/result/`);
  }

  async cancelSession(token) {
    await this.#post(`/api/v1/payment-sessions/${segment(token)}/cancel/`);
  }

  pay(token, request) {
    return this.#settle(token, "pay", request);
  }

  verify(token, verificationId) {
    return this.#settle(token, "verify", verificationId ? { verification_id: verificationId } : {});
  }

  validateIban(iban) {
    return this.#post("/api/v1/iban-validate/", { iban });
  }

  sessions(filter = {}) {
    return this.#walk("/api/v1/payment-sessions/", filter);
  }

  // Money and subscriptions

  transaction(id) {
    return this.#get(`/api/v1/transactions/${segment(id)}/`);
  }

  refund(transactionId, request = {}, options = {}) {
    return this.#post(`/api/v1/transactions/${segment(transactionId)}/refunds/`, request, keyed(options));
  }

  subscription(id) {
    return this.#get(`/api/v1/subscriptions/${segment(id)}/`);
  }

  cancelSubscription(id, at = "now") {
    return this.#post(`/api/v1/subscriptions/${segment(id)}/cancel/`, { at });
  }

  pauseSubscription(id) {
    return this.#post(`/api/v1/subscriptions/${segment(id)}/pause/`, {});
  }

  resumeSubscription(id) {
    return this.#post(`/api/v1/subscriptions/${segment(id)}/resume/`, {});
  }

  changeSubscription(id, terms) {
    return this.#post(`/api/v1/subscriptions/${segment(id)}/change/`, terms);
  }

  newMandate(subscriptionId, request = {}, options = {}) {
    return this.#post(`/api/v1/subscriptions/${segment(subscriptionId)}/new-mandate/`, request, keyed(options));
  }

  mandate(reference) {
    return this.#get(`/api/v1/mandates/${segment(reference)}/`);
  }

  // Lists

  transactions(query) {
    return this.#walk("/api/v1/reconciliation/transactions/", query);
  }

  chargebacks(query) {
    return this.#walk("/api/v1/reconciliation/chargebacks/", query);
  }

  subscriptions(query) {
    return this.#walk("/api/v1/reconciliation/subscriptions/", query);
  }

  /** The event feed from a place on, "" for the beginning. */
  events(place = "", options = {}) {
    return new Feed((query) => this.#get(`/api/v1/events/?${parameters(query)}`), place, options.pageSize);
  }

  // A payment is sent once. Where nobody knows what became of it, the service is asked.
  async #settle(token, verb, request) {
    try {
      return await this.#call("POST", `/api/v1/payment-sessions/${segment(token)}/${verb}/`, request, { isOnce: true });
    } catch (sent) {
      if (sent instanceof SepadError && sent.status < 500) throw sent;
      for (;;) {
        const known = await this.result(token);
        if (!known.payment_in_flight && known.status === null) throw sent; // it has never arrived
        if (!known.payment_in_flight) return known;
        await this.#options.wait(askEvery);
      }
    }
  }

  async *#walk(path, query) {
    for (let next = `${path}?${parameters(query)}`; next; ) {
      const page = await this.#get(next);
      yield* page.results;
      next = page.next;
    }
  }

  #get(path) {
    return this.#call("GET", path);
  }

  #post(path, body, more) {
    return this.#call("POST", path, body, more);
  }

  async #call(method, path, body, { isOnce = false, headers = {} } = {}) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(method, path, body, headers);
      } catch (problem) {
        if (attempt >= this.#options.tries || !isWorthRepeating(problem, isOnce)) throw problem;
        await this.#options.wait(pause(problem, attempt));
      }
    }
  }

  async #once(method, path, body, headers) {
    const response = await this.#options.fetch(this.#address(path), {
      method,
      headers: {
        Accept: "application/json",
        Authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(this.#options.timeout),
    });
    const text = await response.text();
    if (response.status >= 400) throw errorOf(response, text);
    return text === "" ? undefined : JSON.parse(text);
  }

  // An address that the service gave is only followed to the service itself: the key
  // goes nowhere else.
  #address(path) {
    if (!/^https?:/.test(path)) return this.#base + path;
    const given = new URL(path);
    return this.#base + given.pathname + given.search;
  }
}

/** A shop's events in their order, each once. */
export class Feed {
  #read;
  #cursor;
  #last;
  #pageSize;

  constructor(read, place, pageSize) {
    [this.#cursor, this.#last = ""] = place.split("~");
    this.#read = read;
    this.#pageSize = pageSize;
  }

  /** Behind the last event that was handed out: keep it with what you made of it. */
  get place() {
    return this.#last ? `${this.#cursor}~${this.#last}` : this.#cursor;
  }

  async *[Symbol.asyncIterator]() {
    for (let more = true; more; ) {
      // The page with the last event on it is read as large as it was at most, however small pages are now.
      const page = await this.#read({ cursor: this.#cursor, page_size: this.#last ? largestPage : this.#pageSize });
      // Events have their places for good: the page of a cursor begins with the same ones each time.
      const behind = page.results.findIndex((event) => event.id === this.#last) + 1;
      for (const event of page.results.slice(behind)) {
        this.#last = event.id;
        yield event;
      }
      this.#cursor = new URL(page.next).searchParams.get("cursor") ?? "";
      this.#last = "";
      more = page.has_more;
    }
  }
}

/** Verifies what the service sends. */
export class Receiver {
  #secrets;
  #tolerance;
  #now;

  constructor(secrets, { tolerance = 300, now = Date.now } = {}) {
    // A setting that is missing is no secret: anybody could sign with it.
    this.#secrets = [secrets].flat().filter((secret) => secret && secret.replace(/^whsec_/, "").trim());
    this.#tolerance = tolerance;
    this.#now = now;
  }

  /** Checks a delivery's signature and age, and gives the event. The body is the text as it came. */
  async verify(headers, body) {
    const read = (name) => (typeof headers.get === "function" ? headers.get(name) : headers[name]) ?? "";
    const [id, stamp, signatures] = [read("webhook-id"), read("webhook-timestamp"), read("webhook-signature")];
    if (!id || !stamp || !signatures) throw new DeliveryError("not_signed", "the delivery has no signature");
    if (!(await this.#isSigned(id, stamp, signatures, body))) throw new DeliveryError("bad_signature", "the signature is not that of the secret");
    if (!(Math.abs(this.#now() / 1000 - Number(stamp)) <= this.#tolerance)) {
      throw new DeliveryError("too_old", "the delivery is not of now: it may be sent by somebody who has seen it");
    }
    return { id, type: read("x-service-event"), created_at: new Date(Number(stamp) * 1000).toISOString(), data: JSON.parse(body) };
  }

  async #isSigned(id, stamp, signatures, body) {
    let isSigned = false;
    for (const secret of this.#secrets) {
      const key = await keyOf(secret);
      const text = new TextEncoder().encode(`${id}.${stamp}.${body}`);
      for (const signature of signatures.split(" ")) {
        const [version, digest] = signature.split(",");
        // Web Crypto compares in constant time.
        if (version === "v1" && (await crypto.subtle.verify("HMAC", key, bytesOf(digest), text))) isSigned = true;
      }
    }
    return isSigned;
  }
}

/** Why a delivery is refused. */
export class DeliveryError extends Error {
  constructor(reason, message) {
    super(message);
    this.name = "DeliveryError";
    this.reason = reason;
  }
}

/** The signature of a delivery by the rules of Standard Webhooks. */
export async function sign(secret, id, timestamp, body) {
  const digest = await crypto.subtle.sign("HMAC", await keyOf(secret), new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
}

function keyOf(secret) {
  let key = new TextEncoder().encode(secret);
  if (secret.startsWith("whsec_") && /^[A-Za-z0-9+/]+={0,2}$/.test(secret.slice(6)) && secret.slice(6).length % 4 === 0) key = bytesOf(secret.slice(6));
  return crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}

function bytesOf(base64 = "") {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

// What the service has surely not worked on is always tried again; what it may have
// worked on only where a repeat does no harm.
function isWorthRepeating(problem, isOnce) {
  if (!(problem instanceof SepadError)) return !isOnce;
  return problem.status === 429 || problem.status === 503 || (problem.status >= 500 && !isOnce);
}

function pause(problem, attempt) {
  if (problem.retryAfter) return Math.min(problem.retryAfter * 1000, longestWait);
  return Math.min(firstWait * 2 ** (attempt - 1) * (1 + Math.random()), longestWait);
}

function errorOf(response, text) {
  let body = {};
  try {
    body = JSON.parse(text);
  } catch {
    body = { detail: response.statusText };
  }
  const isSentence = typeof body.detail !== "object" || body.detail === null;
  return new SepadError(
    response.status,
    isSentence ? (body.detail ?? body.error ?? response.statusText) : undefined,
    isSentence ? {} : body.detail,
    Number(response.headers.get("retry-after")) || undefined,
    response.headers.get("x-request-id") ?? undefined,
  );
}

const keyed = ({ idempotencyKey = crypto.randomUUID() }) => ({ headers: { "Idempotency-Key": idempotencyKey } });

const segment = encodeURIComponent;

function parameters(query = {}) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    all.set(name, Array.isArray(value) ? value.join(",") : value instanceof Date ? value.toISOString().slice(0, 10) : String(value));
  }
  return all;
}
