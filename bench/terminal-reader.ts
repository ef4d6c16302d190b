import { setTimeout as delay } from 'node:timers/promises'
import type { Attached, Target } from './terminal-targets.ts'

/** Sequences without visible text: OSC, CSI, character sets, control characters. */
const sequences = new RegExp(
  [
    '\\x1b\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)',
    '\\x1b\\[[0-9;?:]*[ -/]*[@-~]',
    '\\x1b[()*+][0-9A-Za-z]',
    '\\x1b[ -~]',
    '[\\0\\x18]',
  ].join('|'),
  'g',
)
export const prompt = /[$#] [ \r\n]*$/
const tailBytes = 1024

/** Reads an attached shell. */
export class Reader {
  readonly shell: Attached
  bytes = 0
  firstAt = 0
  #tail = ''
  #waits: { pattern: RegExp; done: (at: number) => void }[] = []
  #sink: ((bytes: Buffer) => void) | undefined

  constructor(shell: Attached) {
    this.shell = shell
    shell.onData((bytes) => {
      this.firstAt ||= performance.now()
      this.bytes += bytes.length
      if (this.#sink) this.#sink(bytes)
      else this.parse(bytes)
    })
  }

  /** Passes output to `sink`, which calls `parse` when it is ready. */
  divert(sink: (bytes: Buffer) => void): void {
    this.#sink = sink
  }

  parse(bytes: Buffer): void {
    this.shell.parsed(bytes.length)
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - tailBytes))).slice(-tailBytes)
    if (this.#waits.length > 0) this.#look()
  }

  /** Resolves when `pattern` is at the end of the output since this call. */
  async until(pattern: RegExp, withinMs = 60_000): Promise<number> {
    const found = new Promise<number>((done) => this.#waits.push({ pattern, done }))
    this.#look()
    const timeout = new AbortController()
    const never = delay(withinMs, undefined, { signal: timeout.signal }).then(() => {
      throw new Error(`No ${pattern} within ${withinMs} ms after ${JSON.stringify(this.#tail.slice(-200))}`)
    })
    try {
      return await Promise.race([found, never])
    } finally {
      timeout.abort()
      never.catch(() => undefined)
    }
  }

  forget(): void {
    this.#tail = ''
  }

  #look(): void {
    const text = this.#tail.replace(sequences, '')
    this.#waits = this.#waits.filter(({ pattern, done }) => {
      if (!pattern.test(text)) return true
      done(performance.now())
      return false
    })
  }
}

export const atPrompt = async (target: Target, session?: string) => {
  const startedAt = performance.now()
  const reader = new Reader(await target.attach(session))
  const promptAt = await reader.until(prompt, 20_000)
  return { reader, promptMs: promptAt - startedAt }
}

export const toCat = async (reader: Reader) => {
  reader.forget()
  reader.shell.send('stty raw -echo; echo rea""dy; exec cat\r')
  await reader.until(/ready/)
  await delay(100)
}
