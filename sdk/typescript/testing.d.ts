export declare const accounts: Readonly<Record<
  | "approved" | "approvedAustrian" | "declinedInsufficientFunds" | "declinedFinal" | "verificationApproved" | "verificationRejected"
  | "pendingApproved" | "pendingDeclined" | "chargeback" | "timeoutApproved" | "rebillDeclined",
  string
>>;

/** Headers and body of an event as the service sends it. */
export declare function delivery(
  secret: string,
  type: string,
  data: unknown,
  options?: { id?: string; sentAt?: Date },
): Promise<{ headers: Record<string, string>; body: string }>;
