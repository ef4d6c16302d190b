export interface ServerEvent {
  event: string
  data: string
}

const maxEventLength = 4 * 1024 * 1024

/** Parses an event stream in chunks of any size (HTML standard, 9.2.6). Comments, ids and retry times are ignored. */
export class EventParser {
  #rest = ''
  #event = ''
  #data: string[] = []
  #dataLength = 0
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
    const skip = this.#endedInCr && text[0] === '\n' ? 1 : 0
    // A CR ends the line; an LF at the start of the next chunk belongs to it.
    this.#endedInCr = text.endsWith('\r')
    const found: ServerEvent[] = []
    const lineEnd = /\r\n?|\n/g
    lineEnd.lastIndex = skip
    let start = skip
    // Searches only the new chunk: rescanning a long line would take quadratic time.
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
    // The rest of a skipped line must not count as a new, possibly empty line.
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

export async function* parseEvents(
  body: ReadableStream<Uint8Array>,
  onSkipped?: () => void,
): AsyncGenerator<ServerEvent> {
  const parser = new EventParser(maxEventLength, onSkipped)
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      yield* parser.push(decoder.decode(chunk.value, { stream: true }))
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The JSON of each event; invalid and oversized ones are only counted. Throws the error of an `error` event. */
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
    return undefined
  }
}
