import type { ShellInput } from '#lib/protocol/terminals.ts'

/** Input typed without a connection. The user decides whether to send it. */
export interface UnsentInput {
  text: string
  /** Input over the limit is dropped with everything after it, because a gap would change its meaning. */
  isFull: boolean
  isForAnotherShell: boolean
  /** Part of it was sent on a connection that was lost, and may have arrived. */
  mayHaveArrived: boolean
}

export const noUnsentInput: UnsentInput = { text: '', isFull: false, isForAnotherShell: false, mayHaveArrived: false }

/** About ten command lines. Anything longer is a paste, which can be repeated. */
export const maxUnsentBytes = 1024

const encoder = new TextEncoder()

/** Keeps a piece whole or not at all. */
export const keepInput = (unsent: UnsentInput, piece: string): UnsentInput => {
  const text = unsent.text + piece
  return unsent.isFull || encoder.encode(text).length > maxUnsentBytes
    ? { ...unsent, isFull: true }
    : { ...unsent, text }
}

export interface TypedSign {
  sign: string
  isControl: boolean
}

export const typedSigns = (text: string): TypedSign[] =>
  text.split(keySequence).flatMap((part, index) => {
    const pieces = index % 2 === 1 ? [part] : Array.from(characters.segment(part), ({ segment }) => segment)
    return pieces.map((piece) => {
      const sign = keySigns[piece] ?? controlSign(piece)
      return sign === undefined ? { sign: piece, isControl: false } : { sign, isControl: true }
    })
  })

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins with one
const keySequence = /(\x1b(?:\[[0-9;?<]*[~A-Za-z]|O[A-Za-z]))/

const keySigns: Record<string, string> = {
  '\r': '⏎',
  '\n': '⏎',
  '\r\n': '⏎',
  '\t': '⇥',
  '\x7f': '⌫',
  '\x1b': 'Esc',
  '\x1b[A': '↑',
  '\x1b[B': '↓',
  '\x1b[C': '→',
  '\x1b[D': '←',
}

const controlSign = (piece: string): string | undefined => {
  const code = piece.codePointAt(0) ?? 0
  if (piece.startsWith('\x1b')) return `Esc${piece.slice(1)}`
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`
  return code >= 0x80 && code < 0xa0 ? '�' : undefined
}

interface Options {
  send(bytes: Uint8Array<ArrayBuffer>): boolean
  onUnsent(unsent: UnsentInput): void
}

/** Long pastes are sent in pieces that stay below size limits. */
const maxPieceBytes = 16 * 1024

interface Piece {
  bytes: Uint8Array
  start: number
}

/** Input until it has reached the shell. Positions count bytes sent by this page. */
export class TypedInput {
  readonly #options: Options
  #sent = 0
  #onTheWay: Piece[] = []
  /** The shell's own input count when it had received this page's input up to a position. */
  #reached: { position: number; input: ShellInput } | undefined
  /** Typed before the first shell; sent once there is one. */
  #ahead = ''
  /** Came back undelivered; older than everything in `#kept`. */
  #returned: string[] = []
  #kept: string[] = []
  #mayHaveArrived = false
  #isForAnotherShell = false
  #unsent = noUnsentInput

  constructor(options: Options) {
    this.#options = options
  }

  /** Input after unsent text joins it: half a command would be a different command. */
  type(text: string) {
    if (this.#isAllSent) this.#send(text)
    else this.keep(text)
  }

  typeAhead(text: string) {
    if (!this.#isAllSent || this.#ahead.length + text.length > maxUnsentBytes) this.keep(text)
    else this.#ahead += text
  }

  keep(text: string) {
    this.#kept.push(text)
    this.#update()
  }

  /** Mouse and focus reports are never queued. */
  report(bytes: Uint8Array<ArrayBuffer>) {
    if (this.#options.send(bytes)) this.#sent += bytes.length
  }

  sendUnsent() {
    const { text } = this.#unsent
    this.discardUnsent()
    this.#send(text)
  }

  discardUnsent() {
    this.#returned = []
    this.#kept = []
    this.#mayHaveArrived = this.#isForAnotherShell = false
    this.#update()
  }

  /** Input up to a position has reached the shell or was reported as dropped. */
  confirmed(position: number, input?: ShellInput) {
    this.#takeBack(0, position)
    this.#reached = input && { position, input }
  }

  /** Input between two positions is lost. */
  dropped(from: number, to: number, mayHaveArrived: boolean) {
    this.#reached = undefined
    this.#return(this.#takeBack(from, to), mayHaveArrived)
  }

  /** Drops what the console received before a reconnect. Undefined if it doesn't know this page, as after a restart. */
  connected(received: number | undefined, input?: ShellInput) {
    const arrived = received ?? this.#arrivedAt(input)
    this.#return(this.#takeBack(arrived ?? 0, Number.POSITIVE_INFINITY), arrived === undefined)
    if (received === undefined) {
      this.#onTheWay = []
      this.#reached = undefined
    }
    this.#sent = received ?? 0
  }

  /** Someone else types, so the shell's count no longer matches this page. */
  watched() {
    this.#reached = undefined
  }

  #arrivedAt(input: ShellInput | undefined): number | undefined {
    const before = this.#reached
    if (!before || before.input.shell !== input?.shell) return undefined
    return before.position + input.offset - before.input.offset
  }

  /** A shell is available. Unsent input for another shell is marked, to warn the user. */
  opened({ mayType, isAnotherShell }: { mayType: boolean; isAnotherShell: boolean }) {
    const ahead = this.#ahead
    this.#ahead = ''
    if (isAnotherShell && !this.#isAllSent) {
      this.#isForAnotherShell = true
      this.#update()
    }
    if (mayType && ahead !== '') this.type(ahead)
  }

  closed(how: 'lost' | 'ended' | 'taken' | 'refused') {
    const ahead = this.#ahead
    this.#ahead = ''
    if (how === 'ended') {
      this.#onTheWay = []
      this.discardUnsent()
    } else if (ahead !== '') this.keep(ahead)
  }

  get #isAllSent(): boolean {
    return this.#returned.length === 0 && this.#kept.length === 0
  }

  #send(text: string) {
    const bytes = encoder.encode(text)
    for (let start = 0; start < bytes.length; start += maxPieceBytes) {
      const piece = bytes.slice(start, start + maxPieceBytes)
      if (!this.#options.send(piece)) return this.keep(new TextDecoder().decode(bytes.subarray(start)))
      this.#onTheWay.push({ bytes: piece, start: this.#sent })
      this.#sent += piece.length
    }
  }

  #takeBack(from: number, to: number): string {
    const decoder = new TextDecoder()
    let taken = ''
    const left: Piece[] = []
    for (const { bytes, start } of this.#onTheWay) {
      const [first = 0, last = 0] = [from, to].map((at) => Math.min(bytes.length, Math.max(0, at - start)))
      taken += decoder.decode(bytes.subarray(first, last), { stream: true })
      if (first > 0) left.push({ bytes: bytes.subarray(0, first), start })
      if (last < bytes.length) left.push({ bytes: bytes.subarray(last), start: start + last })
    }
    this.#onTheWay = left
    return taken + decoder.decode()
  }

  #return(text: string, mayHaveArrived: boolean) {
    if (text === '') return
    this.#returned.push(text)
    this.#mayHaveArrived ||= mayHaveArrived
    this.#update()
  }

  #update() {
    const none = { ...noUnsentInput, mayHaveArrived: this.#mayHaveArrived, isForAnotherShell: this.#isForAnotherShell }
    const unsent = [...this.#returned, ...this.#kept].reduce(keepInput, none)
    if (this.#isAllSent && this.#unsent.text === '' && !this.#unsent.isFull) return
    this.#unsent = unsent
    this.#options.onUnsent(unsent)
  }
}
