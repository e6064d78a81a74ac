// Helps to test a shop: the sandbox's accounts by what happens to their payments, and
// deliveries as the service sends them.
import { sign } from "./sepad.js";

export const accounts = Object.freeze({
  approved: "DE89370400440532013000",
  approvedAustrian: "AT611904300234573201",
  declinedInsufficientFunds: "DE62370400440532013001",
  declinedFinal: "DE13370400440532013010",
  verificationApproved: "DE56370400440532013012",
  verificationRejected: "DE29370400440532013013",
  pendingApproved: "DE08370400440532013003",
  pendingDeclined: "DE78370400440532013004",
  chargeback: "DE35370400440532013002",
  timeoutApproved: "DE72370400440532013015",
  rebillDeclined: "DE61370400440532013019",
});

/** Headers and body of an event as the service sends it. */
export async function delivery(secret, type, data, { id = crypto.randomUUID(), sentAt = new Date() } = {}) {
  const body = typeof data === "string" ? data : JSON.stringify(data);
  const stamp = String(Math.floor(sentAt.getTime() / 1000));
  return {
    body,
    headers: {
      "content-type": "application/json",
      "x-service-event": type,
      "webhook-id": id,
      "webhook-timestamp": stamp,
      "webhook-signature": await sign(secret, id, stamp, body),
    },
  };
}
