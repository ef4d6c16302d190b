/** One server-sent event: its name (`message` when unnamed) and its data lines joined by newlines. */
export interface ServerEvent {
  event: string
  data: string
}

/** Longest event that is read; a longer one is skipped. */
const maxEventLength = 4 * 1024 * 1024

/**
 * Splits the text of an event stream into events, whatever the chunking and the line ends (HTML standard, 9.2.6).
 * Comments, ids and retry times are dropped; an event without data is none.
 */
export class EventParser {
  #rest = ''
  #event = ''
  #data: string[] = []
  #dataLength = 0
  #started = false
  #endedInCr = false
  #isSkipping = false
  readonly #maxLength: number
  readonly #onSkipped: () => void

  constructor(maxLength = maxEventLength, onSkipped: () => void = () => undefined) {
    this.#maxLength = maxLength
    this.#onSkipped = onSkipped
  }

  push(text: string): ServerEvent[] {
    if (text === '') return []
    const skip = (!this.#started && text[0] === '\uFEFF') || (this.#endedInCr && text[0] === '\n') ? 1 : 0
    this.#started = true
    // A CR ends its line at once; if an LF comes with the next chunk, it belongs to that CR.
    this.#endedInCr = text.endsWith('\r')
    const found: ServerEvent[] = []
    const lineEnd = /\r\n?|\n/g
    lineEnd.lastIndex = skip
    let start = skip
    // Only the new text is searched: searching the rest again with each chunk takes the square of a long line's time.
    for (let match = lineEnd.exec(text); match; match = lineEnd.exec(text)) {
      const event = this.#line(this.#rest + text.slice(start, match.index))
      if (event) found.push(event)
      this.#rest = ''
      start = lineEnd.lastIndex
    }
    this.#rest += text.slice(start)
    if (this.#dataLength + this.#rest.length > this.#maxLength) this.#giveUpEvent()
    return found
  }

  #giveUpEvent(): void {
    if (!this.#isSkipping) this.#onSkipped()
    this.#isSkipping = true
    this.#data = []
    this.#dataLength = 0
    // What the line goes on with must not be taken for a line of its own: an empty one would end the event.
    if (this.#rest !== '') this.#rest = ':'
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') {
      const event = { event: this.#event || 'message', data: this.#data.join('\n') }
      const complete = this.#data.length > 0 && !this.#isSkipping
      this.#isSkipping = false
      this.#event = ''
      this.#data = []
      this.#dataLength = 0
      return complete ? event : undefined
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') this.#event = value
    else if (field === 'data') {
      this.#data.push(value)
      this.#dataLength += value.length + 1
      if (this.#dataLength > this.#maxLength) this.#giveUpEvent()
    }
    return undefined
  }
}

/** The events of an open response body, in order, until it ends. */
export async function* parseEvents(
  body: ReadableStream<Uint8Array>,
  onSkipped?: () => void,
): AsyncGenerator<ServerEvent> {
  const parser = new EventParser(maxEventLength, onSkipped)
  // The parser takes the byte order mark away, once.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const reader = body.getReader()
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      yield* parser.push(decoder.decode(chunk.value, { stream: true }))
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/**
 * The JSON of each data event. Calls `onUnreadable` for events that are not JSON or too long. An `error` event of the
 * service ends the iteration by throwing what its data says.
 */
export async function* readEvents<T>(
  open: () => Promise<Response>,
  toError: (data: string) => Error,
  onUnreadable: () => void = () => undefined,
): AsyncGenerator<T> {
  const response = await open()
  if (!response.body) return
  for await (const { event, data } of parseEvents(response.body, onUnreadable)) {
    if (event === 'error') throw toError(data)
    const item = readJson<T>(data)
    if (item !== undefined) yield item
    else if (data !== '') onUnreadable()
  }
}

const readJson = <T>(data: string): T | undefined => {
  try {
    return JSON.parse(data) as T
  } catch {
    // A single bad event must not end the stream.
    return undefined
  }
}
