import type { ShellInput } from '#lib/protocol/terminals.ts'
import { keepInput, maxUnsentBytes, noUnsentInput, type UnsentInput } from './unsent-input.ts'

interface Options {
  /** False when there is no connection to send over. */
  send(bytes: Uint8Array<ArrayBuffer>): boolean
  onUnsent(unsent: UnsentInput): void
}

/** A longer paste goes in pieces, so that the size limits on the way never cut the connection. */
const maxPieceBytes = 16 * 1024

interface Piece {
  bytes: Uint8Array
  /** Position of its first byte. */
  start: number
}

const encoder = new TextEncoder()

/**
 * Text that was typed until it has reached the shell: sent and not yet confirmed, waiting for a shell, or kept until the
 * person sends it. Positions count the bytes this page has sent, so that what arrived is never offered again.
 */
export class TypedInput {
  readonly #options: Options
  /** Position of the next byte to send. */
  #sent = 0
  /** Sent, and neither confirmed nor reported as dropped. */
  #onTheWay: Piece[] = []
  /** What the shell had received when this page's input had reached it up to a position. */
  #reached: { position: number; input: ShellInput } | undefined
  /** Typed into a terminal that was just asked for: it goes to the shell as soon as there is one. */
  #ahead = ''
  /** Came back from the way: it was typed before everything in `#kept`. */
  #returned: string[] = []
  #kept: string[] = []
  #mayHaveArrived = false
  #isForAnotherShell = false
  #unsent = noUnsentInput

  constructor(options: Options) {
    this.#options = options
  }

  /** Text that follows unsent text is kept with it: half a command would be another command. */
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

  /** Reports of mouse and focus are sent now or never. */
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

  /** Everything up to a position has reached the shell, or was reported as dropped before. */
  confirmed(position: number, input?: ShellInput) {
    this.#takeBack(0, position)
    this.#reached = input && { position, input }
  }

  /** What was sent between two positions does not reach the shell. */
  dropped(from: number, to: number, mayHaveArrived: boolean) {
    this.#reached = undefined
    this.#return(this.#takeBack(from, to), mayHaveArrived)
  }

  /**
   * The console has answered on a new connection: it received everything up to a position, and what is on the way beyond
   * that is lost. Undefined when it does not know this page, as after its own restart: then the shell's count says what
   * arrived, if nobody else has typed since.
   */
  connected(received: number | undefined, input?: ShellInput) {
    const arrived = received ?? this.#arrivedAt(input)
    this.#return(this.#takeBack(arrived ?? 0, Number.POSITIVE_INFINITY), arrived === undefined)
    if (received === undefined) {
      this.#onTheWay = []
      this.#reached = undefined
    }
    this.#sent = received ?? 0
  }

  /** Somebody else types: the shell's count is no longer of this page alone. */
  watched() {
    this.#reached = undefined
  }

  #arrivedAt(input: ShellInput | undefined): number | undefined {
    const before = this.#reached
    if (!before || before.input.shell !== input?.shell) return undefined
    return before.position + input.offset - before.input.offset
  }

  /** A shell is there. Unsent text that was typed for another shell is marked, so that the person is warned. */
  opened({ mayType, isAnotherShell }: { mayType: boolean; isAnotherShell: boolean }) {
    const ahead = this.#ahead
    this.#ahead = ''
    if (isAnotherShell && !this.#isAllSent) {
      this.#isForAnotherShell = true
      this.#update()
    }
    if (mayType && ahead !== '') this.type(ahead)
  }

  /** There is no connection any more. */
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

  /** Removes what is on the way between two positions, and returns it. */
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
