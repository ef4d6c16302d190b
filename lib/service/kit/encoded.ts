/**
 * An answer that is JSON already: what the database or a log put together is sent as it is, without a detour over
 * objects.
 */
export class EncodedJson {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
