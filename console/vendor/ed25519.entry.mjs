// What console/vendor/ed25519.js exports: Ed25519 signatures (RFC 8032), which Python in a browser tab lacks.
import { ed25519 } from "@noble/curves/ed25519.js";

export const public_key = (seed) => ed25519.getPublicKey(seed);
export const sign = (seed, data) => ed25519.sign(data, seed);

export function verify(key, signature, data) {
  // Without zip215, signatures are refused that RFC 8032 does not permit.
  const options = { zip215: false };
  // A key or a signature of a wrong length is an exception of the library.
  if (key.length !== ed25519.lengths.publicKey || signature.length !== ed25519.lengths.signature) return false;
  return ed25519.verify(signature, data, key, options);
}
