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

/** Whole events of a stream, encoded once for all who listen. */
export class EncodedEvents {
  readonly bytes: Uint8Array
  #chunk: Uint8Array | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** One event in the framing of `sendEvents`. */
  static frame(json: string): Uint8Array {
    return Buffer.from(`data: ${json}\n\n`)
  }

  /** The bytes in the framing of HTTP/1.1. */
  get chunk(): Uint8Array {
    this.#chunk ??= Buffer.concat([
      Buffer.from(`${this.bytes.length.toString(16)}\r\n`),
      this.bytes,
      Buffer.from('\r\n'),
    ])
    return this.#chunk
  }

  /** The JSON of each event. */
  *texts(): Generator<string> {
    for (const frame of Buffer.from(this.bytes).toString().split('\n\n'))
      if (frame !== '') yield frame.slice('data: '.length)
  }
}

/** What takes the events of an `EventFeed` to its reader. */
export interface EventSink {
  /** Whether the reader takes more at once; if not, the feed waits for its `resume`. */
  write(events: EncodedEvents): boolean
  /** Nothing more will come. */
  end(): void
  fail(error: unknown): void
}

/**
 * Events that are given to all their readers in one go, as they come. Being asked by each of them for the next one would
 * take a chain of promises per event and reader.
 */
export interface EventFeed {
  start(sink: EventSink): void
  resume(): void
  stop(): void
}
