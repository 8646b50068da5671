// The types of ed25519.js. The names are those that Python calls (node/codec/ed25519.py).

/** Returns the public key, 32 bytes, that belongs to a private one. */
export function public_key(seed: Uint8Array): Uint8Array;

/** Returns the signature of data, 64 bytes. */
export function sign(seed: Uint8Array, data: Uint8Array): Uint8Array;

/** Returns whether the signature of the data was made with the private key of a public key. */
export function verify(key: Uint8Array, signature: Uint8Array, data: Uint8Array): boolean;
