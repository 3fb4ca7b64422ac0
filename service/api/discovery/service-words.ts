/** How the service names itself wherever machines ask. */
export const SERVICE = {
  name: "Agent Health",
  description:
    "Scores autonomous agents by what their wallets did on chain, and tells whether to settle, escrow or reject a payment to them.",
} as const;
