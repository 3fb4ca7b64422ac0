// What a browser wallet signs to pay by x402 v2: scheme exact, an EIP-3009 authorization. Nothing here touches the page.

/** Bytes of an authorization's nonce, and of the identifier by which whoever paid is known again. */
const NONCE_BYTES = 32;
const IDENTIFIER_BYTES = 24;
const BALANCE_OF = "0x70a08231";

/** An error whose message is shown unchanged. */
export class Told extends Error {}

/** The terms of a 402: from its header, as x402 v2 has it. Throws where they ask for what this page cannot do. */
export function termsOf(header) {
  const required = header === null ? null : JSON.parse(textOf(header));
  const accepted = required?.accepts?.find(
    ({ scheme, network }) => scheme === "exact" && /^eip155:\d+$/.test(network),
  );
  if (!accepted) throw new Told("This service asks for a payment that a browser wallet cannot make here.");
  return { accepted, resource: required.resource };
}

/** A new authorization for these terms, good from now on for as long as they say. */
export function authorizationFor(accepted, { from, now, random }) {
  return {
    from,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: "0",
    validBefore: String(Math.floor(now / 1000) + accepted.maxTimeoutSeconds),
    nonce: hexOf(random(NONCE_BYTES)),
  };
}

/** The typed data that a wallet is asked to sign. */
export function typedDataOf(accepted, authorization) {
  const { name, version } = accepted.extra;
  return {
    domain: { name, version, chainId: chainOf(accepted), verifyingContract: accepted.asset },
    primaryType: "TransferWithAuthorization",
    types: {
      EIP712Domain: fields({
        name: "string",
        version: "string",
        chainId: "uint256",
        verifyingContract: "address",
      }),
      TransferWithAuthorization: fields({
        from: "address",
        to: "address",
        value: "uint256",
        validAfter: "uint256",
        validBefore: "uint256",
        nonce: "bytes32",
      }),
    },
    message: authorization,
  };
}

/** The value of the header PAYMENT-SIGNATURE; the identifier proves, where an answer is lost, that the payment is ours. */
export function paymentHeader({ accepted, resource }, { authorization, signature, random }) {
  const id = hexOf(random(IDENTIFIER_BYTES)).slice(2);
  const payment = {
    x402Version: 2,
    resource,
    accepted,
    payload: { signature, authorization },
    extensions: { "payment-identifier": { info: { required: false, id } } },
  };
  return base64Of(payment);
}

/** The base64 of the JSON of a value, as headers carry it. */
export function base64Of(value) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value))));
}

/** The number of the chain that is paid on. */
export function chainOf({ network }) {
  return Number(network.split(":")[1]);
}

/** The call that asks the token what a wallet holds. */
export function balanceCall(accepted, wallet) {
  return { to: accepted.asset, data: `${BALANCE_OF}${wallet.slice(2).toLowerCase().padStart(64, "0")}` };
}

/** An amount of a token of six decimals, as people read it. */
export function tokenText(amount) {
  const digits = String(amount).padStart(7, "0");
  const cents = digits.slice(-6).replace(/0{1,4}$/, "");
  return `${digits.slice(0, -6)}.${cents}`;
}

function fields(types) {
  return Object.entries(types).map(([name, type]) => ({ name, type }));
}

function hexOf(bytes) {
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function textOf(base64) {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
}
