/** One server-sent event: its name (`message` when unnamed) and its data lines joined by newlines. */
export interface ServerEvent {
  event: string
  data: string
}

/** Longest event that is read; a longer one ends the stream with an error. */
export const maxEventLength = 4 * 1024 * 1024

/**
 * Splits the text of an event stream into events, whatever the chunking and the line ends (HTML standard, 9.2.6).
 * Comments, ids and retry times are dropped; an event without data is none.
 */
export class EventParser {
  #rest = ''
  #event = ''
  #data: string[] = []
  #started = false

  push(text: string): ServerEvent[] {
    if (!this.#started && text !== '') {
      this.#started = true
      text = text.replace(/^\uFEFF/, '')
    }
    this.#rest += text
    if (this.#rest.length > maxEventLength) throw new RangeError(`An event is longer than ${maxEventLength} characters`)
    const found: ServerEvent[] = []
    // A lone CR at the end may be the first half of CRLF, so it waits for the next chunk.
    const lineEnd = /\r\n|\n|\r(?!$)/g
    let start = 0
    for (let match = lineEnd.exec(this.#rest); match; match = lineEnd.exec(this.#rest)) {
      const event = this.#line(this.#rest.slice(start, match.index))
      if (event) found.push(event)
      start = lineEnd.lastIndex
    }
    this.#rest = this.#rest.slice(start)
    return found
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') {
      const event = { event: this.#event || 'message', data: this.#data.join('\n') }
      const complete = this.#data.length > 0
      this.#event = ''
      this.#data = []
      return complete ? event : undefined
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') this.#event = value
    else if (field === 'data') this.#data.push(value)
    return undefined
  }
}

/** The events of an open response body, in order, until it ends. */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const parser = new EventParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      yield* parser.push(decoder.decode(chunk.value, { stream: true }))
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The JSON of each data event. An `error` event of the service ends the iteration by throwing its message. */
export async function* readEvents<T>(open: () => Promise<Response>): AsyncGenerator<T> {
  const response = await open()
  if (!response.body) return
  for await (const { event, data } of parseEvents(response.body)) {
    if (event === 'error') throw new Error(`The stream was ended by the service: ${data}`)
    yield JSON.parse(data) as T
  }
}
